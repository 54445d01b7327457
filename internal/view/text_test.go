package view

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestLine(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", `a b/c "ü" 日本`, `a b/c "ü" 日本`},
		{"escape sequence", "a\x1b[31mred", `a\x1b[31mred`},
		{"carriage return", "safe\rforged", `safe\rforged`},
		{"line feed", "one\ntwo", `one\ntwo`},
		{"C1 control", "a\u009bb", `a\u009bb`},
		{"right to left override", "a\u202eb", `a\u202eb`},
		{"line separator", "a\u2028b", `a\u2028b`},
		{"zero width", "a\u200bb", `a\u200bb`},
		{"invalid UTF-8", "a\xffb", `a\xffb`},
		{"replacement character itself", "a\ufffdb", "a\ufffdb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Line(c.in); got != c.want {
				t.Errorf("Line(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
	if got := Block("one\n\ttwo\r"); got != "one\n\ttwo\\r" {
		t.Errorf("Block keeps line feeds and tabs only: %q", got)
	}
}

// Whatever comes in, what goes out acts on no terminal and is valid UTF-8.
func TestLineNeverActs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		out := Line(in)
		if !utf8.ValidString(out) || strings.ContainsFunc(out, hostile) {
			t.Fatalf("Line(%q) = %q", in, out)
		}
	})
}

func TestWrap(t *testing.T) {
	got := wrap("one two three\n\nfour /a/very/long/path", 9)
	want := []string{"one two", "three", "", "four", "/a/very/long/path"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("wrap gives %q, want %q", got, want)
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"ääää", 3, "ää…"}, {"abc", 0, "abc"}} {
		if got := cut(c.in, c.width); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestArgv(t *testing.T) {
	got := Argv([]string{"self:", "a b", "it's", "", "x\ny", "--seed=18446744073709551615"})
	want := `self: 'a b' 'it'\''s' '' "x\ny" --seed=18446744073709551615`
	if got != want {
		t.Errorf("Argv gives %s, want %s", got, want)
	}
}

func TestMilliseconds(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0 ms", "999": "999 ms", "90000": "90000 ms (1m30s)",
		"18446744073709551615": "18446744073709551615 ms", // no digit is lost
	} {
		if got := milliseconds(in); got != want {
			t.Errorf("milliseconds(%s) = %q, want %q", in, got, want)
		}
	}
}
