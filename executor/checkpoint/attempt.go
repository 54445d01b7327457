package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/grill-plan/grill-plan/internal/durable"
)

// Lease makes an attempt somebody's own.
type Lease struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
	Address string `json:"address"`
	Attempt int    `json:"attempt"`
	Token   string `json:"token"`
	// Locked: the holder held the lock of the run, so that who holds it now
	// knows the holder gone.
	Locked bool      `json:"locked,omitempty"`
	Holder Holder    `json:"holder"`
	Input  Input     `json:"input"`
	Began  time.Time `json:"began"`
}

// PrepareNodes makes the folders of nodes, durable before any attempt begins.
// Doing it for many at once costs one fsync for each parent.
func (r *Run) PrepareNodes(addresses []string) error {
	parents := map[string]bool{}
	for _, address := range addresses {
		if err := r.makeFolders(Folder(address), parents); err != nil {
			return fmt.Errorf("prepare node %s: %w", address, err)
		}
	}
	for dir := range parents {
		if err := durable.SyncDir(dir); err != nil {
			return fmt.Errorf("prepare nodes: %w", err)
		}
	}
	return nil
}

func (r *Run) makeFolders(folder string, parents map[string]bool) error {
	dir := filepath.Join(r.Dir, NodesDir)
	for name := range strings.SplitSeq(folder, "/") {
		parent := dir
		dir = parent + "/" + name
		err := os.Mkdir(dir, durable.DirMode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		parents[parent] = true
	}
	return nil
}

// BeginOptions of [Run.Begin].
type BeginOptions struct {
	Holder Holder
	Locked bool
	// Durable leases survive a power cut, which lets a whole attempt be taken
	// over after one (PLN-22). It costs two fsyncs.
	Durable bool
	Now     time.Time
}

// Begin makes an attempt and its empty folder. If another process made the same
// attempt first the error wraps fs.ErrExist. The node's folder has to exist.
func (r *Run) Begin(address string, attempt int, input Input, options BeginOptions) (*Lease, error) {
	token, err := newToken()
	if err != nil {
		return nil, err
	}
	lease := &Lease{
		Kind: leaseKind, Version: 1, Address: address, Attempt: attempt, Token: token,
		Locked: options.Locked, Holder: options.Holder, Input: input, Began: options.Now.UTC(),
	}
	data, err := encode(lease)
	if err != nil {
		return nil, fmt.Errorf("begin %s: %w", address, err)
	}
	dir := r.AttemptDir(address, attempt)
	publish := publishQuickly
	if options.Durable {
		publish = durable.Publish
	}
	if err := publish(dir+leaseSuffix, data); err != nil {
		return nil, fmt.Errorf("begin %s attempt %d: %w", address, attempt, err)
	}
	if err := os.Mkdir(dir, durable.DirMode); err != nil {
		return nil, fmt.Errorf("begin %s attempt %d: %w", address, attempt, err)
	}
	return lease, nil
}

// publishQuickly gives data a name that nobody else can take as well, without
// waiting for the disk: after a power cut the process is gone anyway. Writing
// under another name first means that no live process has an empty lease.
func publishQuickly(path string, data []byte) error {
	token, err := newToken()
	if err != nil {
		return err
	}
	temporary := filepath.Join(filepath.Dir(path), durable.TemporaryPrefix+token)
	if err := os.WriteFile(temporary, data, durable.FileMode); err != nil {
		os.Remove(temporary)
		return err
	}
	err = os.Link(temporary, path)
	return errors.Join(err, os.Remove(temporary))
}

// Supersede notes durably that a finished attempt is not to be used any more;
// nothing of it is touched. Doing it twice is once.
func (r *Run) Supersede(address string, attempt int, reason string, now time.Time) error {
	data, err := encode(struct {
		Kind    string    `json:"kind"`
		Version int       `json:"version"`
		Address string    `json:"address"`
		Attempt int       `json:"attempt"`
		Reason  string    `json:"reason"`
		Time    time.Time `json:"time"`
	}{"grill-plan-superseded", 1, address, attempt, reason, now.UTC()})
	if err != nil {
		return fmt.Errorf("supersede %s attempt %d: %w", address, attempt, err)
	}
	err = durable.Publish(r.AttemptDir(address, attempt)+supersededSuffix, data)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("supersede %s attempt %d: %w", address, attempt, err)
	}
	return nil
}
