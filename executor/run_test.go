package executor_test

import (
	"context"
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

const wholeOrder = "x.switch.a x.capture.a x.setup.a x.inspect.a x.switch.b x.capture.b x.setup.b x.inspect.b " +
	"x.switch.a2 x.capture.a2 x.setup.a2 x.inspect.a2 x.compare x.restore report"

func wholePlan(t testing.TB, edit func(*graph.Node)) *graph.Graph {
	nodes := experiment("x", edit)
	return build(t, append(nodes, report(nodes))...)
}

// PLN-13, PLN-21, PLN-40, PLN-42: a whole experiment in its order; done again
// it does nothing.
func TestWholeExperimentAndNothingToDo(t *testing.T) {
	p := newPlace(t)
	g := wholePlan(t, nil)
	summary := p.mustRun(p.options(g))
	if got := p.ran(); got != wholeOrder {
		t.Errorf("first run:\n%s\nwant\n%s", got, wholeOrder)
	}
	if len(summary.Failed) > 0 || summary.Unfinished > 0 || summary.Stopped != nil {
		t.Errorf("summary %+v", summary)
	}
	for range 2 {
		summary = p.mustRun(p.options(g))
		if got := p.ran(); got != "" || summary.Ran != 0 {
			t.Errorf("second run did %q", got)
		}
	}
	decisions, err := executor.Decide(context.Background(), p.options(g))
	if err != nil {
		t.Fatal(err)
	}
	for _, decision := range decisions.Nodes {
		if decision.Action != executor.Reuse {
			t.Errorf("%s: %s %v", decision.Address, decision.Action, decision.Reasons)
		}
	}
	if stored := filepath.Join(p.run.NodeDir("x.setup.a"), "attempt-1"); exists(stored) {
		t.Errorf("setup has a folder of its own")
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// The index is derived: deleting or damaging it changes nothing.
func TestIndexMayBeLost(t *testing.T) {
	p := newPlace(t)
	g := wholePlan(t, nil)
	p.mustRun(p.options(g))
	p.log()
	index := filepath.Join(p.dir, checkpoint.IndexFile)
	data, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	for name, change := range map[string]func() error{
		"deleted": func() error { return os.Remove(index) },
		"damaged": func() error { return os.WriteFile(index, data, 0o600) },
		"empty":   func() error { return os.WriteFile(index, nil, 0o600) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if p.mustRun(p.options(g)); p.ran() != "" {
			t.Errorf("%s index: something ran", name)
		}
	}
}

// PLN-17: a failure skips exactly its dependents, restore and report run, and
// the next run tries again.
func TestFailureSkipsDependents(t *testing.T) {
	p := newPlace(t)
	other := []graph.Node{node("y", graph.Pure, toySpec{})}
	nodes := append(experiment("x", nil), other...)
	g := build(t, append(nodes, report(nodes))...)
	p.flag("fail", "x.capture.b", true)
	summary := p.mustRun(p.options(g))
	if got, want := p.ran(), "y x.switch.a x.capture.a x.setup.a x.inspect.a x.switch.b x.capture.b x.setup.b x.restore report"; got != want {
		t.Errorf("ran %q, want %q", got, want)
	}
	if len(summary.Failed) != 1 || summary.Failed[0].Address != "x.capture.b" || summary.Failed[0].Code != "toy_failed" {
		t.Errorf("failed %+v", summary.Failed)
	}
	var skipped []string
	for _, result := range summary.Skipped {
		skipped = append(skipped, result.Address)
		if strings.Join(result.Causes, " ") != "x.capture.b" {
			t.Errorf("%s skipped for %v", result.Address, result.Causes)
		}
	}
	if got, want := strings.Join(skipped, " "), "x.inspect.b x.switch.a2 x.setup.a2 x.capture.a2 x.inspect.a2 x.compare"; got != want {
		t.Errorf("skipped %q, want %q", got, want)
	}
	p.flag("fail", "x.capture.b", false)
	summary = p.mustRun(p.options(g))
	if got, want := p.ran(), "x.switch.b x.capture.b x.setup.b x.inspect.b x.switch.a2 x.capture.a2 x.setup.a2 x.inspect.a2 x.compare x.restore report"; got != want {
		t.Errorf("second run %q, want %q", got, want)
	}
	if result, _ := summary.Lookup("x.capture.b"); result.Attempt != 2 || result.State != executor.StateDone {
		t.Errorf("capture.b %+v", result)
	}
}

// PLN-42: a failed setup is the root cause, not the capture that it is part of.
func TestFailedSetupIsTheRootCause(t *testing.T) {
	p := newPlace(t)
	p.flag("fail", "x.setup.a", true)
	summary := p.mustRun(p.options(wholePlan(t, nil)))
	if len(summary.Failed) != 1 || summary.Failed[0].Address != "x.setup.a" || summary.Failed[0].Code != "toy_setup" {
		t.Errorf("failed %+v", summary.Failed)
	}
	if result, _ := summary.Lookup("x.capture.a"); result.State != executor.StateSkipped || result.Causes[0] != "x.setup.a" {
		t.Errorf("capture %+v", result)
	}
}

// PLN-13: an early stop leaves the later slots out, and compare runs.
func TestEarlyStop(t *testing.T) {
	p := newPlace(t)
	stop := func(n *graph.Node) {
		if n.Address == "x.inspect.b" {
			*n = withSpec(*n, toySpec{Value: "ib", Stop: "insufficient_samples"})
		}
	}
	g := wholePlan(t, stop)
	summary := p.mustRun(p.options(g))
	if got, want := p.ran(), "x.switch.a x.capture.a x.setup.a x.inspect.a x.switch.b x.capture.b x.setup.b x.inspect.b x.compare x.restore report"; got != want {
		t.Errorf("ran %q, want %q", got, want)
	}
	for _, address := range []string{"x.switch.a2", "x.setup.a2", "x.capture.a2", "x.inspect.a2"} {
		if result, _ := summary.Lookup(address); result.State != executor.StateLeft || result.Code != "insufficient_samples" {
			t.Errorf("%s: %+v", address, result)
		}
	}
	if len(summary.Failed)+len(summary.Skipped) > 0 {
		t.Errorf("failed %v skipped %v", summary.Failed, summary.Skipped)
	}
	p.mustRun(p.options(g))
	if got := p.ran(); got != "" {
		t.Errorf("second run did %q", got)
	}
}

func withSpec(n graph.Node, spec toySpec) graph.Node {
	n.Spec = node(n.Address, n.Effect, spec).Spec
	return n
}

// PLN-23, PLN-15: an edit that discards a finished measurement stops before any
// effect and names nodes and attributes; --replan does it and keeps the old.
func TestEditStopsUntilReplan(t *testing.T) {
	p := newPlace(t)
	p.mustRun(p.options(wholePlan(t, nil)))
	p.log()
	edited := wholePlan(t, func(n *graph.Node) {
		if n.Address == "x.switch.b" {
			*n = withSpec(*n, toySpec{Value: "other"})
		}
	})
	_, err := executor.Run(context.Background(), p.options(edited))
	var discard *executor.DiscardError
	if !errors.As(err, &discard) {
		t.Fatalf("error %v", err)
	}
	if got := p.ran(); got != "" {
		t.Errorf("ran %q before it was allowed", got)
	}
	want := "\n  x.capture.b: value changed in x.switch.b\n  x.capture.a2: x.inspect.b changes"
	if !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %q, want %q at its end", err, want)
	}
	options := p.options(edited)
	options.Replan = true
	p.mustRun(options)
	if got, want := p.ran(), "x.switch.b x.capture.b x.setup.b x.inspect.b x.switch.a2 x.capture.a2 x.setup.a2 x.inspect.a2 x.compare x.restore report"; got != want {
		t.Errorf("ran %q, want %q", got, want)
	}
	if !exists(filepath.Join(p.run.AttemptDir("x.capture.b", 1), "result")) {
		t.Error("the earlier attempt is gone")
	}
	if p.mustRun(p.options(edited)); p.ran() != "" {
		t.Error("the replanned run is not finished")
	}
}

// PLN-43, PLN-22: --redo of a slot does the later ones too, and is recorded.
func TestRedo(t *testing.T) {
	p := newPlace(t)
	g := wholePlan(t, nil)
	p.mustRun(p.options(g))
	p.log()
	options := p.options(g)
	options.Redo = []string{"x.capture.b"}
	p.mustRun(options)
	if got, want := p.ran(), "x.switch.b x.capture.b x.setup.b x.inspect.b x.switch.a2 x.capture.a2 x.setup.a2 x.inspect.a2 x.compare x.restore report"; got != want {
		t.Errorf("ran %q, want %q", got, want)
	}
	data, err := os.ReadFile(p.run.AttemptDir("x.capture.b", 1) + ".superseded")
	if err != nil || !strings.Contains(string(data), "--redo") {
		t.Errorf("record of the redo: %q %v", data, err)
	}
	options.Redo = []string{"x.nothing"}
	if _, err := executor.Run(context.Background(), options); err == nil || !strings.Contains(err.Error(), "x.nothing") {
		t.Errorf("error %v", err)
	}
}

// PLN-45: order of experiments, what depends on what, and --only.
func TestOnlyAndDependencies(t *testing.T) {
	p := newPlace(t)
	first := experiment("first", nil)
	for i := range first {
		if first[i].Address == "first.switch.a" {
			first[i].Needs = append(first[i].Needs, "second.compare")
			first[i].After = append(first[i].After, "second.restore")
		}
	}
	nodes := append(append(first, experiment("second", nil)...), experiment("third", nil)...)
	g := build(t, append(nodes, report(nodes))...)
	options := p.options(g)
	options.Only = []string{"first"}
	summary := p.mustRun(options)
	got := p.ran()
	if strings.Contains(got, "third") || !(strings.Index(got, "second.restore") < strings.Index(got, "first.switch.a")) || summary.Unfinished == 0 {
		t.Errorf("unfinished %d, ran %q", summary.Unfinished, got)
	}
	summary = p.mustRun(p.options(g))
	if got := p.ran(); strings.Contains(got, "first") || strings.Contains(got, "second") || !strings.Contains(got, "third.compare third.restore report") || summary.Unfinished != 0 {
		t.Errorf("unfinished %d, ran %q", summary.Unfinished, got)
	}
	options.Only = []string{"fourth"}
	if _, err := executor.Run(context.Background(), options); err == nil {
		t.Error("an unknown experiment was accepted")
	}
}

// PLN-25, PLN-34, PLN-22: an interrupt ends what runs, restores, and the next
// run begins the slot anew.
func TestInterruptRestores(t *testing.T) {
	p := newPlace(t)
	waits := func(n *graph.Node) {
		if n.Address == "x.capture.b" {
			*n = withSpec(*n, toySpec{Value: "b", Collector: "one", Wait: true})
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	options := p.options(wholePlan(t, waits))
	options.Event = func(event checkpoint.Event) {
		if event.Event == checkpoint.NodeStarted && event.Node == "x.capture.b" {
			cancel(executor.ErrInterrupted)
		}
	}
	summary, err := executor.Run(ctx, options)
	if err != nil || !errors.Is(summary.Stopped, executor.ErrInterrupted) {
		t.Fatalf("%v %+v", err, summary)
	}
	if got := p.ran(); !strings.HasSuffix(got, "x.capture.b x.setup.b x.restore report") {
		t.Errorf("ran %q", got)
	}
	record, err := p.run.Record("x.capture.b", 1)
	if err != nil || record.State != checkpoint.Interrupted {
		t.Errorf("record %+v %v", record, err)
	}
	if len(summary.Failed) > 0 || summary.Unfinished == 0 {
		t.Errorf("summary %+v", summary)
	}
	p.mustRun(p.options(wholePlan(t, nil)))
	if got := p.ran(); !strings.HasPrefix(got, "x.switch.b x.capture.b") {
		t.Errorf("resumed with %q", got)
	}
}

// PLN-48: stop lets the slot end, inspect included, restores, and nothing has
// to be repeated.
func TestStopFinishesTheSlot(t *testing.T) {
	p := newPlace(t)
	g := wholePlan(t, func(n *graph.Node) {
		if n.Address == "x.capture.b" {
			*n = withSpec(*n, toySpec{Value: "b", Collector: "one", Sleep: 1500})
		}
	})
	options := p.options(g)
	asked := make(chan error, 1)
	options.Event = func(event checkpoint.Event) {
		if event.Event == checkpoint.NodeStarted && event.Node == "x.capture.b" {
			_, err := checkpoint.Request(p.dir, checkpoint.StopRequest)
			asked <- err
		}
	}
	summary := p.mustRun(options)
	if err := <-asked; err != nil {
		t.Fatal(err)
	}
	if !errors.Is(summary.Stopped, executor.ErrStopRequested) {
		t.Errorf("stopped %v", summary.Stopped)
	}
	if got, want := p.ran(), "x.switch.a x.capture.a x.setup.a x.inspect.a x.switch.b x.capture.b x.setup.b x.inspect.b x.restore report"; got != want {
		t.Errorf("ran %q, want %q", got, want)
	}
	options.Event = nil
	summary = p.mustRun(options)
	if got := p.ran(); !strings.HasPrefix(got, "x.switch.a2 x.capture.a2") || summary.Stopped != nil {
		t.Errorf("resumed with %q (a request may not outlive its run)", got)
	}
	if _, err := checkpoint.Request(p.dir, checkpoint.StopRequest); !errors.Is(err, checkpoint.ErrNotRunning) {
		t.Errorf("request to nobody: %v", err)
	}
}

// PLN-34: a failed restore is told, and is no failure of the run.
func TestFailedRestoreIsReported(t *testing.T) {
	p := newPlace(t)
	p.flag("fail", "x.restore", true)
	g := wholePlan(t, nil)
	summary := p.mustRun(p.options(g))
	if len(summary.Failed) > 0 || len(summary.RestoreFailed) != 1 {
		t.Errorf("failed %v, restore failed %v", summary.Failed, summary.RestoreFailed)
	}
	p.flag("fail", "x.restore", false)
	p.log()
	results, err := executor.RestoreLeft(context.Background(), p.options(nil))
	if err != nil || len(results) != 1 || results[0].State != executor.StateDone || p.ran() != "x.restore" {
		t.Errorf("restore: %v %v", results, err)
	}
	if results, err = executor.RestoreLeft(context.Background(), p.options(nil)); err != nil || len(results) != 0 {
		t.Errorf("restored twice: %v %v", results, err)
	}
}

// Work is handed to another process, with the same result.
func TestNodesInOtherProcesses(t *testing.T) {
	p := newPlace(t)
	g := wholePlan(t, nil)
	options := p.options(g)
	options.Place = func(ctx context.Context, address string) error {
		return p.child(ctx, "node", "TOY_NODE="+address).Run()
	}
	summary := p.mustRun(options)
	if got := p.ran(); got != wholeOrder || len(summary.Failed) > 0 {
		t.Errorf("ran %q, failed %+v", got, summary.Failed)
	}
	if p.mustRun(p.options(g)); p.ran() != "" {
		t.Error("what was done in other processes does not count in this one")
	}
	for _, n := range g.Nodes() {
		if record, err := p.run.Record(n.Address, 1); err != nil || record.State != checkpoint.Done {
			t.Errorf("%s: %v %v", n.Address, record, err)
		}
	}
}

// PLN-18: nobody else runs while an experiment has the host, and who waits is
// told who holds it.
func TestHostIsHeldWhole(t *testing.T) {
	p := newPlace(t)
	g := wholePlan(t, nil)
	hostLock := filepath.Join(t.TempDir(), "host.lock")
	waiting := make(chan string, 100)
	held, err := checkpoint.LockHost(context.Background(), checkpoint.HostLockOptions{Path: hostLock, Holder: checkpoint.Holder{PID: 4711, Host: "there", Run: "its run"}})
	if err != nil {
		t.Fatal(err)
	}
	options := p.options(g)
	options.HostLock = hostLock
	options.Event = func(event checkpoint.Event) {
		if event.Event == checkpoint.HostWaiting {
			waiting <- event.Text
		}
	}
	done := make(chan *executor.Summary, 1)
	go func() {
		summary, _ := executor.Run(context.Background(), options)
		done <- summary
	}()
	if text := <-waiting; !strings.Contains(text, "process 4711 on there") || !strings.Contains(text, "its run") {
		t.Errorf("told %q", text)
	}
	if got := p.ran(); got != "" {
		t.Errorf("ran %q without the host", got)
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	if summary := <-done; summary == nil || len(summary.Failed) > 0 {
		t.Errorf("summary %+v", summary)
	}

}

// PLN-24: of two processes the second ends at once and says who has it; a dead
// one's lock is in nobody's way.
func TestSecondProcessEndsAtOnce(t *testing.T) {
	p := newPlace(t)
	g := wholePlan(t, func(n *graph.Node) {
		if n.Address == "x.capture.a" {
			*n = withSpec(*n, toySpec{Value: "a", Collector: "one", Wait: true})
		}
	})
	child := p.child(context.Background(), "run", "TOY_GRAPH="+p.storeGraph(g))
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer child.Process.Kill()
	for deadline := time.Now().Add(30 * time.Second); !exists(p.run.AttemptDir("x.capture.a", 1)); {
		if time.Now().After(deadline) {
			t.Fatal("the child does not get there")
		}
		time.Sleep(10 * time.Millisecond)
	}
	_, err := executor.Run(context.Background(), p.options(g))
	var held *checkpoint.HeldError
	if !errors.As(err, &held) || held.Holder == nil || held.Holder.PID != child.Process.Pid {
		t.Fatalf("error %v", err)
	}
	for _, part := range []string{"process", held.Holder.Host, held.Holder.Since.Format(time.RFC3339)} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
	status, err := checkpoint.Status(p.dir) // PLN-28
	if err != nil || status.Holder == nil || status.Holder.PID != child.Process.Pid {
		t.Errorf("status %+v %v", status, err)
	}
	for _, n := range status.Nodes {
		if n.Address == "x.capture.a" && n.State != checkpoint.StatusRunning {
			t.Errorf("capture is %s", n.State)
		}
	}
	child.Process.Kill()
	child.Wait()
	p.log()
	summary := p.mustRun(p.options(wholePlan(t, nil)))
	if len(summary.Failed) > 0 {
		t.Errorf("failed %+v", summary.Failed)
	}
	got := strings.Join(p.log(), ",")
	// PLN-34: what was left switched is restored first.
	if !strings.HasPrefix(got, "recover x.capture.a 1 false,run x.restore") {
		t.Errorf("resumed with %q", got)
	}
	record, err := p.run.Record("x.capture.a", 1)
	if err != nil || record.State != checkpoint.Interrupted {
		t.Errorf("closed as %+v %v", record, err)
	}
}
