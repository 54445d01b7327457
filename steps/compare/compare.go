package compare

import (
	"math/big"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/gate"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

// Compare judges inspected captures, keyed by arm. The error is an [*Invalid]
// when they cannot be compared (CMP-07); no gate outcome is known then.
func Compare(captures map[string]*inspect.Result) (*Report, error) {
	ordered, err := admit(captures)
	if err != nil {
		return nil, err
	}
	return build(ordered), nil
}

// Stopped is the report of an experiment that ended before its last slot because
// no gate could be decided any more (PLN-13). Its captures are the first ones in
// capture order; every gate is INCONCLUSIVE, as it would be with all of them. The
// error is an [*Invalid].
func Stopped(captures map[string]*inspect.Result) (*Report, error) {
	ordered, err := admitFirst(captures)
	if err != nil {
		return nil, err
	}
	report := build(ordered)
	report.StoppedEarly = true
	return report, nil
}

// build describes and judges admitted captures, of which there is at least one.
func build(ordered []*inspect.Result) *Report {
	a := ordered[0]
	report := &Report{
		Kind:    ReportKind,
		Version: ReportVersion,
		Workload: Workload{
			Name: a.Workload.Name, Modality: a.Workload.Modality,
			SHA256: a.Receipt.WorkloadSHA256, TypedSHA256: a.Receipt.WorkloadTypedSHA256,
		},
		Timing:     inspect.TimingStatement,
		Statements: statements(),
	}
	if len(ordered) > 1 {
		b := ordered[1]
		report.IdentityAxis = IdentityAxis(a.Deployment.ModelRevision, b.Deployment.ModelRevision, a.Runner.Pins, b.Runner.Pins)
	}
	for _, declared := range a.Workload.Gates {
		report.Gates = append(report.Gates, judge(declared, ordered))
	}
	for _, declared := range a.Workload.Cells {
		report.Cells = append(report.Cells, describeCell(a.Workload, declared.ID, ordered))
	}
	for _, capture := range ordered {
		report.Captures = append(report.Captures, describeCapture(capture))
	}
	report.conclude(identityReasons(report.IdentityAxis, ordered))
	return report
}

// conclude sets the overall outcome from the gates and the reasons that hold.
func (r *Report) conclude(reasons []string) {
	var outcomes []gate.Verdict
	for _, judged := range r.Gates {
		outcomes = append(outcomes, judged.Outcome)
	}
	r.GateVerdict = gate.Worst(outcomes...)
	r.Reasons = append([]string{}, reasons...)
	r.Verdict = overall(r.GateVerdict, reasons)
}

// statements are what every report says of itself (CMP-30).
func statements() []string {
	return []string{
		"Gates compare the slowest and fastest samples of the two sides; nothing here is a statement of significance, of cause or of a winner.",
		"PASS means that no candidate sample was slower than the tolerance allows. It does not mean faster, and it does not mean equal.",
		"Output quality is not compared. Equal bytes say that bytes are equal and nothing else.",
	}
}

// pool collects the measured samples of a cell over the captures of one side.
func pool(cell string, ordered []*inspect.Result, reference bool) []inspect.Sample {
	var samples []inspect.Sample
	for _, capture := range ordered {
		if isReference(capture.Receipt.Arm) == reference {
			samples = append(samples, capture.Measured(cell)...)
		}
	}
	return samples
}

// judge applies one gate (CMP-08, CMP-09).
func judge(declared document.Gate, ordered []*inspect.Result) Gate {
	reference, candidate := pool(declared.Cell, ordered, true), pool(declared.Cell, ordered, false)
	in := gate.Input{
		Metric:                declared.Metric,
		Ineligible:            ineligible(reference) + ineligible(candidate),
		MaxAdverseBPS:         declared.MaxAdverseBPS,
		MaxReferenceSpreadBPS: declared.MaxReferenceSpreadBPS,
	}
	judged := Gate{
		Cell: declared.Cell, Metric: declared.Metric,
		MaxAdverseBPS: declared.MaxAdverseBPS, MaxReferenceSpreadBPS: declared.MaxReferenceSpreadBPS,
		ReferenceSamples: len(reference) - ineligible(reference), CandidateSamples: len(candidate) - ineligible(candidate),
		IneligibleSamples: in.Ineligible,
	}
	var out gate.Outcome
	if declared.Metric == document.DurationRatio {
		out = gate.JudgeDurations(in, audioDurations(reference), audioDurations(candidate))
	} else {
		in.Reference, in.UnavailableReference = metricValues(declared.Metric, reference)
		in.Candidate, in.UnavailableCandidate = metricValues(declared.Metric, candidate)
		out = gate.Judge(in)
		judged.Figures = gate.Beside(slots(declared, ordered), declared.MaxAdverseBPS)
	}
	judged.Outcome, judged.ReferenceRange, judged.CandidateRange = out.Verdict, out.Reference, out.Candidate
	if out.Reason != "" {
		judged.Reason = &out.Reason
	}
	return judged
}

func ineligible(samples []inspect.Sample) int {
	count := 0
	for _, sample := range samples {
		if !sample.Eligible {
			count++
		}
	}
	return count
}

// metricValues are the eligible samples' values of a metric, and how many
// eligible samples have none.
func metricValues(metric string, samples []inspect.Sample) (values []gate.Value, unavailable int) {
	for _, sample := range samples {
		if !sample.Eligible {
			continue
		}
		us, known := sample.EndToEndUS()
		if metric != document.EndToEndUS || !known {
			unavailable++
			continue
		}
		values = append(values, gate.Whole(us))
	}
	return values, unavailable
}

func audioDurations(samples []inspect.Sample) []gate.Duration {
	var found []gate.Duration
	for _, sample := range samples {
		if sample.Eligible {
			found = append(found, gate.Duration{Seed: sample.Plan.Seed, US: sample.AudioUS})
		}
	}
	return found
}

// slots gives each slot's values and place in time to the figures.
func slots(declared document.Gate, ordered []*inspect.Result) []gate.Slot {
	var found []gate.Slot
	for _, capture := range ordered {
		samples := capture.Measured(declared.Cell)
		values, _ := metricValues(declared.Metric, samples)
		found = append(found, gate.Slot{
			Candidate: !isReference(capture.Receipt.Arm),
			Values:    values,
			Middle:    middleOfSpan(samples),
		})
	}
	return found
}

// middleOfSpan is the wall-clock middle of the started samples, in microseconds
// since 1970: halfway between the first start and the last start plus how long
// that run took.
func middleOfSpan(samples []inspect.Sample) *big.Rat {
	var first, last *evidence.Run
	for _, sample := range samples {
		if sample.Run == nil {
			continue
		}
		if first == nil {
			first = sample.Run
		}
		last = sample.Run
	}
	if last == nil || last.Invocation.EndToEndUS == nil {
		return nil
	}
	middle := new(big.Rat).SetInt64(first.Invocation.StartedUnixMS)
	middle.Add(middle, new(big.Rat).SetInt64(last.Invocation.StartedUnixMS))
	middle.Mul(middle, big.NewRat(1000, 1))
	middle.Add(middle, gate.Whole(*last.Invocation.EndToEndUS).Rat())
	return middle.Quo(middle, big.NewRat(2, 1))
}
