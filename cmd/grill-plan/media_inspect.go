package main

import (
	"context"

	"github.com/spf13/cobra"
)

func (a *app) newInspect() *cobra.Command {
	return &cobra.Command{
		Use:   "inspect CAPTURE",
		Short: "Verifies one capture again and prints its figures",
		Long: `Reads a capture directory, verifies everything in it, recomputes what can be
recomputed, and prints JSON. It starts nothing and needs neither the runner nor
the place where the capture was made. Only a consistent, complete capture exits 0.`,
		Example: "  grill-plan run examples/plans/quickstart.hcl\n" +
			"  grill-plan media inspect " + quickstartNodes + "/capture.a/attempt-1",
		Args: exactArgs("CAPTURE"),
		RunE: work(func(ctx context.Context, args []string) error {
			return a.inspect(ctx, args[0])
		}),
	}
}

func (a *app) inspect(ctx context.Context, dir string) error {
	return errNotWired
}
