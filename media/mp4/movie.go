package mp4

import "github.com/grill-plan/grill-plan/media/binread"

// track is what is known of one track: its headers, and sums over its samples
// so far.
type track struct {
	start     int64 // of the trak box
	id        uint32
	handler   string
	timescale uint64
	mdhd      uint64 // declared duration, in timescale units
	displayW  uint32 // 16.16
	displayH  uint32
	refs      int // data references
	entries   []entry
	edit      *edit

	samples  uint64
	bytes    uint64
	duration uint64 // sum of sample durations

	extended bool     // has a trex
	defaults defaults // of trex
	decoded  bool     // has samples or fragments, so end is known
	end      uint64   // decode time behind the last sample
	gaps     uint64   // fragments that start later than end (MP4-13)
}

// edit is the one entry of an edit list.
type edit struct {
	start   int64
	segment uint64 // in movie timescale units
	media   uint64 // in media timescale units
}

// movie reads moov (MP4-02, MP4-03).
func (c *checker) movie() {
	body := c.moov.body
	c.moov.body = body.Buffered(body.Left(), boxWindow)
	s := singles{parent: c.moov, found: map[string]box{}}
	var traks []box
	c.children(c.moov.body, func(b box) {
		switch b.typ {
		case "mvhd", "mvex":
			c.keep(s, b)
		case "trak":
			if traks = append(traks, b); len(traks) > maxTracks {
				c.refuse("mp4_too_many_tracks", b.start, "more than %d tracks", maxTracks)
			}
		}
	})
	mvhd, ok := c.need(s, "mvhd")
	if !ok {
		return
	}
	long := c.timed(mvhd)
	skipTimes(mvhd.body, long, 2)
	c.timescale = uint64(mvhd.body.U32BE())
	if c.timescale == 0 {
		c.fail("mp4_zero_timescale", mvhd.start, "the movie timescale is 0")
	}
	mvex, extends := s.found["mvex"]
	c.extends = extends
	for _, b := range traks {
		if c.ok() {
			c.trak(b)
		}
	}
	if extends && c.ok() {
		c.mvex(mvex)
	}
	c.videoOnce()
	if len(c.moofs) > 0 {
		c.extended()
	}
}

// extended holds what a file with fragments needs in moov (MP4-13).
func (c *checker) extended() {
	if c.ok() && !c.extends {
		c.fail("mp4_missing_box", c.moov.start, "the file has fragments and no mvex box")
	}
	for _, t := range c.tracks {
		if c.ok() && !t.extended {
			c.fail("mp4_missing_box", t.start, "the file has fragments and track %d no trex box", t.id)
		}
	}
}

// videoOnce holds MP4-07.
func (c *checker) videoOnce() {
	videos := 0
	for _, t := range c.tracks {
		if t.handler == handlerVideo {
			videos++
		}
	}
	if c.ok() && videos != 1 {
		c.refuse("mp4_video_tracks", c.moov.start, "the file has %d video tracks and needs exactly one", videos)
	}
}

const (
	handlerVideo = "vide"
	handlerSound = "soun"
)

func (c *checker) trak(b box) {
	t := &track{start: b.start}
	s := c.singles(b, "tkhd", "mdia", "edts")
	if tkhd, ok := c.need(s, "tkhd"); ok {
		c.tkhd(t, tkhd)
	}
	mdia, ok := c.need(s, "mdia")
	if !ok {
		return
	}
	m := c.singles(mdia, "mdhd", "hdlr", "minf")
	if hdlr, ok := c.need(m, "hdlr"); ok {
		c.hdlr(t, hdlr)
	}
	if mdhd, ok := c.need(m, "mdhd"); ok {
		long := c.timed(mdhd)
		skipTimes(mdhd.body, long, 2)
		t.timescale = uint64(mdhd.body.U32BE())
		t.mdhd = readTime(mdhd.body, long)
		if t.timescale == 0 {
			c.fail("mp4_zero_timescale", mdhd.start, "the media timescale is 0")
		}
	}
	if edts, ok := s.found["edts"]; ok && c.ok() {
		c.edts(t, edts)
	}
	if minf, ok := c.need(m, "minf"); ok {
		c.minf(t, minf)
	}
	c.tracks = append(c.tracks, t)
}

