package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/process"
)

//go:embed testdata/spin.c
var spinSource []byte

func buildSpin(ctx context.Context, dir string) (string, error) {
	source, program := filepath.Join(dir, "spin.c"), filepath.Join(dir, "spin")
	if err := os.WriteFile(source, spinSource, 0o600); err != nil {
		return "", err
	}
	// Linked statically where that works: the loading of libraries belongs to no
	// observer and would only hide the differences between them.
	var output []byte
	var err error
	for _, link := range []string{"-static", "-O1"} {
		if output, err = exec.CommandContext(ctx, "cc", "-O1", link, "-o", program, source).CombinedOutput(); err == nil {
			return program, nil
		}
	}
	return "", fmt.Errorf("compile the child: %w: %s", err, output)
}

// target is what is observed.
type target struct {
	spin   string
	truth  string // file that the child appends to
	dir    string
	length time.Duration
}

func (t target) args() []string {
	return []string{strconv.FormatInt(t.length.Milliseconds(), 10), t.truth}
}

// observer reports the wall time of one run of the target.
type observer struct {
	name    string
	observe func(context.Context, target) (time.Duration, error)
}

// takeTurns gives the errors of each observer in microseconds. The first turn of
// each warms up and does not count.
func takeTurns(ctx context.Context, observers []observer, t target, runs int) ([][]float64, error) {
	found := make([][]float64, len(observers))
	order := rand.New(rand.NewPCG(1, 2))
	for turn := range runs + 1 {
		// In changing order, so that nobody always follows the same one.
		for _, at := range order.Perm(len(observers)) {
			reported, err := observers[at].observe(ctx, t)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", observers[at].name, err)
			}
			truth, err := takeTruth(t.truth)
			if err != nil {
				return nil, err
			}
			if turn > 0 {
				found[at] = append(found[at], float64((reported-truth).Nanoseconds())/1000)
			}
		}
	}
	return found, nil
}

// takeTruth reads what the child wrote and removes it.
func takeTruth(path string) (time.Duration, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	nanoseconds, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the child wrote %q: %w", data, err)
	}
	return time.Duration(nanoseconds), os.Remove(path)
}

// observeCapture runs the child as a capture does: own group, bounded streams,
// the record of the start published while it runs.
func observeCapture(ctx context.Context, t target) (time.Duration, error) {
	dir, err := os.MkdirTemp(t.dir, "run-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	went, err := process.Run(ctx, process.Command{
		Path: t.spin, Args: t.args(), Env: process.Environment(os.Environ(), nil, "bench"), Dir: dir, Deadline: time.Minute,
		Stdout: process.Stream{Path: filepath.Join(dir, evidence.StdoutFile), Limit: 1 << 20},
		Stderr: process.Stream{Path: filepath.Join(dir, evidence.StderrFile), Limit: 1 << 20},
		Started: func(started process.Started) error {
			_, err := evidence.Publish(filepath.Join(dir, evidence.ProcessFile), evidence.Process{
				Kind: evidence.ProcessKind, Version: evidence.Version, PID: started.PID, Group: started.Group, StartTime: started.StartTime,
			})
			return err
		},
	})
	if err != nil {
		return 0, err
	}
	if went.ExitCode == nil || *went.ExitCode != 0 {
		return 0, fmt.Errorf("the child ended with %+v", went)
	}
	return time.Duration(*went.EndToEndUS) * time.Microsecond, nil
}

func observeHyperfine(ctx context.Context, t target) (time.Duration, error) {
	report := filepath.Join(t.dir, "hyperfine.json")
	command := strings.Join(append([]string{t.spin}, t.args()...), " ")
	run := exec.CommandContext(ctx, "hyperfine", "-N", "--runs", "1", "--style", "none", "--export-json", report, command)
	if output, err := run.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, output)
	}
	data, err := os.ReadFile(report)
	if err != nil {
		return 0, err
	}
	var results struct {
		Results []struct {
			Times []float64 `json:"times"` // seconds
		} `json:"results"`
	}
	if err := json.Unmarshal(data, &results); err != nil {
		return 0, err
	}
	if len(results.Results) != 1 || len(results.Results[0].Times) != 1 {
		return 0, errors.New("hyperfine reports something else than one time")
	}
	return time.Duration(results.Results[0].Times[0] * float64(time.Second)), nil
}

// observePoll asks every 2 ms whether the child has ended.
func observePoll(_ context.Context, t target) (time.Duration, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	files := []uintptr{null.Fd(), null.Fd(), null.Fd()}
	start := time.Now()
	pid, err := syscall.ForkExec(t.spin, append([]string{t.spin}, t.args()...), &syscall.ProcAttr{Env: os.Environ(), Files: files})
	if err != nil {
		return 0, err
	}
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return 0, err
		}
		if ended == pid {
			return time.Since(start), nil
		}
		time.Sleep(2 * time.Millisecond)
	}
}

type summary struct{ median, iqr float64 }

func summarize(values []float64) summary {
	sorted := slices.Sorted(slices.Values(values))
	at := func(part float64) float64 {
		position := part * float64(len(sorted)-1)
		low := int(position)
		high := min(low+1, len(sorted)-1)
		return sorted[low] + (position-float64(low))*(sorted[high]-sorted[low])
	}
	return summary{at(0.5), at(0.75) - at(0.25)}
}
