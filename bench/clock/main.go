// Command clock measures how far the wall time that a capture reports for a
// child is from the truth, beside hyperfine and beside a poll of 2 ms.
//
// The child spins for 5, 50 and 500 ms by its own monotonic clock and writes
// down how long it really spun; the error of a reported time is what it says
// above that. The three observers take turns, so that drift of the machine hits
// all of them. It prints medians, interquartile ranges and their ratios; exit
// code 1 means that a goal was missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"text/tabwriter"
	"time"
)

func main() {
	runs := flag.Int("runs", 40, "turns of each observer for each duration")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := bench(ctx, *runs); err != nil {
		fmt.Fprintln(os.Stderr, "bench clock:", err)
		os.Exit(1)
	}
}

// goals of the project: the median error against hyperfine's and against that of
// the poll, and the spread against hyperfine's.
const (
	overHyperfine = 1.1
	overPoll      = 0.5
	spread        = 1.0
)

var errMissed = errors.New("a goal was missed")

func bench(ctx context.Context, runs int) error {
	dir, err := os.MkdirTemp("", "clock-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	spin, err := buildSpin(ctx, dir)
	if err != nil {
		return err
	}
	observers := []observer{{"grill-plan", observeCapture}, {"hyperfine -N", observeHyperfine}, {"2 ms poll", observePoll}}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "spin\tobserver\tmedian error, us\tIQR, us\terror / hyperfine\terror / poll\tIQR / hyperfine\t")
	met := true
	for _, length := range []time.Duration{5, 50, 500} {
		errors, err := takeTurns(ctx, observers, target{spin, filepath.Join(dir, "truth"), dir, length * time.Millisecond}, runs)
		if err != nil {
			return err
		}
		met = show(table, length, observers, errors) && met
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Printf("goals: error at most %.1f x hyperfine's and %.1f x the poll's, IQR at most %.1f x hyperfine's; %d turns\n", overHyperfine, overPoll, spread, runs)
	if !met {
		return errMissed
	}
	return nil
}

func show(table *tabwriter.Writer, length time.Duration, observers []observer, errors [][]float64) bool {
	ours, hyperfine, poll := summarize(errors[0]), summarize(errors[1]), summarize(errors[2])
	for i, each := range []summary{ours, hyperfine, poll} {
		fmt.Fprintf(table, "%d ms\t%s\t%.0f\t%.0f\t%.2f\t%.2f\t%.2f\t\n", length, observers[i].name, each.median, each.iqr,
			each.median/hyperfine.median, each.median/poll.median, each.iqr/hyperfine.iqr)
	}
	return ours.median <= overHyperfine*hyperfine.median && ours.median <= overPoll*poll.median && ours.iqr <= spread*hyperfine.iqr
}
