package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/internal/view"
	"github.com/grill-plan/grill-plan/steps"
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

// restore needs the plan for the values of sensitive variables and for where it
// lies; what is restored is what the run itself stored.
func (a *app) restore(ctx context.Context, path string, flags planFlags) error {
	run, err := a.openRun(ctx, path)
	if err != nil {
		return err
	}
	planPath := path
	if !looksLikePlan(path) || samePath(path, run.Dir) {
		planPath = steps.PlanPath(run.Dir)
	}
	lock, err := a.hostLock()
	if err != nil {
		return err
	}
	loaded, err := a.loadValid(ctx, planPath, flags)
	if err != nil {
		return err
	}
	ctx, release := a.interruptible(ctx, exitError, func(text string) { view.Note(a.err, text) })
	defer release()
	results, err := steps.RestoreLeft(ctx, steps.RunInput{Loaded: loaded, HostLock: lock, RunDir: run.Dir})
	if err != nil {
		return err
	}
	if len(results) == 0 {
		a.out.Printf("nothing was left switched\n")
	}
	failed := false
	for _, result := range results {
		a.out.Printf("%s: %s\n", view.Line(result.Address), result.State)
		if result.Err != nil {
			view.Error(a.err, fmt.Errorf("%s: %w", result.Address, result.Err))
			failed = true
		}
	}
	if failed {
		return exitWith(exitError)
	}
	return nil
}

func samePath(a, b string) bool {
	left, err := filepath.Abs(a)
	return err == nil && left == b
}
