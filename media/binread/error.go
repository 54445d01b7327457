package binread

import "fmt"

// Kind says what sort of refusal an Error is.
type Kind string

const (
	// Truncated: the bytes end before something that was declared.
	Truncated Kind = "truncated"
	// Malformed: the bytes are there and contradict the format or each other.
	Malformed Kind = "malformed"
	// Unsupported: a form of the format that the contract leaves out.
	Unsupported Kind = "unsupported"
)

// Error is the refusal of a file. Code is a stable lower_snake_case reason
// that programs may compare; Message is for people and may change. Offset is
// the byte of the file where the offending item starts.
//
// A failed read of the source is never an Error: it says nothing about the
// bytes.
type Error struct {
	Kind    Kind
	Code    string
	Offset  int64
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s at byte %d (%s)", e.Message, e.Offset, e.Code)
}
