package hook

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/grill-plan/grill-plan/plan/spec"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/process"
)

// invocation is one program of a hook to run.
type invocation struct {
	name     string
	dir      string
	hook     spec.Hook
	deadline uint64 // milliseconds
	starts   bool   // it is there to start things
	limit    uint64 // bytes kept of each stream
}

// run reserves, runs and records, so that a killed process's children are found
// (PLN-26) and an ended hook's services are not taken for them.
func (r runner) run(ctx context.Context, do invocation) (evidence.Invocation, error) {
	variables, err := r.variables(do.name, do.hook)
	if err != nil {
		return evidence.Invocation{}, err
	}
	path, dir, err := r.resolve(do.hook)
	if err != nil {
		return evidence.Invocation{}, &Error{do.name + "_failed", err}
	}
	token := rand.Text()
	reserved, err := evidence.Publish(filepath.Join(do.dir, evidence.ReservationFile), evidence.Reservation{
		Kind: evidence.ReservationKind, Version: evidence.Version,
		BootID: process.Host().BootID, PIDNamespace: process.Namespace(), Token: token,
	})
	if err != nil {
		return evidence.Invocation{}, err
	}
	went, err := process.Run(ctx, process.Command{
		Path: path, Args: do.hook.Args, Dir: dir,
		Env:          process.Environment(os.Environ(), variables, token),
		Deadline:     milliseconds(do.deadline),
		Stdout:       process.Stream{Path: filepath.Join(do.dir, evidence.StdoutFile), Limit: do.limit, Direct: do.starts},
		Stderr:       process.Stream{Path: filepath.Join(do.dir, evidence.StderrFile), Limit: do.limit, Direct: do.starts},
		LeaveRunning: do.starts,
		Started: func(started process.Started) error {
			_, err := evidence.Publish(filepath.Join(do.dir, evidence.ProcessFile), evidence.Process{
				Kind: evidence.ProcessKind, Version: evidence.Version,
				PID: started.PID, Group: started.Group, StartTime: started.StartTime,
			})
			return err
		},
	})
	if err != nil {
		return went, err
	}
	_, err = evidence.Publish(filepath.Join(do.dir, evidence.RunFile), evidence.Run{
		Kind: evidence.RunKind, Version: evidence.Version, ReservationSHA256: reserved,
		Invocation: went, Reasons: evidence.InvocationReasons(went),
	})
	return went, err
}

// runaway is how much a program may print into its files before it is ended, in
// bytes: files block nobody, so nothing else would stop it from filling the disk.
const runaway = 64 << 20

var errTooMuch = errors.New("it printed more than 64 MiB")

// watchStreams ends the context it gives when a stream file grows beyond
// runaway. release stops watching.
func watchStreams(ctx context.Context, dir string) (watched context.Context, release func()) {
	watched, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(200 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-watched.Done():
				return
			case <-ticker.C:
			}
			for _, name := range []string{evidence.StdoutFile, evidence.StderrFile} {
				if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.Size() > runaway {
					cancel(errTooMuch)
				}
			}
		}
	}()
	return watched, func() {
		cancel(nil)
		<-done
	}
}

// shown bounds an answer in an error, in bytes (PLN-32).
const shown = 1024

// lastWords are the end of what a program printed: on stderr, or else on stdout.
func (r runner) lastWords(name string, hook spec.Hook, dir string) string {
	for _, stream := range []string{evidence.StderrFile, evidence.StdoutFile} {
		data, err := os.ReadFile(filepath.Join(dir, stream))
		if err == nil && len(bytes.TrimSpace(data)) > 0 {
			return "it printed " + r.excerpt(name, hook, data)
		}
	}
	return "it printed nothing"
}

// excerpt quotes the end of an answer with a mask for each secret of the hook.
func (r runner) excerpt(name string, hook spec.Hook, answer []byte) string {
	for _, variable := range hook.Env {
		if !variable.Sensitive || r.env.Secrets == nil {
			continue
		}
		if secret, ok := r.env.Secrets(name, variable.Name); ok && secret != "" {
			answer = bytes.ReplaceAll(answer, []byte(secret), []byte(spec.Masked))
		}
	}
	if len(answer) > shown {
		return fmt.Sprintf("… %q (the last %d of %d bytes)", answer[len(answer)-shown:], shown, len(answer))
	}
	return fmt.Sprintf("%q", answer)
}
