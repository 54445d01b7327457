package gate_test

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/gate"
)

func workedExample() []gate.Slot {
	return []gate.Slot{
		{Values: gate.Wholes(1000000, 1004000, 1002000), Middle: big.NewRat(0, 1)},
		{Values: gate.Wholes(1031000, 1029000, 1033000), Middle: big.NewRat(40, 1), Candidate: true},
		{Values: gate.Wholes(1010000, 1008000, 1012000), Middle: big.NewRat(100, 1)},
	}
}

func isBPS(t *testing.T, name string, got *big.Int, want int64) {
	t.Helper()
	if got == nil || got.Cmp(big.NewInt(want)) != 0 {
		t.Errorf("%s: %v, want %d", name, got, want)
	}
}

func isFraction(t *testing.T, name string, got *gate.Fraction, want *big.Rat) {
	t.Helper()
	if got.Rat() == nil || got.Rat().Cmp(want) != 0 {
		t.Errorf("%s: %v, want %v", name, got.Rat(), want)
	}
}

func isNear(t *testing.T, name string, got *gate.Rounded, want, within float64) {
	t.Helper()
	if got == nil || math.Abs(float64(*got)-want) > within {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

func TestWorkedExample(t *testing.T) {
	f := gate.Beside(workedExample(), 168)
	isBPS(t, "pass from", f.PassFromBPS, 330)
	isBPS(t, "regress up to", f.RegressUpToBPS, 167)
	isBPS(t, "spread needed", f.SpreadNeededBPS, 120)
	isFraction(t, "ratio of medians", f.RatioOfMedians, big.NewRat(1031, 1006))
	isFraction(t, "drift corrected", f.DriftCorrectedRatio, big.NewRat(5155, 5026))
	isFraction(t, "reference gap", f.ReferenceGap, big.NewRat(4, 503))
	isFraction(t, "difference", f.Difference, big.NewRat(25, 1006))
	isNear(t, "multiple", f.Multiple, 25.0/8, 1e-9)
	isNear(t, "chance", f.MultipleChance, 0.17, 0.005)
	isNear(t, "range low", f.RangeLow, 25.0/1006-11*4/503.0, 1e-4)
	isNear(t, "range high", f.RangeHigh, 25.0/1006+11*4/503.0, 1e-4)
	isNear(t, "within", f.Within, 2000.0/1006000, 1e-9)
	isNear(t, "between", f.Between, 5538.0/1006000, 1e-6)
	if f.CandidateGap != nil || f.FirstSlowest == nil || *f.FirstSlowest {
		t.Error("candidate gap without b2, or a first sample that is not the slowest")
	}
	for _, c := range []struct {
		t, s   uint64
		want   gate.Verdict
		reason string
	}{
		{330, 119, gate.Inconclusive, gate.ReferenceSpreadExceeded},
		{167, 120, gate.Regression, ""},
		{168, 120, gate.Inconclusive, gate.EnvelopeStraddlesTolerance},
		{329, 120, gate.Inconclusive, gate.EnvelopeStraddlesTolerance},
		{330, 120, gate.Pass, ""},
	} {
		slots := workedExample()
		got := gate.Judge(gate.Input{
			Metric: document.EndToEndUS, Reference: append(slots[0].Values, slots[2].Values...), Candidate: slots[1].Values,
			MaxAdverseBPS: c.t, MaxReferenceSpreadBPS: c.s,
		})
		if got.Verdict != c.want || got.Reason != c.reason {
			t.Errorf("t %d s %d: %s %s", c.t, c.s, got.Verdict, got.Reason)
		}
	}
}

func TestFiguresWithSecondCandidate(t *testing.T) {
	slots := []gate.Slot{
		{Values: gate.Wholes(1000, 990), Middle: big.NewRat(0, 1)},
		{Values: gate.Wholes(1100, 1090), Middle: big.NewRat(1, 1), Candidate: true},
		{Values: gate.Wholes(1110, 1100), Middle: big.NewRat(2, 1), Candidate: true},
		{Values: gate.Wholes(1010, 1000), Middle: big.NewRat(3, 1)},
	}
	f := gate.Beside(slots, 100)
	isFraction(t, "candidate gap", f.CandidateGap, big.NewRat(10, 1100))
	d := 1100.0/1000 - 1
	u := math.Sqrt((0.01*0.01 + 1.0/110/110) / 4)
	isNear(t, "multiple", f.Multiple, d/u, 0.01)
	isNear(t, "chance", f.MultipleChance, 1-(d/u)/math.Sqrt(d/u*d/u+2), 1e-5)
	isNear(t, "range high", f.RangeHigh, d+4.30*u, 1e-4)
	if f.FirstSlowest == nil || !*f.FirstSlowest {
		t.Error("every first sample is the slowest of its slot")
	}
	isNear(t, "chance of first slowest", f.FirstSlowestChance, 1.0/16, 1e-9)
	if data, err := json.Marshal(f); err != nil || !json.Valid(data) {
		t.Errorf("figures as JSON: %s %v", data, err)
	}
}

// Known chances of the verdicts page: k = 2, 3 and 10.
func TestMultipleChances(t *testing.T) {
	for _, c := range []struct {
		k, one, two float64
	}{{2, 0.26, 0.18}, {3, 0.18, 0.10}, {10, 0.055, 0.01}} {
		value := uint64(10000 + 10*c.k*10) // gap 1 %: 9950 and 10050
		a, a2 := gate.Wholes(9950, 9950), gate.Wholes(10050, 10050)
		b := gate.Wholes(value, value)
		f := gate.Beside([]gate.Slot{{Values: a}, {Values: b, Candidate: true}, {Values: a2}}, 0)
		isNear(t, "multiple", f.Multiple, c.k, 1e-9)
		isNear(t, "chance", f.MultipleChance, c.one, 0.006)
		// With b2 and equal gaps u is the gap over the square root of two.
		middle := 1e6 * (1 + c.k*0.01/math.Sqrt2)
		b, b2 := gate.Wholes(uint64(middle*0.995)), gate.Wholes(uint64(middle*1.005))
		f = gate.Beside([]gate.Slot{
			{Values: gate.Wholes(995000)}, {Values: b, Candidate: true}, {Values: b2, Candidate: true}, {Values: gate.Wholes(1005000)},
		}, 0)
		isNear(t, "multiple with b2", f.Multiple, c.k, 0.01)
		isNear(t, "chance with b2", f.MultipleChance, c.two, 0.006)
	}
}

// A figure whose divisor is zero, or which lacks a slot or a time, is withheld.
func TestWithheld(t *testing.T) {
	if gate.Beside([]gate.Slot{{Values: gate.Wholes(1)}, {Candidate: true}, {Values: gate.Wholes(1)}}, 0) != nil {
		t.Error("figures without a value in b")
	}
	zero := gate.Beside([]gate.Slot{{Values: gate.Wholes(0, 0)}, {Values: gate.Wholes(1, 1), Candidate: true}, {Values: gate.Wholes(0, 0)}}, 0)
	if zero.PassFromBPS != nil || zero.SpreadNeededBPS != nil || zero.RegressUpToBPS != nil || zero.RatioOfMedians != nil ||
		zero.ReferenceGap != nil || zero.Difference != nil || zero.Within != nil {
		t.Errorf("figures over a zero divisor: %+v", zero)
	}
	equal := gate.Beside([]gate.Slot{{Values: gate.Wholes(5, 5)}, {Values: gate.Wholes(6, 6), Candidate: true}, {Values: gate.Wholes(5, 5)}}, 0)
	if equal.Multiple != nil || equal.RangeLow != nil {
		t.Error("a multiple of no gap")
	}
	back := workedExample()
	back[2].Middle = big.NewRat(-1, 1)
	if gate.Beside(back, 0).DriftCorrectedRatio != nil {
		t.Error("drift corrected although A2 lies before A")
	}
	faster := workedExample()
	faster[1].Values = gate.Wholes(500000, 500000, 500000)
	if f := gate.Beside(faster, 0); f.RegressUpToBPS != nil || f.PassFromBPS.Sign() >= 0 {
		t.Error("a faster candidate regresses nowhere and passes from below zero")
	}
}
