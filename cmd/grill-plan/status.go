package main

import (
	"context"

	"github.com/spf13/cobra"
)

type statusFlags struct {
	json bool
}

func (a *app) newStatus() *cobra.Command {
	var flags statusFlags
	cmd := &cobra.Command{
		Use:   "status RUN",
		Short: "Shows how far a run is; also while it goes on",
		Long: `Shows each node's state, attempt and time spent. RUN is a run directory or the
plan whose default run directory is meant. Reading it disturbs nothing.`,
		Example: "  grill-plan run examples/plans/quickstart.hcl\n  grill-plan status examples/plans/quickstart.hcl",
		Args:    exactArgs("RUN"),
		RunE: work(func(ctx context.Context, args []string) error {
			return a.status(ctx, args[0], flags)
		}),
	}
	cmd.Flags().BoolVar(&flags.json, "json", false, "print one JSON document")
	return cmd
}

func (a *app) status(ctx context.Context, path string, flags statusFlags) error {
	return errNotWired
}
