package view

import (
	"errors"
	"strings"
)

// Program is the name that begins each error line.
const Program = "grill-plan"

// Hint is an error with what to do about it.
type Hint struct {
	Err error
	// Do is one sentence in the imperative, or several lines of them.
	Do string
}

func (h *Hint) Error() string { return h.Err.Error() }

// Unwrap gives the error that the hint is about.
func (h *Hint) Unwrap() error { return h.Err }

// WithHint attaches what to do to an error; nil stays nil.
func WithHint(err error, do string) error {
	if err == nil {
		return nil
	}
	return &Hint{Err: err, Do: do}
}

// Error writes an error and its hints, outermost first (output rule 2).
func Error(out *Output, err error) {
	text := strings.TrimRight(Block(err.Error()), "\n")
	out.Printf("%s: %s\n", out.paint(red, Program), strings.ReplaceAll(text, "\n", "\n  "))
	for err != nil {
		var hint *Hint
		if !errors.As(err, &hint) {
			return
		}
		writeHint(out, hint.Do)
		err = hint.Err
	}
}

// Hints writes what to do when there is no error to go with it.
func Hints(out *Output, text string) { writeHint(out, text) }

func writeHint(out *Output, text string) {
	for i, line := range strings.Split(Block(text), "\n") {
		label := "hint: "
		if i > 0 {
			label = "      "
		}
		out.Printf("%s%s\n", out.paint(cyan, label), line)
	}
}

// Note writes one line that is neither result nor error, such as where
// something was written.
func Note(out *Output, text string) { out.Printf("%s\n", Line(text)) }
