package gate_test

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/gate"
)

func drawInput(t *rapid.T) gate.Input {
	// Close values meet the bounds often; far ones reach 64 bits.
	value := rapid.OneOf(rapid.Uint64Range(0, 40), rapid.Uint64Range(9990, 10100), rapid.Uint64())
	pool := func(name string) []gate.Value {
		return gate.Wholes(rapid.SliceOfN(value, 0, 7).Draw(t, name)...)
	}
	return gate.Input{
		Metric:    rapid.SampledFrom([]string{document.EndToEndUS, document.GenerationUS, document.DurationRatio}).Draw(t, "metric"),
		Reference: pool("reference"), Candidate: pool("candidate"),
		Ineligible:            rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "ineligible"),
		MaxAdverseBPS:         rapid.Uint64Range(0, 9999).Draw(t, "t"),
		MaxReferenceSpreadBPS: rapid.Uint64Range(0, 1000000).Draw(t, "s"),
	}
}

// oracle is CMP-09, CMP-10 and CMP-15 once more, word for word, over integers of
// unlimited size.
func oracle(in gate.Input) (gate.Verdict, string) {
	if len(in.Reference) < 3 || len(in.Candidate) < 3 || in.Ineligible > 0 {
		return gate.Inconclusive, gate.InsufficientSamples
	}
	ends := func(values []gate.Value) (least, greatest *big.Rat) {
		var all []*big.Rat
		for _, value := range values {
			all = append(all, value.Rat())
		}
		slices.SortFunc(all, (*big.Rat).Cmp)
		return all[0], all[len(all)-1]
	}
	L, H := ends(in.Reference)
	l, h := ends(in.Candidate)
	scale := func(r *big.Rat, bps int64) *big.Rat { return new(big.Rat).Mul(r, big.NewRat(bps, 10000)) }
	t, s := int64(in.MaxAdverseBPS), int64(in.MaxReferenceSpreadBPS)
	pass := h.Cmp(scale(L, 10000+t)) <= 0
	regress := l.Cmp(scale(H, 10000+t)) > 0
	if in.Metric == document.DurationRatio {
		pass = pass && l.Cmp(scale(H, 10000-t)) >= 0
		regress = regress || h.Cmp(scale(L, 10000-t)) < 0
	}
	switch {
	case L.Sign() == 0:
		return gate.Inconclusive, gate.NonpositiveReference
	case H.Cmp(scale(L, 10000+s)) > 0:
		return gate.Inconclusive, gate.ReferenceSpreadExceeded
	case pass:
		return gate.Pass, ""
	case regress:
		return gate.Regression, ""
	}
	return gate.Inconclusive, gate.EnvelopeStraddlesTolerance
}

// CMP-13: the fast path over products of 128 bits and the rule over unlimited
// rationals agree, for whole values and for fractions of them.
func TestJudgeEqualsOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		verdict, reason := oracle(in)
		if out := gate.Judge(in); out.Verdict != verdict || out.Reason != reason {
			t.Fatalf("got %s %s, want %s %s", out.Verdict, out.Reason, verdict, reason)
		}
		divisor := big.NewRat(1, int64(rapid.Uint64Range(2, 1000).Draw(t, "divisor")))
		divide := func(values []gate.Value) []gate.Value {
			var scaled []gate.Value
			for _, value := range values {
				exact, err := gate.Exact(value.Rat().Mul(value.Rat(), divisor))
				if err != nil {
					t.Fatal(err)
				}
				scaled = append(scaled, exact)
			}
			return scaled
		}
		in.Reference, in.Candidate = divide(in.Reference), divide(in.Candidate)
		if out := gate.Judge(in); out.Verdict != verdict || out.Reason != reason {
			t.Fatalf("divided by a number: %s %s, want %s %s", out.Verdict, out.Reason, verdict, reason)
		}
	})
}

// The figures "pass from", "regress up to" and "spread needed" are exactly where
// the rule changes its mind.
func TestFiguresAreTheTurningPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Uint64Range(9000, 12000)
		three := func(name string) []gate.Value { return gate.Wholes(rapid.SliceOfN(value, 3, 3).Draw(t, name)...) }
		a, b, a2 := three("a"), three("b"), three("a2")
		f := gate.Beside([]gate.Slot{{Values: a}, {Values: b, Candidate: true}, {Values: a2}}, 0)
		judge := func(t, s int64) gate.Outcome {
			return gate.Judge(gate.Input{
				Metric: document.EndToEndUS, Reference: append(slices.Clone(a), a2...), Candidate: b,
				MaxAdverseBPS: uint64(t), MaxReferenceSpreadBPS: uint64(s),
			})
		}
		if from := f.PassFromBPS.Int64(); from > 0 && judge(from-1, 1e6).Verdict == gate.Pass || judge(max(0, from), 1e6).Verdict != gate.Pass {
			t.Fatalf("pass from %d", from)
		}
		if f.RegressUpToBPS == nil {
			if judge(0, 1e6).Verdict == gate.Regression {
				t.Fatal("regresses at 0 and is said to regress nowhere")
			}
		} else if up := f.RegressUpToBPS.Int64(); judge(up, 1e6).Verdict != gate.Regression || judge(up+1, 1e6).Verdict == gate.Regression {
			t.Fatalf("regress up to %d", up)
		}
		needed := f.SpreadNeededBPS.Int64()
		if judge(0, needed).Reason == gate.ReferenceSpreadExceeded || needed > 0 && judge(0, needed-1).Reason != gate.ReferenceSpreadExceeded {
			t.Fatalf("spread needed %d", needed)
		}
	})
}

func FuzzParseValue(f *testing.F) {
	for _, seed := range []string{"1/2", "0", "18446744073709551616/3", "1/0", "", "-1", "1/2/3", "٣"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 {
			t.Skip()
		}
		value, err := gate.ParseValue(text)
		if err != nil {
			return
		}
		again, err := gate.ParseValue(value.String())
		if err != nil || again.Cmp(value) != 0 {
			t.Errorf("%q became %s and then %v %v", text, value, again, err)
		}
	})
}
