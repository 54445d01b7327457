package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/grill-plan/grill-plan/executor"
	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// Each thing of the digest table, changed on its own, and exactly what becomes
// stale by it (PLN-20, PLN-21, PLN-22, PLN-40).
func TestWhatMakesStale(t *testing.T) {
	const fromB = "x.capture.b x.inspect.b x.capture.a2 x.inspect.a2 x.compare report"
	const all = "x.capture.a x.inspect.a " + fromB
	set := func(address string, spec toySpec) func(*graph.Node) {
		return func(n *graph.Node) {
			if n.Address == address {
				*n = withSpec(*n, spec)
			}
		}
	}
	touch := func(p *place, file string, change func(path string) error) {
		if err := change(file); err != nil {
			p.t.Fatal(err)
		}
	}
	resultOf := func(p *place, address string) string {
		return filepath.Join(p.run.AttemptDir(address, 1), "result")
	}
	flip := func(path string) error {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		data[0] ^= 1
		return os.WriteFile(path, data, 0o600)
	}
	cases := []struct {
		name   string
		change func(p *place)
		edit   func(*graph.Node)
		verify bool
		stale  string
	}{
		{name: "nothing"},
		{name: "capture spec", edit: set("x.capture.b", toySpec{Value: "new", Collector: "one", Volatile: true}), stale: fromB},
		{name: "switch spec", edit: set("x.switch.b", toySpec{Value: "new"}), stale: fromB},
		{name: "setup spec", edit: set("x.setup.b", toySpec{Value: "new"}), stale: fromB},
		{name: "restore spec", edit: set("x.restore", toySpec{Value: "new"})},
		{name: "gates", edit: set("x.compare", toySpec{Value: "new"}), stale: "x.compare report"},
		{name: "inspect spec", edit: set("x.inspect.a2", toySpec{Value: "new"}), stale: "x.inspect.a2 x.compare report"},
		{name: "rebuilt program", change: func(p *place) { p.observe("other bytes") }, stale: "x.preflight.a x.preflight.b " + all},
		{name: "secret, clock, pid", change: func(p *place) { p.t.Setenv("GRILL_SECRET", "hunter2") }},
		{name: "moved run folder", change: func(p *place) {
			moved := p.dir + "-moved"
			touch(p, p.dir, func(path string) error { return os.Rename(path, moved) })
			run, err := checkpoint.Open(moved)
			if err != nil {
				p.t.Fatal(err)
			}
			p.dir, p.run = moved, run
		}},
		{name: "copied run folder", change: func(p *place) {
			copied := p.dir + "-copied"
			touch(p, p.dir, func(path string) error { return os.CopyFS(copied, os.DirFS(path)) })
			run, err := checkpoint.Open(copied)
			if err != nil {
				p.t.Fatal(err)
			}
			p.dir, p.run = copied, run
		}},
		{name: "touched output", change: func(p *place) {
			touch(p, resultOf(p, "x.capture.a"), func(path string) error { return os.Chtimes(path, time.Now(), time.Unix(1, 0)) })
		}},
		{name: "flipped byte of a pure result", change: func(p *place) { touch(p, resultOf(p, "x.inspect.a"), flip) }, stale: "x.inspect.a"},
		{name: "flipped byte of a capture", change: func(p *place) { touch(p, resultOf(p, "x.capture.a"), flip) }, stale: all},
		{name: "missing output", change: func(p *place) { touch(p, resultOf(p, "x.compare"), os.Remove) }, stale: "x.compare"},
		{name: "output made a link", change: func(p *place) {
			touch(p, resultOf(p, "x.compare"), func(path string) error {
				return errors.Join(os.Rename(path, p.world+"/kept"), os.Symlink(p.world+"/kept", path))
			})
		}, stale: "x.compare"},
		{name: "torn checkpoint", change: func(p *place) {
			touch(p, p.run.AttemptDir("x.compare", 1)+".json", func(path string) error { return os.Truncate(path, 40) })
		}, stale: "x.compare report"},
		{name: "empty checkpoint", change: func(p *place) {
			touch(p, p.run.AttemptDir("x.compare", 1)+".json", func(path string) error { return os.Truncate(path, 0) })
		}, stale: "x.compare report"},
		{name: "flipped byte of a checkpoint", change: func(p *place) {
			touch(p, p.run.AttemptDir("x.compare", 1)+".json", func(path string) error {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				return os.WriteFile(path, []byte(strings.Replace(string(data), `"outcome":"ok"`, `"outcome":"OK"`, 1)), 0o600)
			})
		}, stale: "x.compare report"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.mustRun(p.options(wholePlan(t, nil)))
			if c.change != nil {
				c.change(p)
			}
			options := p.options(wholePlan(t, c.edit))
			options.Verify = c.verify
			decisions, err := executor.Decide(context.Background(), options)
			if err != nil {
				t.Fatal(err)
			}
			p.log()
			options.Replan = true
			summary := p.mustRun(options)
			want := map[string]bool{}
			for _, address := range strings.Fields(c.stale) {
				want[address] = true
			}
			for i, n := range options.Graph.Nodes() {
				if n.Effect == graph.World {
					continue
				}
				if again := decisions.Nodes[i].Action != executor.Reuse; again != want[n.Address] && !(again && n.Address == "report") {
					t.Errorf("plan says %s of %s, %v", decisions.Nodes[i].Action, n.Address, decisions.Nodes[i].Reasons)
				}
				if result, _ := summary.Lookup(n.Address); (result.Attempt == 2) != want[n.Address] && n.Address != "report" {
					t.Errorf("%s stands at attempt %d (%s)", n.Address, result.Attempt, result.State)
				}
			}
		})
	}
}

