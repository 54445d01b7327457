package gate_test

import (
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/gate"
)

// cases reads one group of testdata/vectors.json.
func cases[T any](t *testing.T, group string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups map[string]struct {
			Cases json.RawMessage `json:"cases"`
		} `json:"groups"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	var found []T
	if err := json.Unmarshal(file.Groups[group].Cases, &found); err != nil {
		t.Fatalf("group %s: %v", group, err)
	}
	if len(found) == 0 {
		t.Fatalf("group %s has no case", group)
	}
	return found
}

func parse(t *testing.T, texts []string) []gate.Value {
	t.Helper()
	var values []gate.Value
	for _, text := range texts {
		value, err := gate.ParseValue(text)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, value)
	}
	return values
}

func bounds(r *gate.Range) []string {
	if r == nil {
		return nil
	}
	return []string{r.Least.String(), r.Greatest.String()}
}

// canonical gives fractions in lowest terms, as reports print them.
func canonical(t *testing.T, texts []string) []string {
	t.Helper()
	var out []string
	for _, value := range parse(t, texts) {
		out = append(out, value.String())
	}
	return out
}

// CMP-08, CMP-09, CMP-10, CMP-11, CMP-12, CMP-13, CMP-15, CMP-17, MRK-14.
func TestGateVectors(t *testing.T) {
	type vector struct {
		ID         string
		Metric     string
		Adverse    uint64         `json:"max_adverse_bps"`
		Spread     uint64         `json:"max_reference_spread_bps"`
		Reference  []string       `json:"reference"`
		Candidate  []string       `json:"candidate"`
		Ineligible map[string]int `json:"ineligible"`
		Missing    int            `json:"runs_without_both_markers"`
		Expect     struct {
			Outcome   string
			Reason    *string
			Reference []string `json:"reference_range"`
			Candidate []string `json:"candidate_range"`
		}
	}
	for _, c := range cases[vector](t, "gates") {
		t.Run(c.ID, func(t *testing.T) {
			got := gate.Judge(gate.Input{
				Metric: c.Metric, Reference: parse(t, c.Reference), Candidate: parse(t, c.Candidate),
				Ineligible: c.Ineligible["reference"] + c.Ineligible["candidate"],
				// The vectors do not say in which pool; a candidate leaves the reference count as listed.
				UnavailableCandidate: c.Missing,
				MaxAdverseBPS:        c.Adverse, MaxReferenceSpreadBPS: c.Spread,
			})
			want := ""
			if c.Expect.Reason != nil {
				want = *c.Expect.Reason
			}
			if string(got.Verdict) != c.Expect.Outcome || got.Reason != want {
				t.Errorf("got %s %q, want %s %q", got.Verdict, got.Reason, c.Expect.Outcome, want)
			}
			if !slices.Equal(bounds(got.Reference), canonical(t, c.Expect.Reference)) ||
				!slices.Equal(bounds(got.Candidate), canonical(t, c.Expect.Candidate)) {
				t.Errorf("ranges %v %v, want %v %v", bounds(got.Reference), bounds(got.Candidate), c.Expect.Reference, c.Expect.Candidate)
			}
		})
	}
}

type ratioVector struct {
	ID        string
	Adverse   uint64              `json:"max_adverse_bps"`
	Spread    uint64              `json:"max_reference_spread_bps"`
	Reference map[string][]uint64 `json:"reference_duration_us_by_seed"`
	Candidate map[string][]uint64 `json:"candidate_duration_us_by_seed"`
	Expect    struct {
		Medians      map[string]string `json:"median_by_seed"`
		Reference    []string          `json:"reference_ratios"`
		Candidate    []string          `json:"candidate_ratios"`
		Outcome      string
		Reason       *string
		ReferenceBPS map[string]int64 `json:"reference_duration_ratio_bps"`
		CandidateBPS map[string]int64 `json:"candidate_duration_ratio_bps"`
	}
}

func durations(t *testing.T, bySeed map[string][]uint64) []gate.Duration {
	t.Helper()
	var seeds []string
	for seed := range bySeed {
		seeds = append(seeds, seed)
	}
	slices.Sort(seeds)
	var out []gate.Duration
	for _, text := range seeds {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, us := range bySeed[text] {
			out = append(out, gate.Duration{Seed: seed, US: us})
		}
	}
	return out
}

func strings(values []gate.Value) []string {
	var out []string
	for _, value := range values {
		out = append(out, value.String())
	}
	return out
}

func checkBPS(t *testing.T, values []gate.Value, want map[string]int64) {
	t.Helper()
	stats := gate.Describe(values)
	for name, r := range map[string]*big.Rat{"min": stats.Min, "median": stats.Median, "mean": stats.Mean, "max": stats.Max} {
		if got := gate.FloorBPS(r); got == nil || got.Int64() != want[name] {
			t.Errorf("%s is %v bps, want %d", name, got, want[name])
		}
	}
}

// CMP-14, CMP-15, CMP-27.
func TestDurationRatioVectors(t *testing.T) {
	for _, c := range cases[ratioVector](t, "duration_ratio") {
		t.Run(c.ID, func(t *testing.T) {
			reference, candidate := durations(t, c.Reference), durations(t, c.Candidate)
			ratios := gate.DurationRatios(reference, candidate)
			for seed, want := range c.Expect.Medians {
				number, _ := strconv.ParseUint(seed, 10, 64)
				if got := ratios.Medians[number]; got == nil || got.String() != want {
					t.Errorf("median of seed %s is %v, want %s", seed, got, want)
				}
			}
			if !slices.Equal(strings(ratios.Reference), c.Expect.Reference) || !slices.Equal(strings(ratios.Candidate), c.Expect.Candidate) {
				t.Errorf("ratios %v %v", ratios.Reference, ratios.Candidate)
			}
			checkBPS(t, ratios.Reference, c.Expect.ReferenceBPS)
			checkBPS(t, ratios.Candidate, c.Expect.CandidateBPS)
			got := gate.JudgeDurations(gate.Input{MaxAdverseBPS: c.Adverse, MaxReferenceSpreadBPS: c.Spread}, reference, candidate)
			want := ""
			if c.Expect.Reason != nil {
				want = *c.Expect.Reason
			}
			if string(got.Verdict) != c.Expect.Outcome || got.Reason != want {
				t.Errorf("got %s %q, want %s %q", got.Verdict, got.Reason, c.Expect.Outcome, want)
			}
		})
	}
}

// CMP-16: a seed whose reference median is zero or missing decides nothing.
func TestDurationRatioWithoutDivisor(t *testing.T) {
	three := func(seed uint64, us uint64) []gate.Duration {
		return []gate.Duration{{Seed: seed, US: us}, {Seed: seed, US: us}, {Seed: seed, US: us}}
	}
	for name, c := range map[string]struct {
		reference, candidate []gate.Duration
		ineligible           int
		want                 string
	}{
		"zero median":                 {three(1, 0), three(1, 5), 0, gate.NonpositiveReference},
		"seed without reference":      {three(1, 7), three(2, 7), 0, gate.InsufficientSamples},
		"ineligible before zero":      {three(1, 0), three(1, 5), 1, gate.InsufficientSamples},
		"too few before zero":         {three(1, 0)[:2], three(1, 5), 0, gate.InsufficientSamples},
		"one of two seeds is missing": {three(1, 7), append(three(1, 7), three(2, 7)...), 0, gate.InsufficientSamples},
	} {
		got := gate.JudgeDurations(gate.Input{Ineligible: c.ineligible}, c.reference, c.candidate)
		if got.Verdict != gate.Inconclusive || got.Reason != c.want {
			t.Errorf("%s: %s %s, want %s", name, got.Verdict, got.Reason, c.want)
		}
	}
}

// CMP-18, CMP-23.
func TestWorstAndExitCode(t *testing.T) {
	ordered := []gate.Verdict{gate.Pass, gate.Inconclusive, gate.Regression, gate.Error}
	exits := []int{0, 2, 3, 1}
	for i, better := range ordered {
		if better.ExitCode() != exits[i] {
			t.Errorf("%s exits %d, want %d", better, better.ExitCode(), exits[i])
		}
		for _, worse := range ordered[i:] {
			if got := gate.Worst(better, worse); got != worse {
				t.Errorf("worst of %s and %s is %s", better, worse, got)
			}
			if got := gate.Worst(worse, better); got != worse {
				t.Errorf("worst of %s and %s is %s", worse, better, got)
			}
		}
	}
	if gate.Worst() != gate.Error || gate.Verdict("odd").ExitCode() != 1 {
		t.Error("nothing judged must not count as a success")
	}
}

// A value of 64 bits and the same value as a rational decide alike (CMP-13).
func TestFastPathEqualsExact(t *testing.T) {
	huge := new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(1), 70), big.NewInt(3))
	value, err := gate.Exact(huge)
	if err != nil {
		t.Fatal(err)
	}
	if value.Cmp(gate.Whole(1)) != 1 || gate.Whole(1).Cmp(value) != -1 || value.Cmp(value) != 0 {
		t.Error("order of a large fraction")
	}
	if _, err := gate.Exact(big.NewRat(-1, 2)); err == nil {
		t.Error("a negative value was admitted")
	}
	for _, text := range []string{"", "1/0", "-1/2", "1e3", "0x10", "1.5", "/", "1/2/3", "inf"} {
		if _, err := gate.ParseValue(text); err == nil {
			t.Errorf("%q was admitted", text)
		}
	}
	scale := big.NewRat(1, 7)
	scaled := func(values ...uint64) []gate.Value {
		var out []gate.Value
		for _, v := range values {
			value, err := gate.Exact(new(big.Rat).Mul(gate.Whole(v).Rat(), scale))
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, value)
		}
		return out
	}
	reference := []uint64{1000, 1010, 1020}
	for _, candidate := range [][]uint64{{1000, 1000, 1050}, {1000, 1000, 1051}, {1071, 1072, 1073}, {1072, 1080, 1090}} {
		in := gate.Input{Metric: document.EndToEndUS, MaxAdverseBPS: 500, MaxReferenceSpreadBPS: 200}
		in.Reference, in.Candidate = gate.Wholes(reference...), gate.Wholes(candidate...)
		whole := gate.Judge(in)
		in.Reference, in.Candidate = scaled(reference...), scaled(candidate...)
		if exact := gate.Judge(in); exact.Verdict != whole.Verdict || exact.Reason != whole.Reason {
			t.Errorf("%v: whole %s %s, exact %s %s", candidate, whole.Verdict, whole.Reason, exact.Verdict, exact.Reason)
		}
	}
}
