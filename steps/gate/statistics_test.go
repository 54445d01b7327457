package gate_test

import (
	"math/big"
	"testing"

	"github.com/grill-plan/grill-plan/steps/gate"
)

// INS-13.
func TestStatisticsVectors(t *testing.T) {
	type vector struct {
		ID     string
		Values []uint64 `json:"values_us"`
		Expect struct {
			Count        int
			Min, Max     *uint64
			Median, Mean *string
		}
	}
	whole := func(r *big.Rat) *uint64 {
		if r == nil {
			return nil
		}
		n := r.Num().Uint64()
		return &n
	}
	for _, c := range cases[vector](t, "statistics") {
		got := gate.Describe(gate.Wholes(c.Values...))
		if got.Count != c.Expect.Count || !same(whole(got.Min), c.Expect.Min) || !same(whole(got.Max), c.Expect.Max) {
			t.Errorf("%s: %+v", c.ID, got)
		}
		if !sameRat(got.Median, c.Expect.Median) || !sameRat(got.Mean, c.Expect.Mean) {
			t.Errorf("%s: median %v mean %v", c.ID, got.Median, got.Mean)
		}
	}
	third := gate.Nearest(big.NewRat(4, 3))
	if third == nil || *third != 4.0/3 || gate.Nearest(nil) != nil {
		t.Error("nearest double")
	}
}

func same(x, y *uint64) bool {
	return (x == nil) == (y == nil) && (x == nil || *x == *y)
}

func sameRat(r *big.Rat, want *string) bool {
	return (r == nil) == (want == nil) && (r == nil || r.String() == *want)
}

// INS-15.
func TestDeterminismVectors(t *testing.T) {
	type vector struct {
		ID         string
		Identities []string
		Expect     gate.Determinism
	}
	for _, c := range cases[vector](t, "determinism") {
		if got := gate.Repeats(c.Identities); got != c.Expect {
			t.Errorf("%s: %s, want %s", c.ID, got, c.Expect)
		}
	}
}

// CMP-28.
func TestCrossArmVectors(t *testing.T) {
	type vector struct {
		ID                   string
		Reference, Candidate []string
		Expect               gate.Equality
	}
	for _, c := range cases[vector](t, "cross_arm") {
		if got := gate.AcrossArms(c.Reference, c.Candidate); got != c.Expect {
			t.Errorf("%s: %s, want %s", c.ID, got, c.Expect)
		}
	}
}
