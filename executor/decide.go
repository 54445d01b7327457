package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/executor/digest"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// Decide says what a run would do, without doing it: nothing is written,
// nothing is ended (PLN-15). Always nodes are observed, which has no effect.
func Decide(ctx context.Context, options Options) (*Decisions, error) {
	index := options.Run.OpenIndex()
	index.Prefetch()
	judge, err := newJudge(&options, index)
	if err != nil {
		return nil, err
	}
	judge.observeAll(ctx)
	if err := judge.decide(ctx); err != nil {
		return nil, err
	}
	return judge.decisions, nil
}

// judge holds what is on disk and what is known of this run, and says of each
// node whether its checkpoint counts.
type judge struct {
	options  *Options
	run      *checkpoint.Run
	graph    *graph.Graph
	index    *checkpoint.Index
	selected []bool
	redo     []bool
	observed map[string]observed
	// kept are specs with the collector that made a finished group (PLN-41).
	kept      map[string]json.RawMessage
	predicted []prediction
	verified  map[string]error // by address: of the attempt that counts
	left      []string         // groups left switched
	decisions *Decisions
}

type observed struct {
	observation Observation
	err         error
}

// prediction is what a node is expected to be after the run.
type prediction struct {
	action Action
	ending digest.Ending
	// known: the ending is certain unless a pure node is not as pure as it says.
	known  bool
	failed bool
	stop   string
	// input is the input digest that rests on the predictions of others.
	input string
}

func newJudge(options *Options, index *checkpoint.Index) (*judge, error) {
	j := &judge{
		options: options, run: options.Run, graph: options.Graph, index: index,
		observed: map[string]observed{}, verified: map[string]error{},
	}
	var err error
	if j.selected, err = selectNodes(j.graph, options.Only); err != nil {
		return nil, err
	}
	if j.redo, err = redoNodes(j.graph, options.Redo); err != nil {
		return nil, err
	}
	events, err := j.run.GroupEvents()
	if err != nil {
		return nil, err
	}
	j.left = leftSwitched(events)
	return j, nil
}

// decide fills predictions and decisions. Groups whose finished measurements
// were all made by one other collector keep it if that makes all of them count;
// otherwise the group is judged with the present one (PLN-41).
func (j *judge) decide(ctx context.Context) error {
	if err := j.keepCollectors(); err != nil {
		return err
	}
	for {
		if err := j.pass(ctx); err != nil {
			return err
		}
		if !j.dropCollectors() {
			return nil
		}
	}
}

func (j *judge) pass(ctx context.Context) error {
	nodes := j.graph.Nodes()
	j.predicted = make([]prediction, len(nodes))
	j.decisions = &Decisions{Nodes: make([]Decision, len(nodes)), LeftSwitched: j.left}
	for i, node := range nodes {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		decision := Decision{Address: node.Address, Selected: j.selected[i]}
		if err := j.judgeNode(ctx, i, node, &decision); err != nil {
			return err
		}
		j.decisions.Nodes[i] = decision
		j.predicted[i].action = decision.Action
	}
	j.decideWorld()
	return nil
}

func (j *judge) judgeNode(ctx context.Context, i int, node *graph.Node, decision *Decision) error {
	if node.Always {
		return j.judgeAlways(ctx, i, node, decision)
	}
	if blocked := j.blocked(node); blocked != nil {
		decision.Action, decision.Reasons = Skip, []Reason{*blocked}
		if blocked.Code == NeedFailed {
			j.predicted[i].failed = true
			j.predicted[i].ending.Ended = string(StateSkipped)
		} else {
			j.predicted[i].ending = digest.Ending{Left: blocked.Text, Ended: string(StateLeft)}
		}
		j.predicted[i].known = true
		return nil
	}
	if node.Effect == graph.World {
		j.predicted[i].known = true // counts by its spec
		return nil
	}
	stored, err := j.index.Node(node.Address)
	if err != nil {
		return err
	}
	unknown := j.unknownNeeds(node)
	input, entries, err := j.input(node, j.predictedEnding)
	if err != nil {
		return err
	}
	decision.Attempt = stored.Attempt
	reasons, err := j.stale(ctx, i, stored, input, entries, unknown)
	if err != nil {
		return err
	}
	if reasons == nil {
		decision.Action = Reuse
		j.predicted[i] = finishedPrediction(stored)
		j.predicted[i].input = input
		return nil
	}
	decision.Action, decision.Reasons = Start, reasons
	if stored.State == checkpoint.Done {
		decision.Action = Redo
	}
	decision.Discards = node.Effect == graph.Measurement && stored.Finished() && !j.redo[i] && j.selected[i]
	if node.Effect == graph.Pure && len(unknown) == 0 && stored.State == checkpoint.Done && stored.Input == input {
		// Done again from equal inputs it comes out equal.
		j.predicted[i] = finishedPrediction(stored)
	}
	return nil
}

func finishedPrediction(stored *checkpoint.Node) prediction {
	return prediction{known: true, stop: stored.Stop, ending: finishedEnding(stored)}
}

func finishedEnding(stored *checkpoint.Node) digest.Ending {
	return digest.Ending{Output: stored.Output, Ended: "done " + strconv.Itoa(stored.Attempt) + " " + stored.Output}
}

