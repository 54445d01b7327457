package gate

import (
	"math"
	"math/big"

	"github.com/grill-plan/grill-plan/plan/sight"
)

// sides are the slots of A/B/A2 or A/B/B2/A2 with the median of each.
type sides struct {
	reference, candidate []slotMedian // two; one or two
}

type slotMedian struct {
	slot   Slot
	median *big.Rat
}

// splitSides tells whether the slots are of a shape the figures know.
func splitSides(slots []Slot) (sides, bool) {
	var s sides
	for _, slot := range slots {
		entry := slotMedian{slot, Describe(slot.Values).Median}
		if slot.Candidate {
			s.candidate = append(s.candidate, entry)
		} else {
			s.reference = append(s.reference, entry)
		}
	}
	return s, len(s.reference) == 2 && (len(s.candidate) == 1 || len(s.candidate) == 2)
}

// gaps sets how far the slots of one side are apart, the difference between the
// sides, and the difference in units of the gaps.
func (f *Figures) gaps(s sides) {
	reference := average(s.reference)
	gap := relativeGap(s.reference)
	f.ReferenceGap = fraction(gap)
	difference := Quotient(average(s.candidate), reference)
	if difference == nil || gap == nil {
		return
	}
	difference.Sub(difference, big.NewRat(1, 1))
	f.Difference = fraction(difference)
	// One gap decides alone; two are averaged as squares (verdicts page, u).
	unit, width, chance := gap, 11.0, chanceOfOneGap
	uncertainty := float(unit)
	if len(s.candidate) == 2 {
		candidateGap := relativeGap(s.candidate)
		f.CandidateGap = fraction(candidateGap)
		if candidateGap == nil {
			return
		}
		squares := new(big.Rat).Add(square(gap), square(candidateGap))
		uncertainty = math.Sqrt(float(squares.Quo(squares, big.NewRat(4, 1))))
		width, chance = 4.30, chanceOfTwoGaps
	}
	if uncertainty == 0 {
		return // a range of no width would promise what two equal medians do not show
	}
	d := float(difference)
	k := math.Abs(d) / uncertainty
	f.Multiple, f.MultipleChance = rounded(k), rounded(chance(k))
	f.RangeLow, f.RangeHigh = rounded(d-float64(width*uncertainty)), rounded(d+float64(width*uncertainty))
}

func chanceOfOneGap(k float64) float64  { return 1 - 2/math.Pi*math.Atan(k*math.Sqrt(4.0/3)) }
func chanceOfTwoGaps(k float64) float64 { return 1 - k/math.Sqrt(float64(k*k)+2) }

// average is the mean of the slots' medians.
func average(slots []slotMedian) *big.Rat {
	total := new(big.Rat)
	for _, slot := range slots {
		total.Add(total, slot.median)
	}
	return total.Quo(total, big.NewRat(int64(len(slots)), 1))
}

// relativeGap is |second − first| over their mean, nil when that is zero.
func relativeGap(slots []slotMedian) *big.Rat {
	gap := new(big.Rat).Sub(slots[1].median, slots[0].median)
	return Quotient(gap.Abs(gap), average(slots))
}

// driftCorrected compares each candidate slot with what the line through A and
// A2 would have been in the middle of it, mean over the candidate slots. It is
// withheld when A2 does not lie after A.
func driftCorrected(s sides) *big.Rat {
	a, a2 := s.reference[0], s.reference[1]
	if a.slot.Middle == nil || a2.slot.Middle == nil {
		return nil
	}
	span := new(big.Rat).Sub(a2.slot.Middle, a.slot.Middle)
	if span.Sign() <= 0 {
		return nil
	}
	total := new(big.Rat)
	for _, slot := range s.candidate {
		if slot.slot.Middle == nil {
			return nil
		}
		expected := new(big.Rat).Sub(slot.slot.Middle, a.slot.Middle)
		expected.Mul(expected, new(big.Rat).Sub(a2.median, a.median)).Quo(expected, span).Add(expected, a.median)
		ratio := Quotient(slot.median, expected)
		if ratio == nil {
			return nil
		}
		total.Add(total, ratio)
	}
	return total.Quo(total, big.NewRat(int64(len(s.candidate)), 1))
}

// noise estimates this run's noise within and between slots and what it could
// have seen. It needs slots of one size of at least two.
func (f *Figures) noise(slots []Slot, s sides, t uint64) {
	n := len(slots[0].Values)
	for _, slot := range slots {
		if len(slot.Values) != n || n < 2 {
			return
		}
	}
	scale := average(s.reference)
	if scale.Sign() == 0 {
		return
	}
	within := new(big.Rat)
	for _, slot := range slots {
		within.Add(within, variance(slot.Values))
	}
	within.Quo(within, big.NewRat(int64(len(slots)), 1))
	between := new(big.Rat)
	pairs := [][]slotMedian{s.reference}
	if len(s.candidate) == 2 {
		pairs = append(pairs, s.candidate)
	}
	for _, pair := range pairs {
		apart := square(new(big.Rat).Sub(mean(pair[1].slot.Values), mean(pair[0].slot.Values)))
		between.Add(between, apart.Quo(apart, big.NewRat(2, 1)))
	}
	between.Quo(between, big.NewRat(int64(len(pairs)), 1))
	between.Sub(between, new(big.Rat).Quo(within, big.NewRat(int64(n), 1)))
	if between.Sign() < 0 {
		between.SetInt64(0)
	}
	divisor := square(scale)
	noise := sight.Noise{
		Within:  math.Sqrt(float(within.Quo(within, divisor))),
		Between: math.Sqrt(float(between.Quo(between, divisor))),
	}
	f.Within, f.Between = rounded(noise.Within), rounded(noise.Between)
	f.SmallestDetectable = rounded(sight.See(sight.Sampling{Runs: n, B2: len(s.candidate) == 2}, t, noise).D95)
}

// variance is the sample variance, with n − 1.
func variance(values []Value) *big.Rat {
	center, total := mean(values), new(big.Rat)
	for _, value := range values {
		total.Add(total, square(new(big.Rat).Sub(value.Rat(), center)))
	}
	return total.Quo(total, big.NewRat(int64(len(values)-1), 1))
}

// firstSlowest is a hint at too few warmups; ties do not count as slowest.
func (f *Figures) firstSlowest(slots []Slot) {
	chance, all := 1.0, true
	for _, slot := range slots {
		if len(slot.Values) < 2 {
			return
		}
		chance /= float64(len(slot.Values))
		for _, later := range slot.Values[1:] {
			all = all && slot.Values[0].Cmp(later) > 0
		}
	}
	f.FirstSlowest, f.FirstSlowestChance = &all, rounded(chance)
}

func square(r *big.Rat) *big.Rat { return new(big.Rat).Mul(r, r) }

func float(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}
