// Package executor runs a graph: order, host claims, resume, checkpoints,
// attempts, cancellation and events. It knows nothing of media, HCL or what a
// node does; that is the Runner's business.
package executor

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/grill-plan/grill-plan/plan/graph"
)

// Runner does the work of nodes. What it does is a function of the node's
// spec, the attempt folders of the nodes it needs, and an empty folder of its
// own; nothing passes between nodes in memory.
type Runner interface {
	// Observe looks at an Always node without any side effect (PLN-40). It is
	// called by plan and by every run, in the order of the graph.
	Observe(ctx context.Context, node *graph.Node) (Observation, error)
	// Run does one node's work. An error means that the node failed; if ctx is
	// done, that it was interrupted.
	Run(ctx context.Context, work Work) (Result, error)
	// Recover is given an attempt without a checkpoint whose process is gone.
	// It ends what that process left running (PLN-26) and reports whether the
	// attempt is whole and can be taken over (PLN-22).
	Recover(ctx context.Context, work Work) (result Result, whole bool, err error)
}

// Observation is what an Always node saw. Files are stored in a new attempt
// only when Digest differs from the latest stored one.
type Observation struct {
	Digest string            // lowercase hex SHA-256; the node's output digest
	Files  map[string][]byte // relative file name to bytes
}

// Work is what a node's work is given.
type Work struct {
	Node    *graph.Node
	Attempt int
	// Dir is the attempt's folder: it exists and is empty (in Recover: as the
	// earlier process left it).
	Dir    string
	RunDir string
	// Needs holds every address of Node.Needs. World nodes and nodes left out
	// by an early stop have no Dir.
	Needs map[string]Input
	// Within is called once for each node carried out within this one
	// (graph.Node.Within), when it ended; nil err means success.
	Within func(address string, err error)
	// Progress may be called at any time with what a person would like to see.
	Progress func(Progress)
}

// Input is the result of a needed node.
type Input struct {
	Dir          string
	OutputDigest string
	Outcome      string
	// Left is the reason code when an early stop left the node out (PLN-13).
	Left string
}

// Result is what a finished node leaves beside its files. The executor makes
// every file under Dir durable and lists it in the checkpoint with size and
// SHA-256.
type Result struct {
	// OutputDigest is what dependents are keyed on; empty means the digest of
	// the file list.
	OutputDigest string
	// Outcome is a short word for people and reports, e.g. PASS.
	Outcome string
	// StopGroup is a reason code by which a Stops node ends its group early.
	StopGroup string
	// Unread are files that are listed by size and not hashed, relative to the
	// attempt's folder with slashes: outputs far beyond their bound.
	Unread []string
	// Facts is stored in the checkpoint as it is.
	Facts json.RawMessage
}

// Progress is a step within a node.
type Progress struct {
	Done  int
	Total int
	Text  string // no prompt, no value of an environment variable (PRV-05)
}

// Failure is an error with a stable reason code for people and programs.
type Failure struct {
	Code string // lower_snake_case
	Err  error
}

func (f *Failure) Error() string { return f.Code + ": " + f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// Causes of a cancelled context, told apart with context.Cause.
var (
	// ErrInterrupted: SIGINT, SIGTERM or `cancel`; ends the running sample.
	ErrInterrupted = errors.New("interrupted")
	// ErrStopRequested: `stop`; the slot being captured is finished first.
	ErrStopRequested = errors.New("stop requested")
)
