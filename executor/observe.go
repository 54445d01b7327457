package executor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/executor/digest"
	"github.com/grill-plan/grill-plan/internal/durable"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// observationWriter is the Runner by which an observation becomes an attempt
// like any other.
type observationWriter struct {
	seen Observation
}

func (o observationWriter) Observe(context.Context, *graph.Node) (Observation, error) {
	return o.seen, nil
}

func (o observationWriter) Run(_ context.Context, work Work) (Result, error) {
	names := make([]string, 0, len(o.seen.Files))
	for name := range o.seen.Files {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if !filepath.IsLocal(name) {
			return Result{}, fmt.Errorf("observation of %s: file name %q leads out of the attempt", work.Node.Address, name)
		}
		path := filepath.Join(work.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), durable.DirMode); err != nil {
			return Result{}, err
		}
		if err := os.WriteFile(path, o.seen.Files[name], durable.FileMode); err != nil {
			return Result{}, err
		}
	}
	return Result{OutputDigest: o.seen.Digest}, nil
}

func (o observationWriter) Recover(context.Context, Work) (Result, bool, error) {
	return Result{}, false, nil
}

// observeAll looks at every selected Always node, in the order of the graph.
func (j *judge) observeAll(ctx context.Context) {
	for i, node := range j.graph.Nodes() {
		if !node.Always || !j.selected[i] {
			continue
		}
		if err := ctx.Err(); err != nil {
			j.observed[node.Address] = observed{err: context.Cause(ctx)}
			continue
		}
		observation, err := j.options.Runner.Observe(ctx, node)
		if err == nil && !digest.Valid(observation.Digest) {
			err = fmt.Errorf("observe %s: digest %q is no SHA-256", node.Address, observation.Digest)
		}
		j.observed[node.Address] = observed{observation: observation, err: err}
	}
}

func (j *judge) judgeAlways(ctx context.Context, i int, node *graph.Node, decision *Decision) error {
	stored, err := j.index.Node(node.Address)
	if err != nil {
		return err
	}
	decision.Attempt = stored.Attempt
	seen, looked := j.observed[node.Address]
	switch {
	case !looked: // not selected: as it was
		decision.Action = Reuse
		if j.predicted[i] = finishedPrediction(stored); stored.State != checkpoint.Done {
			decision.Action, j.predicted[i] = Start, prediction{}
		}
	case seen.err != nil:
		decision.Action = Start
		decision.Reasons = []Reason{{Code: ObserveFailed, Text: seen.err.Error()}}
		j.predicted[i] = prediction{failed: true, known: true, ending: digest.Ending{Ended: string(StateFailed)}}
	default:
		decision.Action = Start
		attempt := stored.Last + 1
		fresh, err := j.observationStored(ctx, node, stored)
		if err != nil {
			return err
		}
		switch {
		case fresh:
			decision.Action, attempt = Reuse, stored.Attempt
		case stored.State == checkpoint.Done:
			decision.Action = Redo
			if decision.Reasons, err = j.observationReasons(node, stored); err != nil {
				return err
			}
		}
		output := seen.observation.Digest
		j.predicted[i] = prediction{known: true, ending: digest.Ending{Output: output, Ended: "done " + strconv.Itoa(attempt) + " " + output}}
	}
	return nil
}

// observationStored: the latest stored attempt is what was seen now.
func (j *judge) observationStored(ctx context.Context, node *graph.Node, stored *checkpoint.Node) (bool, error) {
	if !stored.Finished() || stored.Output != j.observed[node.Address].observation.Digest {
		return false, nil
	}
	damage, err := j.verify(ctx, stored)
	return damage == nil, err
}

func (j *judge) observationReasons(node *graph.Node, stored *checkpoint.Node) ([]Reason, error) {
	_, entries, err := j.input(node, j.predictedEnding)
	if err != nil {
		return nil, err
	}
	reasons := j.differences(node, stored, entries)
	if len(reasons) == 0 {
		reasons = []Reason{{Code: AttributeChanged, Path: "observation", Text: "what is on this machine changed"}}
	}
	return reasons, nil
}
