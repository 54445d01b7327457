package main

import (
	"testing"
	"time"
)

func TestSeconds(t *testing.T) {
	for _, c := range []struct {
		text string
		us   uint64
		ok   bool
	}{
		{"2", 2_000_000, true},
		{"2.5", 2_500_000, true},
		{"0.000001", 1, true},
		{"18446744073709.551615", 18446744073709551615, true},
		{"18446744073709.551616", 0, false},
		{"99999999999999999999", 0, false},
		{"1.0000001", 0, false},
		{"", 0, false}, {".5", 0, false}, {"1.", 0, false}, {"-1", 0, false}, {"+1", 0, false}, {"1e3", 0, false}, {"1.-5", 0, false},
	} {
		var s seconds
		err := s.Set(c.text)
		if (err == nil) != c.ok || s.us != c.us {
			t.Errorf("Set(%q) gives %d, %v", c.text, s.us, err)
		}
		if c.ok {
			var again seconds
			if err := again.Set(s.String()); err != nil || again != s {
				t.Errorf("%q does not read back what %d prints", s.String(), s.us)
			}
		}
	}
}

// The share of --jitter is what help says, so that an example's verdict holds.
func TestSynthLeast(t *testing.T) {
	for seed, want := range map[uint64]time.Duration{0: 100, 1: 125, 2: 150, 3: 175, 4: 100} {
		flags := synthFlags{seed: seed, atLeast: 100, jitter: 100}
		if got := flags.least(); got != want {
			t.Errorf("seed %d takes %d, want %d", seed, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"validate", "version", "run", "report"}
	for written, want := range map[string]string{
		"valdate": "validate", "vresion": "version", "rnu": "run", "reprot": "report", "x": "", "": "", "validates": "validate", "deploy": "",
	} {
		if got := nearest(written, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", written, got, want)
		}
	}
}
