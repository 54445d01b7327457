package media_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/media"
)

func corpusFile(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "testdata", "corpus", "generated", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func check(raw []byte, container string) (*media.Facts, error) {
	return media.Check(bytes.NewReader(raw), int64(len(raw)), container)
}

// TestEvidenceForm holds the JSON of PNG-07, WAV-09, MP4-25 and MP4-26.
func TestEvidenceForm(t *testing.T) {
	for _, c := range []struct{ file, container, want string }{
		{"png_1x1.png", "png", `{"container":"png","bytes":69,"validation":"container_checked","image":{"width":1,"height":1}}`},
		{"jpeg_baseline.jpg", "jpeg", `{"container":"jpeg","bytes":1341,"validation":"container_checked","image":{"width":56,"height":40}}`},
		{"wav_f64.wav", "wav", `{"container":"wav","bytes":35360,"validation":"container_checked","audio":{"format":"float","bits_per_sample":64,"channels":1,"sample_rate":44100,"frames":4410,"duration_us":100000}}`},
		{"mp4_h264_aac.mp4", "mp4", `{"container":"mp4","bytes":10577,"validation":"container_checked","video":{"layout":"progressive","width":64,"height":48,` +
			`"display_width_16_16":4194304,"display_height_16_16":3145728,"frames":25,"fps_numerator":25,"fps_denominator":1,` +
			`"media_duration_us":1000000,"duration_us":1000000,"mdhd_duration_us":1000000,` +
			`"audio":[{"codec":"mp4a","channels":2,"sample_rate":48000,"samples":48,"bytes":6575,"media_duration_us":1021333}]}}`},
	} {
		facts, err := check(corpusFile(t, c.file), c.container)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(facts)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != c.want {
			t.Errorf("MP4-26 %s:\n got %s\nwant %s", c.file, got, c.want)
		}
	}
}

// TestWrongContainer: the content decides, never a name (PNG-08).
func TestWrongContainer(t *testing.T) {
	files := map[string]string{media.PNG: "png_1x1.png", media.JPEG: "jpeg_baseline.jpg", media.WAV: "wav_s16_mono.wav", media.MP4: "mp4_h264_aac.mp4"}
	for is, name := range files {
		for _, declared := range []string{media.PNG, media.JPEG, media.WAV, media.MP4} {
			_, err := check(corpusFile(t, name), declared)
			var refusal *media.Refusal
			if ok := declared == is; ok != (err == nil) || !ok && !errors.As(err, &refusal) {
				t.Errorf("PNG-08: %s declared %s: got %v", name, declared, err)
			}
		}
		if got, ok := media.Sniff(corpusFile(t, name)[:media.SniffLen]); !ok || got != is {
			t.Errorf("Sniff(%s) = %q %v", name, got, ok)
		}
	}
	for _, prefix := range []string{"", "RIFF", "RIFF....AVI ", "GIF89a", "\xff\xd8", "....ftp"} {
		if got, ok := media.Sniff([]byte(prefix)); ok {
			t.Errorf("Sniff(%q) = %s", prefix, got)
		}
	}
}

func TestUnknownContainer(t *testing.T) {
	_, err := check(nil, "webm")
	var refusal *media.Refusal
	if err == nil || errors.As(err, &refusal) || !strings.Contains(err.Error(), "webm") {
		t.Errorf("got %v, want an error that names the container and is no refusal", err)
	}
}

type broken struct{}

var errDisk = errors.New("disk on fire")

func (broken) ReadAt([]byte, int64) (int, error) { return 0, errDisk }

func TestReadErrorIsNoRefusal(t *testing.T) {
	for _, container := range []string{media.PNG, media.JPEG, media.WAV, media.MP4} {
		_, err := media.Check(broken{}, 100, container)
		var refusal *media.Refusal
		if !errors.Is(err, errDisk) || errors.As(err, &refusal) {
			t.Errorf("%s: got %v, want the reader's error", container, err)
		}
	}
}

// TestCorpusTruncation cuts every accepted file of the corpus: small ones at
// every byte, larger ones at many. No cut of a PNG, JPEG or WAV passes
// (PNG-06, JPG-06, WAV-01). A cut of an MP4 passes only where harmlessCuts
// says so (MP4-28).
func TestCorpusTruncation(t *testing.T) {
	dir := filepath.Join("..", "testdata", "corpus")
	for _, e := range readCorpus(t, dir) {
		if !strings.HasPrefix(e.File, "generated/") || !e.accepts() {
			continue
		}
		raw := corpusFile(t, strings.TrimPrefix(e.File, "generated/"))
		harmless := func(int) bool { return false }
		if e.Container == media.MP4 {
			harmless = harmlessCuts(raw)
		}
		step := 1 + len(raw)/2000
		for n := range raw {
			if n%step != 0 && n < len(raw)-300 {
				continue
			}
			_, err := check(raw[:n], e.Container)
			var refusal *media.Refusal
			if err != nil && !errors.As(err, &refusal) {
				t.Fatalf("%s cut at %d: %v is no refusal", e.File, n, err)
			}
			if err == nil && !harmless(n) {
				t.Errorf("MP4-28 %s of %d bytes cut at %d passes", e.File, len(raw), n)
			}
		}
	}
}

// harmlessCuts says which cuts of an MP4 may pass: those between two top-level
// boxes after which no sample data is missed. That is where only boxes follow
// that are not needed, and before a moof: what is left of a fragmented file
// there is a whole, shorter file, and nothing inside it tells.
func harmlessCuts(raw []byte) func(int) bool {
	type part struct {
		start int
		typ   string
	}
	var parts []part
	for at := 0; at+8 <= len(raw); {
		size := int(raw[at])<<24 | int(raw[at+1])<<16 | int(raw[at+2])<<8 | int(raw[at+3])
		if size == 1 {
			size = int(raw[at+12])<<24 | int(raw[at+13])<<16 | int(raw[at+14])<<8 | int(raw[at+15])
		}
		if size == 0 {
			size = len(raw) - at
		}
		typ := string(raw[at+4 : at+8])
		if typ == "mdat" && size == 8 {
			typ = "free" // an empty payload is not needed
		}
		parts = append(parts, part{at, typ})
		at += size
	}
	cuts := map[int]bool{}
	needed := map[string]bool{"moov": true, "mdat": true, "moof": true}
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i].typ == "moof" || !needed[parts[i].typ] && (i == len(parts)-1 || cuts[parts[i+1].start]) {
			cuts[parts[i].start] = true
		}
	}
	return func(n int) bool { return cuts[n] }
}

// TestRefusalText: a refusal names its place and its code.
func TestRefusalText(t *testing.T) {
	raw := corpusFile(t, "png_crc_idat.png")
	_, err := check(raw, media.PNG)
	if err == nil {
		t.Fatal("accepted")
	}
	var refusal *media.Refusal
	if !errors.As(err, &refusal) || !strings.HasPrefix(err.Error(), "check png: ") ||
		!strings.Contains(err.Error(), fmt.Sprintf("byte %d (%s)", refusal.Offset, refusal.Code)) {
		t.Errorf("got %v", err)
	}
}
