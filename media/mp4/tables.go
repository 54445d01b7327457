package mp4

import "github.com/grill-plan/grill-plan/media/binread"

// table opens a table of count entries of each bytes behind a box's fixed
// fields: the count is held against the box before anything is read (MP4-02).
func (c *checker) table(b box, count uint64, each int64) *binread.Reader {
	if c.ok() && !b.body.Fits(count, each) {
		c.r.Fail(binread.Truncated, "mp4_table_size", b.start,
			"%s declares %d entries and has %d bytes for them", b.typ, count, b.body.Left())
	}
	return b.body.Buffered(b.body.Left(), tableWindow)
}

// stbl reads the sample tables of a track in one pass each (MP4-10).
func (c *checker) stbl(t *track, b box) {
	s := c.singles(b, "stsd", "stts", "ctts", "stsc", "stsz", "stz2", "stco", "co64")
	if stsd, ok := c.need(s, "stsd"); ok {
		c.stsd(t, stsd)
	}
	stts, ok := c.need(s, "stts")
	if !ok {
		return
	}
	samples, duration := c.stts(stts)
	if ctts, ok := s.found["ctts"]; ok {
		if n := c.ctts(ctts); c.ok() && n != samples {
			c.fail("mp4_sample_count", ctts.start, "ctts covers %d samples and stts %d", n, samples)
		}
	}
	stsc, _ := c.need(s, "stsc")
	stsz, _ := c.either(s, "stsz", "stz2")
	stco, ok := c.either(s, "stco", "co64")
	if !ok {
		return
	}
	sizes := c.sizes(stsz)
	if c.ok() && sizes.left != samples {
		c.fail("mp4_sample_count", stsz.start, "%s has %d samples and stts %d", stsz.typ, sizes.left, samples)
	}
	bytes := c.chunks(t, stsc, stco, &sizes)
	if c.ok() && sizes.left != 0 {
		c.fail("mp4_sample_count", stsc.start, "the chunks hold %d samples and stts has %d", samples-sizes.left, samples)
	}
	c.add(t, b.start, samples, bytes, duration)
	t.decoded, t.end = samples > 0, duration
}

// stts sums sample counts and durations (MP4-15).
func (c *checker) stts(b box) (samples, duration uint64) {
	c.full(b)
	count := uint64(b.body.U32BE())
	r := c.table(b, count, 8)
	for ; count > 0 && c.ok(); count-- {
		at, n, delta := r.Pos(), uint64(r.U32BE()), uint64(r.U32BE())
		var fits bool
		// Two 32-bit factors fit; 2^32 entries of n fit in the sample count.
		samples += n
		if duration, fits = binread.Add(duration, n*delta); !fits {
			c.overflow(at)
		}
	}
	return samples, duration
}

// ctts counts the samples it covers. Offsets do not affect any fact.
func (c *checker) ctts(b box) (samples uint64) {
	c.full(b)
	count := uint64(b.body.U32BE())
	r := c.table(b, count, 8)
	for ; count > 0 && c.ok(); count-- {
		samples += uint64(r.U32BE())
		r.Skip(4)
	}
	return samples
}

// sizes reads sample sizes in order.
type sizes struct {
	r     *binread.Reader
	fixed uint64 // of every sample if bits is 0
	bits  uint8
	left  uint64 // samples not yet taken
	low   uint8  // the second half of a byte with two 4-bit sizes
	half  bool
}

// sizes opens stsz or stz2.
func (c *checker) sizes(b box) sizes {
	c.full(b)
	word := b.body.U32BE()
	s := sizes{left: uint64(b.body.U32BE())}
	switch {
	case !c.ok():
	case b.typ == "stz2":
		s.bits = uint8(word)
		if s.bits != 4 && s.bits != 8 && s.bits != 16 {
			c.fail("mp4_table_size", b.start, "stz2 has sizes of %d bits", s.bits)
		}
	case word == 0:
		s.bits = 32
	default:
		s.fixed = uint64(word)
	}
	count, each := s.left, int64(s.bits/8)
	if s.bits == 4 {
		count, each = (s.left+1)/2, 1
	}
	s.r = c.table(b, count, each)
	return s
}

