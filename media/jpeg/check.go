// Package jpeg checks the framing of JPEG files (JPG-01 to JPG-06).
//
// It owns the marker stream: segments, scans and the end. Nothing is decoded
// (JPG-07). Invariant: memory does not depend on the file; every byte of scan
// data is looked at once.
package jpeg

import (
	"bytes"
	"io"

	"github.com/grill-plan/grill-plan/media/binread"
)

// Facts of a JPEG, in pixels, without orientation (JPG-08).
type Facts struct {
	Width, Height uint64
}

const (
	soi   = 0xD8
	eoi   = 0xD9
	sos   = 0xDA
	tem   = 0x01
	ahead = 64 << 10
)

// Check reads the markers of the size bytes of r. A refusal is a
// *binread.Error; any other error is the reader's own.
func Check(r io.ReaderAt, size int64) (Facts, error) {
	all := binread.New(r, size)
	c := checker{r: all.Buffered(size, ahead)}
	c.start()
	for c.r.Err() == nil && !c.ended {
		c.marker()
	}
	if err := c.r.Err(); err != nil {
		return Facts{}, err
	}
	return c.facts, nil
}

type checker struct {
	r     *binread.Reader
	facts Facts
	frame bool // a frame header was read
	scan  bool // a scan was read
	ended bool
}

func (c *checker) start() {
	if c.r.Left() < 2 {
		c.r.Fail(binread.Truncated, "jpeg_missing_soi", 0, "the file is too short for a JPEG")
		return
	}
	if c.r.U16BE() != 0xFF00|soi && c.r.Err() == nil {
		c.r.Fail(binread.Malformed, "jpeg_missing_soi", 0, "the file does not start with FF D8")
	}
}

// next reads FF, fill bytes and a marker code (JPG-02).
func (c *checker) next() (code uint8, start int64) {
	start = c.r.Pos()
	if c.r.Left() < 2 {
		c.r.Fail(binread.Truncated, "jpeg_missing_eoi", start, "the file ends without FF D9")
		return 0, start
	}
	if b := c.r.U8(); b != 0xFF && c.r.Err() == nil {
		c.r.Fail(binread.Malformed, "jpeg_marker_expected", start, "byte %#02x stands where a marker should", b)
	}
	for c.r.Err() == nil {
		if c.r.Left() == 0 {
			c.r.Fail(binread.Truncated, "jpeg_missing_eoi", start, "the file ends inside a marker")
			return 0, start
		}
		if code = c.r.U8(); code != 0xFF {
			break
		}
	}
	return code, start
}

func (c *checker) marker() {
	code, start := c.next()
	switch {
	case c.r.Err() != nil:
	case code == 0:
		c.r.Fail(binread.Malformed, "jpeg_marker_expected", start, "FF 00 stands outside a scan")
	case code == eoi:
		c.end(start)
	case code == soi:
		c.r.Fail(binread.Malformed, "jpeg_nested_soi", start, "a second FF D8 outside a segment")
	case code == tem || isRestart(code):
	case isFrame(code):
		c.frameHeader(start)
	case code == sos:
		c.startScan(start)
	default:
		c.r.Skip(c.segment(start))
	}
}

func isRestart(code uint8) bool { return code >= 0xD0 && code <= 0xD7 }

// isFrame says whether a marker starts a frame (JPG-03).
func isFrame(code uint8) bool {
	return code >= 0xC0 && code <= 0xCF && code != 0xC4 && code != 0xC8 && code != 0xCC
}

// segment reads a length field and returns how many bytes follow it.
func (c *checker) segment(start int64) int64 {
	if c.r.Left() < 2 {
		c.r.Fail(binread.Truncated, "jpeg_truncated_segment", start, "the file ends inside a segment length")
		return 0
	}
	length := int64(c.r.U16BE())
	switch {
	case c.r.Err() != nil:
	case length < 2:
		c.r.Fail(binread.Malformed, "jpeg_segment_length", start, "segment length %d is below 2", length)
	case length-2 > c.r.Left():
		c.r.Fail(binread.Truncated, "jpeg_truncated_segment", start, "a segment of %d bytes has %d left", length-2, c.r.Left())
	default:
		return length - 2
	}
	return 0
}

// frameHeader reads the dimensions (JPG-03, JPG-06).
func (c *checker) frameHeader(start int64) {
	n := c.segment(start)
	switch {
	case c.r.Err() != nil:
		return
	case c.frame:
		c.r.Fail(binread.Malformed, "jpeg_repeated_frame", start, "a second frame header")
		return
	case n < 6:
		c.r.Fail(binread.Malformed, "jpeg_frame_length", start, "a frame header of %d bytes is too short", n)
		return
	}
	c.r.U8() // precision says nothing about framing
	height, width, components := c.r.U16BE(), c.r.U16BE(), int64(c.r.U8())
	switch {
	case c.r.Err() != nil:
	case n != 6+3*components:
		c.r.Fail(binread.Malformed, "jpeg_frame_length", start, "a frame header of %d components has %d bytes", components, n)
	case components == 0:
		c.r.Fail(binread.Malformed, "jpeg_frame_length", start, "a frame header without components")
	case width == 0 || height == 0:
		c.r.Fail(binread.Malformed, "jpeg_zero_size", start, "width %d and height %d must be at least 1", width, height)
	}
	c.r.Skip(3 * components)
	c.frame = true
	c.facts = Facts{Width: uint64(width), Height: uint64(height)}
}

// startScan skips a scan header and its entropy-coded data (JPG-04).
func (c *checker) startScan(start int64) {
	if !c.frame {
		c.r.Fail(binread.Malformed, "jpeg_scan_before_frame", start, "a scan starts before a frame header")
		return
	}
	c.r.Skip(c.segment(start))
	c.scan = true
	for {
		if !c.nextFF() {
			c.r.Fail(binread.Truncated, "jpeg_truncated_scan", start, "the file ends inside a scan")
			return
		}
		p := c.r.Peek()
		if len(p) < 2 && c.r.Left() >= 2 {
			p = c.pair()
		}
		if len(p) < 2 {
			c.r.Fail(binread.Truncated, "jpeg_truncated_scan", start, "the file ends inside a scan")
			return
		}
		switch {
		case p[1] == 0 || isRestart(p[1]):
			c.r.Skip(2)
		case p[1] == 0xFF: // a fill byte
			c.r.Skip(1)
		default:
			return
		}
	}
}

// pair looks at two bytes that straddle the window's end.
func (c *checker) pair() []byte {
	return c.r.Section(2).Bytes(2)
}

// nextFF moves to the next FF byte.
func (c *checker) nextFF() bool {
	for {
		p := c.r.Peek()
		if p == nil {
			return false
		}
		if i := bytes.IndexByte(p, 0xFF); i >= 0 {
			c.r.Skip(int64(i))
			return true
		}
		c.r.Skip(int64(len(p)))
	}
}

// end judges EOI: it must be the last marker of a complete file (JPG-05).
func (c *checker) end(start int64) {
	c.ended = true
	switch {
	case !c.frame:
		c.r.Fail(binread.Malformed, "jpeg_missing_frame", start, "the file has no frame header")
	case !c.scan:
		c.r.Fail(binread.Malformed, "jpeg_missing_scan", start, "the file has no scan")
	case c.r.Left() > 0:
		c.r.Fail(binread.Malformed, "jpeg_trailing_bytes", c.r.Pos(), "%d bytes follow FF D9", c.r.Left())
	}
}
