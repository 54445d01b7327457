package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// Run carries the graph out, or goes on with it. It takes the lock of the run
// directory, ends what a killed process left, observes, decides, stops with a
// [*DiscardError] before any effect if it must, and walks.
//
// A node that fails is no error of Run: the [Summary] tells. Errors are those
// that keep the run from being carried out, among them
// [*checkpoint.HeldError], [*DiscardError] and [*BusyError]; a summary may come
// with one. A done ctx ends the run with Summary.Stopped set and no error.
func Run(ctx context.Context, options Options) (summary *Summary, err error) {
	session, err := openSession(&options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.close()) }()
	return session.goOn(ctx)
}

// session is one process's holding of a run directory.
type session struct {
	options *Options
	run     *checkpoint.Run
	lock    *checkpoint.Lock
	log     *checkpoint.EventLog
	index   *checkpoint.Index
	same    bool // the stored graph is the one to run
	bench   *bench
	polled  chan string
	quit    chan struct{}
}

func openSession(options *Options) (*session, error) {
	s := &session{options: options, run: options.Run, quit: make(chan struct{})}
	var err error
	if s.lock, err = s.run.Lock(checkpoint.LockOptions{TakeOver: options.TakeOver, Now: options.now()}); err != nil {
		return nil, err
	}
	s.index = s.run.OpenIndex()
	s.index.Prefetch()
	if s.log, err = s.run.OpenEvents(true); err != nil {
		return nil, errors.Join(err, s.lock.Release())
	}
	s.bench = &bench{
		run: s.run, runner: options.Runner, holder: s.lock.Holder(), locked: true,
		now: options.now, progress: options.Progress,
	}
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *session) begin() error {
	if err := s.run.ClearRequests(s.lock); err != nil {
		return err
	}
	if from := s.lock.TakenOver; from != nil {
		if err := s.event(checkpoint.Event{Event: checkpoint.TakenOverRun, Text: from.String(), PID: from.PID}, true); err != nil {
			return err
		}
	}
	return s.run.StoreDocuments(s.options.Documents)
}

func (s *session) close() error {
	close(s.quit)
	return errors.Join(s.log.Close(), s.lock.Release())
}

// event writes an event and shows it.
func (s *session) event(event checkpoint.Event, sync bool) error {
	event.Time = s.options.now()
	if event.PID == 0 && event.Event == checkpoint.RunStarted {
		event.PID = s.lock.Holder().PID
	}
	err := s.log.Append(event, sync)
	if s.options.Event != nil {
		s.options.Event(event)
	}
	return err
}

func (s *session) carryOut(ctx context.Context, j *judge) (*Summary, error) {
	if err := s.event(checkpoint.Event{Event: checkpoint.RunStarted}, false); err != nil {
		return nil, err
	}
	if err := s.prepare(j); err != nil {
		return nil, err
	}
	w := newWalker(ctx, j, s)
	if err := s.restoreLeft(ctx, j, w); err != nil {
		return nil, err
	}
	if !s.same || len(s.options.PlanFiles) > 0 {
		if err := s.run.StorePlan(s.options.Graph, s.options.PlanFiles); err != nil {
			return nil, err
		}
	}
	walkErr := w.walk()
	summary := summarize(j, w)
	event := checkpoint.Event{Event: checkpoint.RunFinished, Text: fmt.Sprintf("%d run, %d reused, %d failed", summary.Ran, summary.Reused, len(summary.Failed))}
	if summary.Stopped != nil {
		event.Event, event.Code = checkpoint.RunStopped, summary.Stopped.Error()
	}
	return summary, errors.Join(walkErr, s.event(event, false), j.index.Save())
}

func (s *session) goOn(ctx context.Context) (*Summary, error) {
	if err := s.recover(ctx); err != nil {
		return nil, err
	}
	j, err := newJudge(s.options, s.index)
	if err != nil {
		return nil, err
	}
	j.observeAll(ctx)
	if ctx.Err() != nil {
		return &Summary{Stopped: context.Cause(ctx), Unfinished: j.graph.Len()}, nil
	}
	if rejected := j.rejected(); s.options.Reject && len(rejected) > 0 {
		return nil, &RejectedError{Nodes: rejected}
	}
	if err := j.decide(ctx); err != nil {
		return nil, err
	}
	if discards := j.decisions.Discards(); len(discards) > 0 && !s.options.Replan {
		return nil, &DiscardError{Nodes: discards}
	}
	return s.carryOut(ctx, j)
}

// prepare notes durably what does not count any more, and makes the folders of
// all nodes that will run, at once because each costs an fsync alone.
func (s *session) prepare(j *judge) error {
	var addresses []string
	for i, decision := range j.decisions.Nodes {
		if !decision.Selected || decision.Action == Reuse || decision.Action == Skip {
			continue
		}
		addresses = append(addresses, decision.Address)
		stored, err := j.index.Node(decision.Address)
		if err != nil {
			return err
		}
		if !stored.Finished() || !j.redo[i] && !decision.Discards {
			continue
		}
		if err := s.supersede(j, stored, &decision, j.redo[i]); err != nil {
			return err
		}
	}
	return s.run.PrepareNodes(addresses)
}