// take sums the sizes of the next n samples, n at most left.
func (s *sizes) take(n uint64) uint64 {
	s.left -= n
	if s.bits == 0 {
		return n * s.fixed // both below 2^32
	}
	var sum uint64
	for ; n > 0 && s.r.Err() == nil; n-- {
		sum += s.next()
	}
	return sum
}

func (s *sizes) next() uint64 {
	switch s.bits {
	case 32:
		return uint64(s.r.U32BE())
	case 16:
		return uint64(s.r.U16BE())
	case 8:
		return uint64(s.r.U8())
	}
	if s.half {
		s.half = false
		return uint64(s.low)
	}
	b := s.r.U8()
	s.half, s.low = true, b&0x0F
	return uint64(b >> 4)
}

// runs reads stsc: how many samples each chunk holds.
type runs struct {
	r       *binread.Reader
	left    uint64 // entries not yet read
	first   uint64 // chunk at which the next entry begins; 0 when there is none
	perNext uint64
	per     uint64 // samples per chunk now
}

// advance reads the next entry of stsc ahead.
func (c *checker) advance(s *runs, t *track) {
	if s.left == 0 || !c.ok() {
		s.first = 0
		return
	}
	s.left--
	at, before := s.r.Pos(), s.first
	first, per, entry := uint64(s.r.U32BE()), uint64(s.r.U32BE()), uint64(s.r.U32BE())
	switch {
	case !c.ok():
	case before == 0 && first != 1:
		c.fail("mp4_chunk_runs", at, "stsc begins at chunk %d and not at 1", first)
	case first <= before:
		c.fail("mp4_chunk_runs", at, "stsc goes from chunk %d to %d", before, first)
	case entry < 1 || entry > uint64(len(t.entries)):
		c.fail("mp4_chunk_runs", at, "stsc names sample description %d of %d", entry, len(t.entries))
	}
	s.first, s.perNext = first, per
}

// chunks goes through stsc, the chunk offsets and the sample sizes side by
// side and holds every chunk against the mdat payloads (MP4-12). It returns the
// total of sample bytes.
func (c *checker) chunks(t *track, stsc, stco box, sz *sizes) (total uint64) {
	c.full(stsc)
	s := runs{left: uint64(stsc.body.U32BE())}
	s.r = c.table(stsc, s.left, 12)
	c.advance(&s, t)
	c.full(stco)
	count, each := uint64(stco.body.U32BE()), int64(4)
	if stco.typ == "co64" {
		each = 8
	}
	offsets := c.table(stco, count, each)
	for chunk := uint64(1); chunk <= count && c.ok(); chunk++ {
		if s.first == chunk {
			s.per = s.perNext
			c.advance(&s, t)
		}
		at, offset := offsets.Pos(), readTime(offsets, each == 8)
		total += c.chunk(sz, s.per, offset, at)
		if total > uint64(c.r.End()) && c.ok() {
			c.fail("mp4_payload_total", at, "the samples of a track are larger than the file")
		}
	}
	if c.ok() && s.first != 0 {
		c.fail("mp4_chunk_runs", stsc.start, "stsc describes chunk %d of %d", s.first, count)
	}
	return total
}

// chunk takes per samples at offset and returns their size.
func (c *checker) chunk(sz *sizes, per, offset uint64, at int64) uint64 {
	if !c.ok() {
		return 0
	}
	if per > sz.left {
		c.fail("mp4_sample_count", at, "a chunk of %d samples has %d sizes left", per, sz.left)
		return 0
	}
	n := sz.take(per)
	if c.ok() && !c.inPayload(offset, n) {
		c.fail("mp4_chunk_range", at, "a chunk of %d bytes at %d is not inside an mdat payload", n, offset)
	}
	return n
}
