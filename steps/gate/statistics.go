package gate

import (
	"math/big"
	"slices"
)

// Statistics are exact: count, least, median, mean and greatest value. With
// count 0 the other fields are nil (INS-13).
type Statistics struct {
	Count                  int
	Min, Median, Mean, Max *big.Rat
}

// Describe computes the statistics of a pool, whose order does not matter. The
// median of an even count is the mean of the two middle values.
func Describe(values []Value) Statistics {
	if len(values) == 0 {
		return Statistics{}
	}
	sorted := slices.Clone(values)
	slices.SortFunc(sorted, Value.Cmp)
	return Statistics{
		Count:  len(sorted),
		Min:    sorted[0].Rat(),
		Median: middle(sorted),
		Mean:   mean(sorted),
		Max:    sorted[len(sorted)-1].Rat(),
	}
}

// middle is the median of sorted values, of which there is at least one.
func middle(sorted []Value) *big.Rat {
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half].Rat()
	}
	sum := new(big.Rat).Add(sorted[half-1].Rat(), sorted[half].Rat())
	return sum.Quo(sum, big.NewRat(2, 1))
}

func mean(values []Value) *big.Rat {
	total := Sum(values)
	return total.Quo(total, big.NewRat(int64(len(values)), 1))
}

// Sum adds values exactly.
func Sum(values []Value) *big.Rat {
	total := new(big.Rat)
	for _, value := range values {
		total.Add(total, value.Rat())
	}
	return total
}

// Quotient is a/b, or nil when b is zero or either is missing.
func Quotient(a, b *big.Rat) *big.Rat {
	if a == nil || b == nil || b.Sign() == 0 {
		return nil
	}
	return new(big.Rat).Quo(a, b)
}

// Nearest is the double nearest to r, for printing (INS-13), or nil for nil.
func Nearest(r *big.Rat) *float64 {
	if r == nil {
		return nil
	}
	f, _ := r.Float64()
	return &f
}

// FloorBPS is floor(10,000 × r) (CMP-27), or nil for nil.
func FloorBPS(r *big.Rat) *big.Int {
	if r == nil {
		return nil
	}
	scaled := new(big.Int).Mul(r.Num(), big.NewInt(BPS))
	return scaled.Div(scaled, r.Denom())
}

// Determinism says whether the outputs of one cell and seed repeat (INS-15).
type Determinism string

// Values of Determinism.
const (
	Deterministic    Determinism = "deterministic"
	Nondeterministic Determinism = "nondeterministic"
	Unavailable      Determinism = "unavailable"
)

// Repeats compares the output identities of the eligible measured samples of
// one cell and seed.
func Repeats(identities []string) Determinism {
	switch distinct := len(slices.Compact(slices.Sorted(slices.Values(identities)))); {
	case distinct > 1:
		return Nondeterministic
	case len(identities) > 1:
		return Deterministic
	}
	return Unavailable
}

// Equality is byte equality across arms, and nothing else (CMP-28).
type Equality string

// Values of Equality, beside "unavailable".
const (
	Equal               Equality = "equal"
	Different           Equality = "different"
	EqualityUnavailable Equality = "unavailable"
)

// AcrossArms compares the output identities of two arms for one cell and seed:
// available when both have a sample and neither arm is nondeterministic.
func AcrossArms(reference, candidate []string) Equality {
	if len(reference) == 0 || len(candidate) == 0 ||
		Repeats(reference) == Nondeterministic || Repeats(candidate) == Nondeterministic {
		return EqualityUnavailable
	}
	if reference[0] == candidate[0] {
		return Equal
	}
	return Different
}