// tkhd reads the track id and the display size.
func (c *checker) tkhd(t *track, b box) {
	long := c.timed(b)
	skipTimes(b.body, long, 2)
	t.id = b.body.U32BE()
	b.body.Skip(4)
	skipTimes(b.body, long, 1)
	b.body.Skip(52) // reserved, layer, group, volume, matrix
	t.displayW, t.displayH = b.body.U32BE(), b.body.U32BE()
	if c.ok() && t.id == 0 {
		c.fail("mp4_track_id", b.start, "track id 0")
	}
	for _, other := range c.tracks {
		if c.ok() && other.id == t.id {
			c.fail("mp4_track_id", b.start, "two tracks have the id %d", t.id)
		}
	}
}

// hdlr holds MP4-06.
func (c *checker) hdlr(t *track, b box) {
	c.full(b)
	b.body.Skip(4)
	t.handler = b.body.FourCC()
	if c.ok() && t.handler != handlerVideo && t.handler != handlerSound {
		c.refuse("mp4_handler", b.start, "a track has handler %q, only vide and soun are admitted", t.handler)
	}
}

// edts reads the edit list (MP4-19 to MP4-22). Whether an edit fits its media
// is known only after all samples.
func (c *checker) edts(t *track, b box) {
	elst, ok := c.singles(b, "elst").found["elst"]
	if !ok || !c.ok() {
		return
	}
	long := c.timed(elst)
	count := elst.body.U32BE()
	switch {
	case !c.ok() || count == 0:
		return
	case count > 1:
		c.refuse("mp4_edit_list", elst.start, "an edit list has %d entries, one is admitted", count)
		return
	}
	segment := readTime(elst.body, long)
	var media int64
	if long {
		media = int64(elst.body.U64BE())
	} else {
		media = int64(int32(elst.body.U32BE()))
	}
	rate := elst.body.U32BE()
	switch {
	case !c.ok():
	case media < 0:
		c.refuse("mp4_edit_list", elst.start, "an edit has media time %d, an empty edit is not admitted", media)
	case rate != 1<<16:
		c.refuse("mp4_edit_list", elst.start, "an edit has rate %d/65536, only 1 is admitted", int32(rate))
	}
	t.edit = &edit{start: elst.start, segment: segment, media: uint64(media)}
}

func (c *checker) minf(t *track, b box) {
	s := c.singles(b, "dinf", "stbl")
	if dinf, ok := c.need(s, "dinf"); ok {
		if dref, ok := c.need(c.singles(dinf, "dref"), "dref"); ok {
			c.dref(t, dref)
		}
	}
	if stbl, ok := c.need(s, "stbl"); ok {
		c.stbl(t, stbl)
	}
}

// dref holds the second half of MP4-09: all sample data are in this file.
func (c *checker) dref(t *track, b box) {
	c.full(b)
	count := b.body.U32BE()
	c.children(b.body, func(ref box) {
		if t.refs++; t.refs > maxEntries {
			c.refuse("mp4_data_reference", ref.start, "more than %d data references", maxEntries)
			return
		}
		if _, flags := c.full(ref); c.ok() && flags&selfContainF == 0 {
			c.refuse("mp4_data_reference", ref.start, "a data reference points outside the file")
		}
	})
	if c.ok() && uint64(count) != uint64(t.refs) {
		c.fail("mp4_data_reference", b.start, "dref declares %d entries and has %d", count, t.refs)
	}
}

// mvex reads the defaults of fragments (MP4-13). Those of a track that the file
// does not have affect nothing.
func (c *checker) mvex(b box) {
	c.children(b.body, func(trex box) {
		if trex.typ != "trex" {
			return
		}
		c.full(trex)
		id := trex.body.U32BE()
		d := defaults{entry: trex.body.U32BE(), duration: trex.body.U32BE(), size: trex.body.U32BE()}
		trex.body.Skip(4)
		t := c.track(id)
		switch {
		case !c.ok():
		case t == nil:
		case t.extended:
			c.fail("mp4_repeated_box", trex.start, "a second trex for track %d", id)
		default:
			t.extended, t.defaults = true, d
		}
	})
}

func (c *checker) track(id uint32) *track {
	for _, t := range c.tracks {
		if t.id == id {
			return t
		}
	}
	return nil
}

// add counts samples of a track; all sums are checked (MP4-05).
func (c *checker) add(t *track, at int64, samples, bytes, duration uint64) {
	var ok [3]bool
	t.samples, ok[0] = binread.Add(t.samples, samples)
	t.bytes, ok[1] = binread.Add(t.bytes, bytes)
	t.duration, ok[2] = binread.Add(t.duration, duration)
	if c.ok() && !(ok[0] && ok[1] && ok[2]) {
		c.overflow(at)
	}
}

func (c *checker) overflow(at int64) {
	c.fail("mp4_overflow", at, "counts, sizes or durations do not fit in 64 bits")
}
