package executor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// recover closes every attempt that a process left when it died: whole ones are
// taken over, the others end as interrupted (PLN-22). It asks with the graph of
// the time, since a node may be gone from an edited plan.
func (s *session) recover(ctx context.Context) error {
	graphs := []*graph.Graph{s.options.Graph}
	if s.same = s.run.HasGraph(s.options.Graph); !s.same {
		if err := checkpoint.CheckFolders(s.options.Graph); err != nil {
			return err
		}
		stored, err := s.run.Graph()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil {
			graphs = []*graph.Graph{stored, s.options.Graph}
		}
	}
	done := make(map[string]bool, s.options.Graph.Len())
	for _, g := range graphs {
		for _, node := range g.Nodes() {
			if done[node.Address] || node.Within != "" {
				continue
			}
			done[node.Address] = true
			if err := s.recoverNode(ctx, g, node); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *session) recoverNode(ctx context.Context, g *graph.Graph, node *graph.Node) error {
	stands, err := s.index.Node(node.Address)
	if err != nil || len(stands.Open) == 0 {
		return err
	}
	for _, attempt := range stands.Open {
		if err := s.recoverAttempt(ctx, g, node, attempt); err != nil {
			return err
		}
	}
	for _, other := range g.Nodes() {
		if other.Address == node.Address || other.Within == node.Address {
			if _, err := s.index.Reread(other.Address); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *session) recoverAttempt(ctx context.Context, g *graph.Graph, node *graph.Node, attempt int) error {
	lease, leaseErr := s.run.Lease(node.Address, attempt)
	if leaseErr == nil {
		if err := s.holderGone(lease); err != nil {
			return err
		}
	}
	job := &job{node: node, attempt: attempt, needs: map[string]Input{}}
	for _, address := range node.Needs {
		job.needs[address] = storedInput(s.run, s.index, g, address)
	}
	for _, other := range g.Nodes() {
		if other.Within == node.Address {
			job.within = append(job.within, withinJob{node: other})
		}
	}
	record := &checkpoint.Record{Address: node.Address, Attempt: attempt, State: checkpoint.Interrupted}
	if leaseErr == nil {
		record.Input, record.Token, record.Started = lease.Input, lease.Token, lease.Began
	}
	within := &withinLog{bench: s.bench, job: job, records: map[string]*checkpoint.Record{}}
	result, whole, err := s.bench.runner.Recover(ctx, s.bench.work(job, within))
	if err != nil {
		// What it started may still run: nothing may be measured beside it.
		return &Failure{Code: CodeRecoverFailed, Err: fmt.Errorf("end what attempt %d of %s left behind: %w", attempt, node.Address, err)}
	}
	event := checkpoint.Event{Event: checkpoint.NodeInterrupted, Node: node.Address, Attempt: attempt, Code: CodeInterrupted}
	if whole && leaseErr == nil {
		record.State, record.TakenOver = checkpoint.Done, true
		event.Event, event.Code = checkpoint.NodeTaken, ""
	} else {
		record.Error = checkpoint.NewProblem(CodeInterrupted, "the process that worked on it died")
	}
	if err := s.bench.publish(context.WithoutCancel(ctx), record, result); err != nil {
		return err
	}
	return s.event(event, true)
}

// holderGone: the holder of a lease that nobody closed has to be gone. A process
// of this executor's kind held the lock that this one holds now; one that was
// placed elsewhere has to be examined.
func (s *session) holderGone(lease *checkpoint.Lease) error {
	if lease.Locked {
		return nil
	}
	switch lease.Holder.Examine() {
	case checkpoint.Gone:
		return nil
	case checkpoint.Unknown:
		if s.options.TakeOver {
			return nil
		}
	}
	return &BusyError{Address: lease.Address, Holder: lease.Holder}
}

// storedInput is a need as it stands on disk.
func storedInput(run *checkpoint.Run, index *checkpoint.Index, g *graph.Graph, address string) Input {
	need, known := g.Lookup(address)
	if !known || need.Effect == graph.World {
		return Input{}
	}
	stored, err := index.Node(address)
	if err != nil || stored.State != checkpoint.Done {
		return Input{}
	}
	return Input{Dir: run.AttemptDir(address, stored.Attempt), OutputDigest: stored.Output, Outcome: stored.Outcome}
}
