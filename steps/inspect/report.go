package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/gate"
)

// Names of the JSON report.
const (
	ReportKind    = "media-inspection"
	ReportVersion = 1
)

// Report is what inspect prints (INS-07). It holds neither the prompt nor any
// path of the capture directory, so that a copied capture gives the same bytes
// (INS-20).
type Report struct {
	Kind                string             `json:"kind"`
	Version             int                `json:"version"`
	Status              string             `json:"status"`
	Slot                string             `json:"slot"`
	Arm                 string             `json:"arm"`
	Execution           string             `json:"execution"` // INS-19
	Workload            string             `json:"workload"`
	Modality            string             `json:"modality"`
	WorkloadSHA256      string             `json:"workload_sha256"`
	WorkloadTypedSHA256 string             `json:"workload_typed_sha256"`
	RunnerSHA256        string             `json:"runner_sha256"`
	DeploymentSHA256    string             `json:"deployment_sha256"`
	ReceiptSHA256       string             `json:"receipt_sha256"`
	EvidenceSHA256      string             `json:"evidence_sha256"`
	Program             evidence.Program   `json:"program"`
	SetupProgram        *evidence.Program  `json:"setup_program,omitempty"`
	Collector           evidence.Collector `json:"collector"`
	Host                evidence.Host      `json:"host"`
	StartedUnixMS       int64              `json:"started_unix_ms"`
	FinishedUnixMS      int64              `json:"finished_unix_ms"`
	ElapsedMS           uint64             `json:"elapsed_ms"`
	SuspendedUS         uint64             `json:"suspended_us"`
	Setup               *SetupReport       `json:"setup,omitempty"`
	Cells               []CellReport       `json:"cells"`
	Runs                []RunReport        `json:"runs"`
	Timing              string             `json:"timing"`
	Statement           string             `json:"statement"`
}

// SetupReport is apart from all samples (SET-03).
type SetupReport struct {
	Reasons    []string `json:"reasons"`
	EndToEndUS *uint64  `json:"end_to_end_us"`
}

// CellReport describes the measured samples of a cell.
type CellReport struct {
	ID string `json:"id"`
	Summary
}

// RunReport is one planned sample (INS-16 to INS-18).
type RunReport struct {
	Index                   int               `json:"index"`
	Cell                    string            `json:"cell"`
	Phase                   string            `json:"phase"`
	Seed                    uint64            `json:"seed"`
	Eligible                bool              `json:"eligible"`
	Reasons                 []string          `json:"reasons"`
	EndToEndUS              *uint64           `json:"end_to_end_us"`
	Usage                   *evidence.Usage   `json:"usage,omitempty"`
	RealtimeFactor          *float64          `json:"realtime_factor"`
	FramesPerSecondEndToEnd *float64          `json:"frames_per_second_end_to_end"`
	Outputs                 []evidence.Output `json:"outputs"`
}

// Describe makes the report of a verified capture.
func Describe(result *Result) *Report {
	receipt, completion := result.Receipt, result.Completion
	report := &Report{
		Kind: ReportKind, Version: ReportVersion,
		Status: completion.Status, Slot: receipt.Slot, Arm: receipt.Arm, Execution: receipt.Execution,
		Workload: result.Workload.Name, Modality: result.Workload.Modality,
		WorkloadSHA256: receipt.WorkloadSHA256, WorkloadTypedSHA256: receipt.WorkloadTypedSHA256,
		RunnerSHA256: receipt.RunnerSHA256, DeploymentSHA256: receipt.DeploymentSHA256,
		ReceiptSHA256: result.ReceiptSHA256, EvidenceSHA256: completion.EvidenceSHA256,
		Program: receipt.Program, SetupProgram: receipt.SetupProgram, Collector: receipt.Collector, Host: receipt.Host,
		StartedUnixMS: receipt.StartedUnixMS, FinishedUnixMS: completion.FinishedUnixMS,
		ElapsedMS: completion.ElapsedMS, SuspendedUS: completion.SuspendedUS,
		Timing: TimingStatement, Statement: ObservationStatement,
	}
	if result.Setup != nil {
		report.Setup = &SetupReport{Reasons: result.Setup.Reasons, EndToEndUS: result.Setup.Invocation.EndToEndUS}
	}
	for _, cell := range result.Workload.Cells {
		summary := Summarize(result.Measured(cell.ID), result.Workload.Modality, Request(result.Workload, cell.ID))
		report.Cells = append(report.Cells, CellReport{ID: cell.ID, Summary: summary})
	}
	for _, sample := range result.Samples {
		report.Runs = append(report.Runs, describeRun(sample, result.Workload.Modality))
	}
	return report
}

func describeRun(sample Sample, modality string) RunReport {
	described := RunReport{
		Index: sample.Plan.Index, Cell: sample.Plan.Cell, Phase: sample.Plan.Phase, Seed: sample.Plan.Seed,
		Eligible: sample.Eligible, Reasons: sample.Reasons, Outputs: []evidence.Output{},
	}
	if sample.Run != nil {
		described.EndToEndUS, described.Usage, described.Outputs = sample.Run.Invocation.EndToEndUS, sample.Run.Invocation.Usage, sample.Run.Outputs
	}
	realtime, frames := RunRates(sample, modality)
	described.RealtimeFactor, described.FramesPerSecondEndToEnd = gate.Nearest(realtime), gate.Nearest(frames)
	return described
}

// RunRates are the rates of one run; nil for other modalities, ineligible runs
// and a zero divisor (INS-16 to INS-18).
func RunRates(sample Sample, modality string) (realtime, framesPerSecond *big.Rat) {
	if !sample.Eligible {
		return nil, nil
	}
	var amounts Amounts
	amounts.Add(sample)
	return amounts.RealtimeFactor(modality), amounts.FramesPerSecond(modality)
}

// JSON is the report, indented, with one line feed at the end.
func (r *Report) JSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("write the report of a capture: %w", err)
	}
	return out.Bytes(), nil
}