func (s *session) supersede(j *judge, stored *checkpoint.Node, decision *Decision, asked bool) error {
	reason := "--replan"
	if asked {
		reason = "--redo"
	}
	for _, why := range decision.Reasons {
		reason += "; " + why.String()
	}
	if err := s.run.Supersede(stored.Address, stored.Attempt, reason, s.options.now()); err != nil {
		return err
	}
	event := checkpoint.Event{Event: checkpoint.NodeRedo, Node: stored.Address, Attempt: stored.Attempt, Text: reason}
	if err := s.event(event, true); err != nil {
		return err
	}
	_, err := j.index.Reread(stored.Address)
	return err
}

// tell writes the event of a node's end. Reused nodes change no state.
func (s *session) tell(node *graph.Node, result NodeResult) {
	event := checkpoint.Event{Node: node.Address, Attempt: result.Attempt, Code: result.Code, Outcome: result.Outcome}
	switch result.State {
	case StateDone:
		event.Event = checkpoint.NodeDone
	case StateFailed:
		event.Event = checkpoint.NodeFailed
		event.Text = problemOf(result.Err).Message
	case StateSkipped:
		event.Event = checkpoint.NodeSkipped
		event.Code = NeedFailed
		if len(result.Causes) > 0 {
			event.Text = result.Causes[0]
		}
	case StateLeft:
		event.Event = checkpoint.NodeLeft
	case StateStopped:
		if result.Attempt == 0 {
			return
		}
		event.Event = checkpoint.NodeInterrupted
	default:
		return
	}
	// The checkpoint holds the same; a lost line is no lost state.
	_ = s.event(event, false)
}

func (s *session) hostOptions() checkpoint.HostLockOptions {
	holder := s.lock.Holder()
	holder.Run, holder.Plan, holder.Token = s.run.Dir, s.run.Manifest.Plan, ""
	holder.Since = s.options.now().UTC()
	return checkpoint.HostLockOptions{
		Path: s.options.HostLock, Holder: holder,
		Waiting: func(by *checkpoint.Holder, waited time.Duration) {
			text := "the host is held by a process that is not known"
			event := checkpoint.Event{Event: checkpoint.HostWaiting}
			if by != nil {
				event.PID = by.PID
				text = "the host is held by " + by.String()
				if by.Run != "" {
					text += " (" + by.Run + ")"
				}
			}
			event.Text = fmt.Sprintf("%s; waiting for %s", text, waited.Round(time.Second))
			_ = s.event(event, false)
		},
	}
}

// requestPoll is how often files in requests/ are looked for.
const requestPoll = 500 * time.Millisecond

// requests gives what other processes ask for, once each.
func (s *session) requests() <-chan string {
	if s.polled != nil {
		return s.polled
	}
	s.polled = make(chan string)
	go func() {
		ticker := time.NewTicker(requestPoll)
		defer ticker.Stop()
		for last := ""; ; {
			select {
			case <-s.quit:
				return
			case <-ticker.C:
			}
			kind := s.run.Requested(s.lock)
			if kind == "" || kind == last {
				continue
			}
			select {
			case <-s.quit:
				return
			case s.polled <- kind:
				last = kind
			}
		}
	}()
	return s.polled
}

// storeObservation stores what an Always node saw as a new attempt, unless the
// latest one saw the same (PLN-40).
func (s *session) storeObservation(j *judge, node *graph.Node, seen Observation) (*checkpoint.Node, error) {
	stored, err := j.index.Node(node.Address)
	if err != nil {
		return nil, err
	}
	if fresh, err := j.observationStored(context.Background(), node, stored); err != nil || fresh {
		return stored, err
	}
	input, entries, err := j.input(node, j.predictedEnding)
	if err != nil {
		return nil, err
	}
	job := &job{node: node, attempt: stored.Last + 1, input: checkpoint.Input{
		Scheme: s.run.Manifest.DigestScheme, Digest: input, Spec: node.Spec, Needs: entries,
	}}
	if err := s.run.PrepareNodes([]string{node.Address}); err != nil {
		return nil, err
	}
	observing := *s.bench
	observing.runner = observationWriter{seen}
	ended := observing.do(context.Background(), job)
	if ended.err != nil {
		return nil, ended.err
	}
	fresh := nodeOf(ended.record)
	j.index.Put(fresh)
	j.verified[node.Address] = nil
	return fresh, s.event(checkpoint.Event{Event: checkpoint.NodeDone, Node: node.Address, Attempt: job.attempt}, false)
}
