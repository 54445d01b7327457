package main

import (
	"bytes"
	"context"
	"errors"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/internal/view"
)

// standardInput is the PATH that means it, and the name it has in messages.
const (
	standardInput     = "-"
	standardInputName = "<stdin>"
)

type fmtFlags struct {
	check bool
	diff  bool
}

func (f fmtFlags) writes() bool { return !f.check && !f.diff }

func (a *app) newFmt() *cobra.Command {
	var flags fmtFlags
	cmd := &cobra.Command{
		Use:   "fmt [--check] [--diff] PATH...",
		Short: "Brings plan files into canonical form",
		Long: `Rewrites .hcl files in canonical form and names those it changed. A folder stands
for the .hcl files in it; "-" reads standard input and prints the result.

With --check or --diff nothing is written: --check exits 1 when a file is not in
canonical form, --diff shows what would change. A file that does not parse is
left as it is and exits 1.`,
		Example: "  grill-plan fmt --check --diff examples/plans/quickstart.hcl",
		Args:    atLeastOne("PATH (\"-\" is standard input)"),
		RunE: work(func(_ context.Context, args []string) error {
			return a.format(args, flags)
		}),
	}
	cmd.Flags().BoolVar(&flags.check, "check", false, "write nothing; exit 1 when a file is not in canonical form")
	cmd.Flags().BoolVar(&flags.diff, "diff", false, "write nothing; show what would change")
	return cmd
}

// format goes on after a bad file, so that one run shows all of them.
func (a *app) format(paths []string, flags fmtFlags) error {
	code := exitOK
	for _, path := range paths {
		files, err := planFiles(path)
		if err != nil {
			view.Error(a.err, err)
			code = exitError
			continue
		}
		for _, file := range files {
			changed, err := a.formatFile(file, flags)
			if err != nil {
				a.showFormatError(err)
				code = exitError
			} else if changed && flags.check {
				code = exitError
			}
		}
	}
	return exitWith(code)
}

// formatFile brings one file into canonical form or shows what would change.
func (a *app) formatFile(path string, flags fmtFlags) (changed bool, err error) {
	name := path
	if path == standardInput {
		name = standardInputName
	}
	source, err := readPlanFile(path, a.stdin)
	if err != nil {
		return false, err
	}
	formatted, err := formatSource(name, source)
	if err != nil {
		return false, err
	}
	changed = !bytes.Equal(source, formatted)
	if flags.writes() && path == standardInput {
		_, _ = a.out.Write(formatted) // a write error is found by conclude
		return changed, nil
	}
	if !changed {
		return false, nil
	}
	if flags.writes() {
		if err := replaceFile(path, formatted); err != nil {
			return false, err
		}
	}
	if flags.diff {
		view.Diff(a.out, diff.Diff(name, source, name+" (canonical)", formatted))
	} else {
		view.Note(a.out, name)
	}
	return true, nil
}

func (a *app) showFormatError(err error) {
	var syntax *syntaxError
	if !errors.As(err, &syntax) {
		view.Error(a.err, err)
		return
	}
	view.Diagnostics(a.err, syntax.diags, func(string) []byte { return syntax.source })
}
