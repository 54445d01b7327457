// Command executor measures what the executor costs beside the nodes' own work.
//
//	go run ./bench/executor
//	go run ./bench/executor -nodes 2000 -rounds 11
//
// It builds a graph of trivial nodes in chains of ten, runs it for the first time with
// every node starting `true`, and then with nothing to do, each in a process of its
// own and in turn with ninja and make on the same graph. Their nodes start `touch`,
// since without an output file neither knows that a node is done. Then it measures a
// durable checkpoint beside the bare write, fsync, rename and fsync of the folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench/executor:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("executor", flag.ContinueOnError)
	nodes := flags.Int("nodes", 10000, "nodes of the graph, in chains of ten")
	rounds := flags.Int("rounds", 7, "interleaved rounds with nothing to do")
	first := flags.Int("first", 1, "interleaved first runs")
	checkpoints := flags.Int("checkpoints", 500, "checkpoints and floors to take in turn")
	jobs := flags.Int("jobs", 1, "nodes at once, for all of them")
	dir := flags.String("dir", "", "work in a new folder of `DIR`, to measure its file system")
	child := flags.String("child", "", "run the run directory `RUN` and end (used by the bench itself)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *child != "" {
		return runChild(ctx, *child, *jobs)
	}
	if *nodes < 10 || *rounds < 1 || *first < 1 || *checkpoints < 1 || *jobs < 1 {
		return errors.New("-nodes is at least 10, the others at least 1")
	}
	work, err := os.MkdirTemp(*dir, "grill-plan-bench-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(work)
	if err := walks(ctx, out, work, *nodes, *first, *rounds, *jobs); err != nil {
		return err
	}
	return checkpointCost(ctx, out, work, *checkpoints)
}

// contestant is one program on the graph.
type contestant struct {
	name    string
	fresh   func(dir string) error // makes a folder where nothing was done yet
	command func(ctx context.Context, dir string) *exec.Cmd
	first   []sample
	idle    []sample
}

// sample is one process as it went.
type sample struct {
	wall   time.Duration
	maxRSS int64 // KiB
}

func walks(ctx context.Context, out io.Writer, work string, nodes, first, rounds, jobs int) error {
	contestants, err := contestantsFor(nodes, jobs)
	if err != nil {
		return err
	}
	for round := range first {
		for _, c := range contestants {
			dir := filepath.Join(work, c.name)
			if err := errors.Join(os.RemoveAll(dir), c.fresh(dir)); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			taken, err := measure(c.command(ctx, dir))
			if err != nil {
				return fmt.Errorf("%s, first run %d: %w", c.name, round+1, err)
			}
			c.first = append(c.first, taken)
		}
	}
	for round := range rounds + 1 {
		for _, c := range contestants {
			taken, err := measure(c.command(ctx, filepath.Join(work, c.name)))
			if err != nil {
				return fmt.Errorf("%s with nothing to do: %w", c.name, err)
			}
			if round > 0 { // the first one brings what was written into order
				c.idle = append(c.idle, taken)
			}
		}
	}
	return reportWalks(out, contestants, nodes, first, rounds, jobs)
}

func measure(command *exec.Cmd) (sample, error) {
	start := time.Now()
	output, err := command.CombinedOutput()
	wall := time.Since(start)
	if err != nil {
		return sample{}, fmt.Errorf("%w\n%s", err, output)
	}
	taken := sample{wall: wall}
	if usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage); ok {
		taken.maxRSS = int64(usage.Maxrss)
		if runtime.GOOS == "darwin" {
			taken.maxRSS /= 1024
		}
	}
	return taken, nil
}

func reportWalks(out io.Writer, contestants []*contestant, nodes, first, rounds, jobs int) error {
	fmt.Fprintf(out, "%d nodes in chains of ten, %d at once; medians of %d first runs and %d with nothing to do, in turn\n", nodes, jobs, first, rounds)
	fmt.Fprintf(out, "%-12s %12s %12s %12s %12s\n", "", "first run", "no-op", "peak first", "peak no-op")
	for _, c := range contestants {
		fmt.Fprintf(out, "%-12s %9.2f s  %9.1f ms %8.1f MiB %8.1f MiB\n", c.name,
			median(c.first).Seconds(), float64(median(c.idle).Microseconds())/1000, peak(c.first), peak(c.idle))
	}
	own := contestants[0]
	for _, c := range contestants[1:] {
		fmt.Fprintf(out, "ratio to %-6s first run %.2f, no-op %.2f\n", c.name+":",
			ratio(median(own.first), median(c.first)), ratio(median(own.idle), median(c.idle)))
	}
	_, err := fmt.Fprintln(out, "goal: no-op at most 3 times ninja's")
	return err
}

func median(samples []sample) time.Duration {
	walls := make([]time.Duration, len(samples))
	for i, s := range samples {
		walls[i] = s.wall
	}
	return medianOf(walls)
}

func medianOf(values []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func peak(samples []sample) float64 {
	most := int64(0)
	for _, s := range samples {
		most = max(most, s.maxRSS)
	}
	return float64(most) / 1024
}
