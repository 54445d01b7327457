// Package gate holds the arithmetic that decides: the envelope rule of a gate,
// exact statistics over samples, and the figures shown beside a verdict.
//
// It knows neither captures nor files. Every comparison that decides anything is
// exact, over 128-bit products or rationals of unlimited size (CMP-13); floating
// point appears only in figures that are printed and change no outcome.
package gate

import (
	"github.com/grill-plan/grill-plan/plan/document"
)

// Verdict is the outcome of a gate, of a comparison or of a run.
type Verdict string

// Outcomes, best first.
const (
	Pass         Verdict = "PASS"
	Inconclusive Verdict = "INCONCLUSIVE"
	Regression   Verdict = "REGRESSION"
	Error        Verdict = "ERROR"
)

// Reasons why a gate is inconclusive.
const (
	InsufficientSamples        = "insufficient_samples"
	MarkersUnavailable         = "markers_unavailable"
	NonpositiveReference       = "nonpositive_reference"
	ReferenceSpreadExceeded    = "reference_spread_exceeded"
	EnvelopeStraddlesTolerance = "envelope_straddles_tolerance"
)

// BPS is one, in basis points.
const BPS = 10000

// LeastSamples is what each pool must hold for a gate to decide (CMP-09).
const LeastSamples = 3

// rank orders verdicts by CMP-18; what is no verdict counts as an error.
func (v Verdict) rank() int {
	switch v {
	case Pass:
		return 0
	case Inconclusive:
		return 1
	case Regression:
		return 2
	}
	return 3
}

// Worst is the worst of the verdicts by ERROR > REGRESSION > INCONCLUSIVE >
// PASS (CMP-18), and ERROR for none at all.
func Worst(verdicts ...Verdict) Verdict {
	if len(verdicts) == 0 {
		return Error
	}
	worst := verdicts[0]
	for _, verdict := range verdicts[1:] {
		if verdict.rank() > worst.rank() {
			worst = verdict
		}
	}
	return worst
}

// ExitCode is the exit status that tells of the verdict (CMP-23).
func (v Verdict) ExitCode() int {
	switch v {
	case Pass:
		return 0
	case Inconclusive:
		return 2
	case Regression:
		return 3
	}
	return 1
}

// Input is what one gate is judged by.
type Input struct {
	Metric string // of package document
	// Reference and Candidate are the values of the eligible measured samples of
	// the gate's cell, A and A2 pooled and B and B2 pooled (CMP-08).
	Reference, Candidate []Value
	// Ineligible counts measured samples of the cell, in any arm supplied, that
	// are ineligible or unstarted (CMP-09).
	Ineligible int
	// UnavailableReference and UnavailableCandidate count eligible measured
	// samples beside the pools whose markers do not give the metric (MRK-14).
	UnavailableReference, UnavailableCandidate int
	MaxAdverseBPS                              uint64
	MaxReferenceSpreadBPS                      uint64
}

// Range is the least and the greatest value of a pool.
type Range struct {
	Least    Value `json:"least"`
	Greatest Value `json:"greatest"`
}

// Outcome is what the rule says of one gate.
type Outcome struct {
	Verdict Verdict
	Reason  string // empty unless INCONCLUSIVE
	// Reference and Candidate are nil for an empty pool (CMP-17).
	Reference, Candidate *Range
}

// Judge applies CMP-09, then CMP-10 or for duration_ratio CMP-15.
func Judge(in Input) Outcome {
	out := Outcome{Reference: rangeOf(in.Reference), Candidate: rangeOf(in.Candidate)}
	out.Verdict, out.Reason = decide(in, out.Reference, out.Candidate)
	return out
}

func decide(in Input, reference, candidate *Range) (Verdict, string) {
	if in.Ineligible > 0 || len(in.Reference)+in.UnavailableReference < LeastSamples ||
		len(in.Candidate)+in.UnavailableCandidate < LeastSamples {
		return Inconclusive, InsufficientSamples
	}
	if in.UnavailableReference+in.UnavailableCandidate > 0 {
		return Inconclusive, MarkersUnavailable
	}
	if reference.Least.IsZero() {
		return Inconclusive, NonpositiveReference
	}
	if compareProducts(reference.Greatest, BPS, reference.Least, BPS+in.MaxReferenceSpreadBPS) > 0 {
		return Inconclusive, ReferenceSpreadExceeded
	}
	passes := notAbove(reference, candidate, in.MaxAdverseBPS)
	regresses := wholeAbove(reference, candidate, in.MaxAdverseBPS)
	if in.Metric == document.DurationRatio {
		passes = passes && notBelow(reference, candidate, in.MaxAdverseBPS)
		regresses = regresses || wholeBelow(reference, candidate, in.MaxAdverseBPS)
	}
	switch {
	case passes:
		return Pass, ""
	case regresses:
		return Regression, ""
	}
	return Inconclusive, EnvelopeStraddlesTolerance
}

// notAbove: the candidate's greatest is within the tolerance of the reference's
// least; equality passes (CMP-10 step 3, CMP-11).
func notAbove(reference, candidate *Range, t uint64) bool {
	return compareProducts(candidate.Greatest, BPS, reference.Least, BPS+t) <= 0
}

// wholeAbove: even the candidate's least is above the tolerance of the
// reference's greatest; equality is no regression (CMP-10 step 4, CMP-11).
func wholeAbove(reference, candidate *Range, t uint64) bool {
	return compareProducts(candidate.Least, BPS, reference.Greatest, BPS+t) > 0
}

// notBelow and wholeBelow are the higher-is-better counterparts (CMP-12), which
// nothing but CMP-15 uses. The language bounds t below BPS (DOC-33).
func notBelow(reference, candidate *Range, t uint64) bool {
	return compareProducts(candidate.Least, BPS, reference.Greatest, BPS-min(t, BPS)) >= 0
}

func wholeBelow(reference, candidate *Range, t uint64) bool {
	return compareProducts(candidate.Greatest, BPS, reference.Least, BPS-min(t, BPS)) < 0
}

func rangeOf(values []Value) *Range {
	if len(values) == 0 {
		return nil
	}
	found := Range{Least: values[0], Greatest: values[0]}
	for _, value := range values[1:] {
		if value.Cmp(found.Least) < 0 {
			found.Least = value
		}
		if value.Cmp(found.Greatest) > 0 {
			found.Greatest = value
		}
	}
	return &found
}
