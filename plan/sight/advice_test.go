package sight_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/plan/sight"
)

func text(s string) *string { return &s }

// sound is a design that nothing but the sight of its gate is said of.
func sound() sight.Design {
	deployment := &document.Deployment{ModelRevision: text("r"), Runtime: text("x"), Hardware: text("y"), Settings: text("z")}
	side := sight.Side{Runner: &document.Runner{}, Deployment: deployment}
	return sight.Design{
		Workload: &document.Workload{
			Request: document.Request{Seeds: []uint64{1}},
			Cells:   []document.Cell{{ID: "hot", WarmupRuns: 1, MeasuredRuns: 3}},
			Slots:   []document.Slot{{ID: "a", Arm: "a"}, {ID: "b", Arm: "b"}, {ID: "b2", Arm: "b2"}, {ID: "a2", Arm: "a2"}},
			Gates:   []document.Gate{{Cell: "hot", Metric: document.EndToEndUS, MaxAdverseBPS: 600, MaxReferenceSpreadBPS: 1000}},
		},
		Reference: side, Candidate: side,
		CandidateSwitches: true, SwitchBeforeB2: true,
	}
}

func codes(advice []sight.Advice) []string {
	var found []string
	for _, a := range advice {
		if a.Code != sight.GateSight {
			found = append(found, a.Code)
		}
	}
	return found
}

// PLN-47: each remark appears for its cause and for nothing else.
func TestAdvise(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d *sight.Design)
		want   []string
	}{
		"nothing":        {func(*sight.Design) {}, nil},
		"no b2":          {func(d *sight.Design) { d.Workload.Slots = slices.Delete(d.Workload.Slots, 2, 3) }, []string{sight.NoSecondCandidateSlot}},
		"shared start":   {func(d *sight.Design) { d.SwitchBeforeB2 = false }, []string{sight.CandidateSlotsShareStart}},
		"no switch":      {func(d *sight.Design) { d.CandidateSwitches, d.SwitchBeforeB2 = false, false }, nil},
		"cannot decide":  {func(d *sight.Design) { d.Workload.Cells[0].MeasuredRuns = 1 }, []string{sight.GateCannotDecide}},
		"two with b2":    {func(d *sight.Design) { d.Workload.Cells[0].MeasuredRuns = 2 }, nil},
		"tolerance":      {func(d *sight.Design) { d.Workload.Gates[0].MaxAdverseBPS = 100 }, []string{sight.ToleranceBelowNoise}},
		"spread":         {func(d *sight.Design) { d.Workload.Gates[0].MaxReferenceSpreadBPS = 100 }, []string{sight.SpreadBelowNoise}},
		"five samples":   {func(d *sight.Design) { d.Workload.Cells[0].MeasuredRuns = 5 }, []string{sight.ToleranceBelowNoise}},
		"six samples":    {func(d *sight.Design) { d.Workload.Cells[0].MeasuredRuns = 6; d.Workload.Gates[0].MaxAdverseBPS = 2000 }, []string{sight.MoreSamplesWiden}},
		"seeds":          {func(d *sight.Design) { d.Workload.Request.Seeds = []uint64{1, 2} }, []string{sight.SeedsNotEven}},
		"even seeds":     {func(d *sight.Design) { d.Workload.Request.Seeds = []uint64{1, 2, 3} }, nil},
		"repeated seeds": {func(d *sight.Design) { d.Workload.Request.Seeds = []uint64{1, 1, 1, 1} }, nil},
		"cell's seeds":   {func(d *sight.Design) { d.Workload.Cells[0].Request = &document.Request{Seeds: []uint64{1, 2}} }, []string{sight.SeedsNotEven}},
		"not cold": {func(d *sight.Design) {
			d.Workload.Cells = append(d.Workload.Cells, document.Cell{ID: "cold", MeasuredRuns: 3})
		}, []string{sight.CellNotCold}},
		"cold alone": {func(d *sight.Design) { d.Workload.Cells[0].WarmupRuns = 0 }, nil},
		"revisions": {func(d *sight.Design) {
			d.Candidate.Deployment = &document.Deployment{ModelRevision: text("other")}
		}, []string{sight.ChangedModelAxis}},
		"pins": {func(d *sight.Design) {
			d.Reference.Runner = &document.Runner{Pins: []document.Pin{{Path: "p", SHA256: "1"}}}
			d.Candidate.Runner = &document.Runner{Pins: []document.Pin{{Path: "p", SHA256: "2"}}}
		}, []string{sight.ChangedModelAxis}},
		"pins of one side": {func(d *sight.Design) {
			d.Reference.Runner = &document.Runner{Pins: []document.Pin{{Path: "p", SHA256: "1"}}}
		}, nil},
		"no revision": {func(d *sight.Design) { d.Candidate.Deployment = &document.Deployment{} }, []string{sight.ModelIdentityMissing}},
		"incomplete reference": {func(d *sight.Design) {
			d.Reference.Deployment = &document.Deployment{ModelRevision: text("r"), Hardware: text("h")}
		}, []string{sight.ReferenceDeploymentIncomplete}},
		"duration ratio": {func(d *sight.Design) { d.Workload.Gates[0].Metric = document.DurationRatio }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			design := sound()
			c.change(&design)
			advice := sight.Advise(design)
			if got := codes(advice); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if again := sight.Advise(design); !slices.Equal(advice, again) {
				t.Error("the advice differs from one call to the next")
			}
			for _, a := range advice {
				if a.Text == "" || strings.Contains(a.Text, "%!") ||
					(a.Gate == 0) != slices.Contains([]string{sight.GateSight, sight.GateCannotDecide, sight.ToleranceBelowNoise, sight.SpreadBelowNoise}, a.Code) {
					t.Errorf("advice %+v", a)
				}
			}
		})
	}
}

