// Package steps turns nodes of a compiled plan into work: it implements
// executor.Runner over the closed list of node kinds, prepares and goes on with
// runs, and lists what a run would do.
//
// It wires and decides nothing about media or arithmetic: each concern has its
// package below. Invariant: what a node does depends on its spec, the folders of
// the nodes it needs and the machine; nothing passes between nodes in memory.
package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/grill-plan/grill-plan/executor"
	"github.com/grill-plan/grill-plan/plan/compile"
	"github.com/grill-plan/grill-plan/plan/graph"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/program"
)

// Codes of node failures that belong to no package below.
const (
	PreflightRejected = "preflight_rejected"
	CaptureRejected   = "capture_rejected"
	CaptureFailed     = "capture_failed"
	EvidenceInvalid   = "evidence_invalid"
	Inadmissible      = "inadmissible"
	UnknownKind       = "unknown_kind"
)

// Runner does the work of one plan's nodes. It is safe for nodes at once.
type Runner struct {
	// Folder is the absolute plan folder, which relative paths belong to.
	Folder string
	// Self is the path of the running executable.
	Self      string
	Collector evidence.Collector
	// Document gives a document's bytes by their SHA-256.
	Document func(sha string) ([]byte, error)
	// Secrets holds the sensitive env values; nil when the plan has none.
	Secrets *compile.Secrets
	// Reports writes the report of a run; it is told the run's folder.
	Reports func(ctx context.Context, runDir string) (outcome string, err error)

	programs program.Resolver
}

var _ executor.Runner = (*Runner)(nil)

// Run does one node's work.
func (r *Runner) Run(ctx context.Context, work executor.Work) (executor.Result, error) {
	switch work.Node.Kind {
	case graph.Switch:
		return r.runSwitch(ctx, work)
	case graph.Capture:
		return r.runCapture(ctx, work)
	case graph.Inspect:
		return r.runInspect(ctx, work)
	case graph.Compare:
		return r.runCompare(ctx, work)
	case graph.Restore:
		return r.runRestore(ctx, work)
	case graph.Report:
		return r.runReport(ctx, work)
	}
	return executor.Result{}, &executor.Failure{Code: UnknownKind,
		Err: fmt.Errorf("this version carries out no node of kind %s", work.Node.Kind)}
}

// readSpec decodes the canonical spec of a node.
func readSpec[T any](node *graph.Node) (T, error) {
	var spec T
	if err := json.Unmarshal(node.Spec, &spec); err != nil {
		return spec, fmt.Errorf("read spec of %s: %w", node.Address, err)
	}
	return spec, nil
}

// interrupted gives the context's cause when work ended because of it, so that
// the executor tells an interruption from a failure.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// writeFile stores a derived file of a node; the executor makes it durable.
func writeFile(dir, name string, data []byte) error {
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// failure wraps an error with a code unless it carries one already.
func failure(code string, err error) error {
	if failed := (*executor.Failure)(nil); errors.As(err, &failed) {
		return err
	}
	return &executor.Failure{Code: code, Err: err}
}

// Recover ends what a killed process left running and takes over a capture that
// was whole (PLN-22, PLN-26).
func (r *Runner) Recover(ctx context.Context, work executor.Work) (executor.Result, bool, error) {
	switch work.Node.Kind {
	case graph.Capture:
		return r.recoverCapture(ctx, work)
	case graph.Switch, graph.Restore:
		return executor.Result{}, false, r.endHooks(ctx, work.Dir)
	}
	return executor.Result{}, false, nil
}
