package sight

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/grill-plan/grill-plan/plan/document"
)

// Codes of advice, in the order in which they are given for a gate and then for
// the design.
const (
	GateCannotDecide              = "gate_cannot_decide"
	GateSight                     = "gate_sight"
	ToleranceBelowNoise           = "tolerance_below_noise"
	SpreadBelowNoise              = "spread_below_noise"
	MoreSamplesWiden              = "more_samples_widen"
	SeedsNotEven                  = "seeds_not_even"
	NoSecondCandidateSlot         = "no_second_candidate_slot"
	CandidateSlotsShareStart      = "candidate_slots_share_start"
	ChangedModelAxis              = "changed_model_axis"
	ModelIdentityMissing          = "model_identity_missing"
	ReferenceDeploymentIncomplete = "reference_deployment_incomplete"
	CellNotCold                   = "cell_not_cold"
)

// Side is what stands on one side of an experiment.
type Side struct {
	Runner     *document.Runner
	Deployment *document.Deployment
}

// Design is one experiment as planned.
type Design struct {
	Workload             *document.Workload
	Reference, Candidate Side
	// CandidateSwitches says that the candidate's deployment has a switch;
	// SwitchBeforeB2 that it runs before b2 too (PLN-30).
	CandidateSwitches, SwitchBeforeB2 bool
	// Noise are the noises to show; empty for the Ladder.
	Noise []Noise
}

// Advice is one remark. Gate is the index of the gate it is about, or -1; Cell
// is the cell it is about, or "".
type Advice struct {
	Code string `json:"code"`
	Gate int    `json:"gate"`
	Cell string `json:"cell,omitempty"`
	Text string `json:"text"`
}

// Advise says what the gates of a design can see and where the design works
// against itself (PLN-47). Equal designs give equal advice in equal order.
func Advise(design Design) []Advice {
	var all []Advice
	rungs := design.Noise
	if len(rungs) == 0 {
		rungs = Ladder()
	}
	b2 := hasB2(design.Workload)
	for i, gate := range design.Workload.Gates {
		for _, remark := range adviseGate(design.Workload, gate, b2, rungs) {
			remark.Gate, remark.Cell = i, gate.Cell
			all = append(all, remark)
		}
	}
	for _, cell := range design.Workload.Cells {
		for _, remark := range adviseCell(design.Workload, cell) {
			remark.Gate, remark.Cell = -1, cell.ID
			all = append(all, remark)
		}
	}
	for _, remark := range append(adviseSlots(design, b2), adviseIdentity(design.Reference, design.Candidate)...) {
		remark.Gate = -1
		all = append(all, remark)
	}
	return all
}

func hasB2(workload *document.Workload) bool {
	for _, slot := range workload.Slots {
		if slot.Arm == document.ArmB2 {
			return true
		}
	}
	return false
}

// adviseGate leaves out duration_ratio, whose two-sided rule the formulas do not
// describe, and the sight of a gate that cannot decide.
func adviseGate(workload *document.Workload, gate document.Gate, b2 bool, rungs []Noise) []Advice {
	runs, found := runsOf(workload, gate.Cell)
	if !found {
		return nil
	}
	pool := runs
	if b2 {
		pool *= 2
	}
	if pool < 3 {
		return []Advice{{Code: GateCannotDecide, Text: fmt.Sprintf(
			"This gate can only be INCONCLUSIVE: the candidate pool has %s, three are needed. Set measured_runs to 3, or to 2 with slots a, b, b2, a2.", count(pool, "sample"))}}
	}
	if gate.Metric == document.DurationRatio {
		return nil
	}
	sampling := Sampling{Runs: runs, B2: b2}
	var remarks []Advice
	for _, noise := range rungs {
		remarks = append(remarks, Advice{Code: GateSight, Text: sightText(sampling, gate, noise)})
	}
	return append(remarks, belowNoise(sampling, gate, rungs)...)
}

