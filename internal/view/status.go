package view

import (
	"fmt"
	"strconv"
	"time"
)

// RunStatus is the document of `status --json`.
type RunStatus struct {
	Kind    string `json:"kind"` // run-status
	Version int    `json:"version"`
	Plan    string `json:"plan"`
	Dir     string `json:"directory"`
	// HeldBy names the process that works on the run, "" when none does.
	HeldBy string       `json:"held_by,omitempty"`
	Nodes  []NodeStatus `json:"nodes"`
}

// NodeStatus is one node as it stands on disk.
type NodeStatus struct {
	Address string `json:"address"`
	State   string `json:"state"`
	Attempt int    `json:"attempt,omitempty"`
	// SpentMS is wall-clock time from the attempt's start to its end or, while it
	// runs, to now. It is for people: no figure is computed from it.
	SpentMS int64  `json:"spent_ms,omitempty"`
	Note    string `json:"note,omitempty"` // outcome, or a reason
}

// States of a node in a status.
const (
	StateDone        = "done"
	StateFailed      = "failed"
	StateInterrupted = "interrupted"
	StateRunning     = "running"
	StateSkipped     = "skipped" // something it needs failed
	StateLeft        = "left"    // out, since its experiment was stopped early
	StateRedo        = "redo"    // was finished and is to be done again
	StatePending     = "pending"
)

// Status writes a run's state for people.
func Status(out *Output, status RunStatus) {
	out.Printf("%s\n", out.paint(bold, "Run "+Line(status.Dir)+" of plan "+Line(status.Plan)))
	if status.HeldBy != "" {
		out.Printf("worked on by %s\n\n", Line(status.HeldBy))
	} else {
		out.Printf("nothing works on it\n\n")
	}
	rows := [][]string{{"STATE", "ATTEMPT", "SPENT", "NODE"}}
	for _, node := range status.Nodes {
		name := Line(node.Address)
		if node.Note != "" {
			name += "  " + Line(node.Note)
		}
		rows = append(rows, []string{node.State, attemptText(node.Attempt), spent(node.SpentMS), name})
	}
	Table(out, rows)
	out.Printf("\n%s\n", summary(status.Nodes))
}

func attemptText(attempt int) string {
	if attempt == 0 {
		return "-"
	}
	return strconv.Itoa(attempt)
}

func spent(ms int64) string {
	if ms <= 0 {
		return "-"
	}
	return (time.Duration(ms) * time.Millisecond).Round(100 * time.Millisecond).String()
}

// summary counts nodes by state, in a fixed order.
func summary(nodes []NodeStatus) string {
	counts := map[string]int{}
	for _, node := range nodes {
		counts[node.State]++
	}
	text := Count(len(nodes), "node")
	for _, state := range []string{StateDone, StateRunning, StatePending, StateRedo, StateFailed, StateInterrupted, StateSkipped, StateLeft} {
		if counts[state] > 0 {
			text += fmt.Sprintf(", %d %s", counts[state], state)
		}
	}
	return text
}
