package steps

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/grill-plan/grill-plan/plan"
	"github.com/grill-plan/grill-plan/steps/program"
)

// describeMachine is the last section of a dry run: what the plan's programs
// are here, and what is missing. Missing things are no error, so that a plan
// can be reviewed anywhere (PLN-14).
func describeMachine(ctx context.Context, loaded *Loaded, evidence *big.Int) (*Machine, error) {
	machine := &Machine{Collector: loaded.Collector.SHA256, Programs: []MachineProgram{}}
	looker := &looker{loaded: loaded, machine: machine, seen: map[string]bool{}}
	for _, experiment := range loaded.Plan.Experiments {
		for _, side := range []*plan.Side{experiment.Reference, experiment.Candidate} {
			if err := looker.side(ctx, side); err != nil {
				return nil, err
			}
		}
		if experiment.Restore != nil {
			if err := looker.hook(ctx, *experiment.Restore); err != nil {
				return nil, err
			}
		}
	}
	looker.space(evidence)
	return machine, nil
}

// looker resolves each program and working directory of a plan once.
type looker struct {
	loaded   *Loaded
	machine  *Machine
	seen     map[string]bool
	programs program.Resolver
}

func (l *looker) side(ctx context.Context, side *plan.Side) error {
	runner := side.Runner.Document
	if runner.Server == nil {
		if err := l.program(ctx, runner.Program); err != nil {
			return err
		}
		if runner.Setup != nil && runner.Setup.Program != nil {
			if err := l.program(ctx, *runner.Setup.Program); err != nil {
				return err
			}
		}
		l.cwd(runner.Cwd)
	}
	hook := side.Deployment.Switch
	if hook == nil {
		return nil
	}
	hooks := []plan.Hook{hook.Hook}
	if hook.Ready != nil && hook.Ready.Hook != nil {
		hooks = append(hooks, *hook.Ready.Hook)
	}
	if hook.Verify != nil {
		hooks = append(hooks, hook.Verify.Hook)
	}
	for _, one := range hooks {
		if err := l.hook(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

func (l *looker) hook(ctx context.Context, hook plan.Hook) error {
	l.cwd(hook.Cwd)
	return l.program(ctx, hook.Program)
}

func (l *looker) program(ctx context.Context, declared string) error {
	if l.seen["program "+declared] {
		return nil
	}
	l.seen["program "+declared] = true
	found, err := l.programs.Resolve(ctx, l.loaded.Plan.Folder, declared, l.loaded.Self)
	var missing *program.Error
	switch {
	case errors.As(err, &missing):
		l.machine.Missing = append(l.machine.Missing, fmt.Sprintf("program %s: %v", declared, err))
		return nil
	case err != nil:
		return err
	}
	l.machine.Programs = append(l.machine.Programs, MachineProgram{Declared: declared, Resolved: found.ResolvedPath, SHA256: found.ResolvedSHA256})
	return nil
}

func (l *looker) cwd(cwd *string) {
	if cwd == nil || l.seen["cwd "+*cwd] {
		return
	}
	l.seen["cwd "+*cwd] = true
	if _, err := program.ResolveCwd(l.loaded.Plan.Folder, cwd); err != nil {
		l.machine.Missing = append(l.machine.Missing, fmt.Sprintf("cwd %s: %v", *cwd, err))
	}
}

// space warns when the evidence could be larger than what is free beside the
// plan (PLN-47). The free space itself is not shown: it changes from call to
// call, and equal inputs have to print equal bytes.
func (l *looker) space(evidence *big.Int) {
	free, ok := freeBytes(l.loaded.DefaultRunDir())
	if ok && evidence.Cmp(free) > 0 {
		l.machine.Missing = append(l.machine.Missing,
			fmt.Sprintf("free space: the evidence may take up to %s bytes, more than is free where the run directory would be", evidence))
	}
}

// freeBytes is what an ordinary user may still write on the file system that
// holds path or its nearest existing parent.
func freeBytes(path string) (*big.Int, bool) {
	for {
		if _, err := os.Lstat(path); err == nil {
			break
		}
		parent := filepath.Dir(path)
		if parent == path {
			return nil, false
		}
		path = parent
	}
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return nil, false
	}
	free := new(big.Int).SetUint64(uint64(stat.Bavail))
	return free.Mul(free, big.NewInt(int64(stat.Bsize))), true
}
