package steps

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/grill-plan/grill-plan/executor"
	"github.com/grill-plan/grill-plan/plan/graph"
	"github.com/grill-plan/grill-plan/plan/spec"
	"github.com/grill-plan/grill-plan/steps/compare"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

// compareFile is the report of a compare node as media compare would print it;
// verdictFile the experiment's verdict after what the plan adds (PLN-29).
const (
	compareFile = "compare.json"
	verdictFile = "verdict.json"
)

// runCompare judges the captures of an experiment (PLN-29). After an early stop
// it judges those that were made (PLN-13).
func (r *Runner) runCompare(ctx context.Context, work executor.Work) (executor.Result, error) {
	wanted, err := readSpec[spec.Compare](work.Node)
	if err != nil {
		return executor.Result{}, err
	}
	captures := map[string]*inspect.Result{}
	for _, dir := range dirsOf(work, graph.Capture) {
		result, err := inspectComplete(ctx, dir)
		if err != nil {
			return executor.Result{}, interrupted(ctx, err)
		}
		captures[result.Receipt.Arm] = result
	}
	report, err := judge(captures, len(captures) < len(wanted.Arms))
	if err != nil {
		return executor.Result{}, &executor.Failure{Code: Inadmissible, Err: err}
	}
	return storeVerdict(work, wanted, report)
}

func judge(captures map[string]*inspect.Result, stopped bool) (*compare.Report, error) {
	if !stopped {
		return compare.Compare(captures)
	}
	if len(captures) == 0 {
		return nil, errNoCapture
	}
	return compare.Stopped(captures)
}

// storeVerdict keeps what compare said and the verdict of the experiment, which
// is compare's, lowered by what the plan demands of slots.
func storeVerdict(work executor.Work, wanted spec.Compare, report *compare.Report) (executor.Result, error) {
	lowered := compare.Lower(report, compare.Facts{
		RequireSameBoot: wanted.RequireSameBoot, MaxGapMS: wanted.MaxGapMS, AllowHostChange: wanted.AllowHostChange,
	})
	text, err := report.JSON()
	if err != nil {
		return executor.Result{}, fmt.Errorf("write comparison: %w", err)
	}
	if err := writeFile(work.Dir, compareFile, text); err != nil {
		return executor.Result{}, err
	}
	verdict, err := json.Marshal(lowered)
	if err != nil {
		return executor.Result{}, fmt.Errorf("write verdict: %w", err)
	}
	if err := writeFile(work.Dir, verdictFile, append(verdict, '\n')); err != nil {
		return executor.Result{}, err
	}
	return executor.Result{Outcome: string(lowered.Verdict), Facts: verdict}, nil
}
