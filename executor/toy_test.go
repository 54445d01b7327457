package executor_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/grill-plan/grill-plan/executor"
	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// toySpec is what a toy node does.
type toySpec struct {
	Value     string `json:"value,omitempty"`
	Collector string `json:"collector,omitempty"`
	Stop      string `json:"stop,omitempty"`
	// Volatile results differ each time, as those of real measurements do.
	Volatile bool `json:"volatile,omitempty"`
	Wait     bool `json:"wait,omitempty"` // for the end of ctx
	Sleep    int  `json:"sleep,omitempty"`
}

// toys is the Runner of these tests. What it knows it reads from files beside
// the run, so that it works the same in another process.
type toys struct {
	world string // folder: log, fail.ADDRESS, observe
	kill  int64  // SIGKILL to itself at this step, 0 for never
	step  atomic.Int64
	mu    sync.Mutex
}

func (t *toys) note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	file, err := os.OpenFile(filepath.Join(t.world, "log"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(file, format+"\n", args...)
	file.Close()
}

// dies is called between all things a toy does.
func (t *toys) dies() {
	if t.kill > 0 && t.step.Add(1) == t.kill {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func (t *toys) flag(name, address string) bool {
	_, err := os.Stat(filepath.Join(t.world, name+"."+hex.EncodeToString([]byte(address))))
	return err == nil
}

func (t *toys) Observe(_ context.Context, node *graph.Node) (executor.Observation, error) {
	t.note("observe %s", node.Address)
	if t.flag("fail", node.Address) {
		return executor.Observation{}, &executor.Failure{Code: "toy_unseen", Err: errors.New("nothing to see")}
	}
	seen, _ := os.ReadFile(filepath.Join(t.world, "observe"))
	sum := sha256.Sum256(append(append([]byte{}, node.Spec...), seen...))
	return executor.Observation{Digest: hex.EncodeToString(sum[:]), Files: map[string][]byte{"seen": seen}}, nil
}

func (t *toys) Run(ctx context.Context, work executor.Work) (executor.Result, error) {
	node := work.Node
	var spec toySpec
	if err := json.Unmarshal(node.Spec, &spec); err != nil {
		return executor.Result{}, err
	}
	t.note("run %s %s", node.Address, node.Claim)
	defer t.note("end %s %s", node.Address, node.Claim)
	t.dies()
	if err := t.within(work); err != nil {
		return executor.Result{}, err
	}
	time.Sleep(time.Duration(spec.Sleep) * time.Millisecond)
	if spec.Wait {
		<-ctx.Done()
	}
	if err := ctx.Err(); err != nil {
		return executor.Result{}, context.Cause(ctx)
	}
	if t.flag("fail", node.Address) {
		return executor.Result{}, &executor.Failure{Code: "toy_failed", Err: errors.New("told to fail")}
	}
	if err := os.WriteFile(filepath.Join(work.Dir, "result"), result(work, spec), 0o600); err != nil {
		return executor.Result{}, err
	}
	t.dies()
	if err := os.WriteFile(filepath.Join(work.Dir, "whole"), nil, 0o600); err != nil {
		return executor.Result{}, err
	}
	t.dies()
	return executor.Result{Outcome: "ok", StopGroup: spec.Stop}, nil
}

// within carries out what belongs to a measurement's own attempt.
func (t *toys) within(work executor.Work) error {
	for _, need := range work.Node.Needs {
		if !strings.Contains(need, "setup") {
			continue
		}
		var err error
		t.note("within %s", need)
		if t.flag("fail", need) {
			err = &executor.Failure{Code: "toy_setup", Err: errors.New("setup failed")}
		}
		work.Within(need, err)
		if err != nil {
			return err
		}
	}
	return nil
}

// result depends on the spec and on what the needs hold, as it should.
func result(work executor.Work, spec toySpec) []byte {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s %s\n", work.Node.Address, work.Node.Spec)
	needs := append([]string{}, work.Node.Needs...)
	sort.Strings(needs)
	for _, need := range needs {
		input := work.Needs[need]
		fmt.Fprintf(hash, "%s %s\n", need, input.Left)
		if input.Dir != "" {
			data, _ := os.ReadFile(filepath.Join(input.Dir, "result"))
			seen, _ := os.ReadFile(filepath.Join(input.Dir, "seen"))
			fmt.Fprintf(hash, "%s %s\n", data, seen)
		}
	}
	if spec.Volatile {
		fmt.Fprintf(hash, "%d %d\n", time.Now().UnixNano(), work.Attempt)
	}
	return []byte(hex.EncodeToString(hash.Sum(nil)))
}

func (t *toys) Recover(_ context.Context, work executor.Work) (executor.Result, bool, error) {
	_, err := os.Stat(filepath.Join(work.Dir, "whole"))
	t.note("recover %s %d %t", work.Node.Address, work.Attempt, err == nil)
	return executor.Result{Outcome: "ok"}, err == nil && work.Node.Effect == graph.Measurement, nil
}

// place is one run directory with its world.
type place struct {
	t     testing.TB
	dir   string
	world string
	run   *checkpoint.Run
}

func newPlace(t testing.TB) *place {
	t.Helper()
	root := t.TempDir()
	p := &place{t: t, dir: filepath.Join(root, "run"), world: filepath.Join(root, "world")}
	if err := os.Mkdir(p.world, 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.run, err = checkpoint.Create(p.dir, checkpoint.Manifest{Plan: "toys", Tool: "tool", Created: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *place) options(g *graph.Graph) executor.Options {
	return executor.Options{Run: p.run, Graph: g, Runner: &toys{world: p.world}, HostLock: filepath.Join(p.world, "host.lock")}
}

func (p *place) flag(name, address string, on bool) {
	path := filepath.Join(p.world, name+"."+hex.EncodeToString([]byte(address)))
	os.Remove(path)
	if on {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *place) observe(text string) {
	if err := os.WriteFile(filepath.Join(p.world, "observe"), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// log gives and empties what the toys did, observations left out.
func (p *place) log() []string {
	data, _ := os.ReadFile(filepath.Join(p.world, "log"))
	os.Remove(filepath.Join(p.world, "log"))
	var lines []string
	for _, line := range strings.Split(string(data), "\n") {
		if line != "" && !strings.HasPrefix(line, "observe") {
			lines = append(lines, line)
		}
	}
	return lines
}

// ran are the addresses that started, in order.
func (p *place) ran() string {
	var names []string
	for _, line := range p.log() {
		fields := strings.Fields(line)
		if fields[0] == "run" || fields[0] == "within" {
			names = append(names, fields[1])
		}
	}
	return strings.Join(names, " ")
}

func (p *place) mustRun(options executor.Options) *executor.Summary {
	p.t.Helper()
	summary, err := executor.Run(context.Background(), options)
	if err != nil {
		p.t.Fatal(err)
	}
	return summary
}

func build(t testing.TB, nodes ...graph.Node) *graph.Graph {
	t.Helper()
	var b graph.Builder
	for _, node := range nodes {
		b.Add(node)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func node(address string, effect graph.Effect, spec toySpec, needs ...string) graph.Node {
	data, err := json.Marshal(spec)
	if err != nil {
		panic(err)
	}
	return graph.Node{Address: address, Kind: graph.Toy, Effect: effect, Needs: needs, Spec: data}
}

// experiment is a group as plans compile to, with a chosen edit.
func experiment(name string, edit func(*graph.Node)) []graph.Node {
	at := func(part string) string { return name + "." + part }
	value := func(v string) toySpec { return toySpec{Value: v} }
	nodes := []graph.Node{
		node(at("preflight.a"), graph.Pure, value("pa")),
		node(at("preflight.b"), graph.Pure, value("pb")),
	}
	before := ""
	var inspects []string
	for _, slot := range []string{"a", "b", "a2"} {
		side := slot[:1]
		needs := []string{at("preflight." + side)}
		if before != "" {
			needs = append(needs, before)
		}
		capture := node(at("capture."+slot), graph.Measurement, toySpec{Value: slot, Collector: "one", Volatile: true},
			append([]string{at("setup." + slot), at("switch." + slot)}, needs...)...)
		setup := node(at("setup."+slot), graph.World, value("s"+slot), at("switch."+slot))
		setup.Within = capture.Address
		inspect := node(at("inspect."+slot), graph.Pure, value("i"+slot), capture.Address)
		inspect.Stops = true
		nodes = append(nodes, node(at("switch."+slot), graph.World, value("w"+slot), needs...), setup, capture, inspect)
		before = inspect.Address
		inspects = append(inspects, before)
	}
	compare := node(at("compare"), graph.Pure, value("c"), inspects...)
	compare.Tolerates = true
	restore := node(at("restore"), graph.World, value("r"))
	restore.Finally, restore.After = true, append([]string{compare.Address}, inspects...)
	nodes = append(nodes, compare, restore)
	for i := range nodes {
		n := &nodes[i]
		n.Group = name
		switch {
		case strings.Contains(n.Address, "preflight"):
			n.Always = true
		case n.Effect == graph.Pure:
			n.Claim = graph.Shared
		default:
			n.Claim = graph.Exclusive
		}
		if edit != nil {
			edit(n)
		}
	}
	return nodes
}

func report(nodes []graph.Node) graph.Node {
	r := node("report", graph.Pure, toySpec{Value: "report"})
	for _, n := range nodes {
		r.After = append(r.After, n.Address)
	}
	return r
}

// TestMain lets a test have things done by another process.
func TestMain(m *testing.M) {
	switch os.Getenv("EXECUTOR_TOY") {
	case "":
		os.Exit(m.Run())
	case "run":
		os.Exit(childRun())
	case "node":
		os.Exit(childNode())
	}
	os.Exit(97)
}

func childRun() int {
	run, err := checkpoint.Open(os.Getenv("TOY_DIR"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	data, err := os.ReadFile(os.Getenv("TOY_GRAPH"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	g, err := graph.Parse(data)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	runner := &toys{world: os.Getenv("TOY_WORLD")}
	fmt.Sscan(os.Getenv("TOY_KILL"), &runner.kill)
	options := executor.Options{Run: run, Graph: g, Runner: runner, HostLock: filepath.Join(runner.world, "host.lock")}
	if runner.kill < 0 {
		// Between two events: at the boundaries of checkpoints.
		var events atomic.Int64
		options.Event = func(checkpoint.Event) {
			if events.Add(1) == -runner.kill {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	}
	summary, err := executor.Run(context.Background(), options)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if len(summary.Failed) > 0 {
		return 3
	}
	return 0
}

func childNode() int {
	runner := &toys{world: os.Getenv("TOY_WORLD")}
	fmt.Sscan(os.Getenv("TOY_KILL"), &runner.kill)
	if _, err := executor.RunNode(context.Background(), os.Getenv("TOY_DIR"), os.Getenv("TOY_NODE"), runner); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// child starts this test binary for a part of the work.
func (p *place) child(ctx context.Context, mode string, env ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, os.Args[0])
	command.Env = append(os.Environ(), append([]string{"EXECUTOR_TOY=" + mode, "TOY_DIR=" + p.dir, "TOY_WORLD=" + p.world}, env...)...)
	command.Stderr = os.Stderr
	return command
}

func (p *place) storeGraph(g *graph.Graph) string {
	data, err := g.Encode()
	if err != nil {
		p.t.Fatal(err)
	}
	path := filepath.Join(p.world, "graph.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}
