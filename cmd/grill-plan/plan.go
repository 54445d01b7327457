package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/internal/view"
	"github.com/grill-plan/grill-plan/plan/graph"
	"github.com/grill-plan/grill-plan/steps"
)

type planCommandFlags struct {
	planFlags
	out      string
	graph    string
	portable bool
	json     bool
}

func (a *app) newPlan() *cobra.Command {
	var flags planCommandFlags
	cmd := &cobra.Command{
		Use:   "plan PLAN [--out RUN] [--graph dot|mermaid] [--portable]",
		Short: "Shows what a run would do and why; starts nothing",
		Long: `Shows every node of a plan in order, what each would run, how long it may take at
most and how much evidence it may write. Against an existing run directory it
says what is reused, what is redone, and which attribute is the reason.

The last section is about this machine: program hashes, and what is missing here.
--portable leaves it out, so that the output is the same everywhere and can be
committed and compared. Nothing is started or written.

The output holds prompts and paths: look it over before you pass it on.`,
		Example:           "  grill-plan plan examples/plans/quickstart.hcl",
		Args:              exactArgs("PLAN"),
		ValidArgsFunction: completePlan,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(cmd); err != nil {
				return err
			}
			return a.plan(cmd.Context(), args[0], flags)
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&flags.out, "out", "", "compare with run directory `RUN` (default grill-runs/NAME beside the plan)")
	cmd.Flags().StringVar(&flags.graph, "graph", "", "print the graph only, as `dot` or mermaid")
	cmd.Flags().BoolVar(&flags.portable, "portable", false, "leave out what depends on this machine")
	cmd.Flags().BoolVar(&flags.json, "json", false, "print one JSON document")
	return cmd
}

// check rejects what the flags cannot mean together.
func (f *planCommandFlags) check(cmd *cobra.Command) error {
	switch f.graph {
	case "", "dot", "mermaid":
	default:
		return usageError(`Give "dot" or "mermaid".`, "%s--graph cannot be %q", prefix(cmd), f.graph)
	}
	if f.graph != "" && f.json {
		return usageError("Leave out one of them.", "%s--graph and --json are two forms of output", prefix(cmd))
	}
	return nil
}

func (a *app) plan(ctx context.Context, path string, flags planCommandFlags) error {
	loaded, err := a.loadValid(ctx, path, flags.planFlags)
	if err != nil {
		return err
	}
	switch flags.graph {
	case "dot":
		return graph.WriteDOT(a.out, loaded.Compiled.Graph)
	case "mermaid":
		return graph.WriteMermaid(a.out, loaded.Compiled.Graph)
	}
	dry, err := steps.Dry(ctx, steps.DryRunInput{Loaded: loaded, RunDir: flags.out, Portable: flags.portable})
	if err != nil {
		return err
	}
	if flags.json {
		return a.printJSON(dry)
	}
	view.Plan(a.out, dry)
	return nil
}
