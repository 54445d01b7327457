package mp4

import (
	"sort"

	"github.com/grill-plan/grill-plan/media/binread"
)

// defaults of the samples of a fragment; tfhd overrides trex (MP4-13).
type defaults struct {
	entry, duration, size uint32
}

// Flags of tfhd and trun.
const (
	tfhdBase       = 0x000001
	tfhdEntry      = 0x000002
	tfhdDuration   = 0x000008
	tfhdSize       = 0x000010
	tfhdFlags      = 0x000020
	tfhdBaseIsMoof = 0x020000

	trunOffset     = 0x000001
	trunFirstFlags = 0x000004
	trunDuration   = 0x000100
	trunSize       = 0x000200
	trunFlags      = 0x000400
	trunComposed   = 0x000800
)

// fragmentState is what the traf boxes of one moof share.
type fragmentState struct {
	moof    extent
	payload extent // of the mdat that follows; empty if none
	any     bool   // a traf came before
	end     uint64 // behind the data of the traf before
}

// traf is one track's part of a fragment while it is read.
type traf struct {
	*fragmentState
	box   box
	track *track
	defaults
	base uint64 // of data offsets
	next uint64 // where a run without an offset begins
	ran  bool   // a trun was read
}

// fragment reads moof number i (MP4-13).
func (c *checker) fragment(i int) {
	x := c.moofs[i]
	b, ok := c.next(c.r.Range(x.start, x.end, boxWindow), true)
	if !ok {
		return
	}
	f := &fragmentState{moof: x, payload: c.payloadAfter(i)}
	s := singles{parent: b, found: map[string]box{}}
	c.children(b.body, func(child box) {
		switch child.typ {
		case "mfhd":
			c.keep(s, child)
		case "traf":
			c.traf(f, child)
		}
	})
	c.need(s, "mfhd")
}

// payloadAfter is the payload of the mdat that follows moof i before the next
// one; the zero extent holds nothing.
func (c *checker) payloadAfter(i int) extent {
	end := c.moofs[i].end
	j := sort.Search(len(c.mdats), func(j int) bool { return c.mdats[j].start > end })
	if j == len(c.mdats) || i+1 < len(c.moofs) && c.mdats[j].start > c.moofs[i+1].start {
		return extent{}
	}
	return c.mdats[j]
}

func (c *checker) traf(f *fragmentState, b box) {
	t := &traf{fragmentState: f, box: b}
	dated := false
	c.children(b.body, func(child box) {
		switch child.typ {
		case "tfhd":
			if t.track != nil {
				c.fail("mp4_repeated_box", child.start, "a second tfhd box in traf")
				return
			}
			c.tfhd(t, child)
		case "tfdt":
			if c.ok() && (dated || t.ran) {
				c.fail("mp4_repeated_box", child.start, "a tfdt box is repeated or follows a run")
			}
			dated = true
			c.tfdt(t, child)
		case "trun":
			c.trun(t, child)
		}
	})
	if c.ok() && t.track == nil {
		c.fail("mp4_missing_box", b.start, "the traf box has no tfhd box")
		return
	}
	f.any, f.end = true, t.next
}

// tfhd finds the track, the defaults and the base of data offsets.
func (c *checker) tfhd(t *traf, b box) {
	_, flags := c.full(b)
	id := b.body.U32BE()
	if t.track = c.track(id); c.ok() && t.track == nil {
		c.fail("mp4_track_id", b.start, "a fragment names track %d, which the file does not have", id)
	}
	if !c.ok() {
		return
	}
	t.defaults = t.track.defaults
	switch {
	case flags&tfhdBase != 0:
		t.base = b.body.U64BE()
	case flags&tfhdBaseIsMoof != 0 || !t.any:
		t.base = uint64(t.moof.start)
	default:
		t.base = t.end
	}
	t.next = t.base
	for _, field := range []struct {
		flag uint32
		to   *uint32
	}{{tfhdEntry, &t.entry}, {tfhdDuration, &t.duration}, {tfhdSize, &t.size}} {
		if flags&field.flag != 0 {
			*field.to = b.body.U32BE()
		}
	}
	if flags&tfhdFlags != 0 {
		b.body.Skip(4)
	}
}