func runsOf(workload *document.Workload, id string) (int, bool) {
	for _, cell := range workload.Cells {
		if cell.ID == id {
			return int(min(cell.MeasuredRuns, math.MaxInt32)), true
		}
	}
	return 0, false
}

func sightText(sampling Sampling, gate document.Gate, noise Noise) string {
	sight := See(sampling, gate.MaxAdverseBPS, noise)
	hides := fmt.Sprintf("a PASS can hide up to %s", halfUp(sight.X05))
	if sight.X05 <= 0 {
		hides = "a PASS hides no slowdown worth naming"
	}
	return fmt.Sprintf("With %s per slot in %s and t = %d bps, at noise %s within and %s between slots: "+
		"a slowdown of %s or more is REGRESSION in 19 of 20 runs; an unchanged candidate is PASS in %.0f of 100; %s.",
		count(sampling.Runs, "sample"), slotNames(sampling.B2), gate.MaxAdverseBPS, percent(noise.Within), percent(noise.Between),
		roundUp(sight.D95), 100*sight.Unchanged, hides)
}

// belowNoise names the first rung at which a bound is tighter than the noise
// allows: one remark for each bound, not one for each rung.
func belowNoise(sampling Sampling, gate document.Gate, rungs []Noise) []Advice {
	var tolerance, spread *Advice
	for _, noise := range rungs {
		sight := See(sampling, gate.MaxAdverseBPS, noise)
		at := fmt.Sprintf("at noise %s within and %s between slots", percent(noise.Within), percent(noise.Between))
		if tolerance == nil && float64(gate.MaxAdverseBPS) < 10000*sight.T95 {
			tolerance = &Advice{Code: ToleranceBelowNoise, Text: fmt.Sprintf(
				"Expect INCONCLUSIVE %s: an unchanged candidate passes in 19 of 20 runs only from t = %d bps.", at, upBPS(sight.T95))}
		}
		if spread == nil && float64(gate.MaxReferenceSpreadBPS) < 10000*sight.S95 {
			spread = &Advice{Code: SpreadBelowNoise, Text: fmt.Sprintf(
				"A and A2 alone will often exceed %d bps %s; %d bps would be kept in 19 of 20. A tighter bound does not make a REGRESSION safer.",
				gate.MaxReferenceSpreadBPS, at, upBPS(sight.S95))}
		}
	}
	var remarks []Advice
	for _, remark := range []*Advice{tolerance, spread} {
		if remark != nil {
			remarks = append(remarks, *remark)
		}
	}
	return remarks
}

func adviseCell(workload *document.Workload, cell document.Cell) []Advice {
	var remarks []Advice
	if cell.MeasuredRuns > 5 {
		remarks = append(remarks, Advice{Code: MoreSamplesWiden, Text: fmt.Sprintf(
			"Each further sample widens the envelope. Use 3 longer samples (more images per run, a longer clip) instead of %d.", cell.MeasuredRuns)})
	}
	request := workload.Request
	if cell.Request != nil {
		request = *cell.Request
	}
	if seeds, even := evenSeeds(request.Seeds, cell.MeasuredRuns); !even {
		remarks = append(remarks, Advice{Code: SeedsNotEven, Text: fmt.Sprintf(
			"%s over %s: slots must hold each seed equally often, and unequal work per seed counts as noise. Prefer one seed per cell.",
			count(int(min(cell.MeasuredRuns, math.MaxInt32)), "sample"), count(seeds, "seed"))})
	}
	if cell.WarmupRuns == 0 && len(workload.Cells) > 1 {
		remarks = append(remarks, Advice{Code: CellNotCold, Text: fmt.Sprintf(
			"Cell %s has no warmups, but its runs share a slot with those of other cells, whose warmups come first: it does not measure a cold start. Give it a workload of its own.", cell.ID)})
	}
	return remarks
}

