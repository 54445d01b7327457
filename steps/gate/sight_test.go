package gate_test

import (
	"fmt"
	"math"
	"sort"
	"testing"

	"github.com/grill-plan/grill-plan/plan/sight"
	"github.com/grill-plan/grill-plan/steps/gate"
)

// rate runs a scenario of one design through the gate and gives the share of a
// verdict among runs whose spread bound was kept.
func rate(c scenario, experiments int, verdict gate.Verdict) float64 {
	counts := c.run(experiments)
	return float64(counts[string(verdict)]) / float64(experiments)
}

// PLN-47, acceptance (d): D95 and T95 that plan prints are those of a simulation
// through the gate, within a quarter of the larger noise.
func TestSightAgainstGate(t *testing.T) {
	const experiments = 6000
	for _, c := range []struct {
		n    int
		b2   bool
		t    uint64
		note sight.Noise
	}{
		{3, false, 100, sight.Noise{Within: 0.01, Between: 0}},
		{3, true, 200, sight.Noise{Within: 0.003, Between: 0.003}},
		{3, false, 200, sight.Noise{Within: 0.003, Between: 0.01}},
		{5, true, 100, sight.Noise{Within: 0.01, Between: 0.01}},
		{10, false, 100, sight.Noise{Within: 0.01, Between: 0.003}},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			t.Parallel()
			promised := sight.See(sight.Sampling{Runs: c.n, B2: c.b2}, c.t, c.note)
			allowed := 0.25 * max(c.note.Within, c.note.Between)
			design := scenario{
				seed: 11, slots: 3, n: c.n, t: c.t, s: 1_000_000,
				within: int64(1e6 * c.note.Within), slot: int64(1e6 * c.note.Between),
			}
			if c.b2 {
				design.slots = 4
			}
			d95 := search(func(effect int64) bool {
				trial := design
				trial.effect = effect
				return rate(trial, experiments, gate.Regression) >= 0.95
			})
			t95 := search(func(tolerance int64) bool {
				trial := design
				trial.t = uint64(tolerance / 100) // ppm to bps
				return rate(trial, experiments, gate.Pass) >= 0.95
			})
			if off := math.Abs(promised.D95 - float64(d95)/1e6); off > allowed {
				t.Errorf("D95 %.4f, simulated %.4f", promised.D95, float64(d95)/1e6)
			}
			if off := math.Abs(promised.T95 - float64(t95)/1e6); off > allowed {
				t.Errorf("T95 %.4f, simulated %.4f", promised.T95, float64(t95)/1e6)
			}
		})
	}
}

// search finds the least size, in steps of 100 ppm up to 20 %, that is enough.
func search(enough func(ppm int64) bool) int64 {
	return 100 * int64(sort.Search(2000, func(i int) bool { return enough(100 * int64(i)) }))
}

// The spread bound S95 is kept by 19 of 20 undisturbed references.
func TestSpreadSightAgainstGate(t *testing.T) {
	noise := sight.Noise{Within: 0.01, Between: 0.01}
	s := sight.See(sight.Sampling{Runs: 3}, 100, noise).S95
	within := func(bound float64) float64 {
		c := scenario{seed: 12, slots: 3, n: 3, t: 100, s: uint64(1e4 * bound), within: 10000, slot: 10000}
		return 1 - float64(c.run(6000)["INCONCLUSIVE"+gate.ReferenceSpreadExceeded])/6000
	}
	allowed := 0.13 * max(noise.Within, noise.Between)
	if within(s+allowed) < 0.94 || within(s-allowed) > 0.96 {
		t.Errorf("kept %.3f at S95 plus, %.3f at S95 less what the formula may err", within(s+allowed), within(s-allowed))
	}
}
