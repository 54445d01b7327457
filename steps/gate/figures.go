package gate

import (
	"math"
	"math/big"
	"strconv"
)

// Slot is what the figures beside a verdict need of one slot.
type Slot struct {
	Candidate bool
	Values    []Value // eligible measured samples of the cell, in the order they ran
	// Middle is the middle of the slot's measured span by the wall clock, in any
	// one unit; nil when unknown. It places a slot in time and is no duration.
	Middle *big.Rat
}

// Fraction is an exact figure; its JSON is "n/d".
type Fraction struct{ r *big.Rat }

// Rat is the figure, nil when withheld.
func (f *Fraction) Rat() *big.Rat {
	if f == nil {
		return nil
	}
	return new(big.Rat).Set(f.r)
}

// MarshalText gives "n/d" in lowest terms.
func (f Fraction) MarshalText() ([]byte, error) { return []byte(f.r.String()), nil }

func fraction(r *big.Rat) *Fraction {
	if r == nil {
		return nil
	}
	return &Fraction{r}
}

// Rounded is a figure that is no rational, or not worth being one. It is
// printed to four significant digits, which every machine computes alike.
type Rounded float64

// MarshalJSON prints four significant digits.
func (r Rounded) MarshalJSON() ([]byte, error) { return []byte(r.String()), nil }

// String is the value to four significant digits without an exponent.
func (r Rounded) String() string {
	short, err := strconv.ParseFloat(strconv.FormatFloat(float64(r), 'e', 3, 64), 64)
	if err != nil {
		return "null"
	}
	return strconv.FormatFloat(short, 'f', -1, 64)
}

func rounded(f float64) *Rounded {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	r := Rounded(f)
	return &r
}

// Figures are shown beside a verdict and change no outcome. A nil figure is
// withheld: its divisor is zero or something it needs is unknown. Sizes are
// fractions of the run time (0.01 is one per cent) unless the name says bps.
type Figures struct {
	// PassFromBPS is the smallest tolerance that would pass; negative when every
	// candidate sample is that much faster than the fastest reference.
	PassFromBPS *big.Int `json:"pass_from_bps"`
	// RegressUpToBPS is the largest tolerance that would regress; nil for none.
	RegressUpToBPS *big.Int `json:"regress_up_to_bps"`
	// SpreadNeededBPS is the smallest spread bound that admits A and A2.
	SpreadNeededBPS     *big.Int  `json:"spread_needed_bps"`
	RatioOfMedians      *Fraction `json:"ratio_of_medians"`
	DriftCorrectedRatio *Fraction `json:"drift_corrected_ratio"`
	ReferenceGap        *Fraction `json:"reference_gap"`
	CandidateGap        *Fraction `json:"candidate_gap"` // needs B2
	Difference          *Fraction `json:"difference"`
	// Multiple is the difference in units of the slots' own gaps, and
	// MultipleChance the chance of one as large without any effect.
	Multiple       *Rounded `json:"multiple"`
	MultipleChance *Rounded `json:"multiple_chance"`
	// RangeLow and RangeHigh are the between-slot range around the difference.
	RangeLow  *Rounded `json:"between_slot_range_low"`
	RangeHigh *Rounded `json:"between_slot_range_high"`
	// Within and Between are the noise of this run; Between rests on two slots a
	// side and may be off by the factor of the verdicts page.
	Within  *Rounded `json:"noise_within"`
	Between *Rounded `json:"noise_between"`
	// SmallestDetectable is the slowdown this run would have called in 19 of 20.
	SmallestDetectable *Rounded `json:"smallest_detectable"`
	// FirstSlowest: in every slot the first measured sample was the slowest;
	// FirstSlowestChance is the chance of that without a cause.
	FirstSlowest       *bool    `json:"first_sample_slowest"`
	FirstSlowestChance *Rounded `json:"first_sample_slowest_chance"`
}

// Beside computes the figures of slots in capture order, or nil when a slot has
// no value. t is the gate's tolerance. They describe lower-is-better metrics.
func Beside(slots []Slot, t uint64) *Figures {
	for _, slot := range slots {
		if len(slot.Values) == 0 {
			return nil
		}
	}
	reference, candidate := pools(slots)
	if len(reference) == 0 || len(candidate) == 0 {
		return nil
	}
	figures := &Figures{}
	figures.envelope(rangeOf(reference), rangeOf(candidate))
	figures.RatioOfMedians = fraction(Quotient(Describe(candidate).Median, Describe(reference).Median))
	if sides, ok := splitSides(slots); ok {
		figures.gaps(sides)
		figures.DriftCorrectedRatio = fraction(driftCorrected(sides))
		figures.noise(slots, sides, t)
	}
	figures.firstSlowest(slots)
	return figures
}

func pools(slots []Slot) (reference, candidate []Value) {
	for _, slot := range slots {
		if slot.Candidate {
			candidate = append(candidate, slot.Values...)
		} else {
			reference = append(reference, slot.Values...)
		}
	}
	return reference, candidate
}

// envelope sets the bounds at which the rule of CMP-10 would change its mind.
func (f *Figures) envelope(reference, candidate *Range) {
	f.PassFromBPS = excessBPS(candidate.Greatest, reference.Least)
	f.SpreadNeededBPS = excessBPS(reference.Greatest, reference.Least)
	if above := excessBPS(candidate.Least, reference.Greatest); above != nil && above.Sign() > 0 {
		f.RegressUpToBPS = above.Sub(above, big.NewInt(1))
	}
}

// excessBPS is the smallest whole number of basis points by which y has to be
// raised to reach x: ceil(10000(x-y)/y), nil when y is zero.
func excessBPS(x, y Value) *big.Int {
	if y.IsZero() {
		return nil
	}
	excess := new(big.Rat).Sub(x.Rat(), y.Rat())
	excess.Mul(excess, big.NewRat(BPS, 1)).Quo(excess, y.Rat())
	negative := new(big.Int).Neg(excess.Num())
	return negative.Neg(negative.Div(negative, excess.Denom()))
}
