package main

import (
	"context"

	"github.com/spf13/cobra"
)

type fmtFlags struct {
	check bool
	diff  bool
}

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

func (a *app) format(paths []string, flags fmtFlags) error {
	return errNotWired
}
