package gate

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"strings"
)

// Value is one exact, never negative quantity: whole microseconds, thousandths
// of them for marker metrics, or a ratio of durations (CMP-13). Whole numbers of
// 64 bits, which is what almost every gate sees, are kept as such and compared
// by 128-bit products; anything else is a big.Rat. The zero Value is 0.
type Value struct {
	whole uint64
	exact *big.Rat // nil when whole holds the value
}

// Whole is n.
func Whole(n uint64) Value { return Value{whole: n} }

// Wholes are whole values in the order given.
func Wholes(numbers ...uint64) []Value {
	values := make([]Value, len(numbers))
	for i, n := range numbers {
		values[i] = Whole(n)
	}
	return values
}

// Exact is r, which must not be negative. The rational is copied.
func Exact(r *big.Rat) (Value, error) {
	if r.Sign() < 0 {
		return Value{}, fmt.Errorf("value %s is negative; durations and ratios are not", r)
	}
	return fromRat(r), nil
}

// ParseValue reads "n/d" or "n" in decimal.
func ParseValue(text string) (Value, error) {
	if strings.Trim(text, "0123456789/") != "" {
		return Value{}, fmt.Errorf("value %q is not a fraction of whole numbers", text)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return Value{}, errors.New("value is not a fraction of whole numbers with a divisor above zero")
	}
	return Exact(r)
}

func fromRat(r *big.Rat) Value {
	if r.IsInt() && r.Num().IsUint64() {
		return Whole(r.Num().Uint64())
	}
	return Value{exact: new(big.Rat).Set(r)}
}

// Rat is the value as a new rational.
func (v Value) Rat() *big.Rat {
	if v.exact != nil {
		return new(big.Rat).Set(v.exact)
	}
	return new(big.Rat).SetInt(new(big.Int).SetUint64(v.whole))
}

// String is the fraction in lowest terms, always with its divisor (CMP-17).
func (v Value) String() string { return v.Rat().String() }

// MarshalText is String, so that reports hold exact fractions.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// IsZero tells whether the value is 0.
func (v Value) IsZero() bool { return v.exact == nil && v.whole == 0 }

// Cmp is -1, 0 or +1 as v is below, at or above w.
func (v Value) Cmp(w Value) int { return compareProducts(v, 1, w, 1) }

// compareProducts compares v*x with w*y exactly.
func compareProducts(v Value, x uint64, w Value, y uint64) int {
	if v.exact == nil && w.exact == nil {
		vh, vl := bits.Mul64(v.whole, x)
		wh, wl := bits.Mul64(w.whole, y)
		if vh != wh {
			return order(vh, wh)
		}
		return order(vl, wl)
	}
	return times(v, x).Cmp(times(w, y))
}

func times(v Value, x uint64) *big.Rat {
	return new(big.Rat).Mul(v.Rat(), Whole(x).Rat())
}

func order(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
