package executor

import (
	"context"
	"errors"
	"slices"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// hold is the host as this process has it. All hosts are this machine, so there
// is one, and one group at a time has it (PLN-18).
type hold struct {
	group   *groupState // nil: nobody
	lock    *checkpoint.HostLock
	waiting bool
}

// positions is an ascending list of positions of the graph.
type positions []int

func (p *positions) push(at int) {
	i, _ := slices.BinarySearch(*p, at)
	*p = slices.Insert(*p, i, at)
}

func (p *positions) remove(at int) {
	if i, found := slices.BinarySearch(*p, at); found {
		*p = slices.Delete(*p, i, i+1)
	}
}

func (w *walker) room() bool { return w.active < max(1, w.options.Workers) }

// dispatch starts what may start now.
func (w *walker) dispatch() {
	for len(w.free) > 0 && w.room() {
		at := w.free[0]
		w.free = w.free[1:]
		w.start(at)
	}
	w.passHost()
	if w.hold.lock == nil {
		return
	}
	list := &w.hold.group.ready
	for len(*list) > 0 && w.room() && w.exclusive == 0 {
		at := (*list)[0]
		if w.graph.Nodes()[at].Claim == graph.Exclusive && w.claimed > 0 {
			return // in order: a shared one behind it would keep it waiting
		}
		*list = (*list)[1:]
		w.start(at)
	}
}

// passHost gives the host up when its group is through and asks for it for the
// first declared group that can use it.
func (w *walker) passHost() {
	if group := w.hold.group; group != nil {
		if w.hold.waiting || group.open > 0 && (group.name != "" || len(group.ready) > 0 || w.claimed > 0) {
			return
		}
		w.giveUpHost()
	}
	for _, group := range w.order {
		if len(group.ready) > 0 && w.nothingOutside(group) {
			w.askForHost(group)
			return
		}
	}
}

// nothingOutside: a group takes the host when nothing of another group is
// missing to it, so that the order of declaration never blocks anything
// (PLN-45).
func (w *walker) nothingOutside(group *groupState) bool {
	return !slices.ContainsFunc(group.outside, func(at int) bool { return w.status[at].stage != over })
}

func (w *walker) askForHost(group *groupState) {
	w.hold = hold{group: group, waiting: true}
	options := w.session.hostOptions()
	ctx := w.work
	go func() {
		lock, err := checkpoint.LockHost(ctx, options)
		w.answers <- answer{at: -1, lock: lock, err: err}
	}()
}

func (w *walker) giveUpHost() {
	if w.hold.lock != nil {
		// The lock ends with the descriptor, whatever Release says.
		_ = w.hold.lock.Release()
	}
	w.hold = hold{}
}

// take receives an answer.
func (w *walker) take(a answer) {
	if a.at >= 0 {
		w.finish(a.at, a.ended)
		return
	}
	w.hold.waiting = false
	if a.err == nil {
		w.hold.lock = a.lock
		return
	}
	// Without the host nothing of the group can be done: stopped, or broken.
	group := w.hold.group
	w.hold = hold{}
	for _, at := range slices.Clone(group.ready) {
		w.unready(at)
		if w.work.Err() != nil {
			w.end(at, NodeResult{State: StateStopped})
		} else {
			w.fail(at, &Failure{Code: "host_lock_failed", Err: a.err})
		}
	}
}

// unstick is for graphs whose groups need each other, which no plan compiles
// to: rather than wait for ever, world nodes are decided by what is expected,
// and then the host is given to another group half way. It reports whether
// anything changed.
func (w *walker) unstick() bool {
	if w.decideUndecided(true) {
		return true
	}
	if w.hold.group != nil && len(w.hold.group.ready) == 0 {
		w.giveUpHost()
	}
	if w.hold.group != nil {
		return false
	}
	for _, group := range w.order {
		if len(group.ready) > 0 {
			w.askForHost(group)
			return true
		}
	}
	return false
}

// start begins a node's work.
func (w *walker) start(i int) {
	node := w.graph.Nodes()[i]
	job, err := w.prepare(i, node)
	if err == nil {
		err = w.announce(node, job)
	}
	if err != nil {
		w.status[i].stage = running
		w.fail(i, err)
		return
	}
	w.status[i].stage, w.status[i].job = running, job
	w.active++
	if node.Claim != graph.NoClaim {
		w.claimed++
	}
	if node.Claim == graph.Exclusive {
		w.exclusive++
	}
	ctx := w.work
	if w.stopped != nil && w.mayStart(node) {
		ctx = context.WithoutCancel(w.work) // restore and report after an interrupt
	}
	go func() { w.answers <- answer{at: i, ended: w.perform(ctx, job)} }()
}

// perform does a job here or has it done elsewhere.
func (w *walker) perform(ctx context.Context, job *job) ended {
	if w.options.Place == nil {
		return w.bench.do(ctx, job)
	}
	placeErr := w.options.Place(ctx, job.node.Address)
	result := ended{within: map[string]*checkpoint.Record{}}
	for _, within := range job.within {
		if record, err := w.run.Record(within.node.Address, job.attempt); err == nil {
			result.within[within.node.Address] = record
		}
	}
	record, err := w.run.Record(job.node.Address, job.attempt)
	switch {
	case err != nil && placeErr != nil:
		result.err = &Failure{Code: CodePlaceFailed, Err: placeErr}
	case err != nil:
		result.err = &Failure{Code: CodePlaceFailed, Err: err}
	default:
		if result.record = record; record.State != checkpoint.Done {
			result.err = record.Error
		}
	}
	return result
}

// announce tells of a start; before anything of a group is switched that is
// durable, so that a kill cannot hide it (PLN-34).
func (w *walker) announce(node *graph.Node, job *job) error {
	group := w.groups[node.Group]
	switches := node.Effect == graph.World && !node.Finally || len(job.within) > 0
	if switches && !group.switched {
		group.switched = true
		if group.finally {
			if err := w.session.event(checkpoint.Event{Event: checkpoint.GroupSwitched, Group: group.name}, true); err != nil {
				return err
			}
		}
	}
	return w.session.event(checkpoint.Event{Event: checkpoint.NodeStarted, Node: node.Address, Attempt: job.attempt}, false)
}

// finish takes in how a node's work ended.
func (w *walker) finish(i int, e ended) {
	node, job := w.graph.Nodes()[i], w.status[i].job
	w.active--
	if node.Claim != graph.NoClaim {
		w.claimed--
	}
	if node.Claim == graph.Exclusive {
		w.exclusive--
	}
	withinFailed := w.finishWithin(job, e)
	result := NodeResult{State: StateDone, Attempt: job.attempt}
	if e.record == nil {
		if _, err := w.index.Reread(node.Address); err != nil && e.err == nil {
			e.err = err
		}
	} else {
		stored := nodeOf(e.record)
		w.index.Put(stored)
		w.verified[node.Address] = nil
		if e.err == nil {
			w.status[i].stop, w.status[i].ending = stored.Stop, finishedEnding(stored)
			result.Outcome, result.Output, result.Code = stored.Outcome, stored.Output, stored.Stop
		}
	}
	switch {
	case e.err == nil:
	case e.record != nil && e.record.State == checkpoint.Interrupted, w.work.Err() != nil && errors.Is(e.err, context.Cause(w.work)):
		result.State, result.Code, result.Err = StateStopped, CodeInterrupted, e.err
	case withinFailed != "":
		result.State, result.Causes, result.Code, result.Err = StateSkipped, []string{withinFailed}, codeOf(e.err), e.err
	default:
		result.State, result.Code, result.Err = StateFailed, codeOf(e.err), e.err
	}
	if node.Finally && e.err == nil {
		w.groups[node.Group].switched = false
		if err := w.session.event(checkpoint.Event{Event: checkpoint.GroupRestored, Group: node.Group}, true); err != nil {
			result.State, result.Err = StateFailed, err
		}
	}
	w.end(i, result)
}

// finishWithin ends the world nodes that a measurement carried out, and names
// the one that failed.
func (w *walker) finishWithin(job *job, e ended) string {
	failed := ""
	for _, within := range job.within {
		at := w.graph.Position(within.node.Address)
		record := e.within[within.node.Address]
		result := NodeResult{State: StateStopped, Attempt: job.attempt}
		switch {
		case record == nil:
			if e.err != nil && w.work.Err() == nil {
				result = NodeResult{State: StateSkipped, Causes: []string{job.node.Address}}
			}
		case record.State == checkpoint.Done:
			result.State = StateDone
		default:
			result.State, result.Err = StateFailed, record.Error
			result.Code = record.Error.Code
			failed = within.node.Address
		}
		if record != nil {
			w.index.Put(nodeOf(record))
		}
		w.end(at, result)
	}
	return failed
}

// nodeOf is what ReadNode would find after this record was published.
func nodeOf(record *checkpoint.Record) *checkpoint.Node {
	node := &checkpoint.Node{
		Address: record.Address, Last: record.Attempt, Attempt: record.Attempt, State: record.State,
		Input: record.Input.Digest, Output: record.Output, Outcome: record.Outcome, Stop: record.Stop, Files: record.Files,
	}
	if record.Error != nil {
		node.Code = record.Error.Code
	}
	return node
}
