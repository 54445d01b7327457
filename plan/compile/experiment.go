package compile

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/grill-plan/grill-plan/plan"
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/plan/graph"
	"github.com/grill-plan/grill-plan/plan/spec"
)

// experiment lays out the nodes of one experiment (architecture page, "Order
// inside an experiment").
type experiment struct {
	c       *compiler
	e       *plan.Experiment
	waitFor []string // compares of the experiments it depends on
	after   []string // their restores
}

func (x *experiment) address(kind graph.Kind, name string) string {
	address := x.e.Address + "." + string(kind)
	if name != "" {
		address += "." + name
	}
	return address
}

// sideOf gives the side that an arm belongs to and its name.
func (x *experiment) sideOf(arm string) (*plan.Side, string) {
	if arm == document.ArmB || arm == document.ArmB2 {
		return x.e.Candidate, spec.Candidate
	}
	return x.e.Reference, spec.Reference
}

func (x *experiment) documents(side *plan.Side) spec.Documents {
	return spec.Documents{
		Workload:   x.c.document(x.e.Workload.SHA256, x.e.Workload.Bytes),
		Runner:     x.c.document(side.Runner.SHA256, side.Runner.Bytes),
		Deployment: x.c.document(side.Deployment.SHA256, side.Deployment.Bytes),
	}
}

// preflights come first of all nodes of a plan: they are declared before those
// of any experiment, and the executor ends all nodes with Always set before it
// starts an effect. A capture needs its own side's only, so that other bytes of
// one side's program leave the other side's captures alone (PLN-40).
func (x *experiment) preflights() {
	for _, arm := range []string{document.ArmA, document.ArmB} {
		side, name := x.sideOf(arm)
		x.c.add(graph.Node{
			Address: x.address(graph.Preflight, name), Kind: graph.Preflight, Effect: graph.Pure,
			Claim: graph.NoClaim, Group: x.e.Address, Always: true,
		}, spec.Preflight{Side: name, Documents: x.documents(side), ProgramBytes: x.namesProgramBytes()})
	}
}

func (x *experiment) namesProgramBytes() bool {
	if x.e.Axis == nil {
		return false
	}
	for _, entry := range x.e.Axis.Entries {
		if entry.Name == plan.ProgramBytes {
			return true
		}
	}
	return false
}

// measure lays out the slots in capture order.
func (x *experiment) measure() {
	var inspects []string
	for i, slot := range x.e.Workload.Document.Slots {
		inspect := x.slot(i, slot)
		inspects = append(inspects, inspect)
	}
	x.compare(inspects)
	x.restore()
}

// slot adds the nodes of one slot and gives the address of its inspect. Each
// capture needs the inspect of the slot before it, so that redoing a slot redoes
// all later ones (PLN-22).
func (x *experiment) slot(index int, slot document.Slot) string {
	side, name := x.sideOf(slot.Arm)
	first := len(x.c.nodes)
	needs := []string{x.address(graph.Preflight, name)}
	if index > 0 {
		needs = append(needs, x.address(graph.Inspect, x.e.Workload.Document.Slots[index-1].ID))
	}
	last := x.switchTo(index, slot, side, needs)
	if last != "" {
		needs = append(needs, last)
	}
	capture := x.address(graph.Capture, slot.ID)
	if side.Runner.Document.Setup != nil {
		setup := x.address(graph.Setup, slot.ID)
		x.c.add(graph.Node{
			Address: setup, Kind: graph.Setup, Effect: graph.World, Claim: graph.Exclusive,
			Host: x.e.Host, Group: x.e.Address, Needs: needs, Within: capture,
		}, spec.Setup{Slot: slot.ID})
		needs = append(needs, setup)
	}
	x.c.add(graph.Node{
		Address: capture, Kind: graph.Capture, Effect: graph.Measurement, Claim: graph.Exclusive,
		Host: x.e.Host, Group: x.e.Address, Needs: needs,
	}, spec.Capture{Slot: slot.ID, Arm: slot.Arm, Documents: x.documents(side), Host: x.e.Host, Collector: x.c.options.Collector})
	x.c.secrets.put(capture, RunnerPart, side.Runner.Secrets)
	if index == 0 {
		x.wait(&x.c.nodes[first])
	}
	inspect := x.address(graph.Inspect, slot.ID)
	// The inspect before tells which gates earlier slots have decided (PLN-13).
	inspected := []string{capture}
	if index > 0 {
		inspected = append(inspected, x.address(graph.Inspect, x.e.Workload.Document.Slots[index-1].ID))
	}
	x.c.add(graph.Node{
		Address: inspect, Kind: graph.Inspect, Effect: graph.Pure, Claim: graph.Shared,
		Host: x.e.Host, Group: x.e.Address, Needs: inspected, Stops: x.e.FailFast,
	}, spec.Inspect{Slot: slot.ID, Arm: slot.Arm, FailFast: x.e.FailFast})
	return inspect
}

