package binread_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/grill-plan/grill-plan/media/binread"
)

func wantError(t *testing.T, err error, kind binread.Kind, code string, offset int64) {
	t.Helper()
	var got *binread.Error
	if !errors.As(err, &got) {
		t.Fatalf("got %v, want a binread.Error", err)
	}
	if got.Kind != kind || got.Code != code || got.Offset != offset {
		t.Errorf("got %s %s at %d, want %s %s at %d", got.Kind, got.Code, got.Offset, kind, code, offset)
	}
}

func TestNumbers(t *testing.T) {
	raw := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25}
	r := binread.New(bytes.NewReader(raw), int64(len(raw)))
	if r.U8() != 1 || r.U16BE() != 0x0203 || r.U32BE() != 0x04050607 || r.U64BE() != 0x08090A0B0C0D0E0F ||
		r.U16LE() != 0x1110 || r.U32LE() != 0x15141312 || r.FourCC() != "\x16\x17\x18\x19" || r.Err() != nil {
		t.Fatalf("wrong numbers, or %v", r.Err())
	}
	if r.U8() != 0 {
		t.Error("a read past the end gave a value")
	}
	wantError(t, r.Err(), binread.Truncated, "truncated", 25)
}

func TestFirstErrorSticks(t *testing.T) {
	r := binread.New(bytes.NewReader(make([]byte, 10)), 10)
	part := r.Section(4)
	part.Skip(5)
	wantError(t, r.Err(), binread.Truncated, "truncated", 0)
	r.Fail(binread.Malformed, "later", 3, "later")
	wantError(t, r.Err(), binread.Truncated, "truncated", 0)
	if r.Left() != 0 || r.Bytes(1) != nil || r.Peek() != nil || r.Fits(1, 1) || r.Section(1).Left() != 0 {
		t.Error("a reader works after an error")
	}
	if !strings.Contains(r.Err().Error(), "byte 0") {
		t.Errorf("the message does not name the place: %v", r.Err())
	}
}

func TestFits(t *testing.T) {
	r := binread.New(bytes.NewReader(make([]byte, 24)), 24)
	for _, c := range []struct {
		count uint64
		each  int64
		want  bool
	}{{3, 8, true}, {4, 8, false}, {1<<64 - 1, 1, false}, {1<<61 + 1, 8, false}, {1<<64 - 1, 0, true}, {0, 100, true}, {1, -1, false}} {
		if got := r.Fits(c.count, c.each); got != c.want {
			t.Errorf("Fits(%d, %d) = %v", c.count, c.each, got)
		}
	}
}

func TestNegativeAndHugeLengths(t *testing.T) {
	for _, use := range []func(*binread.Reader){
		func(r *binread.Reader) { r.Skip(-1) },
		func(r *binread.Reader) { r.Section(-1) },
		func(r *binread.Reader) { r.Skip(1 << 62) },
		func(r *binread.Reader) { r.Bytes(-1) },
		func(r *binread.Reader) { r.Bytes(1 << 30) },
	} {
		r := binread.New(bytes.NewReader(make([]byte, 24)), 24)
		if use(r); r.Err() == nil {
			t.Error("no error")
		}
	}
}

// faulty fails, or ends, at an offset.
type faulty struct {
	at  int64
	err error
}

func (f faulty) ReadAt(p []byte, off int64) (int, error) {
	n := int(max(0, min(int64(len(p)), f.at-off)))
	if n < len(p) {
		return n, f.err
	}
	return n, nil
}

func TestSourceErrors(t *testing.T) {
	disk := errors.New("disk on fire")
	r := binread.New(faulty{4, disk}, 10).Buffered(10, 64)
	r.U8()
	var refusal *binread.Error
	if err := r.Err(); !errors.Is(err, disk) || errors.As(err, &refusal) {
		t.Errorf("got %v, want the source's own error", err)
	}
	r = binread.New(faulty{4, io.EOF}, 10)
	r.Skip(2)
	r.U32BE()
	wantError(t, r.Err(), binread.Truncated, "truncated", 4)
	r = binread.New(faulty{4, nil}, 10)
	r.U64BE()
	if !errors.Is(r.Err(), io.ErrNoProgress) {
		t.Errorf("got %v for a reader that breaks its contract", r.Err())
	}
}

// watched fails the test when a byte outside its range is asked for.
type watched struct {
	t    *rapid.T
	raw  []byte
	low  int64
	high int64
}

func (w watched) ReadAt(p []byte, off int64) (int, error) {
	if off < w.low || off+int64(len(p)) > w.high {
		w.t.Fatalf("read of %d to %d outside %d to %d", off, off+int64(len(p)), w.low, w.high)
	}
	return copy(p, w.raw[off:]), nil
}

// TestReadsAreTheBytes: any walk gives the bytes of the file, and asks for no
// byte outside the range of the reader.
func TestReadsAreTheBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "raw")
		start := rapid.IntRange(0, len(raw)).Draw(t, "start")
		end := rapid.IntRange(start, len(raw)).Draw(t, "end")
		ahead := rapid.IntRange(0, 40).Draw(t, "ahead")
		src := watched{t, raw, int64(start), int64(end)}
		r := binread.New(src, int64(len(raw))).Range(int64(start), int64(end), ahead)
		for r.Left() > 0 {
			at, n := r.Pos(), rapid.IntRange(1, 20).Draw(t, "n")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				p := r.Peek()
				if len(p) == 0 || !bytes.Equal(p, raw[at:at+int64(len(p))]) || at+int64(len(p)) > int64(end) {
					t.Fatalf("peek at %d gave %v", at, p)
				}
				r.Skip(1)
			case 1:
				n = min(n, int(r.Left()))
				if p := r.Bytes(n); !bytes.Equal(p, raw[at:at+int64(n)]) {
					t.Fatalf("%d bytes at %d gave %v", n, at, p)
				}
			case 2:
				n = min(n, int(r.Left()))
				part := r.Section(int64(n))
				if p := part.Bytes(n); !bytes.Equal(p, raw[at:at+int64(n)]) || part.Left() != 0 {
					t.Fatalf("section of %d bytes at %d gave %v", n, at, p)
				}
				r.Skip(int64(n / 2))
			case 3:
				if r.Left() >= 4 {
					if v := r.U32BE(); v != binary.BigEndian.Uint32(raw[at:]) {
						t.Fatalf("number at %d: %d", at, v)
					}
				} else {
					r.Skip(1)
				}
			}
		}
		if r.Err() != nil || r.Pos() != int64(end) {
			t.Fatalf("ended at %d with %v", r.Pos(), r.Err())
		}
	})
}

func TestArithmetic(t *testing.T) {
	const top = 1<<64 - 1
	if _, ok := binread.Add(top, 1); ok {
		t.Error("MP4-05: 2^64-1 + 1 fits")
	}
	if v, ok := binread.Add(top-1, 1); !ok || v != top {
		t.Error("MP4-05: 2^64-2 + 1 does not fit")
	}
	if _, ok := binread.Mul(1<<32, 1<<32); ok {
		t.Error("MP4-05: 2^32 × 2^32 fits")
	}
	if v, ok := binread.Mul(1<<32, 1<<31); !ok || v != 1<<63 {
		t.Error("MP4-05: 2^32 × 2^31 does not fit")
	}
	if _, ok := binread.Microseconds(top, 1000); ok {
		t.Error("MP4-05: 2^64-1 milliseconds fit")
	}
	if _, ok := binread.Microseconds(1, 0); ok {
		t.Error("MP4-05: a rate of 0 fits")
	}
}
