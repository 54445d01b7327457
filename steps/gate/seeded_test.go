package gate_test

import (
	"fmt"
	"testing"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/gate"
)

// generator is the seeded noise of the verdicts page, in 64-bit integers only,
// so that its experiments are the same on every machine.
type generator struct{ state uint64 }

func (g *generator) word() uint64 {
	g.state += 0x9E3779B97F4A7C15
	z := g.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// normal has mean 0 and a standard deviation of 65,536.
func (g *generator) normal() int64 {
	sum := int64(-393210)
	for range 3 {
		for w := g.word(); w != 0; w >>= 16 {
			sum += int64(w & 0xFFFF)
		}
	}
	return sum
}

// scenario is one kind of experiment; sizes are in parts per million of the run
// time.
type scenario struct {
	seed                      uint64
	slots, n                  int
	t, s                      uint64
	within, slot, drift       int64
	decay, spike, step, jolt  int64 // jolt: a transient of n samples
	effect                    int64
	pass, regress, exceed, in int // in: inside, the envelope straddles
}

const unit = 65536 // P of the verdicts page

// experiment draws one experiment, slots in capture order.
func (c scenario) experiment(g *generator) (reference, candidate []gate.Value) {
	total := c.slots * c.n
	event := int(g.word() % uint64(total))
	for i := range c.slots {
		offset := g.normal()
		isCandidate := i > 0 && i < c.slots-1
		for j := range c.n {
			value := c.sample(g, offset, i*c.n+j, j, event, isCandidate)
			if isCandidate {
				candidate = append(candidate, value)
			} else {
				reference = append(reference, value)
			}
		}
	}
	return reference, candidate
}

func (c scenario) sample(g *generator, offset int64, k, j, event int, isCandidate bool) gate.Value {
	noise, spiked := g.normal(), g.word()%10000 < 200
	value := 1_000_000*unit + c.slot*offset + c.within*noise +
		c.drift*unit*int64(k)/int64(c.slots*c.n-1) + c.decay*unit>>j
	if spiked {
		value += c.spike * unit
	}
	if k >= event {
		value += c.step * unit
	}
	if event <= k && k < event+c.n {
		value += c.jolt * unit
	}
	if isCandidate {
		value += c.effect * unit
	}
	return gate.Whole(uint64(value))
}

func (c scenario) run(experiments int) map[string]int {
	g, counts := &generator{c.seed}, map[string]int{}
	in := gate.Input{Metric: document.EndToEndUS, MaxAdverseBPS: c.t, MaxReferenceSpreadBPS: c.s}
	for range experiments {
		in.Reference, in.Candidate = c.experiment(g)
		out := gate.Judge(in)
		counts[string(out.Verdict)+out.Reason]++
	}
	return counts
}

func TestGeneratorWords(t *testing.T) {
	g := &generator{1}
	if a, b := g.word(), g.word(); a != 10451216379200822465 || b != 13757245211066428519 {
		t.Errorf("words %d %d", a, b)
	}
	g = &generator{1}
	for _, want := range []int64{77649, 24274, -29037} {
		if got := g.normal(); got != want {
			t.Errorf("normal %d, want %d", got, want)
		}
	}
}

// The ten seeded counts of the verdicts page come out exactly: CMP-09, CMP-10.
func TestSeededCounts(t *testing.T) {
	for _, c := range []scenario{
		{seed: 1, slots: 4, n: 3, t: 200, s: 500, within: 3000, slot: 3000, pass: 9882, in: 118},
		{seed: 2, slots: 3, n: 3, t: 200, s: 400, within: 10000, pass: 4370, exceed: 577, in: 5053},
		{seed: 3, slots: 4, n: 3, t: 200, s: 1000, within: 3000, slot: 3000, drift: 50000, pass: 7, in: 9993},
		{seed: 4, slots: 3, n: 3, t: 100, s: 300, within: 3000, slot: 10000, pass: 4520, regress: 560, exceed: 928, in: 3992},
		{seed: 5, slots: 4, n: 3, t: 100, s: 300, within: 3000, slot: 10000, pass: 2871, regress: 110, exceed: 918, in: 6101},
		{seed: 6, slots: 3, n: 3, t: 100, s: 500, within: 10000, effect: 50000, regress: 9629, exceed: 58, in: 313},
		{seed: 7, slots: 3, n: 10, t: 100, s: 500, within: 10000, effect: 50000, regress: 7586, exceed: 612, in: 1802},
		{seed: 8, slots: 3, n: 3, t: 100, s: 500, within: 10000, effect: 20000, pass: 5, regress: 1233, exceed: 49, in: 8713},
		{seed: 9, slots: 4, n: 5, t: 100, s: 500, within: 3000, effect: -50000, spike: 200000, pass: 6681, exceed: 1858, in: 1461},
		{seed: 10, slots: 4, n: 2, t: 100, s: 1000, within: 3000, slot: 5000, decay: 10000, step: 30000, jolt: 60000, pass: 1995, regress: 37, exceed: 855, in: 7113},
	} {
		t.Run(fmt.Sprint("seed ", c.seed), func(t *testing.T) {
			t.Parallel()
			got := c.run(10000)
			for key, want := range map[string]int{
				"PASS": c.pass, "REGRESSION": c.regress,
				"INCONCLUSIVE" + gate.ReferenceSpreadExceeded:    c.exceed,
				"INCONCLUSIVE" + gate.EnvelopeStraddlesTolerance: c.in,
			} {
				if got[key] != want {
					t.Errorf("%s: %d, want %d", key, got[key], want)
				}
			}
		})
	}
}

// Acceptance (b): disturbances without an effect give no false REGRESSION,
// except offsets of a whole slot, whose rate is the rule's own limit.
func TestNoFalseRegression(t *testing.T) {
	const experiments = 10000
	base := scenario{slots: 4, n: 3, t: 200, s: 500}
	for name, c := range map[string]struct {
		change func(*scenario)
		most   int
	}{
		"noise 0.3 %":        {func(c *scenario) { c.within = 3000 }, 0},
		"noise 1 %":          {func(c *scenario) { c.within = 10000 }, 0},
		"both 0.3 %":         {func(c *scenario) { c.within, c.slot = 3000, 3000 }, 0},
		"noise 1 slot 0.3 %": {func(c *scenario) { c.within, c.slot = 10000, 3000 }, 0},
		"drift 1 %":          {func(c *scenario) { c.within, c.slot, c.drift = 3000, 3000, 10000 }, 0},
		"drift 5 %":          {func(c *scenario) { c.within, c.slot, c.drift = 3000, 3000, 50000 }, 0},
		"decay 2 %":          {func(c *scenario) { c.within, c.slot, c.decay = 3000, 3000, 20000 }, 0},
		"decay 10 %":         {func(c *scenario) { c.within, c.slot, c.decay = 3000, 3000, 100000 }, 0},
		"spikes":             {func(c *scenario) { c.within, c.slot, c.spike = 3000, 3000, 200000 }, 0},
		"step 10 %":          {func(c *scenario) { c.within, c.slot, c.step = 3000, 3000, 100000 }, 0},
		"slots 1 %":          {func(c *scenario) { c.within, c.slot = 3000, 10000 }, 20},
		"slots 2 %":          {func(c *scenario) { c.within, c.slot = 3000, 20000 }, 250},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			design := base
			design.seed = 77
			c.change(&design)
			if got := design.run(experiments)["REGRESSION"]; got > c.most {
				t.Errorf("%d false REGRESSION in %d, want at most %d", got, experiments, c.most)
			}
		})
	}
}

// Acceptance (c): +5 % at one per cent of noise is seen in 95 of 100.
func TestSeesFivePercent(t *testing.T) {
	c := scenario{seed: 5, slots: 3, n: 3, t: 100, s: 1000, within: 10000, effect: 50000}
	if got := c.run(10000)["REGRESSION"]; got < 9500 {
		t.Errorf("%d of 10000 seen, want 9500 or more", got)
	}
	c = scenario{seed: 6, slots: 4, n: 10, t: 200, s: 1000, within: 3000, slot: 3000, effect: 50000}
	if got := c.run(3000)["REGRESSION"]; got < 2994 {
		t.Errorf("%d of 3000 seen, want 2994 or more", got)
	}
}
