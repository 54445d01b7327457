package executor

import (
	"context"
	"errors"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/executor/digest"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// stage is where a node is in a walk.
type stage uint8

const (
	waiting  stage = iota // for others
	ready                 // has to run, and may as soon as there is room
	deferred              // a world node that its measurement carries out
	running
	over
)

// status is one node in a walk.
type status struct {
	stage   stage
	blocked int // edges whose other end is not over
	result  NodeResult
	ending  digest.Ending
	stop    string // early stop of the group, given by this node
	job     *job
}

// walker carries a graph through. All its state belongs to the goroutine of
// [walker.walk]; workers get a job and answer on a channel.
type walker struct {
	*judge
	ctx     context.Context // of the caller
	work    context.Context // of nodes: ends with an interrupt, not with a stop
	cancel  context.CancelCauseFunc
	session *session
	bench   *bench

	status []status
	queue  []int // over a node's end: those to look at, a heap would not pay
	free   positions
	groups map[string]*groupState
	order  []*groupState
	hold   hold

	undecided []int // world nodes that wait to know whether they are needed
	answers   chan answer
	active    int
	exclusive int // running exclusive nodes: 0 or 1
	claimed   int // running nodes with a claim
	stopped   error
	left      int
	fatal     error
	// restoreFailed are Finally nodes that failed before the walk.
	restoreFailed []NodeResult
}

// answer is what a worker, or the wait for the host, sends back.
type answer struct {
	at    int // node, or -1 for the host
	ended ended
	lock  *checkpoint.HostLock
	err   error
}

// groupState is what the walk knows of a group; "" collects claimed nodes that
// belong to none.
type groupState struct {
	name     string
	ready    positions // claimed nodes that have to run
	open     int       // claimed nodes that are not over
	outside  []int     // nodes of other groups that its nodes wait for
	switched bool      // a world node was started in this process
	finally  bool      // it has a node to restore
}

func newWalker(ctx context.Context, j *judge, s *session) *walker {
	w := &walker{judge: j, ctx: ctx, session: s, bench: s.bench, groups: map[string]*groupState{}}
	w.work, w.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	nodes := j.graph.Nodes()
	w.status = make([]status, len(nodes))
	w.answers = make(chan answer, 1)
	w.left = len(nodes)
	for _, name := range append(append([]string{}, j.graph.Groups()...), "") {
		state := &groupState{name: name}
		w.groups[name] = state
		w.order = append(w.order, state)
	}
	for i, node := range nodes {
		w.status[i].blocked = len(node.Needs) + len(node.After)
		w.status[i].result.Address = node.Address
		w.countIn(i, node)
	}
	return w
}

func (w *walker) countIn(i int, node *graph.Node) {
	state := w.groups[node.Group]
	if node.Claim != graph.NoClaim && node.Within == "" {
		state.open++
	}
	state.finally = state.finally || node.Finally
	for _, edges := range [][]string{node.Needs, node.After} {
		for _, to := range edges {
			if at := w.graph.Position(to); node.Group != "" && w.graph.Nodes()[at].Group != node.Group {
				state.outside = append(state.outside, at)
			}
		}
	}
}

// walk runs until every node is over.
func (w *walker) walk() error {
	defer w.cancel(nil)
	for i := range w.status {
		if w.status[i].blocked == 0 {
			w.queue = append(w.queue, i)
		}
	}
	interrupted := w.ctx.Done()
	requests := w.session.requests()
	for {
		w.settle()
		w.dispatch()
		if w.left == 0 {
			break
		}
		if w.active == 0 && !w.hold.waiting {
			if len(w.queue) == 0 && !w.unstick() {
				return errors.New("executor: nothing can go on, which is a defect: please report it with the graph")
			}
			continue
		}
		select {
		case answer := <-w.answers:
			w.take(answer)
		case <-interrupted:
			interrupted = nil
			w.stop(context.Cause(w.ctx))
		case kind := <-requests:
			w.stop(requestCause(kind))
		}
	}
	w.giveUpHost()
	return w.fatal
}

func requestCause(kind string) error {
	if kind == checkpoint.CancelRequest {
		return ErrInterrupted
	}
	return ErrStopRequested
}

// stop ends the walk early: a stop lets the slot being captured end, everything
// else ends what runs (PLN-25, PLN-48).
func (w *walker) stop(cause error) {
	if w.stopped == nil || errors.Is(w.stopped, ErrStopRequested) {
		w.stopped = cause
	}
	if !errors.Is(cause, ErrStopRequested) {
		w.cancel(cause)
	}
	// Whatever is ready has to be asked again whether it may still start.
	for i := range w.status {
		if w.status[i].stage == ready {
			w.unready(i)
			w.queue = append(w.queue, i)
		}
	}
}

func (w *walker) unready(i int) {
	node := w.graph.Nodes()[i]
	w.status[i].stage = waiting
	if node.Claim == graph.NoClaim {
		w.free.remove(i)
	} else {
		w.groups[node.Group].ready.remove(i)
	}
}

// mayStart says whether a node that has to run may do so in a run that is being
// stopped.
func (w *walker) mayStart(node *graph.Node) bool {
	switch {
	case w.fatal != nil:
		return node.Finally
	case w.stopped == nil || node.Finally:
		return true
	case node.Effect == graph.Pure && len(node.Needs) == 0 && len(node.After) > 0:
		return true // report: runs last, whatever happened before
	case errors.Is(w.stopped, ErrStopRequested):
		return node.Effect == graph.Pure && (node.Claim == graph.NoClaim || w.hold.group == w.groups[node.Group])
	}
	return false
}

// settle looks at every node that waits for nothing any more, until only work
// is left.
func (w *walker) settle() {
	for len(w.queue) > 0 || w.decideUndecided(false) {
		if len(w.queue) == 0 {
			continue
		}
		i := w.queue[0]
		w.queue = w.queue[1:]
		if w.status[i].stage == waiting {
			w.consider(i, w.graph.Nodes()[i])
		}
	}
}

// consider decides about a node whose needs are all over.
func (w *walker) consider(i int, node *graph.Node) {
	if !w.selected[i] {
		w.unselected(i, node)
		return
	}
	if state, causes, left := w.upstream(node); state != "" {
		w.end(i, NodeResult{State: state, Causes: causes, Code: left})
		return
	}
	switch {
	case node.Always:
		w.considerAlways(i, node)
	case node.Finally:
		if !w.groups[node.Group].switched {
			w.end(i, NodeResult{State: StateIdle})
			return
		}
		w.makeReady(i, node)
	case node.Effect == graph.World:
		w.undecided = append(w.undecided, i)
	default:
		w.considerResult(i, node)
	}
}

// considerResult reuses or readies a pure node or a measurement.
func (w *walker) considerResult(i int, node *graph.Node) {
	if w.asPredicted(i, node) {
		if stored, err := w.index.Node(node.Address); err == nil {
			w.reuse(i, stored)
			return
		}
	}
	input, entries, err := w.input(node, w.endingOf)
	if err != nil {
		w.fail(i, err)
		return
	}
	stored, err := w.index.Node(node.Address)
	if err != nil {
		w.fail(i, err)
		return
	}
	reasons, err := w.stale(w.work, i, stored, input, entries, nil)
	if err != nil && w.work.Err() == nil {
		w.fail(i, err)
		return
	}
	if err == nil && reasons == nil {
		w.reuse(i, stored)
		return
	}
	if w.wouldDiscard(i, node, stored) {
		decision := Decision{Address: node.Address, Action: Redo, Attempt: stored.Attempt, Reasons: reasons, Discards: true, Selected: true}
		w.fatal = &DiscardError{Nodes: []Decision{decision}}
		w.fail(i, w.fatal)
		return
	}
	w.makeReady(i, node)
}

// asPredicted: the node was found reusable, and all that it rests on came out as
// was expected then, which spares the digest.
func (w *walker) asPredicted(i int, node *graph.Node) bool {
	if w.predicted[i].input == "" || w.predicted[i].action != Reuse {
		return false
	}
	for _, edges := range [][]string{node.Needs, node.After} {
		for _, to := range edges {
			at := w.graph.Position(to)
			if w.graph.Nodes()[at].Effect == graph.World || w.status[at].ending != w.predicted[at].ending {
				return false
			}
		}
	}
	return true
}

// wouldDiscard guards what Decide predicted wrongly: a pure node, done again
// from equal inputs, came out different.
func (w *walker) wouldDiscard(i int, node *graph.Node, stored *checkpoint.Node) bool {
	return node.Effect == graph.Measurement && stored.Finished() && !w.options.Replan && !w.redo[i]
}

func (w *walker) reuse(i int, stored *checkpoint.Node) {
	w.status[i].stop = stored.Stop
	w.status[i].ending = finishedEnding(stored)
	w.end(i, NodeResult{State: StateReused, Attempt: stored.Attempt, Outcome: stored.Outcome, Output: stored.Output, Code: stored.Stop})
}

func (w *walker) unselected(i int, node *graph.Node) {
	stored, err := w.index.Node(node.Address)
	if err == nil && stored.Finished() && node.Effect != graph.World {
		w.status[i].ending, w.status[i].stop = finishedEnding(stored), stored.Stop
		w.end(i, NodeResult{State: StateUnselected, Attempt: stored.Attempt, Outcome: stored.Outcome, Output: stored.Output})
		return
	}
	w.end(i, NodeResult{State: StateUnselected})
}

func (w *walker) considerAlways(i int, node *graph.Node) {
	seen := w.observed[node.Address]
	if seen.err != nil {
		w.fail(i, seen.err)
		return
	}
	stored, err := w.session.storeObservation(w.judge, node, seen.observation)
	if err != nil {
		w.fail(i, err)
		return
	}
	w.reuse(i, stored)
}

// makeReady puts a node that has to run where it waits for room.
func (w *walker) makeReady(i int, node *graph.Node) {
	if !w.mayStart(node) {
		w.end(i, NodeResult{State: StateStopped})
		return
	}
	w.status[i].stage = ready
	if node.Claim == graph.NoClaim {
		w.free.push(i)
		return
	}
	w.groups[node.Group].ready.push(i)
}

// fail ends a node that never got to an attempt.
func (w *walker) fail(i int, err error) {
	w.end(i, NodeResult{State: StateFailed, Code: codeOf(err), Err: err})
}
