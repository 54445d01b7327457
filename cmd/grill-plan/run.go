package main

import (
	"context"

	"github.com/spf13/cobra"
)

type runFlags struct {
	planFlags
	out      string
	only     []string
	redo     []string
	replan   bool
	verify   bool
	fresh    bool
	takeOver bool
	backend  string
	detach   bool
	json     bool
}

func (a *app) newRun() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run PLAN [--out RUN]",
		Short: "Runs a plan, or goes on with it",
		Long: `Runs a plan and gives its verdict. The same command goes on after an interruption:
what is finished is not done again. The first Ctrl-C ends the current sample, runs
the plan's restore and says how to go on; the second ends at once.

When the plan or a program has changed so that finished measurements would be
discarded, run names them with the reasons and stops until --replan is given.
Nothing finished is ever deleted.`,
		Annotations:       map[string]string{verdictCommand: ""},
		Example:           "  grill-plan run examples/plans/quickstart.hcl",
		Args:              exactArgs("PLAN"),
		ValidArgsFunction: completePlan,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(cmd); err != nil {
				return err
			}
			return a.runPlan(cmd.Context(), args[0], flags)
		},
	}
	flags.add(cmd)
	set := cmd.Flags()
	set.StringVar(&flags.out, "out", "", "keep the evidence in `RUN` (default grill-runs/NAME beside the plan)")
	set.StringArrayVar(&flags.only, "only", nil, "run `EXPERIMENT` and what it depends on; exits 4 while others are unfinished; may be repeated")
	set.StringArrayVar(&flags.redo, "redo", nil, "make a new attempt of the node at `ADDRESS` and of what follows it; may be repeated")
	set.BoolVar(&flags.replan, "replan", false, "redo finished measurements that no longer fit the plan")
	set.BoolVar(&flags.verify, "verify", false, "hash everything that is reused, whatever its modification time says")
	set.BoolVar(&flags.fresh, "new", false, "measure again in NAME-2, NAME-3, ...")
	set.BoolVar(&flags.takeOver, "take-over", false, "go on although a holder on another machine cannot be examined")
	set.StringVar(&flags.backend, "backend", "", "place nodes by `BACKEND`; none is in this version")
	set.BoolVar(&flags.detach, "detach", false, "leave the run to a backend; none is in this version")
	set.BoolVar(&flags.json, "json", false, "print one JSON document")
	return cmd
}

// check rejects what this version does not have and what cannot go together.
func (f *runFlags) check(cmd *cobra.Command) error {
	switch {
	case cmd.Flags().Changed("backend"):
		return notInThisVersion("--backend", "Leave it out: every node runs on this machine.")
	case f.detach:
		return notInThisVersion("--detach", "Leave it out, or start grill-plan under a program that keeps it running.")
	case f.fresh && f.out != "":
		return usageError("Leave out one of them.", "%s--new chooses the run directory and --out names it", prefix(cmd))
	case f.fresh && (len(f.redo) > 0 || f.replan || f.takeOver):
		return usageError("Leave out --new to go on with the existing run.",
			"%s--new begins another run, in which there is nothing to redo, replan or take over", prefix(cmd))
	}
	return nil
}

func (a *app) runPlan(ctx context.Context, path string, flags runFlags) error {
	if _, err := a.loadValid(ctx, path, flags.planFlags); err != nil {
		return err
	}
	return errNotWired
}
