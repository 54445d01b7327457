// Package binread reads binary formats from an io.ReaderAt without trusting
// them: every read is checked against the bytes that are left, and the first
// failure sticks, so a parser reads a whole structure and asks once.
//
// It owns bounds, buffering and the shape of a refusal (Error). It knows no
// format. Invariant: memory is bounded by the read-ahead windows whatever a
// file declares, and no byte outside a Reader's range is ever requested from
// the source.
package binread

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// core is what all readers of one file share: the source and the first error.
type core struct {
	src  io.ReaderAt
	size int64
	err  error
}

// window is a buffer of consecutive bytes of the source.
type window struct {
	buf   []byte
	start int64 // file offset of buf[0]
	limit int64 // no fill goes beyond this offset
	ahead int   // how much a fill asks for at least
}

// Reader is a cursor over a range of a file. After the first error all reads
// return zero values and do nothing. Not safe for concurrent use.
type Reader struct {
	c        *core
	w        *window
	pos, end int64
}

// maxExact bounds what Bytes hands out at once.
const maxExact = 64 << 10

// New reads the size bytes of src. It asks the source for exactly the bytes
// that are needed; Buffered gives a reader that reads ahead.
func New(src io.ReaderAt, size int64) *Reader {
	if size < 0 {
		size = 0
	}
	return &Reader{c: &core{src: src, size: size}, w: &window{limit: size}, end: size}
}

// Buffered is a reader over the next n bytes with a read-ahead window of its
// own, never reading past those n bytes. It shares the sticky error and does
// not move r. If fewer than n bytes are left that is a Truncated error.
func (r *Reader) Buffered(n int64, ahead int) *Reader {
	s := r.Section(n)
	s.w = &window{limit: s.end, ahead: ahead}
	return s
}

// Range is a reader over the file offsets from start up to end, cut to what New
// was given, with a read-ahead window of its own. It shares the sticky error.
func (r *Reader) Range(start, end int64, ahead int) *Reader {
	end = max(0, min(end, r.c.size))
	start = max(0, min(start, end))
	return &Reader{c: r.c, w: &window{limit: end, ahead: ahead}, pos: start, end: end}
}

// Section is a reader over the next n bytes that shares the window and the
// sticky error. It does not move r. If fewer than n bytes are left that is a
// Truncated error and the section is empty.
func (r *Reader) Section(n int64) *Reader {
	if !r.Need(n) {
		return &Reader{c: r.c, w: r.w, pos: r.pos, end: r.pos}
	}
	return &Reader{c: r.c, w: r.w, pos: r.pos, end: r.pos + n}
}

// Err is the first error: an *Error, or the wrapped error of the source.
func (r *Reader) Err() error { return r.c.err }

// Pos is the file offset of the next byte.
func (r *Reader) Pos() int64 { return r.pos }

// End is the file offset behind the last byte of the range.
func (r *Reader) End() int64 { return r.end }

// Left is how many bytes are left in the range; 0 after an error.
func (r *Reader) Left() int64 {
	if r.c.err != nil {
		return 0
	}
	return r.end - r.pos
}

// Fail records a refusal at a file offset, unless there is an error already,
// and returns the sticky error.
func (r *Reader) Fail(kind Kind, code string, offset int64, format string, args ...any) error {
	if r.c.err == nil {
		r.c.err = &Error{Kind: kind, Code: code, Offset: offset, Message: fmt.Sprintf(format, args...)}
	}
	return r.c.err
}

// Need fails as truncated unless n more bytes are left in the range.
func (r *Reader) Need(n int64) bool {
	if r.c.err != nil {
		return false
	}
	if n < 0 || n > r.end-r.pos {
		r.Fail(Truncated, "truncated", r.pos, "%d bytes are needed and %d are left", n, r.end-r.pos)
		return false
	}
	return true
}

// Fits says whether count items of each bytes fit into the bytes that are
// left. Ask before allocating or looping by a declared count.
func (r *Reader) Fits(count uint64, each int64) bool {
	if r.c.err != nil || each < 0 {
		return false
	}
	return each == 0 || count <= uint64(r.end-r.pos)/uint64(each)
}

// Skip moves over n bytes without reading them.
func (r *Reader) Skip(n int64) {
	if r.Need(n) {
		r.pos += n
	}
}

// Bytes returns the next n bytes (at most 64 KiB) and moves over them. They
// are valid until the next read of any reader that shares the window; nil
// after an error.
func (r *Reader) Bytes(n int) []byte {
	if n < 0 || n > maxExact {
		r.Fail(Unsupported, "item_too_large", r.pos, "an item of %d bytes is read at once", n)
	}
	if !r.Need(int64(n)) || !r.fill(n) {
		return nil
	}
	at := int(r.pos - r.w.start)
	r.pos += int64(n)
	return r.w.buf[at : at+n]
}

// Peek returns at least one and at most a window of the next bytes without
// moving; nil at the end of the range or after an error.
func (r *Reader) Peek() []byte {
	if r.Left() == 0 || !r.fill(1) {
		return nil
	}
	at := r.pos - r.w.start
	return r.w.buf[at:min(int64(len(r.w.buf)), at+r.end-r.pos)]
}

// fill makes n bytes at pos available in the window.
func (r *Reader) fill(n int) bool {
	w := r.w
	if r.pos >= w.start && r.pos+int64(n) <= w.start+int64(len(w.buf)) {
		return true
	}
	want := int(min(int64(max(n, w.ahead)), w.limit-r.pos))
	if cap(w.buf) < want {
		w.buf = make([]byte, want)
	}
	w.buf, w.start = w.buf[:want], r.pos
	got, err := r.c.src.ReadAt(w.buf, r.pos)
	if got == want {
		return true
	}
	w.buf = w.buf[:0]
	if err == nil {
		err = io.ErrNoProgress
	}
	if errors.Is(err, io.EOF) {
		r.Fail(Truncated, "truncated", r.pos+int64(got), "the file ends before its declared size")
		return false
	}
	if r.c.err == nil {
		r.c.err = fmt.Errorf("read %d bytes at byte %d: %w", want, r.pos, err)
	}
	return false
}

// U8 reads one byte.
func (r *Reader) U8() uint8 {
	if b := r.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// U16BE reads 2 bytes, most significant first.
func (r *Reader) U16BE() uint16 {
	if b := r.Bytes(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

// U32BE reads 4 bytes, most significant first.
func (r *Reader) U32BE() uint32 {
	if b := r.Bytes(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// U64BE reads 8 bytes, most significant first.
func (r *Reader) U64BE() uint64 {
	if b := r.Bytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// U16LE reads 2 bytes, least significant first.
func (r *Reader) U16LE() uint16 {
	if b := r.Bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// U32LE reads 4 bytes, least significant first.
func (r *Reader) U32LE() uint32 {
	if b := r.Bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// FourCC reads 4 bytes as a string.
func (r *Reader) FourCC() string { return string(r.Bytes(4)) }