// A renamed key is another node: its record is never answered from the other's.
func TestRenamedKeyRunsAnew(t *testing.T) {
	p := newPlace(t)
	p.mustRun(p.options(build(t, node(`e["one"].m`, graph.Measurement, toySpec{}))))
	p.log()
	p.mustRun(p.options(build(t, node(`e["two"].m`, graph.Measurement, toySpec{}))))
	if got := p.ran(); got != `e["two"].m` {
		t.Errorf("ran %q", got)
	}
}

func collectors(t *testing.T, collector string, names ...string) *graph.Graph {
	var nodes []graph.Node
	for _, name := range names {
		nodes = append(nodes, experiment(name, func(n *graph.Node) {
			var spec toySpec
			if err := json.Unmarshal(n.Spec, &spec); err != nil {
				t.Fatal(err)
			}
			if spec.Collector != "" {
				spec.Collector = collector
				*n = withSpec(*n, spec)
			}
		})...)
	}
	return build(t, nodes...)
}

// PLN-41: a finished experiment keeps the grill-plan that made it; a half
// finished one stops and names both.
func TestAnotherCollector(t *testing.T) {
	p := newPlace(t)
	options := p.options(collectors(t, "one", "x", "y"))
	p.flag("fail", "y.capture.b", true)
	p.mustRun(options)
	p.flag("fail", "y.capture.b", false)
	p.log()
	options.Graph = collectors(t, "two", "x", "y")
	_, err := executor.Run(context.Background(), options)
	var discard *executor.DiscardError
	if !errors.As(err, &discard) || len(discard.Nodes) != 1 || discard.Nodes[0].Address != "y.capture.a" ||
		!strings.Contains(err.Error(), "collector changed from one to two") {
		t.Fatalf("error %v", err)
	}
	options.Only = []string{"x"}
	if p.mustRun(options); p.ran() != "" {
		t.Error("the finished experiment was touched")
	}
	options.Only, options.Replan = nil, true
	p.mustRun(options)
	if got := p.ran(); strings.Contains(got, "x.") || !strings.HasPrefix(got, "y.switch.a y.capture.a") {
		t.Errorf("ran %q", got)
	}
}
