// Package inspect verifies one capture directory from its files alone and
// derives its statistics.
//
// It starts no process, contacts no server and needs neither the runner program
// nor the caches (INS-01). It trusts nothing it can recompute: documents, sample
// plan, argv, hashes, container facts, reasons and eligibility are derived again
// and any difference from the stored record is an error that names the file
// (INS-02 to INS-06). It does not compare captures and gives no verdict.
package inspect

import (
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
)

// Result is a capture whose evidence verified. Its status may still be other
// than complete.
type Result struct {
	Workload   *document.Workload
	Runner     *document.Runner
	Deployment *document.Deployment

	Receipt       evidence.Receipt
	ReceiptSHA256 string // of the file's bytes
	Completion    evidence.Completion

	Setup   *evidence.Run // nil unless a setup ran
	Samples []Sample      // every planned sample, in plan order
}

// Sample is one planned sample and how it went.
type Sample struct {
	Plan evidence.PlannedSample
	// Run is nil for a sample that was never started.
	Run      *evidence.Run
	Reasons  []string // in the fixed order; empty exactly when eligible
	Eligible bool
	// Identity stands for the bytes of all outputs: equal identities mean equal
	// placeholders, names and bytes (INS-15). Empty unless eligible.
	Identity string
	// AudioUS and Frames are the checked audio duration and video frames, summed
	// over the outputs (INS-18). Zero where there are none.
	AudioUS uint64
	Frames  uint64
}

// EndToEndUS is the sample's duration, or false when nothing was started.
func (s Sample) EndToEndUS() (uint64, bool) {
	if s.Run == nil || s.Run.Invocation.EndToEndUS == nil {
		return 0, false
	}
	return *s.Run.Invocation.EndToEndUS, true
}

// Measured are the measured samples of a cell, in the order they ran.
func (r *Result) Measured(cell string) []Sample {
	var found []Sample
	for _, sample := range r.Samples {
		if sample.Plan.Cell == cell && sample.Plan.Phase == evidence.Measured {
			found = append(found, sample)
		}
	}
	return found
}

// Request is the effective request of a cell (DOC-28).
func Request(workload *document.Workload, cell string) document.Request {
	for _, declared := range workload.Cells {
		if declared.ID == cell && declared.Request != nil {
			return *declared.Request
		}
	}
	return workload.Request
}

func dirOf(sample Sample) string { return document.RunDirName(sample.Plan.Index) }
