package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/internal/view"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

func (a *app) newInspect() *cobra.Command {
	return &cobra.Command{
		Use:   "inspect CAPTURE",
		Short: "Verifies one capture again and prints its figures",
		Long: `Reads a capture directory, verifies everything in it, recomputes what can be
recomputed, and prints JSON. It starts nothing and needs neither the runner nor
the place where the capture was made. Only a consistent, complete capture exits 0.`,
		Example: "  grill-plan run examples/plans/quickstart.hcl\n" +
			"  grill-plan media inspect " + quickstartNodes + ".capture.a/attempt-1",
		Args: exactArgs("CAPTURE"),
		RunE: work(func(ctx context.Context, args []string) error {
			return a.inspect(ctx, args[0])
		}),
	}
}

func (a *app) inspect(ctx context.Context, dir string) error {
	result, err := inspectCapture(ctx, dir)
	if err != nil {
		return err
	}
	document, err := inspect.Describe(result).JSON()
	if err != nil {
		return err
	}
	_, _ = a.out.Write(document) // a write error is found by conclude
	if status := result.Completion.Status; status != evidence.Complete {
		view.Error(a.err, view.WithHint(fmt.Errorf("inspect %s: the capture is %s and not complete", dir, status), captureAgain))
		return exitWith(exitError)
	}
	return nil
}

// captureAgain is what to do about a capture that is no use: a record is never
// edited.
const captureAgain = "Use an untouched copy of the capture, or capture the slot again into a new directory."

func inspectCapture(ctx context.Context, dir string) (*inspect.Result, error) {
	result, err := inspect.Inspect(ctx, dir)
	if err != nil {
		return nil, view.WithHint(fmt.Errorf("inspect %s: %w", dir, err), captureAgain)
	}
	return result, nil
}
