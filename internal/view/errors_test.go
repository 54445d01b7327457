package view

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestErrorShowsHints(t *testing.T) {
	cause := WithHint(errors.New("no space left"), "Free space.")
	err := WithHint(fmt.Errorf("write x\x1b: %w", cause), "Run again.\nOr do not.")
	var text strings.Builder
	Error(NewOutput(&text, nil), err)
	want := "grill-plan: write x\\x1b: no space left\nhint: Run again.\n      Or do not.\nhint: Free space.\n"
	if text.String() != want {
		t.Errorf("got %q, want %q", text.String(), want)
	}
}

// A failed write sticks, so that a full disk is never taken for success.
func TestOutputKeepsFirstError(t *testing.T) {
	full := errors.New("no space left")
	for _, buffered := range []bool{false, true} {
		out := NewOutput(failing{full}, nil)
		if buffered {
			out.Buffer()
		}
		out.Printf("%s", strings.Repeat("x", 1<<17))
		out.Printf("y")
		if err := out.Flush(); !errors.Is(err, full) {
			t.Errorf("buffered %v: error is %v", buffered, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
