package executor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/executor/digest"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// RunNode makes one attempt of one node in the calling process, from the graph
// and the checkpoints that stand in the run directory, and returns its
// checkpoint. It takes neither the lock of the run nor the host: whoever placed
// it holds both. A node that fails has a checkpoint that says so, and no error.
func RunNode(ctx context.Context, dir, address string, runner Runner) (*checkpoint.Record, error) {
	run, err := checkpoint.Open(dir)
	if err != nil {
		return nil, err
	}
	g, err := run.Graph()
	if err != nil {
		return nil, err
	}
	node, known := g.Lookup(address)
	if !known {
		return nil, fmt.Errorf("node %s: the stored graph has no such node", address)
	}
	if node.Always || node.Within != "" {
		return nil, fmt.Errorf("node %s is not carried out on its own", address)
	}
	desk := &desk{run: run, graph: g, index: run.OpenIndex()}
	job, err := desk.job(node)
	if err != nil {
		return nil, err
	}
	b := &bench{run: run, runner: runner, holder: checkpoint.Self(time.Now()), now: time.Now}
	ended := b.do(ctx, job)
	if ended.record == nil {
		return nil, ended.err
	}
	return ended.record, nil
}

// desk makes a job from what is on disk alone.
type desk struct {
	run   *checkpoint.Run
	graph *graph.Graph
	index *checkpoint.Index
}

func (d *desk) job(node *graph.Node) (*job, error) {
	job := &job{node: node, needs: make(map[string]Input, len(node.Needs))}
	var err error
	if job.input, err = d.input(node); err != nil {
		return nil, err
	}
	last, err := d.last(node.Address)
	if err != nil {
		return nil, err
	}
	for _, address := range node.Needs {
		need, _ := d.graph.Lookup(address)
		if left := d.left(need); left != "" {
			job.needs[address] = Input{Left: left}
			continue
		}
		job.needs[address] = storedInput(d.run, d.index, d.graph, address)
		if need.Effect != graph.World && job.needs[address].Dir == "" {
			return nil, fmt.Errorf("node %s needs %s, which is not finished", node.Address, address)
		}
		if need.Within == node.Address {
			input, err := d.input(need)
			if err != nil {
				return nil, err
			}
			withinLast, err := d.last(address)
			if err != nil {
				return nil, err
			}
			last = max(last, withinLast)
			job.within = append(job.within, withinJob{node: need, input: input})
		}
	}
	job.attempt = last + 1
	return job, d.prepare(job)
}

func (d *desk) prepare(job *job) error {
	addresses := []string{job.node.Address}
	for _, within := range job.within {
		addresses = append(addresses, within.node.Address)
	}
	if err := d.run.PrepareNodes(addresses); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func (d *desk) last(address string) (int, error) {
	stored, err := d.index.Node(address)
	if err != nil {
		return 0, err
	}
	return stored.Last, nil
}

func (d *desk) input(node *graph.Node) (checkpoint.Input, error) {
	entries := digest.Entries(d.graph, node, func(need *graph.Node) digest.Ending {
		if left := d.left(need); left != "" {
			return digest.Ending{Left: left, Ended: string(StateLeft)}
		}
		stored, err := d.index.Node(need.Address)
		if err != nil || stored.State != checkpoint.Done {
			return digest.Ending{Ended: "none"}
		}
		return finishedEnding(stored)
	})
	sum, err := digest.Input(d.run.Manifest.DigestScheme, node, node.Spec, entries)
	if err != nil {
		return checkpoint.Input{}, fmt.Errorf("node %s: %w", node.Address, err)
	}
	return checkpoint.Input{Scheme: d.run.Manifest.DigestScheme, Digest: sum, Spec: node.Spec, Needs: entries}, nil
}

// left is the reason for which an early stop leaves a node out: a Stops node of
// its group, somewhere among its needs, says so.
func (d *desk) left(node *graph.Node) string {
	seen := map[string]bool{}
	var visit func(*graph.Node) string
	visit = func(of *graph.Node) string {
		if of.Tolerates || of.Finally || seen[of.Address] {
			return ""
		}
		seen[of.Address] = true
		for _, address := range of.Needs {
			need, _ := d.graph.Lookup(address)
			if need.Stops && need.Group == of.Group {
				if stored, err := d.index.Node(address); err == nil && stored.Finished() && stored.Stop != "" {
					return stored.Stop
				}
			}
			if reason := visit(need); reason != "" {
				return reason
			}
		}
		return ""
	}
	return visit(node)
}
