package compare

import (
	"math/big"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/gate"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

func describeCapture(capture *inspect.Result) Capture {
	receipt := capture.Receipt
	described := Capture{
		Arm: receipt.Arm, Slot: receipt.Slot, Execution: receipt.Execution,
		ReceiptSHA256: capture.ReceiptSHA256, EvidenceSHA256: capture.Completion.EvidenceSHA256,
		WorkloadSHA256: receipt.WorkloadSHA256, RunnerSHA256: receipt.RunnerSHA256, DeploymentSHA256: receipt.DeploymentSHA256,
		Program: receipt.Program, SetupProgram: receipt.SetupProgram,
		Collector: receipt.Collector, Host: receipt.Host,
		StartedUnixMS: receipt.StartedUnixMS, FinishedUnixMS: capture.Completion.FinishedUnixMS,
		SampleSuspendedUS: longestSuspension(capture.Samples), SuspendedUS: capture.Completion.SuspendedUS,
		CacheState: capture.Runner.Cache.DeclaredState,
	}
	for _, cell := range capture.Workload.Cells {
		described.Cells = append(described.Cells, CaptureCell{
			ID:                cell.ID,
			IneligibleWarmups: ineligible(warmups(capture, cell.ID)),
			Summary: inspect.Summarize(capture.Measured(cell.ID), capture.Workload.Modality,
				inspect.Request(capture.Workload, cell.ID)),
		})
	}
	return described
}

func longestSuspension(samples []inspect.Sample) uint64 {
	var longest uint64
	for _, sample := range samples {
		if sample.Run != nil && sample.Plan.Phase == evidence.Measured {
			longest = max(longest, sample.Run.Invocation.SuspendedUS)
		}
	}
	return longest
}

func warmups(capture *inspect.Result, cell string) []inspect.Sample {
	var found []inspect.Sample
	for _, sample := range capture.Samples {
		if sample.Plan.Cell == cell && sample.Plan.Phase == evidence.Warmup {
			found = append(found, sample)
		}
	}
	return found
}

func describeCell(workload *document.Workload, cell string, ordered []*inspect.Result) Cell {
	request := inspect.Request(workload, cell)
	reference, candidate := pool(cell, ordered, true), pool(cell, ordered, false)
	described := Cell{ID: cell, CrossArm: []CrossArm{}, Pools: []Pool{
		{Pool: ReferencePool, Arms: armsOf(ordered, true), Summary: inspect.Summarize(reference, workload.Modality, request)},
		{Pool: CandidatePool, Arms: armsOf(ordered, false), Summary: inspect.Summarize(candidate, workload.Modality, request)},
	}}
	if workload.Modality == inspect.Audio {
		ratios := gate.DurationRatios(audioDurations(reference), audioDurations(candidate))
		described.Pools[0].DurationRatioBPS = ratioBPS(ratios.Reference)
		described.Pools[1].DurationRatioBPS = ratioBPS(ratios.Candidate)
	}
	for _, seed := range inspect.Seeds(request.Seeds) {
		described.CrossArm = append(described.CrossArm, CrossArm{
			Seed:     seed,
			Equality: gate.AcrossArms(inspect.Identities(reference, seed), inspect.Identities(candidate, seed)),
		})
	}
	return described
}

func armsOf(ordered []*inspect.Result, reference bool) []string {
	var found []string
	for _, capture := range ordered {
		if arm := capture.Receipt.Arm; isReference(arm) == reference {
			found = append(found, arm)
		}
	}
	return found
}

func ratioBPS(values []gate.Value) *RatioBPS {
	stats := gate.Describe(values)
	floor := func(r *big.Rat) *int64 {
		whole := gate.FloorBPS(r)
		if whole == nil || !whole.IsInt64() {
			return nil
		}
		n := whole.Int64()
		return &n
	}
	return &RatioBPS{Min: floor(stats.Min), Median: floor(stats.Median), Mean: floor(stats.Mean), Max: floor(stats.Max)}
}
