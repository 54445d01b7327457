package checkpoint

import (
	"errors"
	"io/fs"
	"time"

	"github.com/grill-plan/grill-plan/plan/graph"
)

// RunStatus is a run directory as it stands (PLN-28).
type RunStatus struct {
	Manifest Manifest     `json:"manifest"`
	Holder   *Holder      `json:"holder,omitempty"` // nil: nobody works on it
	Nodes    []NodeStatus `json:"nodes"`            // in the order of the stored graph
	// LastEvent is the latest line of the events.
	LastEvent *Event `json:"last_event,omitempty"`
	// Unreadable counts lines of the events that say nothing.
	Unreadable int `json:"unreadable_events,omitempty"`
}

// States of a node beside those of a checkpoint.
const (
	StatusPending = "pending"
	StatusRunning = "running"
	StatusSkipped = "skipped"
	StatusLeft    = "left_out"
)

// NodeStatus is one node as it stands.
type NodeStatus struct {
	Address string `json:"address"`
	Kind    string `json:"kind"`
	Group   string `json:"group,omitempty"`
	// State is done, failed, interrupted, pending, running, skipped, left_out.
	State   string `json:"state"`
	Attempt int    `json:"attempt,omitempty"`
	// Attempts lists how each attempt ended, ascending (PLN-43).
	Attempts []AttemptStatus `json:"attempts,omitempty"`
	Outcome  string          `json:"outcome,omitempty"`
	Code     string          `json:"code,omitempty"`
	Started  *time.Time      `json:"started,omitempty"`
	Finished *time.Time      `json:"finished,omitempty"`
}

// AttemptStatus is how one attempt ended.
type AttemptStatus struct {
	Attempt    int    `json:"attempt"`
	State      string `json:"state"` // or running, or interrupted if nobody closed it
	Superseded bool   `json:"superseded,omitempty"`
	Code       string `json:"code,omitempty"`
	Problem    string `json:"problem,omitempty"` // why its checkpoint does not count
}

// Status reads a run at any time. It takes no lock and writes nothing, so that
// it disturbs neither a run going on nor one that is about to start.
func Status(dir string) (*RunStatus, error) {
	run, err := Open(dir)
	if err != nil {
		return nil, err
	}
	status := &RunStatus{Manifest: run.Manifest, Holder: run.CurrentHolder()}
	g, err := run.Graph()
	if errors.Is(err, fs.ErrNotExist) {
		return status, nil // not begun
	}
	if err != nil {
		return nil, err
	}
	events, unreadable, err := run.ReadEvents()
	if err != nil {
		return nil, err
	}
	status.Unreadable = unreadable
	latest := map[string]*Event{}
	for i := range events {
		latest[events[i].Node] = &events[i]
	}
	if len(events) > 0 {
		status.LastEvent = &events[len(events)-1]
	}
	for _, node := range g.Nodes() {
		stands, err := run.nodeStatus(node, latest[node.Address], status.Holder != nil)
		if err != nil {
			return nil, err
		}
		status.Nodes = append(status.Nodes, *stands)
	}
	return status, nil
}

func (r *Run) nodeStatus(node *graph.Node, latest *Event, held bool) (*NodeStatus, error) {
	status := &NodeStatus{Address: node.Address, Kind: string(node.Kind), Group: node.Group, State: StatusPending}
	attempts, err := r.attempts(node.Address)
	if err != nil {
		return nil, err
	}
	for _, seen := range attempts {
		attempt := AttemptStatus{Attempt: seen.number, Superseded: seen.superseded}
		if !seen.checkpoint {
			r.openStatus(status, &attempt, held)
			status.Attempts = append(status.Attempts, attempt)
			continue
		}
		record, err := r.Record(node.Address, seen.number)
		if err != nil {
			attempt.State, attempt.Problem = "unreadable", err.Error()
			status.Attempts = append(status.Attempts, attempt)
			continue
		}
		status.takeRecord(record)
		attempt.State, attempt.Code = string(record.State), status.Code
		status.Attempts = append(status.Attempts, attempt)
	}
	if latest != nil {
		switch latest.Event {
		case NodeSkipped:
			status.State, status.Code = StatusSkipped, latest.Code
		case NodeLeft:
			status.State, status.Code = StatusLeft, latest.Code
		case NodeFailed:
			status.State, status.Code = string(Failed), latest.Code
		}
	}
	return status, nil
}

func (s *NodeStatus) takeRecord(record *Record) {
	s.State, s.Attempt, s.Outcome, s.Code = string(record.State), record.Attempt, record.Outcome, ""
	if record.Error != nil {
		s.Code = record.Error.Code
	}
	s.Started, s.Finished = &record.Started, &record.Finished
}

// openStatus: an attempt that nobody closed is being worked on if its holder
// lives, or held the lock and somebody still does.
func (r *Run) openStatus(status *NodeStatus, attempt *AttemptStatus, held bool) {
	attempt.State = string(Interrupted)
	status.State, status.Attempt = string(Interrupted), attempt.Attempt
	lease, err := r.Lease(status.Address, attempt.Attempt)
	if err != nil {
		return
	}
	status.Started, status.Finished = &lease.Began, nil
	liveness := lease.Holder.Examine()
	if liveness == Alive || liveness == Unknown && held {
		attempt.State, status.State = StatusRunning, StatusRunning
	}
}
