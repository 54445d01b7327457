package main

import (
	"context"

	"github.com/spf13/cobra"
)

type validateFlags struct {
	planFlags
	json bool
}

func (a *app) newValidate() *cobra.Command {
	var flags validateFlags
	cmd := &cobra.Command{
		Use:   "validate PLAN",
		Short: "Reads and checks a plan; starts nothing",
		Long: `Reads a plan, a file or a folder of .hcl files, and checks all of it. Every error
is shown, each with its place in the file. Nothing is started or written.

Warnings do not change the exit code: 0 when there is no error, 1 otherwise.`,
		Example:           "  grill-plan validate examples/plans/quickstart.hcl",
		Args:              exactArgs("PLAN"),
		ValidArgsFunction: completePlan,
		RunE: work(func(ctx context.Context, args []string) error {
			return a.validate(ctx, args[0], flags)
		}),
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&flags.json, "json", false, "print one JSON document")
	return cmd
}

func (a *app) validate(ctx context.Context, path string, flags validateFlags) error {
	return errNotWired
}
