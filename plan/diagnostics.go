package plan

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// diagnostics collects what is wrong with a plan. The same words at the same
// place are kept once, and of the instances of a for_each block only the first
// that goes wrong in some way at some place speaks.
type diagnostics struct {
	list  hcl.Diagnostics
	exact map[exactKey]bool
	spot  map[spotKey]string // the instance that reported it
	// instance is the for_each key being worked on, "" for none.
	instance string
}

type spotKey struct {
	at      hcl.Range
	summary string
}

type exactKey struct {
	spotKey
	detail string
}

func newDiagnostics() *diagnostics {
	return &diagnostics{exact: map[exactKey]bool{}, spot: map[spotKey]string{}}
}

func (d *diagnostics) count() int { return len(d.list) }

// errorAt reports an error at a place. The summary is a fixed text without user
// data; the detail says what is wrong and what to do.
func (d *diagnostics) errorAt(at hcl.Range, summary, format string, args ...any) {
	d.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &at})
}

// errorNowhere reports an error that no file holds, such as an unknown --var.
func (d *diagnostics) errorNowhere(summary, format string, args ...any) {
	d.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...)})
}

func (d *diagnostics) add(diag *hcl.Diagnostic) {
	spot := spotKey{summary: diag.Summary}
	if diag.Subject != nil {
		spot.at = *diag.Subject
	}
	if d.exact[exactKey{spot, diag.Detail}] {
		return
	}
	if first, seen := d.spot[spot]; seen && first != d.instance {
		return
	}
	d.exact[exactKey{spot, diag.Detail}] = true
	d.spot[spot] = d.instance
	if d.instance != "" {
		diag.Detail += fmt.Sprintf(" (In the instance %s.)", d.instance)
	}
	d.list = append(d.list, diag)
}

// addSyntax adds diagnostics of the parser: of several invalid lines of one
// unclosed quote only the first says anything.
func (d *diagnostics) addSyntax(found hcl.Diagnostics) {
	last := ""
	for _, diag := range found {
		if diag.Summary == "Invalid multi-line string" && last == diag.Summary {
			continue
		}
		last = diag.Summary
		d.add(plain(diag))
	}
}

// plain strips what a stock writer would print values from.
func plain(diag *hcl.Diagnostic) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: diag.Severity, Summary: diag.Summary, Detail: diag.Detail, Subject: diag.Subject, Context: diag.Context}
}

// sorted gives everything by file, position and text, with sensitive values
// struck out of every text: errors of library functions quote their arguments.
func (d *diagnostics) sorted(secrets []string) hcl.Diagnostics {
	for _, diag := range d.list {
		diag.Detail = maskText(diag.Detail, secrets)
	}
	slices.SortStableFunc(d.list, compareDiagnostics)
	return d.list
}

func compareDiagnostics(a, b *hcl.Diagnostic) int {
	if c := comparePlaces(a.Subject, b.Subject); c != 0 {
		return c
	}
	return strings.Compare(a.Summary+"\x00"+a.Detail, b.Summary+"\x00"+b.Detail)
}

// comparePlaces orders by file and position; what has no place comes first,
// since it concerns the call and not a file.
func comparePlaces(a, b *hcl.Range) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	case a.Filename != b.Filename:
		return strings.Compare(a.Filename, b.Filename)
	case a.Start.Byte != b.Start.Byte:
		return a.Start.Byte - b.Start.Byte
	}
	return a.End.Byte - b.End.Byte
}

// minMasked is the length from which a value is struck out of texts. Striking
// out a shorter one would show it by the gaps in fixed words; details in which a
// sensitive value takes part are withheld anyway.
const minMasked = 4

// maskText replaces sensitive values by the mask, longer ones first so that one
// inside another leaves no rest. Summaries are fixed texts and need none.
func maskText(text string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) >= minMasked {
			text = strings.ReplaceAll(text, secret, Masked)
		}
	}
	return text
}

// shortPlace is file and line for the detail of a diagnostic about another
// place; the file without its folder, which the reader is in anyway.
func shortPlace(at hcl.Range) string {
	return fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Start.Line)
}
