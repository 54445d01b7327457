// Package readme runs what the documentation shows, so that no command in it goes
// stale unseen.
//
// It owns the reading of Markdown code blocks and holds these rules for README.md,
// CONTRIBUTING.md and docs/: an sh block is run, in the order of the document, and
// ends with status 0 or with the one its fence names (sh exit=3); a block with
// file=NAME is written to that file first; the lines of a text block right after an
// sh block are printed by it, with … for whatever varies. A block that cannot be run
// says why in a comment above it: <!-- not run: REASON -->. It has no shipped code.
package readme

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// block is one fenced code block.
type block struct {
	file  string // of the document
	line  int    // of the opening fence, from 1
	lang  string
	attrs map[string]string // name=value after the language
	text  string
	skip  string // why it is not run
	after bool   // nothing but blank lines stands between it and the block before
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.file, b.line) }

// exit is the status that an sh block ends with.
func (b block) exit() (int, error) {
	text, ok := b.attrs["exit"]
	if !ok {
		return 0, nil
	}
	return strconv.Atoi(text)
}

// parse reads the blocks of a document in order.
func parse(file, document string) ([]block, error) {
	var blocks []block
	var open *block
	skip, adjacent := "", false
	notRun := regexp.MustCompile(`^<!-- not run: (.+) -->$`)
	for i, line := range strings.Split(document, "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case open != nil && line == "```":
			blocks = append(blocks, *open)
			open, skip, adjacent = nil, "", true
		case open != nil:
			open.text += line + "\n"
		case isFence:
			open = &block{file: file, line: i + 1, attrs: map[string]string{}, skip: skip, after: adjacent}
			if err := open.describe(fence); err != nil {
				return nil, err
			}
		case notRun.MatchString(line):
			skip, adjacent = notRun.FindStringSubmatch(line)[1], false
		case line != "":
			skip, adjacent = "", false
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s: the block is never closed", open)
	}
	return blocks, nil
}

// describe reads what follows the opening fence.
func (b *block) describe(info string) error {
	words := strings.Fields(info)
	if len(words) == 0 {
		return fmt.Errorf("%s: the block names no language", b)
	}
	if !slices.Contains([]string{"sh", "text", "hcl", "json", "go"}, words[0]) {
		return fmt.Errorf("%s: %q is not among the languages used here, commands stand in sh", b, words[0])
	}
	b.lang = words[0]
	for _, word := range words[1:] {
		name, value, ok := strings.Cut(word, "=")
		if !ok || name != "exit" && name != "file" {
			return fmt.Errorf("%s: %q is neither exit=N nor file=NAME", b, word)
		}
		b.attrs[name] = value
	}
	return nil
}

// missing gives the lines of shown that printed does not have. A … stands for any
// text within a line, a line of … for any lines; so lines are looked for in order.
func missing(shown, printed string) []string {
	rest := strings.Split(printed, "\n")
	var absent []string
	for _, line := range strings.Split(strings.TrimRight(shown, "\n"), "\n") {
		if strings.TrimSpace(line) == "…" || strings.TrimSpace(line) == "" {
			continue
		}
		pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(line, " ")), "…", ".*")
		found := slices.IndexFunc(rest, regexp.MustCompile("^"+pattern+" *$").MatchString)
		if found < 0 {
			absent = append(absent, line)
			continue
		}
		rest = rest[found+1:]
	}
	return absent
}

func TestParse(t *testing.T) {
	document := strings.Join([]string{
		"# Title", "", "```hcl file=a.hcl", "plan {}", "```", "", "<!-- not run: needs a network -->", "```sh", "git clone x", "```",
		"", "Then:", "", "```sh exit=3", "grill-plan run a.hcl", "```", "", "```text", "REGRESSION …", "```", "",
	}, "\n")
	blocks, err := parse("x.md", document)
	if err != nil {
		t.Fatal(err)
	}
	if len(blocks) != 4 {
		t.Fatalf("got %d blocks, want 4: %+v", len(blocks), blocks)
	}
	if b := blocks[0]; b.lang != "hcl" || b.attrs["file"] != "a.hcl" || b.text != "plan {}\n" || b.line != 3 {
		t.Errorf("first block: %+v", b)
	}
	if b := blocks[1]; b.skip != "needs a network" {
		t.Errorf("second block: %+v", b)
	}
	if code, err := blocks[2].exit(); code != 3 || err != nil || blocks[2].skip != "" || blocks[2].after {
		t.Errorf("third block: %+v", blocks[2])
	}
	if b := blocks[3]; b.lang != "text" || !b.after {
		t.Errorf("fourth block: %+v", b)
	}
	for _, bad := range []string{"```sh\nnever closed\n", "```\nno language\n```\n", "```console\n$ x\n```\n", "```sh exits=3\n```\n"} {
		if _, err := parse("x.md", bad); err == nil {
			t.Errorf("admitted: %q", bad)
		}
	}
}

func TestMissing(t *testing.T) {
	const printed = "verdict: PASS\n  A  1.5 s  \n\nevidence: /tmp/x\n"
	for shown, want := range map[string][]string{
		"verdict: PASS\n…\nevidence: …\n":  nil,
		"  A  … s\n":                       nil,
		"verdict: REGRESSION\n":            {"verdict: REGRESSION"},
		"evidence: …\nverdict: PASS\n":     {"verdict: PASS"},
		"verdict: .*\n":                    {"verdict: .*"},
		"verdict: PASS\n\n  A  1.5 s\n…\n": nil,
	} {
		if got := missing(shown, printed); !slices.Equal(got, want) {
			t.Errorf("missing(%q) = %q, want %q", shown, got, want)
		}
	}
}
