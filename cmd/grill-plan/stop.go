package main

import (
	"context"

	"github.com/spf13/cobra"
)

func (a *app) newStop() *cobra.Command {
	return &cobra.Command{
		Use:   "stop RUN",
		Short: "Ends a run after the slot that is being captured",
		Long: `Asks the process that works on a run to finish the slot it is capturing, run the
plan's restore and end with exit code 4. Nothing has to be repeated afterwards.
RUN is a run directory or the plan whose default run directory is meant.`,
		Example: "  grill-plan run examples/plans/quickstart.hcl --out stopped &\n  sleep 3; grill-plan stop stopped",
		Args:    exactArgs("RUN"),
		RunE: work(func(ctx context.Context, args []string) error {
			return a.stop(ctx, args[0])
		}),
	}
}

func (a *app) newCancel() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel RUN",
		Short: "Ends a run now",
		Long: `Asks the process that works on a run to end the current sample, run the plan's
restore and end with exit code 4. The slot it was capturing is captured again by
the next run. RUN is a run directory or the plan whose default run directory is
meant.`,
		Example: "  grill-plan run examples/plans/quickstart.hcl --out cancelled &\n  sleep 3; grill-plan cancel cancelled",
		Args:    exactArgs("RUN"),
		RunE: work(func(ctx context.Context, args []string) error {
			return a.cancel(ctx, args[0])
		}),
	}
}

func (a *app) stop(ctx context.Context, path string) error   { return errNotWired }
func (a *app) cancel(ctx context.Context, path string) error { return errNotWired }
