package output

import (
	"strconv"

	"github.com/grill-plan/grill-plan/media"
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
)

// mismatches compares checked facts with what the workload expects, field by
// field, by exact equality (PNG-08, JPG-08, WAV-10, MP4-23, MP4-24). An
// expectation that is not declared checks nothing.
func mismatches(expect document.Expect, facts *media.Facts) []evidence.Mismatch {
	var found comparison
	switch {
	case facts.Image != nil:
		found.number("width", expect.Width, facts.Image.Width)
		found.number("height", expect.Height, facts.Image.Height)
	case facts.Audio != nil:
		found.number("duration_us", expect.DurationUS, facts.Audio.DurationUS)
		found.number("sample_rate", expect.SampleRate, facts.Audio.SampleRate)
		found.number("channels", expect.Channels, facts.Audio.Channels)
	case facts.Video != nil:
		found.number("width", expect.Width, facts.Video.Width)
		found.number("height", expect.Height, facts.Video.Height)
		found.number("frames", expect.Frames, facts.Video.Frames)
		found.rate(expect.FPS, facts.Video)
		found.number("duration_us", expect.DurationUS, facts.Video.MediaDurationUS)
		found.sound(expect.Audio, facts.Video.Tracks)
	}
	return found
}

type comparison []evidence.Mismatch

func (c *comparison) number(field string, expected *uint64, found uint64) {
	if expected != nil && *expected != found {
		c.add(field, decimal(*expected), decimal(found))
	}
}

func (c *comparison) rate(expected *uint64, video *media.VideoFacts) {
	if expected == nil || video.FPSDenominator == 1 && video.FPSNumerator == *expected {
		return
	}
	c.add("fps", decimal(*expected), decimal(video.FPSNumerator)+"/"+decimal(video.FPSDenominator))
}

// sound: true requires one track with samples, bytes and a duration; false
// requires that there is none (MP4-23).
func (c *comparison) sound(expected *bool, tracks []media.AudioTrack) {
	if expected == nil {
		return
	}
	sounding := false
	for _, track := range tracks {
		sounding = sounding || track.Samples > 0 && track.Bytes > 0 && track.MediaDurationUS > 0
	}
	switch {
	case *expected && len(tracks) == 0:
		c.add("audio", "true", "no audio track")
	case *expected && !sounding:
		c.add("audio", "true", "no audio track with samples, bytes and a duration")
	case !*expected && len(tracks) > 0:
		c.add("audio", "false", decimal(uint64(len(tracks)))+" audio tracks")
	}
}

func (c *comparison) add(field, expected, found string) {
	*c = append(*c, evidence.Mismatch{Field: field, Expected: expected, Found: found})
}

func decimal(number uint64) string { return strconv.FormatUint(number, 10) }
