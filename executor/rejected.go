package executor

import (
	"fmt"
	"strings"
)

// RejectedError stops a run before any effect: with Options.Reject set, an
// Always node of what was selected cannot be observed, such as a preflight whose
// program is missing. Nothing is recorded; mending it and running again is all
// there is to do (PLN-14).
type RejectedError struct {
	Nodes []NodeResult // in the order of the graph, each with Err
}

func (e *RejectedError) Error() string {
	var text strings.Builder
	text.WriteString("nothing was started, since these cannot be carried out here:")
	for _, node := range e.Nodes {
		fmt.Fprintf(&text, "\n  %s: %v", node.Address, node.Err)
	}
	return text.String()
}

// Unwrap gives each node's error to errors.As.
func (e *RejectedError) Unwrap() []error {
	errs := make([]error, len(e.Nodes))
	for i, node := range e.Nodes {
		errs[i] = node.Err
	}
	return errs
}

// rejected are the Always nodes whose observation failed.
func (j *judge) rejected() []NodeResult {
	var rejected []NodeResult
	for _, node := range j.graph.Nodes() {
		if seen, looked := j.observed[node.Address]; looked && seen.err != nil {
			rejected = append(rejected, NodeResult{Address: node.Address, State: StateFailed, Err: seen.err})
		}
	}
	return rejected
}
