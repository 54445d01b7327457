package binread

import "math/bits"

// Add returns a+b and whether it fits in 64 bits.
func Add(a, b uint64) (uint64, bool) {
	sum, carry := bits.Add64(a, b, 0)
	return sum, carry == 0
}

// Mul returns a*b and whether it fits in 64 bits.
func Mul(a, b uint64) (uint64, bool) {
	hi, lo := bits.Mul64(a, b)
	return lo, hi == 0
}

// Microseconds is floor(units × 1,000,000 / perSecond), and whether it fits in
// 64 bits. The product is formed in 128 bits. perSecond 0 does not fit.
func Microseconds(units, perSecond uint64) (uint64, bool) {
	hi, lo := bits.Mul64(units, 1_000_000)
	if hi >= perSecond {
		return 0, false
	}
	us, _ := bits.Div64(hi, lo, perSecond)
	return us, true
}
