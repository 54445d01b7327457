package gate

import (
	"math/big"
	"slices"

	"github.com/grill-plan/grill-plan/plan/document"
)

// Duration is the checked audio duration of one eligible measured sample.
type Duration struct {
	Seed uint64
	US   uint64 // whole microseconds, as inspect derives them (CMP-14)
}

// Ratios are the values of a duration_ratio gate, in the order of the samples.
type Ratios struct {
	Medians   map[uint64]*big.Rat // of A and A2 together, by seed
	Reference []Value
	Candidate []Value
	// Reason is why ratios are missing: InsufficientSamples where a seed has no
	// reference sample, NonpositiveReference where its median is zero (CMP-16).
	Reason string
}

// DurationRatios divides each duration by the median of the reference samples
// of its seed (CMP-14).
func DurationRatios(reference, candidate []Duration) Ratios {
	ratios := Ratios{Medians: medians(reference)}
	var zero, missing bool
	divide := func(durations []Duration) []Value {
		var values []Value
		for _, duration := range durations {
			median := ratios.Medians[duration.Seed]
			switch ratio := Quotient(Whole(duration.US).Rat(), median); {
			case ratio != nil:
				values = append(values, fromRat(ratio))
			case median == nil:
				missing = true
			default:
				zero = true
			}
		}
		return values
	}
	ratios.Reference, ratios.Candidate = divide(reference), divide(candidate)
	switch {
	case missing:
		ratios.Reason = InsufficientSamples
	case zero:
		ratios.Reason = NonpositiveReference
	}
	return ratios
}

func medians(reference []Duration) map[uint64]*big.Rat {
	bySeed := map[uint64][]Value{}
	for _, duration := range reference {
		bySeed[duration.Seed] = append(bySeed[duration.Seed], Whole(duration.US))
	}
	result := make(map[uint64]*big.Rat, len(bySeed))
	for seed, values := range bySeed {
		slices.SortFunc(values, Value.Cmp)
		result[seed] = middle(values)
	}
	return result
}

// JudgeDurations judges a duration_ratio gate. Of in, whose pools it fills, it
// reads the counts and bounds. Too few and ineligible samples come before a
// ratio that cannot be formed.
func JudgeDurations(in Input, reference, candidate []Duration) Outcome {
	ratios := DurationRatios(reference, candidate)
	in.Metric = document.DurationRatio
	in.Reference, in.Candidate = ratios.Reference, ratios.Candidate
	out := Judge(in)
	if ratios.Reason != "" && in.Ineligible == 0 &&
		len(reference) >= LeastSamples && len(candidate) >= LeastSamples {
		out.Verdict, out.Reason = Inconclusive, ratios.Reason
	}
	return out
}
