// Package synth generates small media files: pictures, sound and video.
//
// It owns what quickstart examples and tests need: real PNG, JPEG, WAV and MP4
// files without another program. It measures nothing and sleeps for nobody.
// Invariant: equal options give equal bytes, on every machine and with every
// version of Go: arithmetic is on integers only, pictures consist of constant
// blocks so that an encoder's choice of transform does not show, and nothing
// is compressed by a library. Memory does not grow with the length of a file,
// but for four bytes a video frame.
package synth

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// Bounds of the options.
const (
	maxSide       = 16384
	maxPixels     = 1 << 26 // one picture is held in memory
	maxFrames     = 1_000_000
	maxFPS        = 1000
	maxRate       = 768_000
	minVideoRate  = 1000 // so that every frame has a sample
	maxChannels   = 8
	maxWork       = 1_000_000_000
	minQuality    = 90
	maxQuality    = 100
	stepsPerUnit  = 1000
	stepsPerCheck = 4 * stepsPerUnit
)

// OptionError is an option that cannot be met. Option is its name in
// lower_snake_case.
type OptionError struct {
	Option  string
	Message string
}

func (e *OptionError) Error() string { return e.Option + ": " + e.Message }

// problems collects every OptionError of a call.
type problems []error

func (p *problems) between(option string, value, low, high uint64) {
	if value < low || value > high {
		*p = append(*p, &OptionError{option, fmt.Sprintf("%d is not between %d and %d", value, low, high)})
	}
}

func (p *problems) picture(width, height uint64) {
	p.between("width", width, 1, maxSide)
	p.between("height", height, 1, maxSide)
	if width <= maxSide && height <= maxSide && width*height > maxPixels {
		*p = append(*p, &OptionError{"width", fmt.Sprintf("%d x %d is more than %d pixels", width, height, maxPixels)})
	}
}

// quality replaces 0 by the lowest.
func (p *problems) quality(q uint64) int {
	if q == 0 {
		q = minQuality
	}
	p.between("quality", q, minQuality, maxQuality)
	return int(q)
}

func (p problems) err(what string) error {
	if len(p) == 0 {
		return nil
	}
	return fmt.Errorf("synthesise %s: %w", what, errors.Join(p...))
}

// work does units of deterministic computation, 1,000 chained SHA-256 sums
// each. The result is thrown away: more work never changes the bytes of a
// file, so a slower generator is the same generator.
func work(ctx context.Context, seed, units uint64) error {
	var block [sha256.Size]byte
	binary.BigEndian.PutUint64(block[:], seed)
	for left := units * stepsPerUnit; left > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(left, stepsPerCheck)
		for range n {
			block = sha256.Sum256(block[:])
		}
		left -= n
	}
	return ctx.Err()
}

// mix hashes a seed and a place: SplitMix64's output function, applied once for
// each number. A fixed sequence, unlike the standard library's sources.
func mix(seed, x, y, layer uint64) uint64 {
	z := seed
	for _, p := range [...]uint64{x, y, layer} {
		z += 0x9E3779B97F4A7C15 * (p + 1)
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		z ^= z >> 31
	}
	return z
}
