package inspect_test

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/gate"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

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
	if err := json.Unmarshal(file.Groups[group].Cases, &found); err != nil || len(found) == 0 {
		t.Fatalf("group %s: %d cases, %v", group, len(found), err)
	}
	return found
}

// INS-10, INS-11, INS-12.
func TestWallIntervalVectors(t *testing.T) {
	type vector struct {
		ID       string
		Started  int64  `json:"started_unix_ms"`
		Finished int64  `json:"finished_unix_ms"`
		Elapsed  uint64 `json:"elapsed_ms"`
		Valid    bool   `json:"expect_valid"`
	}
	for _, c := range cases[vector](t, "wall_interval") {
		if got := inspect.WallFits(c.Started, c.Finished, c.Elapsed); got != c.Valid {
			t.Errorf("%s: %v", c.ID, got)
		}
	}
	if inspect.WallFits(math.MinInt64, math.MaxInt64, 0) != true || inspect.WallFits(0, 1, math.MaxUint64) {
		t.Error("clocks at the ends of their range")
	}
}

// INS-09.
func TestDurationsFitVectors(t *testing.T) {
	type vector struct {
		ID        string
		Durations []uint64 `json:"process_duration_us"`
		Elapsed   uint64   `json:"elapsed_ms"`
		Valid     bool     `json:"expect_valid"`
	}
	for _, c := range cases[vector](t, "durations_fit") {
		if got := inspect.DurationsFit(c.Durations, c.Elapsed); got != c.Valid {
			t.Errorf("%s: %v", c.ID, got)
		}
	}
	if inspect.DurationsFit([]uint64{math.MaxUint64, 1}, math.MaxUint64) || !inspect.DurationsFit([]uint64{math.MaxUint64}, math.MaxUint64) {
		t.Error("sums beyond 64 bits")
	}
}

// INS-09 to INS-12 within a capture: durations and clocks that do not fit.
func TestClocksOfCapture(t *testing.T) {
	for name, change := range map[string]func(*evidence.Completion){
		"INS-09 durations do not fit": func(c *evidence.Completion) { c.ElapsedMS = 600 }, // 5 × 100 ms and a setup of 100 ms
		"INS-10 end before start":     func(c *evidence.Completion) { c.FinishedUnixMS = startedMS - 1 },
		"INS-12 clock stepped back":   func(c *evidence.Completion) { c.FinishedUnixMS = startedMS + 3994 },
	} {
		f := whole(t)
		change(&f.completion)
		f.reseal()
		t.Log(name)
		f.refused(evidence.CompletionFile, inspect.CodeClockInconsistent)
	}
	f := whole(t)
	f.completion.ElapsedMS, f.completion.FinishedUnixMS = 601, startedMS
	f.reseal()
	if _, err := f.inspect(); err != nil {
		t.Errorf("clocks that just fit: %v", err)
	}
}

func sample(us, audio, frames uint64, eligible bool) inspect.Sample {
	return inspect.Sample{
		Run:      &evidence.Run{Invocation: evidence.Invocation{EndToEndUS: &us}},
		Eligible: eligible, AudioUS: audio, Frames: frames,
	}
}

func isRat(t *testing.T, id string, got *big.Rat, want *string) {
	t.Helper()
	if (got == nil) != (want == nil) || got != nil && got.String() != *want {
		t.Errorf("%s: %v, want %v", id, got, want)
	}
}

// INS-16, INS-17, INS-18.
func TestRunRateVectors(t *testing.T) {
	type vector struct {
		ID       string
		Modality string
		Eligible bool
		US       uint64 `json:"end_to_end_us"`
		Audio    uint64 `json:"audio_duration_us"`
		Frames   uint64
		Expect   struct {
			Realtime *string `json:"realtime_factor"`
			Frames   *string `json:"frames_per_second_end_to_end"`
		}
	}
	for _, c := range cases[vector](t, "run_rates") {
		realtime, frames := inspect.RunRates(sample(c.US, c.Audio, c.Frames, c.Eligible), c.Modality)
		isRat(t, c.ID, realtime, c.Expect.Realtime)
		isRat(t, c.ID, frames, c.Expect.Frames)
	}
}

// CMP-26.
func TestArmRateVectors(t *testing.T) {
	type vector struct {
		ID       string
		Modality string
		Runs     []struct {
			US     uint64 `json:"end_to_end_us"`
			Amount uint64
		} `json:"eligible_runs"`
		Expect *string
	}
	for _, c := range cases[vector](t, "arm_rates") {
		var amounts inspect.Amounts
		for _, run := range c.Runs {
			amounts.Add(sample(run.US, run.Amount, run.Amount, true))
		}
		got := amounts.RealtimeFactor(c.Modality)
		if c.Modality == inspect.Video {
			got = amounts.FramesPerSecond(c.Modality)
		}
		isRat(t, c.ID, got, c.Expect)
	}
}

// CMP-25.
func TestImageRateVectors(t *testing.T) {
	type vector struct {
		ID     string
		US     []uint64 `json:"eligible_end_to_end_us"`
		Images uint64   `json:"images_per_run"`
		Expect struct {
			Seconds string `json:"seconds_per_image"`
			Rate    string `json:"images_per_second"`
		}
	}
	for _, c := range cases[vector](t, "image_rates") {
		mean := gate.Describe(gate.Wholes(c.US...)).Mean
		seconds, rate := inspect.ImageRates(mean, inspect.Image, document.Request{ImagesPerRun: &c.Images})
		isRat(t, c.ID, seconds, &c.Expect.Seconds)
		isRat(t, c.ID, rate, &c.Expect.Rate)
	}
}
