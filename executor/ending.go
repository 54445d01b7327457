package executor

import (
	"strconv"

	"github.com/grill-plan/grill-plan/executor/digest"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// upstream says whether what a node needs keeps it from running.
func (w *walker) upstream(node *graph.Node) (state State, causes []string, left string) {
	if node.Finally {
		return "", nil, ""
	}
	for _, address := range node.Needs {
		at := w.graph.Position(address)
		need := &w.status[at]
		switch need.result.State {
		case StateFailed:
			state, causes = StateSkipped, appendNew(causes, address)
		case StateSkipped:
			state, causes = StateSkipped, appendNew(causes, need.result.Causes...)
		case StateStopped:
			if state == "" || state == StateLeft {
				state, left = StateStopped, ""
			}
		case StateLeft:
			if !node.Tolerates && state == "" {
				state, left = StateLeft, need.result.Code
			}
		default:
			stops := w.graph.Nodes()[at].Stops && need.stop != "" && w.graph.Nodes()[at].Group == node.Group
			if stops && !node.Tolerates && state == "" {
				state, left = StateLeft, need.stop
			}
		}
	}
	return state, causes, left
}

func appendNew(list []string, more ...string) []string {
	for _, item := range more {
		known := false
		for _, have := range list {
			known = known || have == item
		}
		if !known {
			list = append(list, item)
		}
	}
	return list
}

// end closes a node and wakes whoever waited for it.
func (w *walker) end(i int, result NodeResult) {
	node := w.graph.Nodes()[i]
	s := &w.status[i]
	wasDeferred := s.stage == deferred
	result.Address = node.Address
	s.stage, s.result, s.job = over, result, nil
	w.left--
	s.ending = w.finalEnding(s)
	if node.Claim != graph.NoClaim && node.Within == "" {
		w.groups[node.Group].open--
	}
	w.session.tell(node, result)
	w.endDeferred(node)
	for _, edges := range [][]int{w.graph.NeededBy(i), w.graph.FollowedBy(i)} {
		for _, n := range edges {
			if wasDeferred && w.graph.Nodes()[n].Address == node.Within {
				continue // woken when this was put off
			}
			w.wake(n)
		}
	}
}

// endDeferred ends the nodes that were left to a measurement which now ended
// without carrying them out.
func (w *walker) endDeferred(owner *graph.Node) {
	for _, address := range owner.Needs {
		at := w.graph.Position(address)
		if w.status[at].stage == deferred && w.graph.Nodes()[at].Within == owner.Address {
			w.end(at, NodeResult{State: StateStopped})
		}
	}
}

func (w *walker) wake(n int) {
	if w.status[n].blocked--; w.status[n].blocked == 0 {
		w.queue = append(w.queue, n)
	}
}

// finalEnding is what enters digests of nodes behind this one.
func (w *walker) finalEnding(s *status) digest.Ending {
	switch s.result.State {
	case StateReused, StateDone, StateUnselected:
		if s.ending.Ended == "" {
			return digest.Ending{Ended: "none"}
		}
		return s.ending
	case StateLeft:
		return digest.Ending{Left: s.result.Code, Ended: string(StateLeft)}
	case StateFailed:
		return digest.Ending{Ended: "failed " + strconv.Itoa(s.result.Attempt) + " " + s.result.Code}
	default:
		return digest.Ending{Ended: string(s.result.State)}
	}
}

func (w *walker) endingOf(node *graph.Node) digest.Ending {
	return w.status[w.graph.Position(node.Address)].ending
}
