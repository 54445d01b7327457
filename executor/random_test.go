package executor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/grill-plan/grill-plan/executor"
	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// randomNodes draws a graph of toy nodes in groups, with one Finally node each.
func randomNodes(t *rapid.T) []graph.Node {
	count := rapid.IntRange(1, 12).Draw(t, "nodes")
	var nodes []graph.Node
	for i := range count {
		effect := rapid.SampledFrom([]graph.Effect{graph.Pure, graph.Pure, graph.Measurement, graph.World}).Draw(t, "effect")
		n := node(fmt.Sprintf("n%d", i), effect, toySpec{Value: fmt.Sprint(i)})
		n.Claim = rapid.SampledFrom([]graph.Claim{graph.NoClaim, graph.Shared, graph.Exclusive}).Draw(t, "claim")
		n.Group = rapid.SampledFrom([]string{"", "g", "h"}).Draw(t, "group")
		for j := range i {
			switch rapid.IntRange(0, 5).Draw(t, "edge") {
			case 0:
				n.Needs = append(n.Needs, nodes[j].Address)
			case 1:
				n.After = append(n.After, nodes[j].Address)
			}
		}
		nodes = append(nodes, n)
	}
	for _, group := range []string{"g", "h"} {
		end := node(group+".end", graph.World, toySpec{})
		end.Group, end.Finally, end.Claim = group, true, graph.Exclusive
		for _, n := range nodes[:count] {
			if n.Group == group {
				end.After = append(end.After, n.Address)
			}
		}
		nodes = append(nodes, end)
	}
	return nodes
}

// fataler is what rapid's T and testing's have in common here.
type fataler interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

// outputs are the output digests of what is finished.
func outputs(t fataler, p *place, g *graph.Graph) map[string]string {
	found := map[string]string{}
	for _, n := range g.Nodes() {
		stands, err := p.run.ReadNode(n.Address)
		if err != nil {
			t.Fatal(err)
		}
		if n.Effect != graph.World && stands.State == checkpoint.Done {
			found[n.Address] = stands.Output
		}
	}
	return found
}

// checkStates holds a summary against PLN-17.
func checkStates(t *rapid.T, g *graph.Graph, summary *executor.Summary, fails map[string]bool) {
	broken := map[string]bool{}
	for i, n := range g.Nodes() {
		state := summary.Nodes[i].State
		needs := false
		for _, need := range n.Needs {
			needs = needs || broken[need]
		}
		switch {
		case n.Finally:
			continue
		case needs && state != executor.StateSkipped:
			t.Fatalf("%s is %s although what it needs failed", n.Address, state)
		case !needs && state == executor.StateSkipped:
			t.Fatalf("%s was skipped for nothing", n.Address)
		case state == executor.StateFailed && !fails[n.Address]:
			t.Fatalf("%s failed: %v", n.Address, summary.Nodes[i].Err)
		}
		broken[n.Address] = needs || state == executor.StateFailed
	}
}

// checkExclusive holds a log against PLN-18, within one process.
func checkExclusive(t *rapid.T, log []string) {
	shared, exclusive := 0, 0
	for _, line := range log {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] != "run" && fields[0] != "end" {
			continue
		}
		step := 1
		if fields[0] == "end" {
			step = -1
		}
		switch fields[2] {
		case "shared":
			shared += step
		case "exclusive":
			exclusive += step
		}
		if exclusive > 1 || exclusive == 1 && shared > 0 {
			t.Fatalf("%d exclusive and %d shared nodes at once:\n%s", exclusive, shared, strings.Join(log, "\n"))
		}
	}
}

// PLN-17 to PLN-22: random graphs with random failures; what fails and what is
// skipped is exact, nothing finished runs again, a world node runs exactly when
// a measurement that needs it does.
func TestRandomGraphsWithFailures(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := newPlace(t)
		nodes := randomNodes(r)
		g := build(t, nodes...)
		fails := map[string]bool{}
		for _, n := range nodes {
			if rapid.IntRange(0, 6).Draw(r, "fails") == 0 {
				fails[n.Address] = true
				p.flag("fail", n.Address, true)
			}
		}
		options := p.options(g)
		options.Workers = rapid.IntRange(1, 3).Draw(r, "workers")
		summary := p.mustRun(options)
		checkStates(r, g, summary, fails)
		checkExclusive(r, p.log())
		before := outputs(r, p, g)
		for address := range fails {
			p.flag("fail", address, false)
		}
		// A pure node that reports how a failed one ended is written again,
		// which may reach a measurement.
		options.Replan = true
		summary = p.mustRun(options)
		if len(summary.Failed)+len(summary.Skipped) > 0 {
			r.Fatalf("healed, and failed %+v", summary.Failed)
		}
		log := p.log()
		checkExclusive(r, log)
		again := map[string]bool{}
		for _, line := range log {
			if fields := strings.Fields(line); fields[0] == "run" {
				again[fields[1]] = true
			}
		}
		checkReuse(r, g, before, again, nodes)
		for address, output := range outputs(r, p, g) {
			if old, had := before[address]; had && old != output {
				r.Fatalf("%s changed its result", address)
			}
		}
		if p.mustRun(options); len(p.log()) > 0 {
			r.Fatal("a third run did something")
		}
	})
}