// headed fails unless tfhd was read.
func (c *checker) headed(t *traf, b box) bool {
	if c.ok() && t.track == nil {
		c.fail("mp4_missing_box", b.start, "a %s box comes before tfhd", b.typ)
	}
	return c.ok()
}

// tfdt holds the fragment's decode time against the end of the one before: an
// earlier one overlaps, a later one is a gap.
func (c *checker) tfdt(t *traf, b box) {
	if !c.headed(t, b) {
		return
	}
	start := readTime(b.body, c.timed(b))
	switch {
	case !c.ok():
		return
	case t.track.decoded && start < t.track.end:
		c.fail("mp4_fragment_overlap", b.start, "a fragment starts at %d, before the end %d of the one before", start, t.track.end)
	case t.track.decoded && start > t.track.end:
		t.track.gaps++
	}
	t.track.decoded, t.track.end = true, start
}

// trun sums the samples of one run and holds its bytes against the payload.
func (c *checker) trun(t *traf, b box) {
	if !c.headed(t, b) {
		return
	}
	t.ran = true
	_, flags := c.full(b)
	count := uint64(b.body.U32BE())
	start, ok := t.next, true
	if flags&trunOffset != 0 {
		start, ok = offsetBy(t.base, int32(b.body.U32BE()))
	}
	if flags&trunFirstFlags != 0 {
		b.body.Skip(4)
	}
	size, duration := c.run(t, b, flags, count)
	if !c.ok() || count == 0 {
		return
	}
	if t.entry < 1 || uint64(t.entry) > uint64(len(t.track.entries)) {
		c.fail("mp4_fragment_entry", b.start, "a run names sample description %d of %d", t.entry, len(t.track.entries))
		return
	}
	end, fits := binread.Add(start, size)
	if !ok || !fits || t.payload.end == 0 || start < uint64(t.payload.start) || end > uint64(t.payload.end) {
		c.fail("mp4_run_range", b.start, "a run of %d bytes is not inside the mdat payload that follows its moof", size)
		return
	}
	t.next = end
	c.add(t.track, b.start, count, size, duration)
	if t.track.end, ok = binread.Add(t.track.end, duration); !ok && c.ok() {
		c.overflow(b.start)
	}
	t.track.decoded = true
}

// run sums the sizes and durations of count samples. Only per-sample fields
// that the run has are walked; defaults are multiplied.
func (c *checker) run(t *traf, b box, flags uint32, count uint64) (size, duration uint64) {
	each := int64(0)
	for _, flag := range []uint32{trunDuration, trunSize, trunFlags, trunComposed} {
		if flags&flag != 0 {
			each += 4
		}
	}
	if c.ok() && !b.body.Fits(count, each) {
		c.r.Fail(binread.Truncated, "mp4_table_size", b.start, "trun declares %d samples and has %d bytes for them", count, b.body.Left())
	}
	hasSize, hasDuration := flags&trunSize != 0, flags&trunDuration != 0
	if !hasSize {
		size = count * uint64(t.size) // both below 2^32
	}
	if !hasDuration {
		duration = count * uint64(t.duration)
	}
	if !hasSize && !hasDuration {
		return size, duration
	}
	var rest int64
	if flags&trunFlags != 0 {
		rest += 4
	}
	if flags&trunComposed != 0 {
		rest += 4
	}
	for ; count > 0 && c.ok(); count-- {
		if hasDuration {
			duration += uint64(b.body.U32BE())
		}
		if hasSize {
			size += uint64(b.body.U32BE())
		}
		b.body.Skip(rest)
	}
	return size, duration
}

// offsetBy adds a signed offset to a base and says whether the result exists.
func offsetBy(base uint64, offset int32) (uint64, bool) {
	if offset >= 0 {
		return binread.Add(base, uint64(offset))
	}
	back := uint64(-int64(offset))
	return base - back, back <= base
}
