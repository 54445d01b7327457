// Command plan measures what `grill-plan plan` takes for plans of many experiments,
// and whether that grows in proportion to them.
//
//	go run ./bench/plan
//	go run ./bench/plan -sizes 1000 -rounds 9
//
// It builds the program, generates one plan for each size, and runs all of them in
// rounds, so that what the machine does meanwhile falls on all alike. Beside each
// stands the HCL library alone, reading the same file in a process of its own.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench/plan:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("plan", flag.ContinueOnError)
	sizes := flags.String("sizes", "250,500,1000,2000", "numbers of experiments, separated by commas")
	rounds := flags.Int("rounds", 5, "interleaved rounds")
	library := flags.String("library", "", "read the plan folder `DIR` with the HCL library alone and end (used by the bench itself)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *library != "" {
		return readAlone(*library, out)
	}
	counts, err := parseSizes(*sizes)
	if err != nil {
		return err
	}
	if *rounds < 1 {
		return fmt.Errorf("-rounds %d: at least 1 is needed", *rounds)
	}
	dir, err := os.MkdirTemp("", "grill-plan-bench-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	cases, err := prepare(ctx, dir, counts)
	if err != nil {
		return err
	}
	for range *rounds {
		for i := range cases {
			if err := cases[i].measure(ctx); err != nil {
				return err
			}
		}
	}
	return report(out, cases, *rounds)
}

// readAlone reads the files of a plan folder as the peer does.
func readAlone(dir string, out io.Writer) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.hcl"))
	if err != nil {
		return fmt.Errorf("list %s: %w", dir, err)
	}
	total := 0
	for _, name := range names {
		source, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read the plan: %w", err)
		}
		values, err := readWithLibrary(name, source)
		if err != nil {
			return err
		}
		total += values
	}
	_, err = fmt.Fprintln(out, total)
	return err
}

func parseSizes(text string) ([]int, error) {
	var counts []int
	for _, part := range strings.Split(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-sizes %q: %q is no number of experiments", text, part)
		}
		counts = append(counts, n)
	}
	return counts, nil
}

// series is one size with its plan and what was measured.
type series struct {
	experiments int
	plan        string
	program     string
	self        string
	times       []time.Duration // wall clock of plan
	cpu         []time.Duration // user and system time of the same
	library     []time.Duration
	peakKiB     int64
}

// prepare builds the program and writes the plans.
func prepare(ctx context.Context, dir string, counts []int) ([]series, error) {
	program := filepath.Join(dir, "grill-plan")
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", program, "./cmd/grill-plan")
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build grill-plan, in the module's folder: %w\n%s", err, output)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	var cases []series
	for _, n := range counts {
		plan := filepath.Join(dir, fmt.Sprintf("plan-%d", n))
		if err := write(plan, generate(n)); err != nil {
			return nil, err
		}
		cases = append(cases, series{experiments: n, plan: plan, program: program, self: self})
	}
	return cases, nil
}

func (s *series) measure(ctx context.Context) error {
	took, state, err := timed(exec.CommandContext(ctx, s.program, "plan", s.plan))
	if err != nil {
		return fmt.Errorf("plan of %d experiments: %w", s.experiments, err)
	}
	s.times = append(s.times, took)
	s.cpu = append(s.cpu, state.UserTime()+state.SystemTime())
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		s.peakKiB = max(s.peakKiB, int64(usage.Maxrss)/rssPerKiB())
	}
	took, _, err = timed(exec.CommandContext(ctx, s.self, "-library", s.plan))
	if err != nil {
		return fmt.Errorf("library on %d experiments: %w", s.experiments, err)
	}
	s.library = append(s.library, took)
	return nil
}

// rssPerKiB is the unit of ru_maxrss: bytes on darwin, KiB elsewhere.
func rssPerKiB() int64 {
	if runtime.GOOS == "darwin" {
		return 1024
	}
	return 1
}

// timed runs a command whose output nobody reads; a program that fails is an error
// with what it said.
func timed(cmd *exec.Cmd) (time.Duration, *os.ProcessState, error) {
	var said strings.Builder
	cmd.Stderr = &said
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %s", err, said.String())
	}
	return took, cmd.ProcessState, nil
}

// report prints medians, and for each size the processor time per experiment beside
// that of the smallest: 1.00 throughout means linear. Whether it is must not depend
// on who else uses the machine.
func report(out io.Writer, cases []series, rounds int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "grill-plan plan, medians of %d interleaved rounds\n\n", rounds)
	fmt.Fprintf(&b, "%12s %10s %10s %14s %8s %10s %8s %10s\n",
		"experiments", "plan", "CPU", "per experiment", "growth", "library", "ratio", "peak MiB")
	first := cases[0]
	for _, s := range cases {
		plan, cpu, library := median(s.times), median(s.cpu), median(s.library)
		per := cpu / time.Duration(s.experiments)
		growth := float64(per) / float64(median(first.cpu)/time.Duration(first.experiments))
		fmt.Fprintf(&b, "%12d %10s %10s %14s %8.2f %10s %8.2f %10.1f\n",
			s.experiments, plan.Round(time.Millisecond), cpu.Round(time.Millisecond), per.Round(time.Microsecond), growth,
			library.Round(time.Millisecond), float64(plan)/float64(library), float64(s.peakKiB)/1024)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
