package jpeg_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/grill-plan/grill-plan/media/binread"
	"github.com/grill-plan/grill-plan/media/jpeg"
)

func checkBytes(raw []byte) (jpeg.Facts, error) {
	return jpeg.Check(bytes.NewReader(raw), int64(len(raw)))
}

// TestVectors holds JPG-01 to JPG-07.
func TestVectors(t *testing.T) {
	for _, v := range readVectors(t) {
		t.Run("JPG-01 JPG-02 JPG-03 JPG-04 JPG-05 JPG-06 "+v.ID, func(t *testing.T) {
			got, err := checkBytes(v.Base64)
			if !v.Expect.Valid {
				var refusal *binread.Error
				if !errors.As(err, &refusal) {
					t.Fatalf("got %v, want a refusal", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Width != *v.Expect.Width || got.Height != *v.Expect.Height {
				t.Errorf("JPG-07: got %+v", got)
			}
		})
	}
}

// Parts of a small file.
var (
	start = []byte{0xFF, 0xD8}
	sof0  = []byte{0xFF, 0xC0, 0, 11, 8, 0, 2, 0, 3, 1, 1, 0x11, 0}
	scan  = []byte{0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0x12, 0xFF, 0, 0x34}
	end   = []byte{0xFF, 0xD9}
)

func TestStructure(t *testing.T) {
	frame := func(code byte) []byte { b := slices.Clone(sof0); b[1] = code; return b }
	with := func(b []byte, at int, v byte) []byte { b = slices.Clone(b); b[at] = v; return b }
	orientation := []byte{0xFF, 0xE1, 0, 10, 'E', 'x', 'i', 'f', 0, 0, 6, 6}
	cases := []struct {
		name  string
		parts [][]byte
		code  string
	}{
		{"JPG-02 TEM and restart outside a scan", [][]byte{start, {0xFF, 0x01, 0xFF, 0xD3}, sof0, scan, end}, ""},
		{"JPG-02 junk between segments", [][]byte{start, {0x00}, sof0, scan, end}, "jpeg_marker_expected"},
		{"JPG-02 FF 00 between segments", [][]byte{start, {0xFF, 0x00}, sof0, scan, end}, "jpeg_marker_expected"},
		{"JPG-02 segment length 0", [][]byte{start, {0xFF, 0xE0, 0, 0}, sof0, scan, end}, "jpeg_segment_length"},
		{"JPG-02 length cut", [][]byte{start, {0xFF, 0xE0, 0}}, "jpeg_truncated_segment"},
		{"JPG-03 length of two components", [][]byte{start, with(sof0, 9, 2), scan, end}, "jpeg_frame_length"},
		{"JPG-03 no components", [][]byte{start, {0xFF, 0xC0, 0, 8, 8, 0, 2, 0, 3, 0}, scan, end}, "jpeg_frame_length"},
		{"JPG-03 C4 is no frame", [][]byte{start, frame(0xC4), scan, end}, "jpeg_scan_before_frame"},
		{"JPG-03 C8 is no frame", [][]byte{start, frame(0xC8), scan, end}, "jpeg_scan_before_frame"},
		{"JPG-03 CC is no frame", [][]byte{start, frame(0xCC), scan, end}, "jpeg_scan_before_frame"},
		{"JPG-04 fill bytes in a scan", [][]byte{start, sof0, scan, {0xFF, 0xFF, 0xFF}, end}, ""},
		{"JPG-04 a table between scans", [][]byte{start, frame(0xC2), scan, {0xFF, 0xC4, 0, 3, 9}, scan, end}, ""},
		{"JPG-05 EOI ends the file early", [][]byte{start, sof0, scan, end, sof0, scan, end}, "jpeg_trailing_bytes"},
		{"JPG-06 DNL", [][]byte{start, with(sof0, 6, 0), scan, {0xFF, 0xDC, 0, 4, 0, 2}, end}, "jpeg_zero_size"},
		{"JPG-06 nested SOI", [][]byte{start, start, sof0, scan, end}, "jpeg_nested_soi"},
		{"JPG-06 frame after scan", [][]byte{start, sof0, scan, sof0, end}, "jpeg_repeated_frame"},
		{"JPG-08 orientation is ignored", [][]byte{start, orientation, sof0, scan, end}, ""},
	}
	for code := byte(0xC0); code <= 0xCF; code++ {
		if code != 0xC4 && code != 0xC8 && code != 0xCC {
			cases = append(cases, struct {
				name  string
				parts [][]byte
				code  string
			}{"JPG-03 frame kinds", [][]byte{start, frame(code), scan, end}, ""})
		}
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := checkBytes(slices.Concat(c.parts...))
			if c.code == "" {
				if err != nil || got.Width != 3 || got.Height != 2 {
					t.Fatalf("got %+v, %v", got, err)
				}
				return
			}
			var refusal *binread.Error
			if !errors.As(err, &refusal) || refusal.Code != c.code {
				t.Errorf("got %v, want a refusal with code %s", err, c.code)
			}
		})
	}
}

// TestLongScan puts FF 00 and restarts across the border of the read window
// (JPG-04).
func TestLongScan(t *testing.T) {
	for pad := 65_500; pad < 65_560; pad++ {
		raw := slices.Concat(start, sof0, scan, make([]byte, pad), []byte{0xFF, 0, 0xFF, 0xD0}, make([]byte, 70_000), []byte{0xFF}, end)
		if _, err := checkBytes(raw); err != nil {
			t.Fatalf("pad %d: %v", pad, err)
		}
	}
}

func TestTruncation(t *testing.T) {
	for _, id := range []string{"progressive-two-scans", "thumbnail-in-app", "restart-marker"} {
		raw := valid(t, id)
		for n := range raw {
			var refusal *binread.Error
			if _, err := checkBytes(raw[:n]); !errors.As(err, &refusal) {
				t.Errorf("JPG-06 %s cut at %d: got %v, want a refusal", id, n, err)
			}
		}
	}
}

type broken struct{}

var errDisk = errors.New("disk on fire")

func (broken) ReadAt([]byte, int64) (int, error) { return 0, errDisk }

func TestReadError(t *testing.T) {
	if _, err := jpeg.Check(broken{}, 100); !errors.Is(err, errDisk) {
		t.Errorf("got %v, want the reader's error", err)
	}
}

func FuzzCheck(f *testing.F) {
	for _, v := range readVectors(f) {
		f.Add(v.Base64)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := checkBytes(raw)
		var refusal *binread.Error
		switch {
		case err != nil:
			if !errors.As(err, &refusal) {
				t.Fatalf("not a refusal: %v", err)
			}
		case got.Width == 0 || got.Height == 0 || !bytes.HasPrefix(raw, start) || !bytes.HasSuffix(raw, end):
			t.Fatalf("accepted with %+v", got)
		}
	})
}
