package document

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/grill-plan/grill-plan/internal/strictjson"
)

// Bounds of strings in bytes.
const (
	maxNameBytes   = 64     // DOC-12
	maxPromptBytes = 16_384 // DOC-19
	maxPlainBytes  = 4_096  // DOC-49, DOC-50, DOC-53, SPH-02, SPH-03
)

// unlimited is the upper end where a source names none.
const unlimited = math.MaxUint64

// ValidName says whether a text is a name or id (DOC-12).
func ValidName(name string) bool {
	if name == "" || len(name) > maxNameBytes {
		return false
	}
	for _, c := range []byte(name) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func nameForm(at place, v *strictjson.Value) {
	if !ValidName(v.Str) {
		at.report(v.Offset, "DOC-12", "is no name; admitted: 1 to 64 of A-Z a-z 0-9 . _ -")
	}
}

func oneOf(rule string, admitted ...string) check {
	return func(at place, v *strictjson.Value) {
		if !slices.Contains(admitted, v.Str) {
			at.report(v.Offset, rule, "is %s; admitted: %s%s", shown(v.Str), quoteList(admitted), suggestion(v.Str, admitted))
		}
	}
}

// plain admits min to max bytes without control characters.
func plain(rule string, min, max int) check {
	return func(at place, v *strictjson.Value) {
		checkLength(at, v, rule, min, max)
		if strings.ContainsFunc(v.Str, unicode.IsControl) {
			at.report(v.Offset, rule, "holds a control character; none is admitted, line feed and tab included")
		}
	}
}

// verbatim admits everything that can be passed to a program: min to max bytes
// without NUL (DOC-42).
func verbatim(rule string, min, max int) check {
	return func(at place, v *strictjson.Value) {
		checkLength(at, v, rule, min, max)
		if strings.ContainsRune(v.Str, 0) {
			at.report(v.Offset, "DOC-42", "holds a NUL byte, which no program can be given")
		}
	}
}

func checkLength(at place, v *strictjson.Value, rule string, min, max int) {
	switch n := len(v.Str); {
	case n == 0 && min == 1:
		at.report(v.Offset, rule, "is empty; at least one byte is required")
	case n < min || n > max:
		b := bound{min: uint64(min), max: uint64(max)}
		at.report(v.Offset, rule, "is %d bytes long; admitted: %s", n, b.text())
	}
}

func sha256Form(at place, v *strictjson.Value) {
	digits := strings.Trim(v.Str, "0123456789abcdef")
	if len(v.Str) != 64 || digits != "" {
		at.report(v.Offset, "DOC-50", "is no SHA-256; admitted: 64 lowercase hexadecimal characters")
	}
}

// characters counts Unicode scalar values (SPH-05).
func characters(text string) int { return utf8.RuneCountInString(text) }
