package mp4_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	gomp4 "github.com/abema/go-mp4"

	"github.com/grill-plan/grill-plan/media/mp4"
)

// TestAgainstLibrary holds the sums over samples against go-mp4, which reads
// the same boxes another way and expands every table (MP4-10, MP4-15, MP4-23).
func TestAgainstLibrary(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "corpus", "generated", "mp4_*"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		facts, err := checkBytes(raw)
		if err != nil {
			continue // what is refused is held by other tests
		}
		if facts.Layout == "fragmented" && len(facts.Audio) > 0 {
			continue // the library counts only one track of a fragment
		}
		info, err := gomp4.Probe(bytes.NewReader(raw))
		if err != nil {
			t.Logf("%s: go-mp4 does not read it: %v", filepath.Base(name), err)
			continue
		}
		compared++
		got, want := sumsOf(facts), librarySums(info)
		if !slices.Equal(got, want) {
			t.Errorf("MP4-15 MP4-23 %s: got %v, go-mp4 finds %v", filepath.Base(name), got, want)
		}
	}
	if compared < 30 {
		t.Errorf("only %d files were compared", compared)
	}
}

// sumsOf renders the samples and media durations of all tracks, sorted.
func sumsOf(f mp4.Facts) []string {
	sums := []string{fmt.Sprintf("%d samples, %d us", f.Frames, f.MediaDurationUS)}
	for _, a := range f.Audio {
		sums = append(sums, fmt.Sprintf("%d samples, %d us", a.Samples, a.MediaDurationUS))
	}
	slices.Sort(sums)
	return sums
}

func librarySums(info *gomp4.ProbeInfo) []string {
	var sums []string
	for _, track := range info.Tracks {
		var samples, ticks uint64
		for _, s := range track.Samples {
			samples, ticks = samples+1, ticks+uint64(s.TimeDelta)
		}
		for _, s := range info.Segments {
			if s.TrackID == track.TrackID {
				samples, ticks = samples+uint64(s.SampleCount), ticks+uint64(s.Duration)
			}
		}
		sums = append(sums, fmt.Sprintf("%d samples, %d us", samples, ticks*1_000_000/uint64(track.Timescale)))
	}
	slices.Sort(sums)
	return sums
}
