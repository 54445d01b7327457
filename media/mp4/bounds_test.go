package mp4_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/grill-plan/grill-plan/media/binread"
	"github.com/grill-plan/grill-plan/media/mp4"
)

// sparse is a large file of which only some parts exist: a read of any other
// byte is an error. read counts the bytes asked for.
type sparse struct {
	parts map[int64][]byte
	read  int64
}

var errPayload = errors.New("read of sample payload")

func (s *sparse) ReadAt(p []byte, off int64) (int, error) {
	s.read += int64(len(p))
	for start, part := range s.parts {
		if off >= start && off+int64(len(p)) <= start+int64(len(part)) {
			return copy(p, part[off-start:]), nil
		}
	}
	return 0, errPayload
}

// longMovie is a file of two hours: 172,800 frames and 337,500 audio packets of
// 20,000 and 400 bytes in chunks of half a second, behind a 64-bit mdat.
func longMovie() (file *sparse, size, tables int64) {
	const frames, packets, chunks = 172_800, 337_500, 14_400
	const frameSize, packetSize = 20_000, 400
	m := movieSpec{timescale: 1000, tracks: []trackSpec{video(stretch{1, 1}), sound(stretch{1, 1})}}
	root := m.build()
	payload := uint64(frames*frameSize + packets*packetSize)
	const start = 16
	at := uint64(start)
	var video, audio []byte
	for range chunks {
		video = binary.BigEndian.AppendUint64(video, at)
		at += frames / chunks * frameSize
		audio = binary.BigEndian.AppendUint64(audio, at)
		at += packets / chunks * packetSize
	}
	fillTables(root.at(stbl...), frames, frames/chunks, frameSize, 1, video)
	// 337,500 is no multiple of 14,400: the last chunk holds the rest.
	soundTables := root.at("moov").kids[2].at("mdia", "minf", "stbl")
	fillTables(soundTables, packets, packets/chunks, packetSize, 1024, audio)
	rest := uint32(packets - (chunks-1)*(packets/chunks))
	soundTables.at("stsc").data = w(0, 2, 1, packets/chunks, 1, chunks, rest, 1)
	head := append(w(1), "mdat"...)
	head = binary.BigEndian.AppendUint64(head, payload+16)
	tail := root.at("moov").bytes()
	end := int64(start + payload)
	return &sparse{parts: map[int64][]byte{0: head, end: tail}}, end + int64(len(tail)), int64(len(tail))
}

func fillTables(t *node, samples, per, size, delta uint32, offsets []byte) {
	t.at("stts").data = w(0, 1, samples, delta)
	t.at("stsc").data = w(0, 1, 1, per, 1)
	sizes := w(0, 0, samples)
	for range samples {
		sizes = binary.BigEndian.AppendUint32(sizes, size)
	}
	t.at("stsz").data = sizes
	t.at("stco").data = append(w(0, uint32(len(offsets)/8)), offsets...)
	t.at("stco").typ = "co64"
}

// TestLongMovie: half a million samples are checked in little memory, each
// table read once and the payload never (MP4-02, MP4-04).
func TestLongMovie(t *testing.T) {
	file, size, tables := longMovie()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	got, err := mp4.Check(file, size)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if got.Frames != 172_800 || got.Audio[0].Samples != 337_500 || got.FPSNumerator != 24 || got.MediaDurationUS != 7_200_000_000 {
		t.Errorf("got %+v", got)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("MP4-02: the check allocated %d bytes in all", used)
	}
	if file.read > tables+256<<10 {
		t.Errorf("the check read %d bytes for tables of %d", file.read, tables)
	}
}