func TestSightText(t *testing.T) {
	design := sound()
	design.Workload.Gates[0].MaxAdverseBPS = 100
	design.Workload.Slots = slices.Delete(design.Workload.Slots, 2, 3)
	design.Noise = []sight.Noise{{Within: 0.01, Between: 0.003}}
	advice := sight.Advise(design)
	want := "With 3 samples per slot in A/B/A2 and t = 100 bps, at noise 1 % within and 0.3 % between slots: " +
		"a slowdown of 5.0 % or more is REGRESSION in 19 of 20 runs; an unchanged candidate is PASS in 14 of 100; a PASS can hide up to 0.6 %."
	if advice[0].Text != want {
		t.Errorf("got  %s\nwant %s", advice[0].Text, want)
	}
	if !strings.Contains(advice[1].Text, "only from t = 400 bps") { // T95 is 394.2, rounded up to 0.1 %
		t.Errorf("got %s", advice[1].Text)
	}
	ladder := sound()
	if got := len(sight.Advise(ladder)); got != len(sight.Ladder()) {
		t.Errorf("%d lines for %d rungs", got, len(sight.Ladder()))
	}
}

// Between the columns the tables are read linearly in ln n, and beyond them not
// at all.
func TestInterpolation(t *testing.T) {
	noise := sight.Noise{Within: 0.01, Between: 0.003}
	at := func(n int) float64 { return sight.See(sight.Sampling{Runs: n}, 100, noise).T95 }
	for n := 2; n < 100; n++ {
		if at(n+1) <= at(n) {
			t.Errorf("%d samples are seen as wider than %d", n, n+1)
		}
	}
	if at(1) != at(2) || at(100) != at(1000) {
		t.Error("beyond the table")
	}
	none := sight.See(sight.Sampling{Runs: 3}, 0, sight.Noise{})
	if none.Unchanged != 1 || none.False != 0 || none.T95 != 0 {
		t.Errorf("without noise: %+v", none)
	}
}