// blocked says why a node will not run whatever is on disk: what it needs
// failed, or an early stop of its group leaves it out (PLN-13, PLN-17).
func (j *judge) blocked(node *graph.Node) *Reason {
	if node.Finally {
		return nil
	}
	var left *Reason
	for _, address := range node.Needs {
		at := j.graph.Position(address)
		need, p := j.graph.Nodes()[at], j.predicted[at]
		if p.failed {
			return &Reason{Code: NeedFailed, Node: address}
		}
		if left != nil || node.Tolerates {
			continue
		}
		switch {
		case p.ending.Left != "":
			left = &Reason{Code: EarlyStop, Node: address, Text: p.ending.Left}
		case need.Stops && p.stop != "" && need.Group == node.Group:
			left = &Reason{Code: EarlyStop, Node: address, Text: p.stop}
		}
	}
	return left
}

// unknownNeeds are the needed nodes whose output will only be known when they
// have run.
func (j *judge) unknownNeeds(node *graph.Node) []string {
	var unknown []string
	var visit func(*graph.Node)
	visit = func(of *graph.Node) {
		for _, address := range of.Needs {
			at := j.graph.Position(address)
			need := j.graph.Nodes()[at]
			if !digest.IsInput(of, need) {
				continue
			}
			if need.Effect == graph.World {
				visit(need)
			} else if !j.predicted[at].known {
				unknown = append(unknown, address)
			}
		}
	}
	visit(node)
	if node.Effect == graph.Pure {
		for _, address := range node.After {
			at := j.graph.Position(address)
			if !j.predicted[at].known && j.graph.Nodes()[at].Effect != graph.World {
				unknown = append(unknown, address)
			}
		}
	}
	return unknown
}

func (j *judge) predictedEnding(node *graph.Node) digest.Ending {
	p := j.predicted[j.graph.Position(node.Address)]
	if !p.known {
		return digest.Ending{Ended: "none"}
	}
	return p.ending
}

// spec is a node's spec, with the collector of its finished group if that is
// kept.
func (j *judge) spec(node *graph.Node) json.RawMessage {
	if kept, ok := j.kept[node.Address]; ok {
		return kept
	}
	return node.Spec
}

// input computes the input digest of a node from endings of others.
func (j *judge) input(node *graph.Node, ending func(*graph.Node) digest.Ending) (string, []digest.Entry, error) {
	entries := digest.Entries(j.graph, node, ending)
	input, err := digest.Input(j.run.Manifest.DigestScheme, node, j.spec(node), entries)
	if err != nil {
		return "", nil, fmt.Errorf("node %s: %w", node.Address, err)
	}
	return input, entries, nil
}

// verify checks the outputs of the attempt that counts, once. A damage is a
// finding, not an error.
func (j *judge) verify(ctx context.Context, stored *checkpoint.Node) (damage *checkpoint.Damage, err error) {
	if len(stored.Files) == 0 {
		return nil, nil
	}
	found, looked := j.verified[stored.Address]
	if !looked {
		var noted []checkpoint.File
		var changed bool
		dir := j.run.AttemptDir(stored.Address, stored.Attempt)
		noted, changed, found = checkpoint.Verify(ctx, dir, stored.Files, j.options.Verify)
		if changed {
			j.index.Note(stored.Address, noted)
		}
		j.verified[stored.Address] = found
	}
	if errors.As(found, &damage) {
		return damage, nil
	}
	return nil, found
}

// decideWorld: a world node runs exactly when a measurement that needs it,
// directly or through other world nodes, has to run (PLN-21); a Finally node
// when a world node of its group does, or one was left switched.
func (j *judge) decideWorld() {
	nodes := j.graph.Nodes()
	because := make([]string, len(nodes))
	for i := len(nodes) - 1; i >= 0; i-- {
		action := j.predicted[i].action
		by := because[i]
		if nodes[i].Effect == graph.Measurement && j.selected[i] && (action == Start || action == Redo) {
			by = nodes[i].Address
		} else if nodes[i].Effect != graph.World || by == "" {
			continue
		}
		for _, need := range nodes[i].Needs {
			if at := j.graph.Position(need); nodes[at].Effect == graph.World {
				because[at] = by
			}
		}
	}
	switched := map[string]string{}
	for _, group := range j.left {
		switched[group] = ""
	}
	for i, node := range nodes {
		if node.Effect == graph.World && !node.Finally {
			j.settleWorld(i, because[i])
			if j.predicted[i].action == Start {
				switched[node.Group] = node.Address
			}
		}
	}
	for i, node := range nodes {
		if !node.Finally {
			continue
		}
		by, runs := switched[node.Group]
		decision := &j.decisions.Nodes[i]
		decision.Action = Reuse
		if runs {
			decision.Action = Start
			if by == "" {
				decision.Reasons = []Reason{{Code: LeftSwitched}}
			}
		}
		j.predicted[i].action = decision.Action
	}
}

func (j *judge) settleWorld(i int, because string) {
	decision := &j.decisions.Nodes[i]
	if decision.Action == Skip {
		return
	}
	decision.Action = Reuse
	if because != "" {
		decision.Action = Start
		decision.Reasons = []Reason{{Code: MeasurementNeeds, Node: because}}
	}
	j.predicted[i].action = decision.Action
}
