package view

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

const planSource = "plan {\n  name = \"x\"\n}\nseeds = [7963148796659521215]\n\tcell \"ä\" {}\n"

func rangeOf(t *testing.T, part string) *hcl.Range {
	t.Helper()
	at := strings.Index(planSource, part)
	if at < 0 {
		t.Fatalf("%q is not in the source", part)
	}
	return &hcl.Range{Filename: "plan.hcl", Start: posAt(at), End: posAt(at + len(part))}
}

func posAt(offset int) hcl.Pos {
	before := planSource[:offset]
	line := strings.Count(before, "\n") + 1
	column := len([]rune(before[strings.LastIndex(before, "\n")+1:])) + 1
	return hcl.Pos{Line: line, Column: column, Byte: offset}
}

func render(diags hcl.Diagnostics) string {
	var text strings.Builder
	out := NewOutput(&text, nil)
	Diagnostics(out, diags, func(name string) []byte {
		if name != "plan.hcl" {
			return nil
		}
		return []byte(planSource)
	})
	return text.String()
}

// PLN-02: every diagnostic, sorted by position, with summary, detail, file, line,
// column and source snippet; a number keeps all its digits.
func TestDiagnostics(t *testing.T) {
	got := render(hcl.Diagnostics{
		{Severity: hcl.DiagError, Summary: "No place"},
		{Severity: hcl.DiagWarning, Summary: "Odd cell", Subject: rangeOf(t, "\"ä\"")},
		{Severity: hcl.DiagError, Summary: "Seed out of range", Detail: "A seed is a whole number.", Subject: rangeOf(t, "7963148796659521215")},
		{Severity: hcl.DiagError, Summary: "Bad name", Subject: rangeOf(t, "\"x\"")},
	})
	want := `plan.hcl:2:10: Error: Bad name
  2 │   name = "x"
    │          ^~~

plan.hcl:4:10: Error: Seed out of range
  4 │ seeds = [7963148796659521215]
    │          ^~~~~~~~~~~~~~~~~~~
  A seed is a whole number.

plan.hcl:5:7: Warning: Odd cell
  5 │  cell "ä" {}
    │       ^~~

Error: No place
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestDiagnosticOverSeveralLines(t *testing.T) {
	r := rangeOf(t, "plan {\n  name = \"x\"\n}")
	got := render(hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Bad block", Subject: r}})
	want := `plan.hcl:1:1: Error: Bad block
  1 │ plan {
    │ ^~~~~~
  2 │   name = "x"
    │   ^~~~~~~~~~
  3 │ }
    │ ^
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A diagnostic about a file that is not at hand, or a place outside it, shows no
// source and does not panic.
func TestDiagnosticsOddPlaces(t *testing.T) {
	for _, r := range []hcl.Range{
		{Filename: "other.hcl", Start: hcl.Pos{Line: 1, Column: 1}, End: hcl.Pos{Line: 1, Column: 2}},
		{Filename: "plan.hcl"},
		{Filename: "plan.hcl", Start: hcl.Pos{Line: 99, Column: 1, Byte: 9999}, End: hcl.Pos{Line: 99, Column: 2, Byte: 10000}},
		{Filename: "plan.hcl", Start: hcl.Pos{Line: 2, Column: 99, Byte: 9999}, End: hcl.Pos{Line: 1, Column: 1, Byte: 0}},
	} {
		if got := render(hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Odd", Subject: &r}}); !strings.Contains(got, "Error: Odd") {
			t.Errorf("%v: %q", r, got)
		}
	}
}

func TestDiagnosticsEscape(t *testing.T) {
	got := render(hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "a\x1b[2Jb", Detail: "c\rd"}})
	if strings.ContainsAny(got, "\x1b\r") {
		t.Errorf("control characters reach the terminal: %q", got)
	}
}

func TestDiagnosticsJSON(t *testing.T) {
	diags := hcl.Diagnostics{
		{Severity: hcl.DiagWarning, Summary: "W", Subject: rangeOf(t, "cell")},
		{Severity: hcl.DiagError, Summary: "E", Subject: rangeOf(t, "name")},
	}
	got := DiagnosticsJSON(diags)
	if len(got) != 2 || got[0].Severity != "error" || got[0].Range.Start.Line != 2 || got[1].Severity != "warning" {
		t.Errorf("got %+v", got)
	}
	if DiagnosticsJSON(nil) == nil {
		t.Error("no diagnostics are an empty list, not null")
	}
	if errors, warnings := CountDiagnostics(diags); errors != 1 || warnings != 1 {
		t.Errorf("counted %d errors, %d warnings", errors, warnings)
	}
}