func BenchmarkLongMovie(b *testing.B) {
	file, size, _ := longMovie()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := mp4.Check(file, size); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFragments is an hour at 24 frames a second in one fragment a frame.
func BenchmarkFragments(b *testing.B) {
	m := movieSpec{timescale: 1000, fragmented: true, tracks: []trackSpec{video(stretch{1, 1})}}
	root := m.build()
	raw := root.at("moov").bytes()
	for n := range uint32(86_400) {
		root.at("moof", "traf", "tfdt").put32(4, n)
		raw = append(append(raw, root.at("moof").bytes()...), root.at("mdat").bytes()...)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := checkBytes(raw); err != nil {
			b.Fatal(err)
		}
	}
}

// TestHugeCounts: declared counts cost neither memory nor time (MP4-02).
func TestHugeCounts(t *testing.T) {
	big := uint32(1<<32 - 1)
	root := progressive()
	tables := root.at(stbl...)
	tables.at("stts").data = w(0, 1, big, 1)
	tables.at("stsz").data = w(0, 1, big)
	tables.at("stsc").data = w(0, 1, 1, big, 1)
	_, err := checkBytes(root.file())
	wantCode(t, err, "mp4_chunk_range")

	root = fragmented()
	root.at("moof", "traf", "trun").data = w(0x1, big, 0) // all from defaults
	_, err = checkBytes(root.file())
	wantCode(t, err, "mp4_run_range")

	deep := box("trak", nil)
	for range 3_000 {
		deep = box("trak", nil, deep)
	}
	root = progressive()
	root.at("moov").kids = append(root.at("moov").kids, deep)
	_, err = checkBytes(root.file())
	wantCode(t, err, "mp4_missing_box")

	root = progressive()
	for range 300 {
		root.at("moov").kids = append(root.at("moov").kids, root.at("moov", "trak"))
	}
	_, err = checkBytes(root.file())
	wantCode(t, err, "mp4_too_many_tracks")
}

// manyBoxes is a file of empty boxes without end.
type manyBoxes struct{ typ string }

func (m manyBoxes) ReadAt(p []byte, off int64) (int, error) {
	unit := append(w(8), m.typ...)
	n := copy(p, unit[off%8:])
	for n < len(p) {
		n += copy(p[n:], unit)
	}
	return n, nil
}

// TestManyBoxes: the number of boxes is bounded (MP4-02).
func TestManyBoxes(t *testing.T) {
	for _, typ := range []string{"mdat", "moof"} {
		_, err := mp4.Check(manyBoxes{typ}, 1<<40)
		wantCode(t, err, "mp4_too_many_boxes")
	}
}

// TestTruncation cuts files at every byte (MP4-28). A cut succeeds only where
// nothing but boxes that are not needed is gone: here the trailing free box.
func TestTruncation(t *testing.T) {
	for name, build := range map[string]func() *node{"progressive": progressive, "fragmented": fragmented} {
		root := build()
		if name == "progressive" { // moov first, so that the cut reaches samples
			moov := root.at("moov")
			shift := uint32(len(moov.bytes()) + 8)
			root.kids = []*node{moov, root.at("mdat")}
			for i, trak := range moov.kids[1:] {
				trak.at("mdia", "minf", "stbl", "stco").put32(8, shift+uint32(48*i))
			}
		}
		needed := len(root.file())
		root.kids = append(root.kids, box("free", make([]byte, 5)))
		raw := root.file()
		for n := range raw {
			_, err := checkBytes(raw[:n])
			var refusal *binread.Error
			if n == needed {
				if err != nil {
					t.Errorf("MP4-28 %s without its trailing box: %v", name, err)
				}
			} else if !errors.As(err, &refusal) {
				t.Errorf("MP4-28 %s cut at %d: got %v, want a refusal", name, n, err)
			}
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, build := range []func() *node{progressive, fragmented} {
		f.Add(build().file())
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "corpus", "generated", "mp4_*"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no corpus files: %v", err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(raw) < 8<<10 {
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := mp4.Check(bytes.NewReader(raw), int64(len(raw)))
		var refusal *binread.Error
		if err != nil {
			if !errors.As(err, &refusal) {
				t.Fatalf("not a refusal: %v", err)
			}
			return
		}
		if got.Frames == 0 || got.FPSDenominator == 0 || got.Width == 0 || got.Height == 0 {
			t.Fatalf("accepted with %+v", got)
		}
	})
}
