package mp4

import (
	"fmt"
	"math"

	"github.com/grill-plan/grill-plan/media/binread"
)

// entry is one sample description.
type entry struct {
	codec         string
	width, height uint64 // coded, of video
	channels      uint64 // of sound
	sampleRate    uint64
}

// Fixed parts of sample entries behind the box header, in bytes.
const (
	entryFixed    = 8
	videoFixed    = 70
	soundFixed    = 20
	soundV1Extra  = 16 // QuickTime sound description version 1
	soundV2Extra  = 36 // and version 2
	terminatorLen = 4
)

// stsd reads the sample descriptions of a track (MP4-08, MP4-09).
func (c *checker) stsd(t *track, b box) {
	version, _ := c.full(b)
	count := b.body.U32BE()
	c.children(b.body, func(e box) {
		if len(t.entries) >= maxEntries {
			c.refuse("mp4_sample_entries", e.start, "more than %d sample descriptions", maxEntries)
			return
		}
		c.entry(t, e, version)
	})
	switch {
	case !c.ok():
		return
	case count == 0:
		c.fail("mp4_sample_entries", b.start, "stsd has no entries")
		return
	case uint64(count) != uint64(len(t.entries)):
		c.fail("mp4_sample_entries", b.start, "stsd declares %d entries and has %d", count, len(t.entries))
		return
	}
	for _, e := range t.entries[1:] {
		if t.handler == handlerVideo && (e.width != t.entries[0].width || e.height != t.entries[0].height) {
			c.refuse("mp4_sample_entries", b.start, "sample descriptions of one video track differ in width or height")
		}
	}
}

func (c *checker) entry(t *track, b box, stsdVersion uint8) {
	if b.typ == "encv" || b.typ == "enca" {
		c.refuse("mp4_encrypted", b.start, "sample entry %s is encrypted", b.typ)
		return
	}
	b.body.Skip(6)
	ref := int(b.body.U16BE())
	if c.ok() && (ref < 1 || ref > t.refs) {
		c.fail("mp4_data_reference", b.start, "sample entry %s names data reference %d of %d", fourCC(b.typ), ref, t.refs)
	}
	e := entry{codec: fourCC(b.typ)}
	if t.handler == handlerVideo {
		c.videoEntry(&e, b)
	} else {
		c.soundEntry(&e, b, stsdVersion)
	}
	c.protection(b)
	t.entries = append(t.entries, e)
}

func (c *checker) videoEntry(e *entry, b box) {
	r := b.body
	if !c.ok() || !r.Need(videoFixed) {
		return
	}
	r.Skip(16)
	e.width, e.height = uint64(r.U16BE()), uint64(r.U16BE())
	r.Skip(videoFixed - 20)
	if c.ok() && (e.width == 0 || e.height == 0) {
		c.fail("mp4_zero_size", b.start, "coded width %d and height %d must be at least 1", e.width, e.height)
	}
}

func (c *checker) soundEntry(e *entry, b box, stsdVersion uint8) {
	r := b.body
	if !c.ok() || !r.Need(soundFixed) {
		return
	}
	version := r.U16BE()
	r.Skip(6)
	e.channels = uint64(r.U16BE())
	r.Skip(6)
	e.sampleRate = uint64(r.U32BE() >> 16)
	if stsdVersion != 0 { // the ISO version 1 entry has no extra fields
		return
	}
	switch version {
	case 1:
		r.Skip(soundV1Extra)
	case 2:
		c.soundV2(e, b)
	}
}

// soundV2 reads the rate and channels where QuickTime's version 2 keeps them.
func (c *checker) soundV2(e *entry, b box) {
	r := b.body
	if !r.Need(soundV2Extra) {
		return
	}
	r.Skip(4)
	rate := math.Float64frombits(r.U64BE())
	e.channels = uint64(r.U32BE())
	r.Skip(soundV2Extra - 16)
	if !(rate >= 0 && rate <= math.MaxUint32) {
		c.fail("mp4_sample_rate", b.start, "sample rate %g", rate)
		return
	}
	e.sampleRate = uint64(rate)
}

// protection looks for a protection box behind the fixed part (MP4-08).
// QuickTime ends the list with four zero bytes.
func (c *checker) protection(b box) {
	for b.body.Left() > 0 {
		if b.body.Left() == terminatorLen {
			if at := b.body.Pos(); b.body.U32BE() != 0 {
				c.r.Fail(binread.Truncated, "mp4_truncated_box", at, "%d bytes of a sample entry form no box", terminatorLen)
			}
			return
		}
		child, ok := c.next(b.body, false)
		if !ok {
			return
		}
		if child.typ == "sinf" {
			c.refuse("mp4_encrypted", child.start, "sample entry %s has a protection box", fourCC(b.typ))
		}
		b.body.Skip(child.body.Left())
	}
}

// fourCC renders a box type for reports: as it is if printable, else in hex.
func fourCC(typ string) string {
	for i := 0; i < len(typ); i++ {
		if typ[i] < ' ' || typ[i] > '~' {
			return fmt.Sprintf("0x%x", typ)
		}
	}
	return typ
}
