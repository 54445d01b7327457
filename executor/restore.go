package executor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/executor/digest"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// RestoreLeft runs the Finally nodes of every group that was left switched, and
// nothing else (PLN-34). It goes by the graph that is stored in the run; Options
// need no Graph. The results are those of the nodes that ran.
func RestoreLeft(ctx context.Context, options Options) (results []NodeResult, err error) {
	stored, err := options.Run.Graph()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nothing ever ran
	}
	if err != nil {
		return nil, err
	}
	if options.Graph == nil {
		options.Graph = stored
	}
	session, err := openSession(&options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.close()) }()
	if err := session.recover(ctx); err != nil {
		return nil, err
	}
	events, err := session.run.GroupEvents()
	if err != nil {
		return nil, err
	}
	return session.restoreGroups(ctx, stored, leftSwitched(events))
}

// restoreLeft restores before anything else of a run takes the host: another
// group must not be measured on what a killed process left there.
func (s *session) restoreLeft(ctx context.Context, j *judge, w *walker) error {
	if len(j.left) == 0 {
		return nil
	}
	stored, err := s.run.Graph()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	results, err := s.restoreGroups(ctx, stored, j.left)
	for _, result := range results {
		if _, rereadErr := j.index.Reread(result.Address); rereadErr != nil {
			err = errors.Join(err, rereadErr)
		}
		if result.State == StateFailed {
			w.restoreFailed = append(w.restoreFailed, result)
		}
	}
	return err
}

func (s *session) restoreGroups(ctx context.Context, g *graph.Graph, groups []string) ([]NodeResult, error) {
	var nodes []*graph.Node
	for _, node := range g.Nodes() {
		if node.Finally && slices.Contains(groups, node.Group) {
			nodes = append(nodes, node)
		}
	}
	if len(nodes) == 0 {
		return nil, nil
	}
	lock, err := checkpoint.LockHost(ctx, s.hostOptions())
	if err != nil {
		return nil, err
	}
	var results []NodeResult
	for _, node := range nodes {
		result, restoreErr := s.restoreNode(ctx, g, node)
		if err = errors.Join(err, restoreErr); restoreErr != nil {
			break
		}
		results = append(results, result)
	}
	return results, errors.Join(err, lock.Release())
}

func (s *session) restoreNode(ctx context.Context, g *graph.Graph, node *graph.Node) (NodeResult, error) {
	stored, err := s.run.ReadNode(node.Address)
	if err != nil {
		return NodeResult{}, err
	}
	entries := digest.Entries(g, node, func(need *graph.Node) digest.Ending {
		return digest.Ending{Output: storedInput(s.run, s.index, g, need.Address).OutputDigest}
	})
	sum, err := digest.Input(s.run.Manifest.DigestScheme, node, node.Spec, entries)
	if err != nil {
		return NodeResult{}, fmt.Errorf("node %s: %w", node.Address, err)
	}
	job := &job{node: node, attempt: stored.Last + 1, needs: map[string]Input{}, input: checkpoint.Input{
		Scheme: s.run.Manifest.DigestScheme, Digest: sum, Spec: node.Spec, Needs: entries,
	}}
	for _, address := range node.Needs {
		job.needs[address] = storedInput(s.run, s.index, g, address)
	}
	if err := s.run.PrepareNodes([]string{node.Address}); err != nil {
		return NodeResult{}, err
	}
	if err := s.event(checkpoint.Event{Event: checkpoint.NodeStarted, Node: node.Address, Attempt: job.attempt}, false); err != nil {
		return NodeResult{}, err
	}
	ended := s.bench.do(ctx, job)
	result := NodeResult{Address: node.Address, State: StateDone, Attempt: job.attempt}
	if ended.err != nil {
		result.State, result.Code, result.Err = StateFailed, codeOf(ended.err), ended.err
		s.tell(node, result)
		return result, nil
	}
	s.tell(node, result)
	return result, s.event(checkpoint.Event{Event: checkpoint.GroupRestored, Group: node.Group}, true)
}
