package executor

import (
	"fmt"
	"slices"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/executor/digest"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// need is an answer to whether a world node is needed.
type need uint8

const (
	notNeeded need = iota
	needed
	unclear // until others are over
)

// decideUndecided decides world nodes whose own needs are over. With force the
// first one is decided although others are not. It reports whether one was.
func (w *walker) decideUndecided(force bool) bool {
	for k, i := range w.undecided {
		node := w.graph.Nodes()[i]
		answer := w.isNeeded(i, force)
		if answer == unclear {
			continue
		}
		w.undecided = append(w.undecided[:k], w.undecided[k+1:]...)
		switch {
		case answer == notNeeded:
			w.end(i, NodeResult{State: StateIdle})
		case node.Within != "":
			w.deferTo(i, node)
		default:
			w.makeReady(i, node)
		}
		return true
	}
	return false
}

// deferTo leaves a node to the measurement that carries it out.
func (w *walker) deferTo(i int, node *graph.Node) {
	owner := w.graph.Position(node.Within)
	if w.status[owner].stage == over || !w.mayStart(w.graph.Nodes()[owner]) {
		w.end(i, NodeResult{State: StateStopped})
		return
	}
	w.status[i].stage = deferred
	w.wake(owner)
}

// isNeeded: a measurement that needs the node, directly or through other world
// nodes, has to run.
func (w *walker) isNeeded(i int, force bool) need {
	behind := w.behind(i)
	result := notNeeded
	for _, m := range w.measurements(i) {
		switch w.mustRun(m, behind, force) {
		case needed:
			return needed
		case unclear:
			result = unclear
		}
	}
	return result
}

// behind marks what depends on a node, by either kind of edge.
func (w *walker) behind(i int) map[int]bool {
	marked := map[int]bool{i: true}
	list := []int{i}
	for len(list) > 0 {
		at := list[len(list)-1]
		list = list[:len(list)-1]
		for _, edges := range [][]int{w.graph.NeededBy(at), w.graph.FollowedBy(at)} {
			for _, n := range edges {
				if !marked[n] {
					marked[n] = true
					list = append(list, n)
				}
			}
		}
	}
	return marked
}

// measurements that need a world node through world nodes only.
func (w *walker) measurements(i int) []int {
	var found []int
	seen := map[int]bool{}
	list := []int{i}
	for len(list) > 0 {
		at := list[0]
		list = list[1:]
		for _, n := range w.graph.NeededBy(at) {
			node := w.graph.Nodes()[n]
			if seen[n] || !w.selected[n] {
				continue
			}
			seen[n] = true
			switch node.Effect {
			case graph.Measurement:
				found = append(found, n)
			case graph.World:
				list = append(list, n)
			}
		}
	}
	return found
}

// mustRun says whether a measurement has to run, before the world nodes that it
// needs have. What waits for the world node itself is taken as predicted.
func (w *walker) mustRun(m int, behind map[int]bool, force bool) need {
	node := w.graph.Nodes()[m]
	unknown := false
	inputs := w.feeding(m, true)
	for _, at := range w.feeding(m, false) {
		switch s := &w.status[at]; {
		case s.stage == over && !usable(s.result.State):
			return notNeeded // it will be skipped
		case s.stage == over && w.leaves(at, node):
			return notNeeded // an early stop leaves it out
		case s.stage == over:
		case !behind[at] && !force:
			return unclear
		case !w.predicted[at].known && slices.Contains(inputs, at):
			unknown = true
		}
	}
	if unknown {
		return needed
	}
	return w.judgeEarly(m, node)
}

func usable(state State) bool {
	return state == StateReused || state == StateDone || state == StateUnselected || state == StateIdle
}

func (w *walker) leaves(at int, node *graph.Node) bool {
	by := w.graph.Nodes()[at]
	return by.Stops && w.status[at].stop != "" && by.Group == node.Group && !node.Tolerates
}

// judgeEarly compares digests with what is over and what is expected.
func (w *walker) judgeEarly(m int, node *graph.Node) need {
	stored, err := w.index.Node(node.Address)
	if err != nil {
		return needed // the measurement itself will say what is wrong
	}
	input, entries, err := w.input(node, func(n *graph.Node) digest.Ending {
		at := w.graph.Position(n.Address)
		if w.status[at].stage == over {
			return w.status[at].ending
		}
		return w.predicted[at].ending
	})
	if err != nil {
		return needed
	}
	reasons, err := w.stale(w.work, m, stored, input, entries, nil)
	if err != nil || reasons != nil {
		return needed
	}
	return notNeeded
}

// feeding are the pure nodes and measurements that a node needs, directly or
// through world nodes; with inputs only those that enter its digest.
func (w *walker) feeding(m int, inputs bool) []int {
	var found []int
	seen := map[int]bool{m: true}
	list := []int{m}
	for len(list) > 0 {
		at := list[0]
		list = list[1:]
		for _, address := range w.graph.Nodes()[at].Needs {
			n := w.graph.Position(address)
			if seen[n] || inputs && !digest.IsInput(w.graph.Nodes()[at], w.graph.Nodes()[n]) {
				continue
			}
			seen[n] = true
			if w.graph.Nodes()[n].Effect == graph.World {
				list = append(list, n)
			} else {
				found = append(found, n)
			}
		}
	}
	return found
}

// prepare makes the job of a node: its attempt number, its input and what it is
// given of other nodes.
func (w *walker) prepare(i int, node *graph.Node) (*job, error) {
	job := &job{node: node, needs: make(map[string]Input, len(node.Needs))}
	var err error
	if job.input, err = w.inputOf(node); err != nil {
		return nil, err
	}
	last, err := w.lastAttempt(node)
	if err != nil {
		return nil, err
	}
	for _, address := range node.Needs {
		at := w.graph.Position(address)
		need := w.graph.Nodes()[at]
		job.needs[address] = w.needInput(need, &w.status[at])
		if w.status[at].stage == deferred && need.Within == node.Address {
			within := withinJob{node: need}
			if within.input, err = w.inputOf(need); err != nil {
				return nil, err
			}
			withinLast, err := w.lastAttempt(need)
			if err != nil {
				return nil, err
			}
			last = max(last, withinLast)
			job.within = append(job.within, within)
		}
	}
	job.attempt = last + 1
	addresses := []string{node.Address}
	for _, within := range job.within {
		addresses = append(addresses, within.node.Address)
	}
	if err := w.run.PrepareNodes(addresses); err != nil {
		return nil, &Failure{Code: CodeAttemptFailed, Err: err}
	}
	return job, nil
}

func (w *walker) inputOf(node *graph.Node) (checkpoint.Input, error) {
	sum, entries, err := w.input(node, w.endingOf)
	return checkpoint.Input{Scheme: w.run.Manifest.DigestScheme, Digest: sum, Spec: w.spec(node), Needs: entries}, err
}

func (w *walker) lastAttempt(node *graph.Node) (int, error) {
	stored, err := w.index.Node(node.Address)
	if err != nil {
		return 0, fmt.Errorf("node %s: %w", node.Address, err)
	}
	return stored.Last, nil
}

func (w *walker) needInput(need *graph.Node, s *status) Input {
	input := Input{Outcome: s.result.Outcome}
	switch {
	case s.result.State == StateLeft:
		input.Left = s.result.Code
	case need.Effect != graph.World && s.result.Attempt > 0:
		input.Dir = w.run.AttemptDir(need.Address, s.result.Attempt)
		input.OutputDigest = s.result.Output
	}
	return input
}
