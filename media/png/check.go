// Package png checks the framing of PNG files (PNG-01 to PNG-06).
//
// It owns chunks and their checksums. Pixel data are not decompressed and
// nothing is said about them (PNG-07). Invariant: memory does not depend on the
// file; every byte is read once.
package png

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/grill-plan/grill-plan/media/binread"
)

// Facts of a PNG, in pixels.
type Facts struct {
	Width, Height uint64
}

const (
	maxLength  = 1<<31 - 1 // of chunk data, width and height (PNG-02, PNG-03)
	headerSize = 13
	ahead      = 64 << 10
)

// signature is fixed by PNG-01.
const signature = "\x89PNG\r\n\x1a\n"

// Check reads all size bytes of r. A refusal is a *binread.Error; any other
// error is the reader's own.
func Check(r io.ReaderAt, size int64) (Facts, error) {
	all := binread.New(r, size)
	c := checker{r: all.Buffered(size, ahead)}
	c.signature()
	for c.r.Err() == nil && !c.ended {
		c.chunk()
	}
	if err := c.r.Err(); err != nil {
		return Facts{}, err
	}
	return c.facts, nil
}

type checker struct {
	r      *binread.Reader
	facts  Facts
	header bool // IHDR was read
	data   bool // an IDAT was seen
	ended  bool
}

func (c *checker) signature() {
	if c.r.Left() < int64(len(signature)) {
		c.r.Fail(binread.Truncated, "png_signature", 0, "the file is too short for the PNG signature")
		return
	}
	if string(c.r.Bytes(len(signature))) != signature {
		c.r.Fail(binread.Malformed, "png_signature", 0, "the file does not start with the PNG signature")
	}
}

// chunk reads one chunk: length, type, data, CRC over type and data.
func (c *checker) chunk() {
	start := c.r.Pos()
	if c.r.Left() == 0 {
		c.r.Fail(binread.Truncated, "png_missing_iend", start, "the file ends without an IEND chunk")
		return
	}
	if c.r.Left() < 12 {
		c.r.Fail(binread.Truncated, "png_truncated_chunk", start, "%d bytes are too few for a chunk", c.r.Left())
		return
	}
	length := int64(c.r.U32BE())
	var typ [4]byte
	copy(typ[:], c.r.Bytes(4))
	if c.r.Err() != nil || !c.admit(typ, length, start) {
		return
	}
	if length > c.r.Left()-4 {
		c.r.Fail(binread.Truncated, "png_truncated_chunk", start,
			"chunk %q declares %d bytes and %d are left with its checksum", typ[:], length, c.r.Left())
		return
	}
	sum := crc32.ChecksumIEEE(typ[:])
	if string(typ[:]) == "IHDR" {
		sum = c.ihdr(sum, start)
	} else {
		sum = c.body(sum, length)
	}
	if stored := c.r.U32BE(); c.r.Err() == nil && stored != sum {
		c.r.Fail(binread.Malformed, "png_crc", start, "checksum of chunk %q is %08x and should be %08x", typ[:], stored, sum)
		return
	}
	c.after(typ)
}

// admit holds the rules on a chunk's place and length before its data.
func (c *checker) admit(typ [4]byte, length, start int64) bool {
	name := string(typ[:])
	switch {
	case length > maxLength:
		c.r.Fail(binread.Malformed, "png_chunk_length", start, "chunk %q declares %d bytes, more than PNG allows", name, length)
	case !c.header && name != "IHDR":
		c.r.Fail(binread.Malformed, "png_missing_ihdr", start, "the first chunk is %q and not IHDR", name)
	case c.header && name == "IHDR":
		c.r.Fail(binread.Malformed, "png_repeated_ihdr", start, "a second IHDR chunk")
	case name == "IHDR" && length != headerSize:
		c.r.Fail(binread.Malformed, "png_ihdr_length", start, "IHDR has %d bytes and not %d", length, headerSize)
	case name == "IEND" && length != 0:
		c.r.Fail(binread.Malformed, "png_iend_length", start, "IEND has %d bytes and not 0", length)
	}
	return c.r.Err() == nil
}

// body adds length bytes of data to a checksum.
func (c *checker) body(sum uint32, length int64) uint32 {
	for length > 0 {
		p := c.r.Peek()
		if p == nil {
			return sum
		}
		if int64(len(p)) > length {
			p = p[:length]
		}
		sum = crc32.Update(sum, crc32.IEEETable, p)
		c.r.Skip(int64(len(p)))
		length -= int64(len(p))
	}
	return sum
}

// ihdr reads the header. Its fields are judged here although the checksum
// follows: a refusal is the same either way.
func (c *checker) ihdr(sum uint32, start int64) uint32 {
	b := c.r.Bytes(headerSize)
	if b == nil {
		return sum
	}
	sum = crc32.Update(sum, crc32.IEEETable, b)
	width, height := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	c.facts = Facts{Width: uint64(width), Height: uint64(height)}
	c.header = true
	switch {
	case width == 0 || height == 0:
		c.r.Fail(binread.Malformed, "png_zero_size", start, "width %d and height %d must be at least 1", width, height)
	case width > maxLength || height > maxLength:
		c.r.Fail(binread.Malformed, "png_size_range", start, "width %d and height %d must be at most %d", width, height, maxLength)
	case !depthAllowed(b[9], b[8]):
		c.r.Fail(binread.Malformed, "png_colour", start, "PNG has no colour type %d with bit depth %d", b[9], b[8])
	case b[10] != 0:
		c.r.Fail(binread.Malformed, "png_compression", start, "PNG has no compression method %d", b[10])
	case b[11] != 0:
		c.r.Fail(binread.Malformed, "png_filter", start, "PNG has no filter method %d", b[11])
	case b[12] > 1:
		c.r.Fail(binread.Malformed, "png_interlace", start, "PNG has no interlace method %d", b[12])
	}
	return sum
}

// depthAllowed holds PNG's table of colour types and bit depths (PNG-04).
func depthAllowed(colour, depth uint8) bool {
	switch colour {
	case 0:
		return bytes.IndexByte([]byte{1, 2, 4, 8, 16}, depth) >= 0
	case 3:
		return bytes.IndexByte([]byte{1, 2, 4, 8}, depth) >= 0
	case 2, 4, 6:
		return depth == 8 || depth == 16
	}
	return false
}

// after holds the rules that need a whole chunk.
func (c *checker) after(typ [4]byte) {
	switch string(typ[:]) {
	case "IDAT":
		c.data = true
	case "IEND":
		c.ended = true
		if !c.data {
			c.r.Fail(binread.Malformed, "png_missing_idat", c.r.Pos(), "no IDAT chunk before IEND")
		} else if c.r.Left() > 0 {
			c.r.Fail(binread.Malformed, "png_trailing_bytes", c.r.Pos(), "%d bytes follow IEND", c.r.Left())
		}
	}
}
