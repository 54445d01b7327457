package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/executor/digest"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// stale gives the reasons for which the stored attempt of a node does not count,
// nil if it does. Not having one gives an empty list.
func (j *judge) stale(ctx context.Context, i int, stored *checkpoint.Node, input string, entries []digest.Entry, unknown []string) ([]Reason, error) {
	reasons := []Reason{}
	for _, miss := range stored.Misses {
		reasons = append(reasons, Reason{Code: CheckpointUnread, Text: fmt.Sprintf("attempt %d: %s", miss.Attempt, miss.Reason)})
	}
	switch {
	case len(stored.Open) > 0 && stored.Open[len(stored.Open)-1] > stored.Attempt:
		return append(reasons, Reason{Code: InterruptedBefore, Text: fmt.Sprintf("attempt %d", stored.Open[len(stored.Open)-1])}), nil
	case stored.Attempt == 0:
		return reasons, nil
	case stored.State == checkpoint.Failed:
		return append(reasons, Reason{Code: FailedBefore, Text: stored.Code}), nil
	case stored.State == checkpoint.Interrupted:
		return append(reasons, Reason{Code: InterruptedBefore, Text: fmt.Sprintf("attempt %d", stored.Attempt)}), nil
	case stored.Superseded, j.redo[i]:
		return append(reasons, Reason{Code: RedoRequested}), nil
	}
	if stored.Input != input || len(unknown) > 0 {
		changed := j.differences(j.graph.Nodes()[i], stored, entries)
		for _, address := range unknown {
			if !slices.ContainsFunc(changed, func(r Reason) bool { return r.Node == address }) {
				changed = append(changed, Reason{Code: UpstreamChanged, Node: address})
			}
		}
		return append(reasons, changed...), nil
	}
	damage, err := j.verify(ctx, stored)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", stored.Address, err)
	}
	if damage != nil {
		return append(reasons, Reason{Code: OutputDamaged, Path: damage.Path, Text: damage.Reason}), nil
	}
	return nil, nil
}

// differences says in what a node is no longer what its stored attempt was made
// from. It reads the whole checkpoint, which a run with nothing to do never has
// to.
func (j *judge) differences(node *graph.Node, stored *checkpoint.Node, entries []digest.Entry) []Reason {
	record, err := j.run.Record(stored.Address, stored.Attempt)
	if err != nil {
		return []Reason{{Code: CheckpointUnread, Text: err.Error()}}
	}
	reasons := attributeReasons("", record.Input.Spec, j.spec(node))
	before := make(map[string]digest.Entry, len(record.Input.Needs))
	for _, entry := range record.Input.Needs {
		before[entry.Address] = entry
	}
	for _, entry := range entries {
		old, had := before[entry.Address]
		delete(before, entry.Address)
		switch {
		case !had:
			reasons = append(reasons, Reason{Code: NeedAdded, Node: entry.Address})
		case old.Spec != nil && entry.Spec != nil:
			reasons = append(reasons, attributeReasons(entry.Address, old.Spec, entry.Spec)...)
		case old.Output != entry.Output || old.Left != entry.Left || old.Ended != entry.Ended || !bytes.Equal(old.Spec, entry.Spec):
			reasons = append(reasons, Reason{Code: UpstreamChanged, Node: entry.Address})
		}
	}
	for _, entry := range record.Input.Needs {
		if _, gone := before[entry.Address]; gone {
			reasons = append(reasons, Reason{Code: NeedRemoved, Node: entry.Address})
		}
	}
	return reasons
}

func attributeReasons(node string, old, new json.RawMessage) []Reason {
	var reasons []Reason
	for _, path := range graph.DiffSpec(old, new) {
		reason := Reason{Code: AttributeChanged, Node: node, Path: path}
		if path == collectorField {
			// PLN-41 wants both named; nothing else of a spec is shown.
			reason.Old, reason.New = collectorOf(old), collectorOf(new)
		}
		reasons = append(reasons, reason)
	}
	return reasons
}
