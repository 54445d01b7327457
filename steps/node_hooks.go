package steps

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/grill-plan/grill-plan/executor"
	"github.com/grill-plan/grill-plan/plan/compile"
	"github.com/grill-plan/grill-plan/plan/spec"
	"github.com/grill-plan/grill-plan/steps/hook"
	"github.com/grill-plan/grill-plan/steps/process"
)

func (r *Runner) runSwitch(ctx context.Context, work executor.Work) (executor.Result, error) {
	wanted, err := readSpec[spec.Switch](work.Node)
	if err != nil {
		return executor.Result{}, err
	}
	if err := hook.Switch(ctx, wanted, r.hookEnv(work)); err != nil {
		return executor.Result{}, interrupted(ctx, hookFailure(err))
	}
	return executor.Result{Outcome: "switched"}, nil
}

func (r *Runner) runRestore(ctx context.Context, work executor.Work) (executor.Result, error) {
	wanted, err := readSpec[spec.Restore](work.Node)
	if err != nil {
		return executor.Result{}, err
	}
	if err := hook.Restore(ctx, wanted, r.hookEnv(work)); err != nil {
		return executor.Result{}, interrupted(ctx, hookFailure(err))
	}
	return executor.Result{Outcome: "restored"}, nil
}

func hookFailure(err error) error {
	var coded *hook.Error
	if errors.As(err, &coded) {
		return &executor.Failure{Code: coded.Code, Err: coded.Err}
	}
	return err
}

func (r *Runner) hookEnv(work executor.Work) hook.Env {
	return hook.Env{
		Folder: r.Folder, Self: r.Self, Dir: work.Dir,
		Secrets: func(part, name string) (string, bool) { return r.hookSecret(work.Node.Address, part, name) },
		Progress: func(text string) {
			if work.Progress != nil {
				work.Progress(executor.Progress{Text: text})
			}
		},
	}
}

// hookSecret looks a sensitive variable of a hook up. Names of parts and hooks
// are the same words.
func (r *Runner) hookSecret(address, part, name string) (string, bool) {
	if r.Secrets == nil {
		return "", false
	}
	for _, entry := range r.Secrets.Env(address, compile.Part(part)) {
		if entry.Name == name {
			return entry.Value.Reveal(), true
		}
	}
	return "", false
}

// endHooks ends what a killed process left running of hooks that had not ended;
// what a hook that ended well started is a service and stays (PLN-26, PLN-31).
func (r *Runner) endHooks(ctx context.Context, dir string) error {
	for _, part := range []string{hook.SwitchHook, hook.ReadyHook, hook.VerifyHook, hook.RestoreHook} {
		if err := process.EndReserved(ctx, filepath.Join(dir, part)); err != nil {
			return err
		}
	}
	return nil
}
