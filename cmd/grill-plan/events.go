package main

import (
	"encoding/json"
	"strings"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/internal/view"
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/plan/graph"
	"github.com/grill-plan/grill-plan/plan/spec"
	"github.com/grill-plan/grill-plan/steps"
)

// happening turns an event of a run into what progress shows. Events that say
// nothing a person waits for give false: how a run ended is said by its result.
func happening(event checkpoint.Event) (view.Happening, bool) {
	h := view.Happening{Address: event.Node, Attempt: event.Attempt, Text: eventText(event)}
	switch event.Event {
	case checkpoint.NodeStarted:
		h.What = view.Started
	case checkpoint.NodeDone:
		h.What = view.Finished
	case checkpoint.NodeTaken:
		h.What, h.Text = view.Finished, "was complete when its process died, taken over"
	case checkpoint.NodeFailed:
		h.What = view.Failed
	case checkpoint.NodeInterrupted:
		h.What = view.Interrupted
	case checkpoint.NodeSkipped, checkpoint.NodeLeft:
		h.What = view.Skipped
	case checkpoint.HostWaiting:
		h.What = view.Waiting
	case checkpoint.NodeRedo:
		h.What, h.Text = view.Noted, "is to be done again: "+h.Text
	case checkpoint.GroupSwitched:
		h.What, h.Address, h.Text = view.Noted, event.Group, "the deployment is being switched"
	case checkpoint.GroupRestored:
		h.What, h.Address, h.Text = view.Noted, event.Group, "restored"
	case checkpoint.TakenOverRun:
		h.What, h.Text = view.Noted, "taken over: "+h.Text
	default:
		return h, false
	}
	return h, true
}

// eventText joins what an event says beside its kind.
func eventText(event checkpoint.Event) string {
	var parts []string
	for _, part := range []string{event.Code, event.Outcome, event.Text} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// stepsAhead lists what a run has before it, with how many samples each capture
// takes, from which the remaining time is told.
func stepsAhead(loaded *steps.Loaded) []view.Step {
	var ahead []view.Step
	for _, node := range loaded.Compiled.Graph.Nodes() {
		step := view.Step{Address: node.Address, Group: node.Group}
		if node.Kind == graph.Capture {
			step.Samples = sampleCount(loaded, node)
		}
		ahead = append(ahead, step)
	}
	return ahead
}

// sampleCount is 0 where the documents do not tell: progress is no place for
// errors.
func sampleCount(loaded *steps.Loaded, node *graph.Node) int {
	var capture spec.Capture
	if json.Unmarshal(node.Spec, &capture) != nil {
		return 0
	}
	workload, problems := document.ParseWorkload(node.Address, loaded.Compiled.Documents[capture.Documents.Workload])
	if len(problems) > 0 {
		return 0
	}
	return len(document.Schedule(workload))
}
