package steps

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/grill-plan/grill-plan/plan"
)

// MissingHooksError names hook programs that are not here. It stops a run before
// any effect: a switch that cannot start would be found only after the slots
// before it were measured (PLN-14).
type MissingHooksError struct{ Missing []string }

func (e *MissingHooksError) Error() string {
	return "nothing was started, since these programs of hooks are missing here:\n  " + strings.Join(e.Missing, "\n  ")
}

// checkHooks resolves every hook program of the experiments that are to run.
func (r *Runner) checkHooks(ctx context.Context, read *plan.Plan, only []string) error {
	missing := &MissingHooksError{}
	for _, experiment := range read.Experiments {
		if len(only) > 0 && !slices.Contains(only, experiment.Address) {
			continue
		}
		for _, named := range hooksOf(experiment) {
			if _, err := r.programs.Resolve(ctx, r.Folder, named.program, r.Self); err != nil {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				text := fmt.Sprintf("%s of %s: %v", named.what, experiment.Address, err)
				if !slices.Contains(missing.Missing, text) {
					missing.Missing = append(missing.Missing, text)
				}
			}
		}
	}
	if len(missing.Missing) > 0 {
		return missing
	}
	return nil
}

// namedHook is a hook's program with what it is there for.
type namedHook struct{ what, program string }

func hooksOf(experiment *plan.Experiment) []namedHook {
	var hooks []namedHook
	for _, side := range []*plan.Side{experiment.Reference, experiment.Candidate} {
		change := side.Deployment.Switch
		if change == nil {
			continue
		}
		hooks = append(hooks, namedHook{"switch", change.Hook.Program})
		if change.Ready != nil && change.Ready.Hook != nil {
			hooks = append(hooks, namedHook{"ready", change.Ready.Hook.Program})
		}
		if change.Verify != nil {
			hooks = append(hooks, namedHook{"verify", change.Verify.Hook.Program})
		}
	}
	if experiment.Restore != nil {
		hooks = append(hooks, namedHook{"restore", experiment.Restore.Program})
	}
	return hooks
}
