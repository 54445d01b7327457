package steps

import (
	"context"
	"fmt"
	"math/big"
	"strconv"

	"github.com/grill-plan/grill-plan/plan"
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/plan/graph"
	"github.com/grill-plan/grill-plan/plan/sight"
	"github.com/grill-plan/grill-plan/plan/spec"
	"github.com/grill-plan/grill-plan/steps/preflight"
)

// DryRunInput says what to show.
type DryRunInput struct {
	Loaded *Loaded
	// RunDir is compared with when it exists; "" is the default one.
	RunDir string
	// Portable leaves out what depends on the machine.
	Portable bool
}

// Dry lists what a run would do. It has no side effect and starts nothing; the
// same inputs give the same result (PLN-14).
func Dry(ctx context.Context, input DryRunInput) (*DryRun, error) {
	lister := &lister{loaded: input.Loaded, allowance: map[string]*big.Int{}, evidence: map[string]*big.Int{}, pairs: map[spec.Documents]pair{}}
	dry := &DryRun{Format: 1, Plan: input.Loaded.Plan.Name, Nodes: []DryNode{}, Experiments: []DryExperiment{}}
	for _, node := range input.Loaded.Compiled.Graph.Nodes() {
		listed, err := lister.node(node)
		if err != nil {
			return nil, err
		}
		dry.Nodes = append(dry.Nodes, listed)
	}
	for _, experiment := range input.Loaded.Plan.Experiments {
		dry.Experiments = append(dry.Experiments, lister.experiment(experiment))
	}
	dry.AllowanceMS = sum(lister.allowance).String()
	dry.EvidenceMax = sum(lister.evidence).String()
	for _, held := range input.Loaded.Compiled.HeldBack {
		dry.HeldBack = append(dry.HeldBack, held.Address+": "+held.What)
	}
	if err := compareRunDir(ctx, input, dry); err != nil {
		return nil, err
	}
	if input.Portable {
		return dry, nil
	}
	machine, err := describeMachine(ctx, input.Loaded, sum(lister.evidence))
	dry.Machine = machine
	return dry, err
}

func sum(parts map[string]*big.Int) *big.Int {
	total := new(big.Int)
	for _, part := range parts {
		total.Add(total, part)
	}
	return total
}

// lister turns nodes into what a reviewer reads. Allowances and evidence bounds
// are summed by experiment without any width limit.
type lister struct {
	loaded    *Loaded
	allowance map[string]*big.Int
	evidence  map[string]*big.Int
	pairs     map[spec.Documents]pair // read once for all slots of a side
}

type pair struct {
	workload *document.Workload
	runner   *document.Runner
}

func (l *lister) node(node *graph.Node) (DryNode, error) {
	listed := DryNode{
		Address: node.Address, Kind: string(node.Kind), Effect: string(node.Effect),
		Host: node.Host, Claim: string(node.Claim), Needs: node.Needs,
	}
	var err error
	switch node.Kind {
	case graph.Switch:
		err = l.switchNode(node, &listed)
	case graph.Setup:
		err = l.setupNode(node, &listed)
	case graph.Capture:
		err = l.captureNode(node, &listed)
	case graph.Restore:
		err = l.restoreNode(node, &listed)
	}
	if err != nil {
		return listed, fmt.Errorf("list %s: %w", node.Address, err)
	}
	return listed, nil
}

func (l *lister) allow(node *graph.Node, listed *DryNode, ms *big.Int) {
	listed.AllowanceMS = ms.String()
	add(l.allowance, node.Group, ms)
}

func add(sums map[string]*big.Int, key string, part *big.Int) {
	if sums[key] == nil {
		sums[key] = new(big.Int)
	}
	sums[key].Add(sums[key], part)
}

func hookArgv(hook spec.Hook) []string { return append([]string{hook.Program}, hook.Args...) }

func (l *lister) switchNode(node *graph.Node, listed *DryNode) error {
	wanted, err := readSpec[spec.Switch](node)
	if err != nil {
		return err
	}
	total := new(big.Int).SetUint64(wanted.Hook.DeadlineMS)
	listed.Commands = append(listed.Commands, DryCommand{What: "switch", Argv: hookArgv(wanted.Hook), DeadlineMS: wanted.Hook.DeadlineMS})
	if ready := wanted.Ready; ready != nil {
		command := DryCommand{What: "ready", HTTP: ready.HTTP, DeadlineMS: ready.DeadlineMS}
		if ready.Hook != nil {
			command.Argv = hookArgv(*ready.Hook)
		}
		listed.Commands = append(listed.Commands, command)
		total.Add(total, new(big.Int).SetUint64(ready.DeadlineMS))
	}
	if verify := wanted.Verify; verify != nil {
		listed.Commands = append(listed.Commands, DryCommand{What: "verify", Argv: hookArgv(verify.Hook), DeadlineMS: verify.Hook.DeadlineMS})
		total.Add(total, new(big.Int).SetUint64(verify.Hook.DeadlineMS))
	}
	l.allow(node, listed, total)
	return nil
}

