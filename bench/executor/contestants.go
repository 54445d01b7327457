package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/grill-plan/grill-plan/executor"
	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/plan/graph"
)

const chain = 10 // nodes of a chain

// trivial starts `true` and does nothing else.
type trivial struct{}

func (trivial) Observe(context.Context, *graph.Node) (executor.Observation, error) {
	return executor.Observation{}, fmt.Errorf("there is nothing to observe")
}

func (trivial) Run(ctx context.Context, _ executor.Work) (executor.Result, error) {
	return executor.Result{}, exec.CommandContext(ctx, "true").Run()
}

func (trivial) Recover(context.Context, executor.Work) (executor.Result, bool, error) {
	return executor.Result{}, false, nil
}

func address(i int) string {
	return fmt.Sprintf("chain%d.node%d", i/chain, i%chain)
}

func buildGraph(nodes int) (*graph.Graph, error) {
	var b graph.Builder
	for i := range nodes {
		node := graph.Node{
			Address: address(i), Kind: graph.Toy, Effect: graph.Pure,
			Spec: json.RawMessage(fmt.Sprintf(`{"program":"true","value":%d}`, i)),
		}
		if i%chain > 0 {
			node.Needs = []string{address(i - 1)}
		}
		b.Add(node)
	}
	return b.Build()
}

// contestantsFor puts the executor first; a peer that is not installed is an
// error, since a bench without its peer says nothing.
func contestantsFor(nodes, jobs int) ([]*contestant, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	g, err := buildGraph(nodes)
	if err != nil {
		return nil, err
	}
	for _, peer := range []string{"ninja", "make"} {
		if _, err := exec.LookPath(peer); err != nil {
			return nil, fmt.Errorf("%w; scripts/install-debian.sh installs it", err)
		}
	}
	return []*contestant{
		{
			name:  "grill-plan",
			fresh: func(dir string) error { return freshRun(dir, g) },
			command: func(ctx context.Context, dir string) *exec.Cmd {
				return exec.CommandContext(ctx, self, "-child", dir, "-jobs", strconv.Itoa(jobs))
			},
		},
		{
			name:  "ninja",
			fresh: func(dir string) error { return writeFile(dir, "build.ninja", ninjaFile(nodes)) },
			command: func(ctx context.Context, dir string) *exec.Cmd {
				return exec.CommandContext(ctx, "ninja", "--quiet", "-C", dir, "-j", strconv.Itoa(jobs))
			},
		},
		{
			name:  "make",
			fresh: func(dir string) error { return writeFile(dir, "Makefile", makeFile(nodes)) },
			command: func(ctx context.Context, dir string) *exec.Cmd {
				return exec.CommandContext(ctx, "make", "--silent", "-r", "-C", dir, "-j"+strconv.Itoa(jobs), "all")
			},
		},
	}, nil
}

func freshRun(dir string, g *graph.Graph) error {
	run, err := checkpoint.Create(dir, checkpoint.Manifest{Plan: "bench", Created: time.Now()})
	if err != nil {
		return err
	}
	return run.StorePlan(g, nil)
}

func writeFile(dir, name string, data []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), data, 0o600)
}

func ninjaFile(nodes int) []byte {
	var out bytes.Buffer
	out.WriteString("rule touch\n  command = touch $out\n")
	for i := range nodes {
		fmt.Fprintf(&out, "build %s: touch", address(i))
		if i%chain > 0 {
			fmt.Fprintf(&out, " %s", address(i-1))
		}
		out.WriteByte('\n')
	}
	return out.Bytes()
}

func makeFile(nodes int) []byte {
	var out bytes.Buffer
	out.WriteString("all:")
	for i := chain - 1; i < nodes; i += chain {
		fmt.Fprintf(&out, " %s", address(i))
	}
	if nodes%chain > 0 {
		fmt.Fprintf(&out, " %s", address(nodes-1))
	}
	out.WriteString("\n.PHONY: all\n")
	for i := range nodes {
		fmt.Fprintf(&out, "%s:", address(i))
		if i%chain > 0 {
			fmt.Fprintf(&out, " %s", address(i-1))
		}
		out.WriteString("\n\ttouch $@\n")
	}
	return out.Bytes()
}

// runChild is the executor's own process: it loads the compiled graph and runs.
func runChild(ctx context.Context, dir string, jobs int) error {
	debug.SetGCPercent(400) // as the program does
	run, err := checkpoint.Open(dir)
	if err != nil {
		return err
	}
	g, err := run.Graph()
	if err != nil {
		return err
	}
	summary, err := executor.Run(ctx, executor.Options{
		Run: run, Graph: g, Runner: trivial{}, Workers: jobs, HostLock: filepath.Join(dir, "host.lock"),
	})
	if err != nil {
		return err
	}
	if len(summary.Failed) > 0 {
		return fmt.Errorf("%s failed: %w", summary.Failed[0].Address, summary.Failed[0].Err)
	}
	return nil
}
