package main

import (
	"context"

	"github.com/spf13/cobra"
)

func (a *app) newRestore() *cobra.Command {
	var flags planFlags
	cmd := &cobra.Command{
		Use:   "restore RUN",
		Short: "Runs the restore of whatever a run left switched",
		Long: `Runs the restore hooks of a run whose process ended before it could, and nothing
else. RUN is a run directory or the plan whose default run directory is meant.
Sensitive variables of the hooks have to be given again.`,
		Example: "  grill-plan run examples/plans/quickstart.hcl\n  grill-plan restore examples/plans/quickstart.hcl",
		Args:    exactArgs("RUN"),
		RunE: work(func(ctx context.Context, args []string) error {
			return a.restore(ctx, args[0], flags)
		}),
	}
	flags.add(cmd)
	return cmd
}

func (a *app) restore(ctx context.Context, path string, flags planFlags) error {
	return errNotWired
}
