package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// Sources gives the bytes of a plan file by the name diagnostics use for it.
type Sources func(filename string) []byte

// maxSnippetLines bounds the source shown for one diagnostic.
const maxSnippetLines = 8

// SortDiagnostics orders by file, position and then text, so that two runs print
// the same bytes (PLN-02). Diagnostics without a place come last.
func SortDiagnostics(diags hcl.Diagnostics) hcl.Diagnostics {
	sorted := slices.Clone(diags)
	slices.SortStableFunc(sorted, func(a, b *hcl.Diagnostic) int {
		if c := comparePlace(a.Subject, b.Subject); c != 0 {
			return c
		}
		if a.Severity != b.Severity {
			return int(a.Severity) - int(b.Severity)
		}
		return strings.Compare(a.Summary+"\x00"+a.Detail, b.Summary+"\x00"+b.Detail)
	})
	return sorted
}

func comparePlace(a, b *hcl.Range) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	case a.Filename != b.Filename:
		return strings.Compare(a.Filename, b.Filename)
	case a.Start.Byte != b.Start.Byte:
		return a.Start.Byte - b.Start.Byte
	}
	return a.End.Byte - b.End.Byte
}

// Diagnostics writes all diagnostics of a plan in order of position, each with
// summary, place, source and detail (PLN-02). The writer is our own: hcl's shows
// ten digits of a number and quotes values, and a plan's seeds have twenty and
// its values may be secret (PLN-07).
func Diagnostics(out *Output, diags hcl.Diagnostics, sources Sources) {
	for i, diag := range SortDiagnostics(diags) {
		if i > 0 {
			out.Printf("\n")
		}
		writeDiagnostic(out, diag, sources)
	}
}

func writeDiagnostic(out *Output, diag *hcl.Diagnostic, sources Sources) {
	label, style := "Error", red
	if diag.Severity == hcl.DiagWarning {
		label, style = "Warning", yellow
	}
	place := ""
	if diag.Subject != nil {
		place = Place(*diag.Subject) + ": "
	}
	out.Printf("%s%s: %s\n", out.paint(bold, place), out.paint(style, label), out.paint(bold, Line(diag.Summary)))
	if diag.Subject != nil && sources != nil {
		Snippet(out, *diag.Subject, sources(diag.Subject.Filename), style)
	}
	if diag.Detail != "" {
		for _, line := range wrap(Block(diag.Detail), max(40, out.Width()-2)) {
			out.Printf("%s\n", strings.TrimRight("  "+line, " "))
		}
	}
}

// Place is FILE:LINE:COLUMN as editors understand it. The column counts
// characters from 1.
func Place(r hcl.Range) string {
	return fmt.Sprintf("%s:%d:%d", Line(r.Filename), r.Start.Line, r.Start.Column)
}

// Snippet writes the lines of a range with the range underlined. It writes
// nothing when the source is unknown or too short for the range.
func Snippet(out *Output, r hcl.Range, source []byte, style string) {
	lines := strings.Split(string(source), "\n")
	if source == nil || r.Start.Line < 1 || r.Start.Line > len(lines) {
		return
	}
	last := min(r.End.Line, len(lines), r.Start.Line+maxSnippetLines-1)
	margin := len(strconv.Itoa(last))
	for number := r.Start.Line; number <= last; number++ {
		line := strings.TrimSuffix(lines[number-1], "\r")
		from, to := underlined(r, number, line)
		before, middle, after := shown(line[:from]), shown(line[from:to]), shown(line[to:])
		out.Printf("  %s %s\n", out.paint(faint, fmt.Sprintf("%*d │", margin, number)), before+middle+after)
		if marks := underline(before, middle); marks != "" {
			out.Printf("  %s %s\n", out.paint(faint, strings.Repeat(" ", margin)+" │"), out.paint(style, marks))
		}
	}
	if last < min(r.End.Line, len(lines)) {
		out.Printf("  %s\n", out.paint(faint, strings.Repeat(" ", margin)+" │ …"))
	}
}

// underlined gives the bytes of a line that belong to a range.
func underlined(r hcl.Range, number int, line string) (from, to int) {
	from, to = 0, len(line)
	lineStart := r.Start.Byte - byteColumn(line, r.Start.Column)
	if number == r.Start.Line {
		from = byteColumn(line, r.Start.Column)
	} else {
		from = len(line) - len(strings.TrimLeft(line, " \t"))
	}
	if number == r.End.Line && r.End.Line == r.Start.Line {
		to = r.End.Byte - lineStart
	} else if number == r.End.Line {
		to = byteColumn(line, r.End.Column)
	}
	from = min(max(from, 0), len(line))
	return from, min(max(to, from), len(line))
}

// byteColumn turns a column, counted in characters from 1, into a byte offset.
// hcl counts grapheme clusters, of which runes are a good and safe
// approximation: only the underline moves.
func byteColumn(line string, column int) int {
	count := 1
	for offset := range line {
		if count == column {
			return offset
		}
		count++
	}
	return len(line)
}

func underline(before, middle string) string {
	width := utf8.RuneCountInString(middle)
	if strings.TrimSpace(middle) == "" && before == "" {
		return ""
	}
	return strings.Repeat(" ", utf8.RuneCountInString(before)) + "^" + strings.Repeat("~", max(0, width-1))
}

// shown makes a piece of a source line safe. A tab becomes one space, which keeps
// the underline in place on any terminal.
func shown(text string) string { return Line(strings.ReplaceAll(text, "\t", " ")) }

// DiagnosticCount closes a list of diagnostics with how many there were.
func DiagnosticCount(out *Output, diags hcl.Diagnostics) {
	errors, warnings := CountDiagnostics(diags)
	counts := []string{}
	if errors > 0 {
		counts = append(counts, Count(errors, "error"))
	}
	if warnings > 0 {
		counts = append(counts, Count(warnings, "warning"))
	}
	out.Printf("\n%s\n", strings.Join(counts, ", "))
}
