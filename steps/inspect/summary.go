package inspect

import (
	"math/big"
	"slices"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/gate"
)

// Modalities of a workload (DOC-17).
const (
	Image = "image"
	Audio = "audio"
	Video = "video"
)

// Summary describes the measured samples of one cell, of one capture or pooled
// over several. Durations, rates and determinism are over eligible samples only
// (INS-13 to INS-18, CMP-24 to CMP-26).
type Summary struct {
	EndToEndUS  Statistics        `json:"end_to_end_us"`
	Ineligible  int               `json:"ineligible"`
	Reasons     []ReasonCount     `json:"ineligible_by_reason"`
	Determinism []SeedDeterminism `json:"determinism"`

	RealtimeFactor          *float64 `json:"realtime_factor"`
	FramesPerSecondEndToEnd *float64 `json:"frames_per_second_end_to_end"`
	SecondsPerImage         *float64 `json:"seconds_per_image"`
	ImagesPerSecondEndToEnd *float64 `json:"images_per_second_end_to_end"`
	EligibleSamples         []Sample `json:"-"`
}

// Statistics are of whole microseconds; median and mean are the doubles nearest
// to the exact values, and all but the count are null without a sample (INS-13).
type Statistics struct {
	Count  int      `json:"count"`
	Min    *uint64  `json:"min"`
	Median *float64 `json:"median"`
	Mean   *float64 `json:"mean"`
	Max    *uint64  `json:"max"`
}

// ReasonCount counts samples with a reason; a sample with two counts under both
// (INS-14).
type ReasonCount struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// SeedDeterminism is INS-15 for one seed.
type SeedDeterminism struct {
	Seed        uint64           `json:"seed"`
	Samples     int              `json:"samples"`
	Determinism gate.Determinism `json:"determinism"`
}

// Summarize describes measured samples of one cell whose request is given.
func Summarize(samples []Sample, modality string, request document.Request) Summary {
	summary := Summary{Reasons: countReasons(samples), Determinism: determinism(samples, request.Seeds)}
	var durations []gate.Value
	var amounts Amounts
	for _, sample := range samples {
		if !sample.Eligible {
			summary.Ineligible++
			continue
		}
		us, _ := sample.EndToEndUS()
		durations = append(durations, gate.Whole(us))
		amounts.Add(sample)
		summary.EligibleSamples = append(summary.EligibleSamples, sample)
	}
	stats := gate.Describe(durations)
	summary.EndToEndUS = statistics(stats)
	summary.RealtimeFactor = gate.Nearest(amounts.RealtimeFactor(modality))
	summary.FramesPerSecondEndToEnd = gate.Nearest(amounts.FramesPerSecond(modality))
	seconds, rate := ImageRates(stats.Mean, modality, request)
	summary.SecondsPerImage, summary.ImagesPerSecondEndToEnd = gate.Nearest(seconds), gate.Nearest(rate)
	return summary
}

func statistics(stats gate.Statistics) Statistics {
	out := Statistics{Count: stats.Count, Median: gate.Nearest(stats.Median), Mean: gate.Nearest(stats.Mean)}
	if stats.Count > 0 {
		least, most := stats.Min.Num().Uint64(), stats.Max.Num().Uint64()
		out.Min, out.Max = &least, &most
	}
	return out
}

func countReasons(samples []Sample) []ReasonCount {
	counts := []ReasonCount{}
	for _, reason := range evidence.Reasons() {
		count := 0
		for _, sample := range samples {
			if slices.Contains(sample.Reasons, reason) {
				count++
			}
		}
		if count > 0 {
			counts = append(counts, ReasonCount{reason, count})
		}
	}
	return counts
}

// Identities are the output identities of the eligible samples of a seed.
func Identities(samples []Sample, seed uint64) []string {
	var found []string
	for _, sample := range samples {
		if sample.Eligible && sample.Plan.Seed == seed {
			found = append(found, sample.Identity)
		}
	}
	return found
}

// Seeds are the distinct seeds of a request in the order of first use.
func Seeds(seeds []uint64) []uint64 {
	var distinct []uint64
	for _, seed := range seeds {
		if !slices.Contains(distinct, seed) {
			distinct = append(distinct, seed)
		}
	}
	return distinct
}

func determinism(samples []Sample, seeds []uint64) []SeedDeterminism {
	found := []SeedDeterminism{}
	for _, seed := range Seeds(seeds) {
		identities := Identities(samples, seed)
		found = append(found, SeedDeterminism{seed, len(identities), gate.Repeats(identities)})
	}
	return found
}

// Amounts sums what eligible runs took and made, so that rates of an arm are
// ratios of sums and not means of ratios (CMP-26).
type Amounts struct {
	endToEndUS, audioUS, frames big.Int
}

// Add counts one eligible sample.
func (a *Amounts) Add(sample Sample) {
	us, _ := sample.EndToEndUS()
	for total, amount := range map[*big.Int]uint64{&a.endToEndUS: us, &a.audioUS: sample.AudioUS, &a.frames: sample.Frames} {
		total.Add(total, new(big.Int).SetUint64(amount))
	}
}

// RealtimeFactor is Σ end_to_end_us / Σ audio duration_us for audio, else nil
// (INS-16, INS-18, CMP-26).
func (a *Amounts) RealtimeFactor(modality string) *big.Rat {
	if modality != Audio {
		return nil
	}
	return gate.Quotient(new(big.Rat).SetInt(&a.endToEndUS), new(big.Rat).SetInt(&a.audioUS))
}

// FramesPerSecond is Σ frames × 1,000,000 / Σ end_to_end_us for video, else nil
// (INS-17, INS-18, CMP-26).
func (a *Amounts) FramesPerSecond(modality string) *big.Rat {
	if modality != Video {
		return nil
	}
	scaled := new(big.Int).Mul(&a.frames, big.NewInt(1_000_000))
	return gate.Quotient(new(big.Rat).SetInt(scaled), new(big.Rat).SetInt(&a.endToEndUS))
}

// ImageRates are seconds per image, the mean duration over images_per_run, and
// images per second, its inverse (CMP-25). Display values only.
func ImageRates(meanUS *big.Rat, modality string, request document.Request) (seconds, rate *big.Rat) {
	if modality != Image || meanUS == nil || request.ImagesPerRun == nil {
		return nil, nil
	}
	images := new(big.Rat).Mul(gate.Whole(*request.ImagesPerRun).Rat(), big.NewRat(1_000_000, 1))
	seconds = gate.Quotient(meanUS, images)
	if seconds == nil {
		return nil, nil
	}
	return seconds, gate.Quotient(big.NewRat(1, 1), seconds)
}
