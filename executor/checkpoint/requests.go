package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/grill-plan/grill-plan/internal/durable"
)

// Requests of one process to the one that works on a run (PLN-48).
const (
	StopRequest   = "stop"   // after the slot that is being captured
	CancelRequest = "cancel" // now
)

// ErrNotRunning: nobody works on the run directory.
var ErrNotRunning = errors.New("nothing is running")

// Request asks the process that works on a run to stop or to cancel it. It names
// that process's holding of the lock, so that it never stops a later one.
// Without a process the error wraps [ErrNotRunning].
func Request(dir, kind string) (Holder, error) {
	if kind != StopRequest && kind != CancelRequest {
		return Holder{}, fmt.Errorf("request %q: there are %s and %s", kind, StopRequest, CancelRequest)
	}
	run, err := Open(dir)
	if err != nil {
		return Holder{}, err
	}
	holder := run.CurrentHolder()
	if holder == nil || holder.Token == "" {
		return Holder{}, fmt.Errorf("%s %s: %w", kind, run.Dir, ErrNotRunning)
	}
	requests := filepath.Join(run.Dir, RequestsDir)
	if err := os.MkdirAll(requests, durable.DirMode); err != nil {
		return Holder{}, fmt.Errorf("%s: %w", kind, err)
	}
	if err := durable.Replace(filepath.Join(requests, kind), []byte(holder.Token+"\n")); err != nil {
		return Holder{}, fmt.Errorf("%s: %w", kind, err)
	}
	return *holder, nil
}

// Requested is the most urgent request made of a holder of the lock, or "".
func (r *Run) Requested(lock *Lock) string {
	for _, kind := range []string{CancelRequest, StopRequest} {
		data, err := durable.ReadRegular(filepath.Join(r.Dir, RequestsDir, kind), 1<<10)
		if err == nil && strings.TrimSpace(string(data)) == lock.holder.Token {
			return kind
		}
	}
	return ""
}

// ClearRequests removes what was asked of earlier holders.
func (r *Run) ClearRequests(*Lock) error {
	for _, kind := range []string{CancelRequest, StopRequest} {
		if err := os.Remove(filepath.Join(r.Dir, RequestsDir, kind)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("clear requests: %w", err)
		}
	}
	return nil
}
