package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/internal/view"
)

// invocation is everything that comes from outside.
type invocation struct {
	args    []string // without the program's name
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	environ []string // NAME=VALUE
	// exit ends the process at once; used by the second interrupt only.
	exit func(code int)
}

// app is one invocation under way.
type app struct {
	invocation
	out *view.Output // results
	err *view.Output // everything else
}

// run carries out one invocation and gives its exit status. It does not panic on
// any arguments and gives 2 only where a verdict is INCONCLUSIVE (PRE-04).
func run(ctx context.Context, in invocation) int {
	a := &app{
		invocation: in,
		out:        view.NewOutput(in.stdout, in.environ).Buffer(),
		err:        view.NewOutput(in.stderr, in.environ),
	}
	if a.exit == nil {
		a.exit = func(int) {}
	}
	root := a.newRoot()
	if in.args == nil {
		in.args = []string{} // nil would make cobra read the process's own
	}
	root.SetArgs(in.args)
	return a.conclude(root.ExecuteContext(ctx))
}

// conclude turns the error of a command into text and an exit status.
func (a *app) conclude(err error) int {
	code := exitOK
	var ended *exitStatus
	switch {
	case err == nil:
	case errors.As(err, &ended):
		code = ended.code
	default:
		view.Error(a.err, err)
		code = exitError
	}
	if err := a.out.Flush(); err != nil {
		// Whatever the result was, nobody could read it.
		view.Error(a.err, view.WithHint(fmt.Errorf("write to standard output: %w", err),
			"Free space or keep the reading end open, then run the command again."))
		return exitError
	}
	return code
}

// work adapts the work of a command to cobra.
func work(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error { return do(cmd.Context(), args) }
}

// printJSON writes one JSON document, indented for people who look at it.
func (a *app) printJSON(document any) error {
	encoder := json.NewEncoder(a.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil && a.out.Err() == nil {
		return fmt.Errorf("encode result: %w", err)
	}
	return nil // a write error is found by conclude
}