func checkReuse(r *rapid.T, g *graph.Graph, before map[string]string, again map[string]bool, nodes []graph.Node) {
	for _, n := range nodes {
		_, finished := before[n.Address]
		switch {
		case n.Finally:
		case n.Effect != graph.World && finished == again[n.Address] && !hasAfter(g, n.Address):
			r.Fatalf("%s: finished before %t, ran again %t", n.Address, finished, again[n.Address])
		case n.Effect == graph.World && again[n.Address] != measurementRan(g, &n, again):
			r.Fatalf("world node %s ran %t, its measurements %t", n.Address, again[n.Address], !again[n.Address])
		}
	}
}

func measurementRan(g *graph.Graph, world *graph.Node, again map[string]bool) bool {
	for _, at := range g.NeededBy(g.Position(world.Address)) {
		n := g.Nodes()[at]
		if n.Effect == graph.Measurement && again[n.Address] || n.Effect == graph.World && measurementRan(g, n, again) {
			return true
		}
	}
	return false
}

// PLN-19, PLN-22, PLN-25: SIGKILL at random moments and at every boundary of a
// checkpoint loses no finished node, and the end equals an undisturbed run's.
func TestRandomKills(t *testing.T) {
	graphs := 12
	if testing.Short() {
		graphs = 3
	}
	killed := 0
	for seed := range graphs {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { killed += killAndResume(t, seed) })
	}
	if killed < graphs {
		t.Errorf("only %d kills in %d graphs: this test shows nothing", killed, graphs)
	}
}

func killAndResume(t *testing.T, seed int) (killed int) {
	p, undisturbed := newPlace(t), newPlace(t)
	g := build(t, rapid.Custom(randomNodes).Example(seed)...)
	path := p.storeGraph(g)
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	finished := map[string]string{}
	for range 4 {
		at := random.IntN(41) - 20
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		err := p.child(ctx, "run", "TOY_GRAPH="+path, fmt.Sprintf("TOY_KILL=%d", at)).Run()
		cancel()
		switch {
		case err != nil && strings.Contains(err.Error(), "killed"):
			killed++
		case err != nil:
			t.Fatalf("the child ended with %v", err)
		}
		stand := outputs(t, p, g)
		for address, output := range finished {
			if stand[address] != output && !hasAfter(g, address) {
				t.Fatalf("%s was finished and is not any more", address)
			}
		}
		finished = stand
	}
	options := p.options(g)
	if summary := p.mustRun(options); len(summary.Failed)+len(summary.Skipped) > 0 {
		t.Fatalf("failed %+v", summary.Failed)
	}
	undisturbed.mustRun(undisturbed.options(g))
	got := outputs(t, p, g)
	for address, want := range outputs(t, undisturbed, g) {
		if got[address] != want {
			t.Fatalf("%s: %s, undisturbed %s", address, got[address], want)
		}
	}
	p.log()
	if p.mustRun(options); len(p.log()) > 0 {
		t.Fatal("another run did something")
	}
	checkNoRest(t, p)
	return killed
}

// hasAfter: a pure node that reports how others ended is written again.
func hasAfter(g *graph.Graph, address string) bool {
	n, _ := g.Lookup(address)
	if len(n.After) > 0 {
		return true
	}
	for _, need := range n.Needs {
		if hasAfter(g, need) {
			return true
		}
	}
	return false
}

// checkNoRest: every attempt is closed and no switch is left.
func checkNoRest(r fataler, p *place) {
	left, err := executor.RestoreLeft(context.Background(), p.options(nil))
	if err != nil || len(left) > 0 {
		r.Fatalf("left switched: %v %v", left, err)
	}
	err = filepath.WalkDir(filepath.Join(p.dir, checkpoint.NodesDir), func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base, isLease := strings.CutSuffix(path, ".lease")
		if isLease && !exists(base+".json") {
			return fmt.Errorf("%s was never closed", base)
		}
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
}
