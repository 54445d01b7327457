package view

import (
	"github.com/hashicorp/hcl/v2"
)

// DiagnosticJSON is one diagnostic in documents for programs. The names are
// those that users of plan tools know.
type DiagnosticJSON struct {
	Severity string     `json:"severity"` // error, warning
	Summary  string     `json:"summary"`
	Detail   string     `json:"detail,omitempty"`
	Range    *RangeJSON `json:"range,omitempty"`
}

// RangeJSON is a place in a plan file. Lines and columns count from 1, columns
// in characters; bytes count from 0.
type RangeJSON struct {
	Filename string  `json:"filename"`
	Start    PosJSON `json:"start"`
	End      PosJSON `json:"end"`
}

// PosJSON is one end of a range.
type PosJSON struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// DiagnosticsJSON gives diagnostics in order of position. It is never nil.
func DiagnosticsJSON(diags hcl.Diagnostics) []DiagnosticJSON {
	list := []DiagnosticJSON{}
	for _, diag := range SortDiagnostics(diags) {
		entry := DiagnosticJSON{Severity: "error", Summary: diag.Summary, Detail: diag.Detail}
		if diag.Severity == hcl.DiagWarning {
			entry.Severity = "warning"
		}
		if r := diag.Subject; r != nil {
			entry.Range = &RangeJSON{Filename: r.Filename, Start: position(r.Start), End: position(r.End)}
		}
		list = append(list, entry)
	}
	return list
}

func position(pos hcl.Pos) PosJSON {
	return PosJSON{Line: pos.Line, Column: pos.Column, Byte: pos.Byte}
}

// CountDiagnostics counts errors and warnings.
func CountDiagnostics(diags hcl.Diagnostics) (errors, warnings int) {
	for _, diag := range diags {
		if diag.Severity == hcl.DiagError {
			errors++
		} else {
			warnings++
		}
	}
	return errors, warnings
}
