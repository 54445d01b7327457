// Package view turns results, diagnostics and progress into text for people.
//
// It owns layout, colour and escaping, and decides nothing: no exit codes, no
// flags, no files.
//
// Output rules, which hold for every function here:
//
//  1. Standard output carries the result of a command and nothing else; whoever
//     pipes it gets no hints, no progress and no warnings. Those go to standard
//     error.
//  2. An error says what went wrong in one line beginning with the program's
//     name, and, where there is one, what to do in a line beginning with "hint:".
//  3. Colour and live redrawing appear only on a terminal, never when NO_COLOR is
//     set or TERM is dumb. Nothing is said by colour alone.
//  4. Whatever did not come from this program's own text (plans, paths, names,
//     what children printed) passes through [Line] or [Block]: it cannot move the
//     cursor, forge a line or turn the reading direction (PRV-05, trust
//     boundaries).
//  5. The same input gives the same bytes: no clock readings, no map order.
//     Widths are those of the terminal, or 100 columns elsewhere. Only live
//     progress is exempt.
//  6. Numbers keep every digit. Units are written out or stand in the heading.
package view

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// defaultWidth is the width where there is no terminal to ask.
const defaultWidth = 100

// Output is one of the two streams of the program. Its first write error sticks
// and is found by Err, so that a full disk or a closed pipe is never taken for
// success.
type Output struct {
	w        io.Writer
	terminal *os.File // nil elsewhere
	live     bool     // lines can be drawn again
	color    bool
	buffer   *bufio.Writer // nil: each write goes out at once
	err      error
}

// NewOutput looks once whether w is a terminal and what the environment says of
// colour. environ holds NAME=VALUE strings.
func NewOutput(w io.Writer, environ []string) *Output {
	out := &Output{w: w}
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		out.terminal = file
	}
	out.live = out.terminal != nil && lookup(environ, "TERM") != "dumb"
	out.color = out.live && lookup(environ, "NO_COLOR") == ""
	return out
}

// Buffer makes the output collect what is written until Flush. It is for results
// of many lines that nobody watches line by line.
func (out *Output) Buffer() *Output {
	out.buffer = bufio.NewWriterSize(out.w, 1<<16)
	out.w = out.buffer
	return out
}

// Flush sends out what was collected and gives the first error of any write.
func (out *Output) Flush() error {
	if out.buffer != nil && out.err == nil {
		out.err = out.buffer.Flush()
	}
	return out.err
}

func lookup(environ []string, name string) string {
	value := ""
	for _, entry := range environ {
		if rest, ok := strings.CutPrefix(entry, name+"="); ok {
			value = rest // the last one counts, as in os/exec
		}
	}
	return value
}

// Live says whether lines already written can be drawn again.
func (out *Output) Live() bool { return out.live }

// Err is the first error of a write, nil if all went well.
func (out *Output) Err() error { return out.err }

// Write makes Output an io.Writer; bytes pass as they are.
func (out *Output) Write(data []byte) (int, error) {
	if out.err != nil {
		return 0, out.err
	}
	n, err := out.w.Write(data)
	out.err = err
	return n, err
}

// Printf writes text of this program's own; arguments from elsewhere have been
// through Line or Block.
func (out *Output) Printf(format string, args ...any) {
	fmt.Fprintf(out, format, args...) // the error sticks in out
}

// Width is the number of columns of the terminal, asked anew on each call since
// people resize windows.
func (out *Output) Width() int {
	if out.terminal != nil {
		if width, _, err := term.GetSize(int(out.terminal.Fd())); err == nil && width > 20 {
			return width
		}
	}
	return defaultWidth
}

// styles, as SGR parameters.
const (
	bold   = "1"
	red    = "1;31"
	green  = "1;32"
	yellow = "1;33"
	cyan   = "1;36"
	faint  = "2"
)

func (out *Output) paint(style, text string) string {
	if !out.color || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}
