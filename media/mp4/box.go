package mp4

import (
	"encoding/binary"

	"github.com/grill-plan/grill-plan/media/binread"
)

// box is one box: where it starts and a reader over its payload.
type box struct {
	typ   string
	start int64
	body  *binread.Reader
}

// Sizes of box headers.
const (
	headerSize     = 8
	longHeaderSize = 16
	uuidSize       = 16 // the extended type of a uuid box
)

// next reads the header of the next box in r and moves r to its payload
// (MP4-01). A size of 0 is admitted at top level only.
func (c *checker) next(r *binread.Reader, top bool) (box, bool) {
	start := r.Pos()
	if c.boxes--; c.boxes < 0 {
		c.refuse("mp4_too_many_boxes", start, "more than %d boxes", maxBoxes)
	}
	if c.ok() && r.Left() < headerSize {
		c.r.Fail(binread.Truncated, "mp4_truncated_box", start, "%d bytes are too few for a box header", r.Left())
	}
	if !c.ok() {
		return box{}, false
	}
	left := uint64(r.Left())
	head := r.Bytes(headerSize) // one read: at top level nothing is read ahead
	if head == nil {
		return box{}, false
	}
	size, typ := uint64(binary.BigEndian.Uint32(head)), string(head[4:])
	smallest := uint64(headerSize)
	switch {
	case size == 0 && top:
		size = left
	case size == 1 && left >= longHeaderSize:
		smallest, size = longHeaderSize, r.U64BE()
	}
	header := int64(smallest)
	if typ == "uuid" {
		smallest += uuidSize
	}
	switch {
	case !c.ok():
	case size < smallest:
		c.fail("mp4_box_size", start, "box %q has size %d, smaller than its header", typ, size)
	case size > left:
		c.r.Fail(binread.Truncated, "mp4_truncated_box", start, "box %q has size %d and %d bytes are left", typ, size, left)
	default:
		return box{typ: typ, start: start, body: r.Section(int64(size) - header)}, true
	}
	return box{}, false
}

// children calls visit for every child of a box, in order. visit need not
// consume the child.
func (c *checker) children(body *binread.Reader, visit func(box)) {
	for body.Left() > 0 {
		b, ok := c.next(body, false)
		if !ok {
			return
		}
		body.Skip(b.body.Left())
		visit(b)
	}
}

// singles are the children of one box that may occur once, by type.
type singles struct {
	parent box
	found  map[string]box
}

// singles reads the children of a box and keeps those named. A repeated one
// fails the file (MP4-02).
func (c *checker) singles(parent box, names ...string) singles {
	s := singles{parent: parent, found: make(map[string]box, len(names))}
	c.children(parent.body, func(b box) {
		for _, name := range names {
			if b.typ == name {
				c.keep(s, b)
			}
		}
	})
	return s
}

func (c *checker) keep(s singles, b box) {
	if _, repeated := s.found[b.typ]; repeated {
		c.fail("mp4_repeated_box", b.start, "a second %s box in %s", b.typ, s.parent.typ)
	}
	s.found[b.typ] = b
}

// need returns a child that must be there (MP4-02).
func (c *checker) need(s singles, name string) (box, bool) {
	b, ok := s.found[name]
	if !ok && c.ok() {
		c.fail("mp4_missing_box", s.parent.start, "the %s box has no %s box", s.parent.typ, name)
	}
	return b, ok && c.ok()
}

// either returns the one child that is there of two that exclude each other.
func (c *checker) either(s singles, first, second string) (box, bool) {
	a, one := s.found[first]
	b, two := s.found[second]
	switch {
	case !c.ok():
	case one && two:
		c.fail("mp4_repeated_box", b.start, "both %s and %s in one %s box", first, second, s.parent.typ)
	case !one && !two:
		c.fail("mp4_missing_box", s.parent.start, "the %s box has neither %s nor %s", s.parent.typ, first, second)
	}
	if one {
		return a, c.ok()
	}
	return b, c.ok()
}

// full reads the version and flags of a full box.
func (c *checker) full(b box) (version uint8, flags uint32) {
	if c.ok() && b.body.Left() < 4 {
		c.r.Fail(binread.Truncated, "mp4_truncated_box", b.start, "box %q is too short for its version", b.typ)
		return 0, 0
	}
	word := b.body.U32BE()
	return uint8(word >> 24), word & 0xFFFFFF
}

// timed reads the version of a box with 32- or 64-bit times (MP4-03).
func (c *checker) timed(b box) (long bool) {
	version, _ := c.full(b)
	if version > 1 {
		c.refuse("mp4_version", b.start, "box %q has version %d, only 0 and 1 are read", b.typ, version)
	}
	return version == 1
}

// readTime reads one time or duration.
func readTime(r *binread.Reader, long bool) uint64 {
	if long {
		return r.U64BE()
	}
	return uint64(r.U32BE())
}

// skipTimes moves over n times.
func skipTimes(r *binread.Reader, long bool, n int64) {
	if long {
		n *= 2
	}
	r.Skip(4 * n)
}
