package steps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/grill-plan/grill-plan/executor"
	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/internal/durable"
	"github.com/grill-plan/grill-plan/plan/graph"
	"github.com/grill-plan/grill-plan/plan/spec"
	"github.com/grill-plan/grill-plan/steps/compare"
	"github.com/grill-plan/grill-plan/steps/inspect"
	"github.com/grill-plan/grill-plan/steps/report"
)

// ReportDir holds the report within a run directory.
const ReportDir = "report"

// writeReport is the work of the report node: RUN/report from evidence alone.
func writeReport(ctx context.Context, runDir string) (string, error) {
	collected, err := Collect(ctx, runDir)
	if err != nil {
		return "", err
	}
	if err := WriteReport(collected, filepath.Join(runDir, ReportDir)); err != nil {
		return "", err
	}
	if !collected.Finished() {
		return report.Unfinished, nil
	}
	return string(collected.Verdict()), nil
}

// WriteReport writes the files of a report into a folder, which is made.
func WriteReport(collected *report.Run, dir string) error {
	if err := os.MkdirAll(dir, durable.DirMode); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return collected.Write(dir)
}

// Collect reads a run directory and judges it again from its evidence: every
// capture is inspected anew, which hashes every file (PLN-20, PLN-36). What does
// not verify is an ERROR of its experiment and never a verdict.
func Collect(ctx context.Context, runDir string) (*report.Run, error) {
	run, err := checkpoint.Open(runDir)
	if err != nil {
		return nil, err
	}
	described, err := readContext(run)
	if err != nil {
		return nil, err
	}
	g, err := run.Graph()
	if err != nil {
		return nil, err
	}
	status, err := checkpoint.Status(run.Dir)
	if err != nil {
		return nil, err
	}
	c := &collector{ctx: ctx, run: run, graph: g, nodes: map[string]checkpoint.NodeStatus{}}
	for _, node := range status.Nodes {
		c.nodes[node.Address] = node
	}
	made := &report.Run{Plan: described.Plan, PlanSHA256: described.PlanSHA256}
	for _, experiment := range described.Experiments {
		collected, err := c.experiment(experiment)
		if err != nil {
			return nil, err
		}
		made.Experiments = append(made.Experiments, collected)
		c.restoreProblem(experiment.Address, made)
	}
	return made, nil
}

// collector reads one run.
type collector struct {
	ctx   context.Context
	run   *checkpoint.Run
	graph *graph.Graph
	nodes map[string]checkpoint.NodeStatus
}

func (c *collector) experiment(described experimentContext) (report.Experiment, error) {
	made := report.Experiment{Address: described.Address}
	for _, gate := range described.Gates {
		made.Sources = append(made.Sources, report.Source{File: gate.File, Line: gate.Line, Snippet: gate.Snippet})
	}
	c.failures(&made)
	captures := map[string]*inspect.Result{}
	for _, slot := range described.Slots {
		collected, result, err := c.slot(described.Address, slot, &made)
		if err != nil {
			return made, err
		}
		made.Slots = append(made.Slots, collected)
		if result != nil {
			captures[slot.Arm] = result
		}
	}
	return made, c.verdict(&made, captures, len(described.Slots))
}

// failures lists the failed nodes of an experiment in the order of the graph,
// which puts root causes first, and what was left out.
func (c *collector) failures(made *report.Experiment) {
	for _, node := range c.graph.Nodes() {
		if node.Group != made.Address {
			continue
		}
		switch status := c.nodes[node.Address]; {
		case status.State == string(checkpoint.Failed) && node.Kind != graph.Restore:
			made.Failures = append(made.Failures, c.failure(node.Address, status))
		case status.State == checkpoint.StatusSkipped, status.State == checkpoint.StatusLeft:
			made.Skipped = append(made.Skipped, node.Address)
		}
	}
}

func (c *collector) failure(address string, status checkpoint.NodeStatus) report.Failure {
	made := report.Failure{Address: address, Code: status.Code}
	if record, err := c.run.Record(address, status.Attempt); err == nil && record.Error != nil {
		made.Message = record.Error.Message
	}
	return made
}

