package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/grill-plan/grill-plan/executor"
	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/plan"
	"github.com/grill-plan/grill-plan/steps/process"
	"github.com/grill-plan/grill-plan/steps/report"
)

// RunInput says what to run and how.
type RunInput struct {
	Loaded *Loaded
	RunDir string
	Only   []string
	Redo   []string
	Replan bool
	Verify bool
	// TakeOver goes on although a holder on another machine cannot be examined.
	TakeOver bool
	// HostLock is the lock file of the machine; "" is the usual one.
	HostLock string
	// Place, if set, has each node's work done elsewhere (executor.Options).
	Place    func(ctx context.Context, address string) error
	Event    func(checkpoint.Event)
	Progress func(address string, progress executor.Progress)
}

// RunOutcome is how a run ended.
type RunOutcome struct {
	RunDir  string
	Report  *report.Run
	Summary *executor.Summary
}

// NothingDone says that everything asked for was finished before.
func (o *RunOutcome) NothingDone() bool {
	return o.Summary.Ran == 0 && o.Summary.Stopped == nil && len(o.Summary.Failed) == 0
}

// ExitCode is that of `run`: 4 while something is unfinished, else by the worst
// experiment (PLN-29).
func (o *RunOutcome) ExitCode() int {
	if o.Summary.Stopped != nil || o.Summary.Unfinished > 0 {
		return report.UnfinishedExit
	}
	return o.Report.ExitCode()
}

// HeldBackError names what the language admits and this version does not carry
// out; nothing was started.
type HeldBackError struct{ What []string }

func (e *HeldBackError) Error() string {
	text := "this version does not carry out:"
	for _, what := range e.What {
		text += "\n  " + what
	}
	return text
}

// ErrOtherPlan: the run directory belongs to a plan of another name.
var ErrOtherPlan = errors.New("the run directory belongs to another plan")

// Run carries a plan out in a run directory, or goes on with it. Verdicts other
// than PASS and failed nodes are no errors; the outcome tells.
func Run(ctx context.Context, input RunInput) (*RunOutcome, error) {
	if err := process.Supported(runtime.GOOS); err != nil {
		return nil, err
	}
	loaded := input.Loaded
	if len(loaded.Plan.Experiments) == 0 {
		return nil, fmt.Errorf("plan %s has nothing to measure: the for_each of each of its experiments is empty", loaded.Plan.Name)
	}
	if err := loaded.heldBack(); err != nil {
		return nil, err
	}
	runner := loaded.runner()
	runner.Reports = writeReport
	if err := runner.checkProgramBytes(ctx, loaded.Plan); err != nil {
		return nil, err
	}
	if err := runner.checkHooks(ctx, loaded.Plan, input.Only); err != nil {
		return nil, err
	}
	run, err := openOrCreate(loaded, input.RunDir)
	if err != nil {
		return nil, err
	}
	files, err := loaded.planFiles()
	if err != nil {
		return nil, err
	}
	summary, err := executor.Run(ctx, executor.Options{
		Run: run, Graph: loaded.Compiled.Graph, Runner: runner,
		PlanFiles: files, Documents: loaded.Compiled.Documents,
		Reject: true, Only: input.Only, Redo: input.Redo, Replan: input.Replan, Verify: input.Verify, TakeOver: input.TakeOver,
		HostLock: input.HostLock, Place: input.Place, Event: input.Event, Progress: input.Progress,
	})
	if err != nil {
		return nil, refineDiscard(run, loaded, err)
	}
	collected, err := Collect(context.WithoutCancel(ctx), run.Dir)
	if err != nil {
		return nil, err
	}
	addProblems(collected, summary)
	return &RunOutcome{RunDir: run.Dir, Report: collected, Summary: summary}, nil
}

func (l *Loaded) heldBack() error {
	if len(l.Compiled.HeldBack) == 0 {
		return nil
	}
	held := &HeldBackError{}
	for _, one := range l.Compiled.HeldBack {
		held.What = append(held.What, one.Address+": "+one.What)
	}
	return held
}

// openOrCreate opens the run of this plan, or begins one.
func openOrCreate(loaded *Loaded, dir string) (*checkpoint.Run, error) {
	run, err := checkpoint.Open(dir)
	if errors.Is(err, checkpoint.ErrNoRun) {
		info, err := json.Marshal(map[string]any{"variables": loaded.Plan.Variables, "version": loaded.Collector.Version})
		if err != nil {
			return nil, fmt.Errorf("describe the plan: %w", err)
		}
		return checkpoint.Create(dir, checkpoint.Manifest{
			Plan: loaded.Plan.Name, Tool: loaded.Collector.SHA256,
			OS: loaded.Collector.OS, Arch: loaded.Collector.Arch, Created: time.Now(), Info: info,
		})
	}
	if err != nil {
		return nil, err
	}
	if run.Manifest.Plan != loaded.Plan.Name {
		return nil, otherPlan(run, loaded.Plan)
	}
	return run, nil
}

func otherPlan(run *checkpoint.Run, read *plan.Plan) error {
	return fmt.Errorf("%w: %s holds a run of plan %q and this is plan %q; give another folder with --out",
		ErrOtherPlan, run.Dir, run.Manifest.Plan, read.Name)
}

// addProblems adds what the run directory does not tell of this run: experiments
// are judged from evidence, failed restores and skipped ones from the summary.
func addProblems(collected *report.Run, summary *executor.Summary) {
	for _, failed := range summary.RestoreFailed {
		collected.Problems = append(collected.Problems, failureOf(failed))
	}
}

func failureOf(result executor.NodeResult) report.Failure {
	made := report.Failure{Address: result.Address, Code: result.Code}
	if result.Err != nil {
		made.Message = result.Err.Error()
	}
	return made
}

// RestoreLeft runs the restore of whatever a dead process left switched and
// nothing else (PLN-34).
func RestoreLeft(ctx context.Context, input RunInput) ([]executor.NodeResult, error) {
	run, err := checkpoint.Open(input.RunDir)
	if err != nil {
		return nil, err
	}
	if run.Manifest.Plan != input.Loaded.Plan.Name {
		return nil, otherPlan(run, input.Loaded.Plan)
	}
	return executor.RestoreLeft(ctx, executor.Options{
		Run: run, Runner: input.Loaded.runner(), TakeOver: input.TakeOver,
		HostLock: input.HostLock, Event: input.Event, Progress: input.Progress,
	})
}