// wait makes the first node of an experiment wait for the experiments it depends
// on: it needs their verdicts, whatever these say, and comes after their
// restores (PLN-17, PLN-45).
func (x *experiment) wait(first *graph.Node) {
	first.Needs = append(first.Needs, x.waitFor...)
	first.After = append(first.After, x.after...)
}

// switchTo adds the switch of a slot, where one is declared. With
// on_change_only a slot whose predecessor has the same deployment has none
// (PLN-30).
func (x *experiment) switchTo(index int, slot document.Slot, side *plan.Side, needs []string) string {
	change := side.Deployment.Switch
	if change == nil {
		return ""
	}
	if change.OnChangeOnly && index > 0 {
		before, _ := x.sideOf(x.e.Workload.Document.Slots[index-1].Arm)
		if before.Deployment.Address == side.Deployment.Address {
			return ""
		}
	}
	address := x.address(graph.Switch, slot.ID)
	x.c.add(graph.Node{
		Address: address, Kind: graph.Switch, Effect: graph.World, Claim: graph.Exclusive,
		Host: x.e.Host, Group: x.e.Address, Needs: needs,
	}, x.c.switchSpec(address, slot.ID, change))
	return address
}

// captures are the addresses of all captures, whose evidence compare reads.
func (x *experiment) captures() []string {
	var captures []string
	for _, slot := range x.e.Workload.Document.Slots {
		captures = append(captures, x.address(graph.Capture, slot.ID))
	}
	return captures
}

func (x *experiment) compare(inspects []string) {
	arms := make([]string, len(x.e.Arms))
	copy(arms, x.e.Arms)
	x.c.add(graph.Node{
		Address: x.address(graph.Compare, ""), Kind: graph.Compare, Effect: graph.Pure, Claim: graph.Shared,
		Host: x.e.Host, Group: x.e.Address, Needs: append(inspects, x.captures()...), Tolerates: true,
	}, spec.Compare{
		Arms: arms, RequireSameBoot: x.e.RequireSameBoot, MaxGapMS: x.e.MaxGapMS, AllowHostChange: x.e.AllowHostChange,
	})
}

func (x *experiment) restore() {
	if x.e.Restore == nil {
		return
	}
	address := x.address(graph.Restore, "")
	x.c.add(graph.Node{
		Address: address, Kind: graph.Restore, Effect: graph.World, Claim: graph.Exclusive,
		Host: x.e.Host, Group: x.e.Address, After: []string{x.address(graph.Compare, "")}, Finally: true,
	}, spec.Restore{Hook: x.c.hook(address, RestorePart, x.e.Restore)})
}

// switchSpec makes the spec of a switch and keeps its sensitive values.
func (c *compiler) switchSpec(address, slot string, change *plan.Switch) spec.Switch {
	made := spec.Switch{Slot: slot, Hook: c.hook(address, SwitchPart, &change.Hook), OnChangeOnly: change.OnChangeOnly}
	if ready := change.Ready; ready != nil {
		made.Ready = &spec.Ready{HTTP: ready.HTTP, DeadlineMS: ready.DeadlineMS}
		if ready.Hook != nil {
			hook := c.hook(address, ReadyPart, ready.Hook)
			made.Ready.Hook = &hook
		}
	}
	if verify := change.Verify; verify != nil {
		made.Verify = &spec.Verify{Hook: c.hook(address, VerifyPart, &verify.Hook), ExpectStdout: verify.ExpectStdout}
	}
	return made
}

// hook makes the spec of one program; sensitive values stand masked in it, so
// that another value changes no digest (PLN-07).
func (c *compiler) hook(address string, part Part, from *plan.Hook) spec.Hook {
	made := spec.Hook{Program: from.Program, Args: from.Args, Cwd: from.Cwd, DeadlineMS: from.DeadlineMS}
	if made.Args == nil {
		made.Args = []string{}
	}
	var secrets []plan.SecretEnv
	for _, entry := range from.Env {
		if entry.Secret == nil {
			made.Env = append(made.Env, spec.Env{Name: entry.Name, Value: entry.Value})
			continue
		}
		made.Env = append(made.Env, spec.Env{Name: entry.Name, Value: spec.Masked, Sensitive: true})
		secrets = append(secrets, plan.SecretEnv{Name: entry.Name, Value: *entry.Secret})
	}
	c.secrets.put(address, part, secrets)
	return made
}

// add appends a node with its canonical spec: compact JSON, fields in the order
// of the spec's declaration, no character escaped beyond need.
func (c *compiler) add(node graph.Node, content any) {
	text, err := encodeSpec(content)
	if err != nil {
		c.fail(fmt.Errorf("encode spec of %s: %w", node.Address, err))
		return
	}
	node.Spec = json.RawMessage(text)
	node.Needs, node.After = slices.Clone(node.Needs), slices.Clone(node.After) // callers go on with theirs
	c.nodes = append(c.nodes, node)
}
