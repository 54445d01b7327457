package mp4

import (
	"math"
	"math/bits"

	"github.com/grill-plan/grill-plan/media/binread"
)

// Facts of an MP4 file (MP4-25). Durations are microseconds, rounded down.
type Facts struct {
	Layout          string // "progressive" or "fragmented"
	Width, Height   uint64 // coded
	DisplayWidth    uint32 // 16.16
	DisplayHeight   uint32
	Frames          uint64
	FPSNumerator    uint64 // lowest terms
	FPSDenominator  uint64
	MediaDurationUS uint64
	DurationUS      uint64 // presentation
	// MdhdDurationUS never affects validity (MP4-18): a declared duration
	// beyond 64 bits of microseconds is reported as 2^64-1.
	MdhdDurationUS uint64
	FragmentGaps   uint64 // over all tracks
	Audio          []Audio
}

// Audio is one sound track (MP4-23).
type Audio struct {
	Codec           string
	Channels        uint64 // of the first sample description
	SampleRate      uint64
	Samples         uint64
	Bytes           uint64
	MediaDurationUS uint64
}

// facts judges what only the whole file shows and collects the facts.
func (c *checker) facts() Facts {
	var f Facts
	if !c.ok() {
		return f
	}
	f.Layout = "progressive"
	if len(c.moofs) > 0 {
		f.Layout = "fragmented"
	}
	c.payloadTotal()
	for _, t := range c.tracks {
		if !c.ok() {
			return f
		}
		us, ok := binread.Microseconds(t.duration, t.timescale)
		if !ok {
			c.overflow(t.start)
			return f
		}
		if t.handler == handlerVideo && (t.samples == 0 || t.duration == 0) { // MP4-11
			c.fail("mp4_empty_video", t.start, "the video track has %d samples and a duration of %d", t.samples, t.duration)
		}
		presented := c.presentation(t, us)
		f.FragmentGaps += t.gaps
		first := t.entries[0]
		if t.handler == handlerSound {
			f.Audio = append(f.Audio, Audio{Codec: first.codec, Channels: first.channels, SampleRate: first.sampleRate,
				Samples: t.samples, Bytes: t.bytes, MediaDurationUS: us})
			continue
		}
		f.Width, f.Height, f.DisplayWidth, f.DisplayHeight = first.width, first.height, t.displayW, t.displayH
		f.MediaDurationUS, f.DurationUS = us, presented
		c.video(&f, t)
	}
	return f
}

// payloadTotal holds MP4-14.
func (c *checker) payloadTotal() {
	var held, declared uint64
	for _, x := range c.mdats {
		held += uint64(x.end - x.start) // disjoint parts of one file
	}
	for _, t := range c.tracks {
		var ok bool
		if declared, ok = binread.Add(declared, t.bytes); !ok {
			c.overflow(t.start)
			return
		}
	}
	if declared > held {
		c.fail("mp4_payload_total", c.moov.start, "the samples have %d bytes and the mdat payloads %d", declared, held)
	}
}

// video derives the rate (MP4-16) of a track that is not empty.
func (c *checker) video(f *Facts, t *track) {
	if !c.ok() {
		return
	}
	f.Frames = t.samples
	num, den, ok := rate(t.samples, t.timescale, t.duration)
	if !ok {
		c.overflow(t.start)
		return
	}
	f.FPSNumerator, f.FPSDenominator = num, den
	f.MdhdDurationUS, ok = binread.Microseconds(t.mdhd, t.timescale)
	if !ok {
		f.MdhdDurationUS = math.MaxUint64
	}
}

// rate is samples × timescale / duration in lowest terms, and whether it fits.
func rate(samples, timescale, duration uint64) (num, den uint64, ok bool) {
	a := gcd(samples, duration)
	samples, duration = samples/a, duration/a
	b := gcd(timescale, duration)
	timescale, duration = timescale/b, duration/b
	num, ok = binread.Mul(samples, timescale)
	return num, duration, ok
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// presentation is the duration after the edit list (MP4-19 to MP4-22).
func (c *checker) presentation(t *track, mediaUS uint64) uint64 {
	e := t.edit
	if e == nil {
		return mediaUS
	}
	toEnd := e.segment == 0 && c.extends
	switch {
	case e.segment == 0 && !c.extends:
		c.fail("mp4_edit_list", e.start, "an edit of duration 0 in a file without mvex")
	case e.media >= t.duration && !(toEnd && e.media == 0):
		// An empty sound track with the usual open edit is an empty track.
		c.fail("mp4_edit_list", e.start, "an edit starts at %d and the media end at %d", e.media, t.duration)
	case toEnd:
		return mediaUS
	case !segmentFits(e.segment, c.timescale, t.duration, t.timescale):
		c.fail("mp4_edit_list", e.start, "an edit of %d/%d s is more than one tick longer than the media of %d/%d s",
			e.segment, c.timescale, t.duration, t.timescale)
	}
	us, ok := binread.Microseconds(e.segment, c.timescale)
	if !ok && c.ok() {
		c.overflow(e.start)
	}
	return us
}

// segmentFits holds MP4-20: segment/movie − media/timescale ≤ 1/movie, that is
// (segment − 1) × timescale ≤ media × movie, in 128 bits. segment is not 0.
func segmentFits(segment, movie, media, timescale uint64) bool {
	leftHi, leftLo := bits.Mul64(segment-1, timescale)
	rightHi, rightLo := bits.Mul64(media, movie)
	return leftHi < rightHi || leftHi == rightHi && leftLo <= rightLo
}