func (l *lister) restoreNode(node *graph.Node, listed *DryNode) error {
	wanted, err := readSpec[spec.Restore](node)
	if err != nil {
		return err
	}
	listed.Commands = []DryCommand{{What: "restore", Argv: hookArgv(wanted.Hook), DeadlineMS: wanted.Hook.DeadlineMS}}
	l.allow(node, listed, new(big.Int).SetUint64(wanted.Hook.DeadlineMS))
	return nil
}

// pair gives the typed documents of a capture.
func (l *lister) pair(documents spec.Documents) (*document.Workload, *document.Runner, error) {
	if known, ok := l.pairs[documents]; ok {
		return known.workload, known.runner, nil
	}
	w, problems := document.ParseWorkload("workload", l.loaded.Compiled.Documents[documents.Workload])
	if len(problems) > 0 {
		return nil, nil, Problems(problems)
	}
	r, problems := document.ParseRunner("runner", l.loaded.Compiled.Documents[documents.Runner])
	if len(problems) > 0 {
		return nil, nil, Problems(problems)
	}
	l.pairs[documents] = pair{w, r}
	return w, r, nil
}

// recordBytes bounds what grill-plan itself writes about one invocation beside
// streams and outputs: reservation, process and run record, and their share of
// the completion record.
const recordBytes = 128 << 10

func (l *lister) setupNode(node *graph.Node, listed *DryNode) error {
	capture := l.loaded.Compiled.Graph
	within, ok := capture.Lookup(node.Within)
	if !ok {
		return fmt.Errorf("%s is no node", node.Within)
	}
	wanted, err := readSpec[spec.Capture](within)
	if err != nil {
		return err
	}
	w, r, err := l.pair(wanted.Documents)
	if err != nil {
		return err
	}
	_, setup, err := preflight.Plan(w, r)
	if err != nil || setup == nil {
		return err
	}
	name := r.Program
	if r.Setup.Program != nil {
		name = *r.Setup.Program
	}
	listed.Commands = []DryCommand{{What: "setup", Argv: append([]string{name}, setup.Argv...), DeadlineMS: setup.DeadlineMS}}
	l.allow(node, listed, new(big.Int).SetUint64(setup.DeadlineMS))
	add(l.evidence, node.Group, invocationBytes(w, 1))
	return nil
}

func (l *lister) captureNode(node *graph.Node, listed *DryNode) error {
	wanted, err := readSpec[spec.Capture](node)
	if err != nil {
		return err
	}
	w, r, err := l.pair(wanted.Documents)
	if err != nil {
		return err
	}
	samples, _, err := preflight.Plan(w, r)
	if err != nil {
		return err
	}
	total := new(big.Int)
	for i, sample := range document.Schedule(w) {
		command := DryCommand{
			What: "sample", Cell: sample.Cell, Phase: sample.Phase, Seed: strconv.FormatUint(sample.Seed, 10),
			DeadlineMS: w.Limits.RunDeadlineMS, PauseMS: sample.PauseMS,
		}
		if r.Server == nil {
			command.Argv = append([]string{r.Program}, samples[i].Argv...)
		}
		listed.Commands = append(listed.Commands, command)
		total.Add(total, new(big.Int).SetUint64(w.Limits.RunDeadlineMS))
		total.Add(total, new(big.Int).SetUint64(sample.PauseMS))
	}
	l.allow(node, listed, total)
	add(l.evidence, node.Group, invocationBytes(w, len(samples)))
	return nil
}

// invocationBytes bounds the evidence of n invocations (PLN-14).
func invocationBytes(w *document.Workload, n int) *big.Int {
	each := new(big.Int).SetUint64(w.Limits.OutputBytes)
	for _, part := range []uint64{w.Limits.StdoutBytes, w.Limits.StderrBytes, recordBytes} {
		each.Add(each, new(big.Int).SetUint64(part))
	}
	return each.Mul(each, big.NewInt(int64(n)))
}

func (l *lister) experiment(e *plan.Experiment) DryExperiment {
	advice := sight.Advise(l.design(e))
	if advice == nil {
		advice = []sight.Advice{}
	}
	differences := l.loaded.Compiled.Differences[e.Address]
	if differences == nil {
		differences = []string{}
	}
	zero := new(big.Int)
	listed := DryExperiment{Address: e.Address, Differences: differences, Advice: advice, AllowanceMS: zero.String(), EvidenceMax: zero.String()}
	if total := l.allowance[e.Address]; total != nil {
		listed.AllowanceMS = total.String()
	}
	if total := l.evidence[e.Address]; total != nil {
		listed.EvidenceMax = total.String()
	}
	return listed
}

func (l *lister) design(e *plan.Experiment) sight.Design {
	design := sight.Design{
		Workload:          e.Workload.Document,
		Reference:         sight.Side{Runner: e.Reference.Runner.Document, Deployment: e.Reference.Deployment.Document},
		Candidate:         sight.Side{Runner: e.Candidate.Runner.Document, Deployment: e.Candidate.Deployment.Document},
		CandidateSwitches: e.Candidate.Deployment.Switch != nil,
	}
	_, design.SwitchBeforeB2 = l.loaded.Compiled.Graph.Lookup(e.Address + ".switch." + document.ArmB2)
	return design
}