// evenSeeds gives how many different seeds there are and whether each is used
// equally often by the runs of a phase (PRE-08).
func evenSeeds(seeds []uint64, runs uint64) (distinct int, even bool) {
	if len(seeds) == 0 {
		return 0, true
	}
	uses := map[uint64]uint64{}
	for i, seed := range seeds {
		uses[seed] += runs / uint64(len(seeds))
		if uint64(i) < runs%uint64(len(seeds)) {
			uses[seed]++
		}
	}
	for _, n := range uses {
		if n != uses[seeds[0]] {
			return len(uses), false
		}
	}
	return len(uses), true
}

func adviseSlots(design Design, b2 bool) []Advice {
	switch {
	case !b2:
		return []Advice{{Code: NoSecondCandidateSlot, Text: "One candidate slot: an offset of that slot looks like a change. " +
			"b2 cuts such false REGRESSION three- to tenfold, costs one slot, and makes PASS rarer."}}
	case design.CandidateSwitches && !design.SwitchBeforeB2:
		return []Advice{{Code: CandidateSlotsShareStart, Text: "B and B2 run against one start of the service, so B2 cannot show what a restart changes."}}
	}
	return nil
}

func adviseIdentity(reference, candidate Side) []Advice {
	var remarks []Advice
	a, b := reference.Deployment, candidate.Deployment
	if a == nil || b == nil {
		return nil
	}
	if a.ModelRevision != nil && b.ModelRevision != nil && *a.ModelRevision != *b.ModelRevision || pinsDiffer(reference.Runner, candidate.Runner) {
		remarks = append(remarks, Advice{Code: ChangedModelAxis, Text: "The sides declare different models (revision or pinned hashes): the verdict can only be INCONCLUSIVE, the gates stay visible."})
	}
	if a.ModelRevision == nil || b.ModelRevision == nil {
		remarks = append(remarks, Advice{Code: ModelIdentityMissing, Text: "A side declares no model_revision: the verdict can only be INCONCLUSIVE. Declare it in both deployments."})
	}
	var missing []string
	for _, field := range []struct {
		name  string
		value *string
	}{{"model_revision", a.ModelRevision}, {"runtime", a.Runtime}, {"hardware", a.Hardware}, {"settings", a.Settings}} {
		if field.value == nil {
			missing = append(missing, field.name)
		}
	}
	if len(missing) > 0 {
		remarks = append(remarks, Advice{Code: ReferenceDeploymentIncomplete, Text: "The reference deployment does not declare " +
			strings.Join(missing, ", ") + ": the verdict can only be INCONCLUSIVE."})
	}
	return remarks
}

// pinsDiffer is CMP-20: sets of hashes, compared only where both sides have some.
func pinsDiffer(x, y *document.Runner) bool {
	if x == nil || y == nil || len(x.Pins) == 0 || len(y.Pins) == 0 {
		return false
	}
	return !subset(x.Pins, y.Pins) || !subset(y.Pins, x.Pins)
}

func subset(x, y []document.Pin) bool {
	hashes := map[string]bool{}
	for _, pin := range y {
		hashes[pin.SHA256] = true
	}
	for _, pin := range x {
		if !hashes[pin.SHA256] {
			return false
		}
	}
	return true
}

func slotNames(b2 bool) string {
	if b2 {
		return "A/B/B2/A2"
	}
	return "A/B/A2"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// percent prints a noise without trailing zeros.
func percent(fraction float64) string {
	return strconv.FormatFloat(math.Round(fraction*1e5)/1e3, 'f', -1, 64) + " %"
}

// roundUp and halfUp print to 0.1 %; the formulas err on the small side, so what
// is promised is rounded up.
func roundUp(fraction float64) string {
	return strconv.FormatFloat(math.Ceil(fraction*1000-1e-9)/10, 'f', 1, 64) + " %"
}

func halfUp(fraction float64) string {
	return strconv.FormatFloat(math.Floor(fraction*1000+0.5)/10, 'f', 1, 64) + " %"
}

// upBPS rounds up to 0.1 %, in basis points.
func upBPS(fraction float64) int { return 10 * int(math.Ceil(fraction*1000-1e-9)) }
