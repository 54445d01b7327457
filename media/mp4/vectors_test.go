package mp4_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/grill-plan/grill-plan/media/binread"
)

// readVectors decodes one group of the repository's exact cases.
func readVectors(t *testing.T, group string, cases any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Groups map[string]struct{ Cases json.RawMessage }
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(all.Groups[group].Cases, cases); err != nil {
		t.Fatalf("group %s: %v", group, err)
	}
}

// TestVectorsFPS holds MP4-15, MP4-16 and MP4-17 on whole files, with the
// samples in tables and in fragments.
func TestVectorsFPS(t *testing.T) {
	var cases []struct {
		ID        string
		Durations []struct{ Count, Delta uint32 } `json:"sample_durations"`
		Timescale uint32
		Expect    map[string]uint64
	}
	readVectors(t, "fps", &cases)
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		for _, fragmented := range []bool{false, true} {
			track := trackSpec{handler: "vide", timescale: c.Timescale}
			for _, d := range c.Durations {
				track.runs = append(track.runs, stretch{d.Count, d.Delta})
			}
			m := movieSpec{timescale: 1000, tracks: []trackSpec{track}, fragmented: fragmented}
			got, err := checkBytes(m.build().file())
			if err != nil {
				t.Errorf("MP4-16 %s: %v", c.ID, err)
				continue
			}
			want := c.Expect
			if got.Frames != want["frames"] || got.FPSNumerator != want["fps_numerator"] ||
				got.FPSDenominator != want["fps_denominator"] || got.MediaDurationUS != want["media_duration_us"] {
				t.Errorf("MP4-15 MP4-16 MP4-17 %s: got %+v, want %v", c.ID, got, want)
			}
		}
	}
}

// TestVectorsEdit holds MP4-19, MP4-20, MP4-21 and MP4-22.
func TestVectorsEdit(t *testing.T) {
	var cases []struct {
		ID             string
		MediaDuration  uint32 `json:"media_duration"`
		MediaTimescale uint32 `json:"media_timescale"`
		MovieTimescale uint32 `json:"movie_timescale"`
		Fragmented     bool
		Edit           struct {
			Entries         uint32
			SegmentDuration uint32 `json:"segment_duration"`
			MediaTime       int32  `json:"media_time"`
			RateInteger     uint32 `json:"rate_integer"`
			RateFraction    uint32 `json:"rate_fraction"`
		}
		Expect struct {
			Valid           bool
			MediaDurationUS *uint64 `json:"media_duration_us"`
			DurationUS      *uint64 `json:"duration_us"`
		}
	}
	readVectors(t, "presentation_edit", &cases)
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		t.Run("MP4-19 MP4-20 "+c.ID, func(t *testing.T) {
			edits := [][]byte{editV0(c.Edit.Entries, c.Edit.SegmentDuration, c.Edit.MediaTime, c.Edit.RateInteger<<16|c.Edit.RateFraction),
				editV1(c.Edit.Entries, uint64(c.Edit.SegmentDuration), int64(c.Edit.MediaTime), c.Edit.RateInteger<<16|c.Edit.RateFraction)}
			if c.Edit.Entries == 0 {
				edits = append(edits, nil) // no edit list at all
			}
			for _, edit := range edits {
				m := movieSpec{timescale: c.MovieTimescale, fragmented: c.Fragmented, tracks: []trackSpec{{
					handler: "vide", timescale: c.MediaTimescale, runs: []stretch{{1, c.MediaDuration}}, edit: edit}}}
				got, err := checkBytes(m.build().file())
				if !c.Expect.Valid {
					wantCode(t, err, "mp4_edit_list")
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if got.MediaDurationUS != *c.Expect.MediaDurationUS || got.DurationUS != *c.Expect.DurationUS {
					t.Errorf("got %d and %d, want %d and %d", got.MediaDurationUS, got.DurationUS, *c.Expect.MediaDurationUS, *c.Expect.DurationUS)
				}
			}
		})
	}
}

func editV0(entries, segment uint32, media int32, rate uint32) []byte {
	b := w(0, entries)
	for range entries {
		b = append(b, w(segment, uint32(media), rate)...)
	}
	return b
}

func editV1(entries uint32, segment uint64, media int64, rate uint32) []byte {
	b := w(1<<24, entries)
	for range entries {
		b = append(b, w(uint32(segment>>32), uint32(segment), uint32(uint64(media)>>32), uint32(media), rate)...)
	}
	return b
}

// TestVectorsFloor holds the rounding of MP4-15 and MP4-18.
func TestVectorsFloor(t *testing.T) {
	var cases []struct {
		ID        string
		Units     uint64
		PerSecond uint64 `json:"per_second"`
		ExpectUS  uint64 `json:"expect_us"`
	}
	readVectors(t, "duration_floor", &cases)
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		if got, ok := binread.Microseconds(c.Units, c.PerSecond); !ok || got != c.ExpectUS {
			t.Errorf("MP4-15 %s: got %d %v, want %d", c.ID, got, ok, c.ExpectUS)
		}
	}
}

// TestVersionOne: 64-bit times are read (MP4-03), and a declared duration that
// does not fit in microseconds does not affect validity (MP4-18).
func TestVersionOne(t *testing.T) {
	root := progressive()
	root.at("moov", "mvhd").data = append(w(1<<24, 0, 0, 0, 0, 1000, 0, 0), make([]byte, 80)...)
	tkhd := root.at("moov", "trak", "tkhd")
	tkhd.data = append(append(w(1<<24, 0, 0, 0, 0, 1, 0, 0, 0), make([]byte, 52)...), w(100<<16, 50<<16)...)
	root.at("moov", "trak", "mdia", "mdhd").data = w(1<<24, 0, 0, 0, 0, 24, 1<<32-1, 1<<32-1, 0)
	got, err := checkBytes(root.file())
	if err != nil {
		t.Fatal(err)
	}
	if got.DisplayWidth != 100<<16 || got.DisplayHeight != 50<<16 || got.MdhdDurationUS != math.MaxUint64 || got.FPSNumerator != 24 {
		t.Errorf("MP4-03 MP4-18: got %+v", got)
	}
}