// restoreProblem reports a failed restore, which changes no verdict (PLN-34).
func (c *collector) restoreProblem(group string, made *report.Run) {
	address := group + "." + string(graph.Restore)
	if status := c.nodes[address]; status.State == string(checkpoint.Failed) {
		made.Problems = append(made.Problems, c.failure(address, status))
	}
}

// slot gives a slot and its capture, nil when there is none that counts.
func (c *collector) slot(group string, described slotContext, made *report.Experiment) (report.Slot, *inspect.Result, error) {
	address := group + "." + string(graph.Capture) + "." + described.Slot
	status := c.nodes[address]
	slot := report.Slot{Slot: described.Slot, Arm: described.Arm}
	for _, attempt := range status.Attempts {
		slot.Attempts = append(slot.Attempts, attemptOf(attempt))
	}
	if status.State != string(checkpoint.Done) {
		return slot, nil, nil
	}
	dir := c.run.AttemptDir(address, status.Attempt)
	result, err := inspectComplete(c.ctx, dir)
	if c.ctx.Err() != nil {
		return slot, nil, context.Cause(c.ctx)
	}
	if err != nil {
		var failed *executor.Failure
		if errors.As(err, &failed) {
			err = failed.Err // the code stands beside it
		}
		made.Failures = append(made.Failures, report.Failure{Address: address, Code: EvidenceInvalid, Message: err.Error()})
		return slot, nil, nil
	}
	if relative, err := filepath.Rel(c.run.Dir, dir); err == nil {
		slot.Dir = filepath.ToSlash(relative)
	}
	slot.EvidenceSHA256 = result.Completion.EvidenceSHA256
	return slot, result, nil
}

func attemptOf(status checkpoint.AttemptStatus) report.Attempt {
	made := report.Attempt{Number: status.Attempt, Ended: status.State, Why: status.Problem}
	if status.State == string(checkpoint.Done) {
		made.Ended = report.AttemptComplete
	}
	if status.Code != "" && made.Why == "" {
		made.Why = status.Code
	}
	if status.Superseded {
		made.Why = "done again"
	}
	return made
}

// verdict judges an experiment whose compare is finished, gives ERROR to one
// that failed, and leaves the rest unfinished.
func (c *collector) verdict(made *report.Experiment, captures map[string]*inspect.Result, slots int) error {
	address := made.Address + "." + string(graph.Compare)
	node, known := c.graph.Lookup(address)
	if !known {
		return fmt.Errorf("the stored graph has no %s", address)
	}
	wanted, err := readSpec[spec.Compare](node)
	if err != nil {
		return err
	}
	facts := compare.Facts{
		RequireSameBoot: wanted.RequireSameBoot, MaxGapMS: wanted.MaxGapMS, AllowHostChange: wanted.AllowHostChange,
		Failed: len(made.Failures) > 0,
	}
	compared := c.nodes[address]
	facts.Skipped = !facts.Failed && compared.State == checkpoint.StatusSkipped
	if compared.State == string(checkpoint.Done) && len(captures) > 0 && !facts.Failed {
		if made.Report, err = judge(captures, len(captures) < slots); err != nil {
			made.Failures = append(made.Failures, report.Failure{Address: address, Code: Inadmissible, Message: err.Error()})
			facts.Failed = true
		}
	}
	if made.Report == nil && !facts.Failed && !facts.Skipped {
		return nil // unfinished
	}
	lowered := compare.Lower(made.Report, facts)
	made.Lowered = &lowered
	return nil
}

// Node does the work of one node of a run in this process (architecture page, "A
// node's work"), from what is stored in the run directory.
func Node(ctx context.Context, runDir, address string) (*checkpoint.Record, error) {
	run, err := checkpoint.Open(runDir)
	if err != nil {
		return nil, err
	}
	described, err := readContext(run)
	if err != nil {
		return nil, err
	}
	if len(described.Sensitive) > 0 {
		return nil, errors.New("the plan has sensitive variables, whose values are stored nowhere: only `run` can carry its nodes out")
	}
	collector, self, err := identity(ctx)
	if err != nil {
		return nil, err
	}
	return executor.RunNode(ctx, run.Dir, address, &Runner{
		Folder: described.Folder, Self: self, Collector: collector,
		Document: run.Document, Reports: writeReport,
	})
}
