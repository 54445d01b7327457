package media_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/media"
)

// corpusEntry is one line of the corpus manifest.
type corpusEntry struct {
	File        string         `json:"file"`
	Container   string         `json:"container"`
	Expect      string         `json:"expect"`
	Recommended string         `json:"recommended"`
	Reason      string         `json:"reason"`
	Facts       map[string]any `json:"facts"`
	Unsure      []string       `json:"unsure_facts"`
}

// readCorpus reads the manifest of a corpus folder, big integers intact.
func readCorpus(t *testing.T, dir string) []corpusEntry {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var entries []corpusEntry
	if err := dec.Decode(&entries); err != nil {
		t.Fatal(err)
	}
	if len(entries) == 0 {
		t.Fatal("the corpus manifest is empty")
	}
	return entries
}

// accepts says what the corpus wants, with the requirements deciding the cases
// its README calls open.
func (e corpusEntry) accepts() bool {
	if settled, ok := settledByRequirements[e.File]; ok {
		return settled
	}
	if e.Expect == "unsure" {
		return strings.HasPrefix(e.Recommended, "accept")
	}
	return e.Expect == "accept"
}

// settledByRequirements are files on which the requirements differ from the
// manifest; the requirements win.
var settledByRequirements = map[string]bool{}

// TestCorpusGenerated holds PNG-03, PNG-06, JPG-06, WAV-11, MP4-01, MP4-02,
// MP4-06, MP4-07, MP4-08, MP4-10, MP4-12, MP4-13, MP4-14, MP4-21, MP4-22 over the
// project's own files.
func TestCorpusGenerated(t *testing.T) {
	runCorpus(t, filepath.Join("..", "testdata", "corpus"), "generated/")
}

// TestCorpusPublic does the same over fixtures of other projects, which are not
// part of the repository.
func TestCorpusPublic(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "corpus")
	if _, err := os.Stat(filepath.Join(dir, "public")); err != nil {
		t.Skip("no corpus of public files beside the repository")
	}
	runCorpus(t, dir, "public/")
}

func runCorpus(t *testing.T, dir, prefix string) {
	ran := 0
	for _, e := range readCorpus(t, dir) {
		if !strings.HasPrefix(e.File, prefix) {
			continue
		}
		ran++
		t.Run(e.File, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join(dir, e.File))
			if err != nil {
				t.Fatal(err)
			}
			facts, err := media.Check(bytes.NewReader(raw), int64(len(raw)), e.Container)
			if !e.accepts() {
				var refusal *media.Refusal
				if !errors.As(err, &refusal) {
					t.Fatalf("got %v, want a refusal: %s", err, e.Reason)
				}
				return
			}
			if err != nil {
				t.Fatalf("refused: %v; want acceptance: %s", err, e.Reason)
			}
			compareFacts(t, e, facts)
		})
	}
	if ran == 0 {
		t.Fatalf("no corpus file under %s", prefix)
	}
}

// compareFacts holds PNG-07, JPG-07, WAV-09, MP4-09, MP4-15, MP4-16, MP4-18,
// MP4-19, MP4-23 and MP4-25: exactly the facts of the manifest.
func compareFacts(t *testing.T, e corpusEntry, facts *media.Facts) {
	t.Helper()
	if facts.Container != e.Container || facts.Validation != "container_checked" {
		t.Errorf("got %s %s", facts.Container, facts.Validation)
	}
	unsure := map[string]bool{}
	for _, name := range e.Unsure {
		unsure[name] = e.Expect == "accept" || strings.HasPrefix(name, "audio")
	}
	equal := func(prefix string, want map[string]any, got map[string]any) {
		for name, g := range got {
			if unsure[prefix+name] {
				continue
			}
			w, ok := want[name]
			if !ok {
				t.Errorf("%s%s: the manifest has no such fact", prefix, name)
				continue
			}
			if js, wj := mustJSON(t, g), mustJSON(t, w); js != wj {
				t.Errorf("%s%s: got %s, want %s", prefix, name, js, wj)
			}
		}
	}
	switch {
	case facts.Image != nil:
		equal("", e.Facts, map[string]any{"width": facts.Image.Width, "height": facts.Image.Height})
	case facts.Audio != nil:
		a := facts.Audio
		equal("", e.Facts, map[string]any{"format": a.Format, "bits": a.BitsPerSample, "channels": a.Channels,
			"sample_rate": a.SampleRate, "frames": a.Frames, "duration_us": a.DurationUS})
	case facts.Video != nil:
		v := facts.Video
		equal("", e.Facts, map[string]any{"layout": v.Layout, "width": v.Width, "height": v.Height,
			"display_width_16_16": v.DisplayWidth, "display_height_16_16": v.DisplayHeight,
			"frames": v.Frames, "fps_num": v.FPSNumerator, "fps_den": v.FPSDenominator,
			"media_duration_us": v.MediaDurationUS, "duration_us": v.DurationUS, "mdhd_duration_us": v.MdhdDurationUS})
		audio, ok := e.Facts["audio"].(map[string]any)
		if unsure["audio"] {
			return
		}
		if ok != (len(v.Tracks) > 0) {
			t.Fatalf("got %d audio tracks, want audio %v", len(v.Tracks), e.Facts["audio"])
		}
		if ok {
			a := v.Tracks[0]
			equal("audio.", audio, map[string]any{"codec": a.Codec, "channels": a.Channels, "sample_rate": a.SampleRate,
				"samples": a.Samples, "sample_bytes": a.Bytes, "media_duration_us": a.MediaDurationUS})
		}
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
