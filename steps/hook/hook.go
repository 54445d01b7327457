// Package hook carries out what stands beside the measurements: the program that
// switches a deployment, the wait until it is ready, the proof that it is the
// right one, and the program that restores the host (PLN-30 to PLN-34).
//
// It owns deadlines, polling and what a failure shows. It does not decide when a
// switch is needed. Invariant: a nil error of Switch means that the program
// ended well, that ready was seen, and that verify printed exactly what was
// expected. Values of secrets reach the child only; excerpts in errors show a
// mask in their place (PLN-07).
package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/grill-plan/grill-plan/internal/durable"
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/plan/spec"
	"github.com/grill-plan/grill-plan/steps/evidence"
)

// Env is what hooks need beside their spec.
type Env struct {
	// Folder is what paths resolve against and where programs without a cwd run
	// (PLN-39).
	Folder string
	// Self is the path of the running executable, for programs named self:.
	Self string
	// Secrets gives the value of a sensitive variable of one of the hooks
	// SwitchHook, ReadyHook, VerifyHook and RestoreHook.
	Secrets func(hook, name string) (string, bool)
	// Dir is an existing folder for what the hooks print and for the records by
	// which a killed process's children are found (PLN-26).
	Dir string
	// Progress, if set, is told what is being waited for.
	Progress func(text string)
}

// Hooks, and the folders of Dir that hold what they print.
const (
	SwitchHook  = "switch"
	ReadyHook   = "ready"
	VerifyHook  = "verify"
	RestoreHook = "restore"
)

// Error is a failure with a stable reason code. A hook that was cancelled gives
// the cause of its context instead.
type Error struct {
	Code string
	Err  error
}

func (e *Error) Error() string { return e.Code + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Codes of failures. A code of a hook is its name and one of the endings.
const (
	SwitchFailed    = "switch_failed"
	SwitchDeadline  = "switch_deadline"
	ReadyFailed     = "ready_failed" // its program cannot be started
	ReadyDeadline   = "ready_deadline"
	VerifyFailed    = "verify_failed"
	VerifyDeadline  = "verify_deadline"
	VerifyMismatch  = "verify_mismatch"
	RestoreFailed   = "restore_failed"
	RestoreDeadline = "restore_deadline"
)

// streamLimit is what is kept of each stream of a hook, in bytes.
const streamLimit = 1 << 20

// Switch runs the program, waits until the deployment is ready and has it prove
// itself. After any error the deployment is unknown (PLN-33).
func Switch(ctx context.Context, s spec.Switch, env Env) error {
	r := runner{env}
	if err := r.starter(ctx, SwitchHook, s.Hook); err != nil {
		return err
	}
	if s.Ready != nil {
		if err := r.awaitReady(ctx, *s.Ready); err != nil {
			return err
		}
	}
	if s.Verify != nil {
		return r.verify(ctx, *s.Verify)
	}
	return nil
}

// Restore leaves the host as it should be (PLN-34). It is given a context that
// the first interrupt has not ended.
func Restore(ctx context.Context, s spec.Restore, env Env) error {
	return runner{env}.starter(ctx, RestoreHook, s.Hook)
}

// runner carries hooks out in one folder.
type runner struct{ env Env }

// starter runs a program that is there to start things: after exit 0 its group
// is left alone, and its streams are files that block nobody (PLN-31).
func (r runner) starter(ctx context.Context, name string, hook spec.Hook) error {
	r.say(name)
	dir, err := r.folder(name)
	if err != nil {
		return err
	}
	watched, release := watchStreams(ctx, dir)
	defer release()
	went, err := r.run(watched, invocation{name: name, dir: dir, hook: hook, deadline: hook.DeadlineMS, starts: true, limit: streamLimit})
	if err != nil {
		return err
	}
	if cause := context.Cause(watched); went.Cancelled && errors.Is(cause, errTooMuch) {
		return &Error{name + "_failed", cause}
	}
	return r.judge(ctx, name, dir, hook, went)
}

// verify runs the program and compares what it prints, byte for byte (PLN-32).
func (r runner) verify(ctx context.Context, v spec.Verify) error {
	r.say(VerifyHook)
	dir, err := r.folder(VerifyHook)
	if err != nil {
		return err
	}
	limit := uint64(len(v.ExpectStdout)) + streamLimit
	went, err := r.run(ctx, invocation{name: VerifyHook, dir: dir, hook: v.Hook, deadline: v.Hook.DeadlineMS, limit: limit})
	if err != nil {
		return err
	}
	if err := r.judge(ctx, VerifyHook, dir, v.Hook, went); err != nil {
		return err
	}
	printed, err := evidence.ReadBytes(filepath.Join(dir, evidence.StdoutFile), int64(limit))
	if err != nil {
		return err
	}
	if string(printed) == v.ExpectStdout && !went.Stdout.Truncated {
		return nil
	}
	return &Error{VerifyMismatch, fmt.Errorf("%s printed %s where %s is expected", v.Hook.Program,
		r.excerpt(VerifyHook, v.Hook, printed), r.excerpt(VerifyHook, v.Hook, []byte(v.ExpectStdout)))}
}

// judge turns how a program went into an error.
func (r runner) judge(ctx context.Context, name, dir string, hook spec.Hook, went evidence.Invocation) error {
	switch {
	case went.Cancelled:
		return fmt.Errorf("%s was cancelled: %w", name, context.Cause(ctx))
	case went.Deadline:
		return &Error{name + "_deadline", fmt.Errorf("%s did not end within %d ms: %s", hook.Program, hook.DeadlineMS, r.lastWords(name, hook, dir))}
	case went.SpawnError != "":
		return &Error{name + "_failed", fmt.Errorf("%s cannot be started: %s", hook.Program, went.SpawnError)}
	case went.Signal != "":
		return &Error{name + "_failed", fmt.Errorf("%s died of %s: %s", hook.Program, went.Signal, r.lastWords(name, hook, dir))}
	case *went.ExitCode != 0:
		return &Error{name + "_failed", fmt.Errorf("%s ended with exit code %d: %s", hook.Program, *went.ExitCode, r.lastWords(name, hook, dir))}
	}
	return nil
}

// folder makes the folder of one hook; Dir is the caller's and new.
func (r runner) folder(name string) (string, error) {
	dir := filepath.Join(r.env.Dir, name)
	if err := os.Mkdir(dir, durable.DirMode); err != nil {
		return "", fmt.Errorf("prepare %s: %w", name, err)
	}
	return dir, nil
}

func (r runner) say(text string) {
	if r.env.Progress != nil {
		r.env.Progress(text)
	}
}

// variables fills the sensitive ones in.
func (r runner) variables(name string, hook spec.Hook) ([]document.EnvVar, error) {
	var variables []document.EnvVar
	for _, declared := range hook.Env {
		value := declared.Value
		if declared.Sensitive {
			given, ok := "", false
			if r.env.Secrets != nil {
				given, ok = r.env.Secrets(name, declared.Name)
			}
			if !ok {
				return nil, &Error{name + "_failed", fmt.Errorf("the sensitive variable %s has no value: give it again", declared.Name)}
			}
			value = given
		}
		variables = append(variables, document.EnvVar{Name: declared.Name, Value: value})
	}
	return variables, nil
}

func milliseconds(limit uint64) time.Duration {
	const most = uint64(1<<63-1) / uint64(time.Millisecond)
	return time.Duration(min(limit, most)) * time.Millisecond
}
