// Package mp4 checks the structure of MP4 files and derives timing facts from
// their sample tables (MP4-01 to MP4-28).
//
// It owns boxes, tables and fragments. Sample payload is never read and nothing
// is said about decoding (MP4-26). Invariant: memory is bounded by the number
// of top-level boxes and the tracks, both capped; a table is read once, in
// order, in one bounded window, and never expanded; work is linear in the bytes
// of the boxes read.
package mp4

import (
	"io"
	"sort"

	"github.com/grill-plan/grill-plan/media/binread"
)

// Bounds that keep hostile files cheap (MP4-02). The depth of nesting needs no
// number: only the boxes named in this package are entered, at most seven deep.
const (
	maxBoxes     = 1 << 23 // headers read in one file
	maxTopLevel  = 1 << 20 // mdat and moof boxes each: days of fragments
	maxTracks    = 256
	maxEntries   = 256      // sample descriptions or data references of a track
	boxWindow    = 4 << 10  // read ahead inside moov and moof, in bytes
	tableWindow  = 32 << 10 // read ahead inside one table, in bytes
	selfContainF = 1        // flag of a data reference to this file
)

// Check reads the boxes of the size bytes of r. A refusal is a *binread.Error;
// any other error is the reader's own.
func Check(r io.ReaderAt, size int64) (Facts, error) {
	c := &checker{r: binread.New(r, size), boxes: maxBoxes}
	c.topLevel()
	if c.ok() {
		c.movie()
	}
	for i := 0; i < len(c.moofs) && c.ok(); i++ {
		c.fragment(i)
	}
	facts := c.facts()
	if err := c.r.Err(); err != nil {
		return Facts{}, err
	}
	return facts, nil
}

// extent is a range of the file.
type extent struct{ start, end int64 }

// checker holds what is known of one file.
type checker struct {
	r     *binread.Reader // the whole file, without read-ahead
	boxes int             // headers that may still be read

	moov  box
	mdats []extent // payloads, in file order (MP4-04)
	moofs []extent // whole boxes, in file order
	near  int      // index of the mdat that held the last chunk

	timescale uint64 // of the movie
	extends   bool   // mvex is present
	tracks    []*track
}

func (c *checker) ok() bool { return c.r.Err() == nil }

// fail refuses the file as malformed.
func (c *checker) fail(code string, offset int64, format string, args ...any) {
	c.r.Fail(binread.Malformed, code, offset, format, args...)
}

// refuse refuses the file as well-formed but outside the contract.
func (c *checker) refuse(code string, offset int64, format string, args ...any) {
	c.r.Fail(binread.Unsupported, code, offset, format, args...)
}

// topLevel lists the boxes of the file (MP4-01, MP4-04).
func (c *checker) topLevel() {
	for c.r.Left() > 0 {
		b, ok := c.next(c.r, true)
		if !ok {
			return
		}
		c.r.Skip(b.body.Left())
		switch b.typ {
		case "moov":
			if c.moov.body != nil {
				c.fail("mp4_repeated_box", b.start, "a second moov box")
			}
			c.moov = b
		case "mdat":
			c.mdats = append(c.mdats, extent{b.body.Pos(), b.body.End()})
		case "moof":
			c.moofs = append(c.moofs, extent{b.start, b.body.End()})
		}
		if len(c.mdats) > maxTopLevel || len(c.moofs) > maxTopLevel {
			c.refuse("mp4_too_many_boxes", b.start, "more than %d mdat or moof boxes", maxTopLevel)
		}
	}
	if c.ok() && c.moov.body == nil {
		c.fail("mp4_missing_box", c.r.End(), "the file has no moov box")
	}
}

// inPayload says whether n bytes at offset lie inside one mdat payload.
// Consecutive questions are mostly about the same or the next payload.
func (c *checker) inPayload(offset, n uint64) bool {
	end, ok := binread.Add(offset, n)
	if !ok || end > uint64(c.r.End()) {
		return false
	}
	holds := func(i int) bool {
		return i < len(c.mdats) && uint64(c.mdats[i].start) <= offset && end <= uint64(c.mdats[i].end)
	}
	if holds(c.near) {
		return true
	}
	// The last payload that starts at or before the offset; an empty chunk at
	// the border of two payloads belongs to either.
	after := sort.Search(len(c.mdats), func(i int) bool { return uint64(c.mdats[i].start) > offset })
	if after == 0 || !holds(after-1) {
		return false
	}
	c.near = after - 1
	return true
}
