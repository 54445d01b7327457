package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/internal/view"
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
			return a.request(ctx, args[0], checkpoint.StopRequest, "stops after the slot that is being captured")
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
			return a.request(ctx, args[0], checkpoint.CancelRequest, "ends now")
		}),
	}
}

// request leaves word for the process that works on a run and does not wait for
// it: how it ended is said, and returned, where it runs.
func (a *app) request(ctx context.Context, path, kind, what string) error {
	run, err := a.openRun(ctx, path)
	if err != nil {
		return err
	}
	holder, err := checkpoint.Request(run.Dir, kind)
	if errors.Is(err, checkpoint.ErrNotRunning) {
		return view.WithHint(err, "There is nothing to end. \"grill-plan status\" shows how far the run is.")
	}
	if err != nil {
		return err
	}
	a.out.Printf("%s %s\n", view.Line(holder.String()), what)
	return nil
}
