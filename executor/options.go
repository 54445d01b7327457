package executor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// Options say what is run, and how.
type Options struct {
	Run    *checkpoint.Run
	Graph  *graph.Graph
	Runner Runner
	// PlanFiles and Documents are stored in the run directory: documents at
	// once, files with the graph when nothing stands in the way any more.
	PlanFiles map[string][]byte
	Documents map[string][]byte

	// Only names groups; what they depend on runs too. Empty means all.
	Only []string
	// Redo names nodes, or groups, that get a new attempt, with all that
	// follows them (PLN-43).
	Redo []string
	// Replan allows finished measurements to be discarded (PLN-23).
	Replan bool
	// Reject ends the run before any effect when an Always node that is
	// selected cannot be observed; without it, what needs that node is skipped
	// and the rest is carried out.
	Reject bool
	// Verify hashes every output instead of believing its noted facts (PLN-20).
	Verify bool
	// TakeOver goes on although a holder on another machine cannot be
	// examined (PLN-24).
	TakeOver bool

	// HostLock is the lock file of this machine, "" for the usual one.
	HostLock string
	// Workers bounds how many nodes run at once; below 1 means 1. Exclusive
	// nodes run alone on their host whatever it is.
	Workers int
	// Place, if set, has a node's work done elsewhere, usually by a process
	// that calls [RunNode], and returns when that ended. What counts is the
	// checkpoint it published.
	Place func(ctx context.Context, address string) error

	// Event is called for each event as it is written, Progress for each step
	// within a node, one at a time and never after Run returned.
	Event    func(checkpoint.Event)
	Progress func(address string, progress Progress)
	// Now is the clock of records, time.Now if nil. It decides nothing.
	Now func() time.Time
}

func (o *Options) now() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

// Action is what happens to a node.
type Action string

const (
	// Reuse: nothing has to be done.
	Reuse Action = "reuse"
	// Start: the node has no finished attempt that counts.
	Start Action = "run"
	// Redo: it has one, for which Reasons tell why it does not do.
	Redo Action = "redo"
	// Skip: an early stop leaves it out, or what it needs failed.
	Skip Action = "skip"
)

// Codes of reasons.
const (
	AttributeChanged  = "attribute_changed"
	UpstreamChanged   = "upstream_changed"
	NeedAdded         = "need_added"
	NeedRemoved       = "need_removed"
	OutputDamaged     = "output_damaged"
	FailedBefore      = "failed_before"
	InterruptedBefore = "interrupted_before"
	RedoRequested     = "redo_requested"
	CheckpointUnread  = "checkpoint_unreadable"
	EarlyStop         = "early_stop"
	NeedFailed        = "need_failed"
	ObserveFailed     = "observe_failed"
	LeftSwitched      = "left_switched"
	MeasurementNeeds  = "measurement_needs_it"
)

// Reason is one reason of a decision.
type Reason struct {
	Code string `json:"code"`
	// Node is the node upstream, or the one whose attribute changed if that is
	// another one (a world node).
	Node string `json:"node,omitempty"`
	// Path is an attribute path, or a file of the attempt.
	Path string `json:"path,omitempty"`
	// Old and New are values that may be shown: those of collector.
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
	Text string `json:"text,omitempty"`
}

func (r Reason) String() string {
	switch r.Code {
	case AttributeChanged:
		text := r.Path + " changed"
		if r.Old != "" || r.New != "" {
			text += " from " + r.Old + " to " + r.New
		}
		if r.Node != "" {
			text += " in " + r.Node
		}
		return text
	case UpstreamChanged:
		return r.Node + " changes"
	case NeedAdded:
		return "needs " + r.Node + " now"
	case NeedRemoved:
		return "no longer needs " + r.Node
	}
	text := strings.ReplaceAll(r.Code, "_", " ")
	for _, part := range []string{r.Node, r.Path, r.Text} {
		if part != "" {
			text += ": " + part
		}
	}
	return text
}

// Decision is what happens to one node, and why.
type Decision struct {
	Address string   `json:"address"`
	Action  Action   `json:"action"`
	Attempt int      `json:"attempt,omitempty"` // that is reused or discarded
	Reasons []Reason `json:"reasons,omitempty"`
	// Discards: a finished measurement would not count any more.
	Discards bool `json:"discards,omitempty"`
	// Selected is false for what --only leaves for later.
	Selected bool `json:"selected"`
}

// Decisions are the decisions for all nodes, in the order of the graph.
type Decisions struct {
	Nodes []Decision
	// LeftSwitched are groups that a killed process left switched (PLN-34).
	LeftSwitched []string
}

// Discards are the finished measurements that would be discarded.
func (d *Decisions) Discards() []Decision {
	var discards []Decision
	for _, decision := range d.Nodes {
		if decision.Discards {
			discards = append(discards, decision)
		}
	}
	return discards
}

// DiscardError stops a run before any effect: finished measurements would be
// discarded, which needs Options.Replan (PLN-23, PLN-41).
type DiscardError struct {
	Nodes []Decision
}

func (e *DiscardError) Error() string {
	var text strings.Builder
	text.WriteString("finished measurements would be discarded; nothing was done. To do them again, repeat with --replan:")
	for _, node := range e.Nodes {
		reasons := make([]string, len(node.Reasons))
		for i, reason := range node.Reasons {
			reasons[i] = reason.String()
		}
		fmt.Fprintf(&text, "\n  %s: %s", node.Address, strings.Join(reasons, "; "))
	}
	return text.String()
}

// BusyError: a process still works on a node of this run.
type BusyError struct {
	Address string
	Holder  checkpoint.Holder
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("node %s is still being worked on by %s; wait for it or end it, and run again (--take-over if that machine is gone)", e.Address, e.Holder)
}

// State is how a node stands when a run returns.
type State string

const (
	StateReused     State = "reused"
	StateDone       State = "done"
	StateFailed     State = "failed"
	StateSkipped    State = "skipped"    // what it needs failed
	StateLeft       State = "left_out"   // by an early stop
	StateIdle       State = "not_needed" // a world node that no measurement needed
	StateStopped    State = "stopped"    // not begun, or interrupted
	StateUnselected State = "not_selected"
)

// NodeResult is how one node stands.
type NodeResult struct {
	Address string
	State   State
	Attempt int // whose result counts, or that failed or was interrupted
	Outcome string
	Output  string
	Code    string // reason code of a failure, an early stop
	Err     error  // of a failure
	// Causes are the failed nodes behind a skipped one.
	Causes []string
}

// Summary is how a run ended.
type Summary struct {
	Nodes []NodeResult // in the order of the graph
	// Failed are the root causes, in the order of the graph. Finally nodes
	// are not among them (PLN-34).
	Failed []NodeResult
	// Skipped are those that failures kept from running.
	Skipped []NodeResult
	// RestoreFailed are Finally nodes that failed.
	RestoreFailed []NodeResult
	// Stopped is nil, or why the run ended before its end.
	Stopped error
	// Unfinished counts nodes that a later run would still do: stopped ones
	// and unselected ones without a result (PLN-45).
	Unfinished int
	Ran        int
	Reused     int
}

// Lookup finds the result of a node.
func (s *Summary) Lookup(address string) (NodeResult, bool) {
	for _, node := range s.Nodes {
		if node.Address == address {
			return node, true
		}
	}
	return NodeResult{}, false
}
