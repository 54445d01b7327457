package png_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/grill-plan/grill-plan/media/binread"
	"github.com/grill-plan/grill-plan/media/png"
)

func checkBytes(raw []byte) (png.Facts, error) {
	return png.Check(bytes.NewReader(raw), int64(len(raw)))
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var refusal *binread.Error
	if !errors.As(err, &refusal) || refusal.Code != code {
		t.Errorf("got %v, want a refusal with code %s", err, code)
	}
}

// TestVectors holds PNG-01 to PNG-07.
func TestVectors(t *testing.T) {
	for _, v := range readVectors(t) {
		t.Run("PNG-01 PNG-02 PNG-03 PNG-04 PNG-05 PNG-06 "+v.ID, func(t *testing.T) {
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
				t.Errorf("PNG-07: got %+v", got)
			}
		})
	}
}

func chunk(typ string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, typ...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

func header(width, height uint32, rest ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, width)
	b = binary.BigEndian.AppendUint32(b, height)
	return chunk("IHDR", append(b, rest...))
}

func file(chunks ...[]byte) []byte {
	return append([]byte("\x89PNG\r\n\x1a\n"), slices.Concat(chunks...)...)
}

func TestHeaderFields(t *testing.T) {
	idat, iend := chunk("IDAT", nil), chunk("IEND", nil)
	ok := []byte{8, 2, 0, 0, 0}
	cases := []struct {
		name string
		ihdr []byte
		code string
	}{
		{"PNG-02 largest", header(1<<31-1, 1<<31-1, ok...), ""},
		{"PNG-02 width 2^31", header(1<<31, 1, ok...), "png_size_range"},
		{"PNG-02 height 2^31", header(1, 1<<31, ok...), "png_size_range"},
		{"PNG-02 height 0", header(1, 0, ok...), "png_zero_size"},
		{"PNG-02 length 12", chunk("IHDR", make([]byte, 12)), "png_ihdr_length"},
		{"PNG-02 length 14", chunk("IHDR", make([]byte, 14)), "png_ihdr_length"},
		{"PNG-04 colour 1", header(1, 1, 8, 1, 0, 0, 0), "png_colour"},
		{"PNG-04 palette of 16 bits", header(1, 1, 16, 3, 0, 0, 0), "png_colour"},
		{"PNG-04 grey of 3 bits", header(1, 1, 3, 0, 0, 0, 0), "png_colour"},
		{"PNG-04 rgb of 4 bits", header(1, 1, 4, 2, 0, 0, 0), "png_colour"},
		{"PNG-04 compression", header(1, 1, 8, 2, 1, 0, 0), "png_compression"},
		{"PNG-04 filter", header(1, 1, 8, 2, 0, 1, 0), "png_filter"},
		{"PNG-04 interlace", header(1, 1, 8, 2, 0, 0, 2), "png_interlace"},
		{"PNG-04 Adam7", header(1, 1, 8, 2, 0, 0, 1), ""},
		{"PNG-04 grey of 1 bit", header(1, 1, 1, 0, 0, 0, 0), ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := checkBytes(file(c.ihdr, idat, iend))
			if c.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantCode(t, err, c.code)
		})
	}
}

// TestLargeChunk crosses the read window and counts every byte (PNG-03).
func TestLargeChunk(t *testing.T) {
	data := bytes.Repeat([]byte("grill"), 60_000)
	raw := file(header(4, 4, 8, 2, 0, 0, 0), chunk("IDAT", data), chunk("IEND", nil))
	if _, err := checkBytes(raw); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{50, 65_535, 65_536, 200_000, len(raw) - 20} {
		raw[at] ^= 1
		_, err := checkBytes(raw)
		wantCode(t, err, "png_crc")
		raw[at] ^= 1
	}
	overlong := file(header(4, 4, 8, 2, 0, 0, 0), binary.BigEndian.AppendUint32(nil, 1<<31), []byte("IDAT"), make([]byte, 40))
	_, err := checkBytes(overlong)
	wantCode(t, err, "png_chunk_length")
}

// TestMetadata: other metadata are other bytes and the same facts (PNG-09).
func TestMetadata(t *testing.T) {
	plain, text := valid(t, "valid"), valid(t, "text-chunk")
	a, errA := checkBytes(plain)
	b, errB := checkBytes(text)
	if errA != nil || errB != nil || a != b || bytes.Equal(plain, text) {
		t.Errorf("PNG-09: got %+v %v and %+v %v", a, errA, b, errB)
	}
}

func TestTruncation(t *testing.T) {
	raw := valid(t, "text-chunk")
	for n := range raw {
		var refusal *binread.Error
		if _, err := checkBytes(raw[:n]); !errors.As(err, &refusal) {
			t.Errorf("PNG-06 cut at %d: got %v, want a refusal", n, err)
		}
	}
}

// TestEveryByteCounts: no byte of a file can change without being noticed, but
// for those that only name other facts.
func TestEveryByteCounts(t *testing.T) {
	raw := valid(t, "text-chunk")
	for i := range raw {
		raw[i] ^= 0x10
		if _, err := checkBytes(raw); err == nil {
			t.Errorf("PNG-03: byte %d changed unnoticed", i)
		}
		raw[i] ^= 0x10
	}
}

type broken struct{}

var errDisk = errors.New("disk on fire")

func (broken) ReadAt([]byte, int64) (int, error) { return 0, errDisk }

func TestReadError(t *testing.T) {
	if _, err := png.Check(broken{}, 100); !errors.Is(err, errDisk) {
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
		if err == nil && (got.Width == 0 || got.Height == 0) || err != nil && !errors.As(err, &refusal) {
			t.Fatalf("got %+v, %v", got, err)
		}
	})
}
