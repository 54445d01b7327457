package output

import (
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/media"
	"github.com/grill-plan/grill-plan/plan/document"
)

func fields(expect document.Expect, facts *media.Facts) string {
	var names []string
	for _, mismatch := range mismatches(expect, facts) {
		names = append(names, mismatch.Field)
	}
	return strings.Join(names, " ")
}

// WAV-10: duration, rate and channels by exact equality.
func TestWAVExpectations(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "output.wav", wavBytes(2, 8000, 4000))
	for _, c := range []struct {
		duration, rate, channels uint64
		want                     string
	}{
		{500_000, 8000, 2, ""}, {500_001, 8000, 2, "expectation_mismatch"}, {499_999, 8000, 2, "expectation_mismatch"},
		{500_000, 8001, 2, "expectation_mismatch"}, {500_000, 8000, 1, "expectation_mismatch"},
	} {
		declared := document.Output{Placeholder: File, Container: media.WAV,
			Expect: document.Expect{DurationUS: &c.duration, SampleRate: &c.rate, Channels: &c.channels}}
		if got := reasons(collect(t, dir, Request{Outputs: []document.Output{declared}, Limit: 1 << 20})); got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

// JPG-08: width and height by exact equality.
func TestJPEGExpectations(t *testing.T) {
	facts := &media.Facts{Container: media.JPEG, Image: &media.ImageFacts{Width: 16, Height: 9}}
	if got := fields(document.Expect{Width: pointer[uint64](16), Height: pointer[uint64](9)}, facts); got != "" {
		t.Errorf("equal: %s", got)
	}
	if got := fields(document.Expect{Width: pointer[uint64](9), Height: pointer[uint64](16)}, facts); got != "width height" {
		t.Errorf("turned: %s", got)
	}
}

// MP4-24: frames and a whole rate; the duration is that of the media and not of
// the presentation.
func TestMP4Expectations(t *testing.T) {
	video := media.VideoFacts{Width: 640, Height: 480, Frames: 48, FPSNumerator: 24, FPSDenominator: 1, MediaDurationUS: 2_000_000, DurationUS: 1_900_000}
	expect := func(change func(*document.Expect)) document.Expect {
		e := document.Expect{Width: pointer[uint64](640), Height: pointer[uint64](480), Frames: pointer[uint64](48), FPS: pointer[uint64](24)}
		change(&e)
		return e
	}
	for name, c := range map[string]struct {
		change func(*document.Expect)
		want   string
	}{
		"equal":                 {func(*document.Expect) {}, ""},
		"media duration":        {func(e *document.Expect) { e.DurationUS = pointer[uint64](2_000_000) }, ""},
		"presentation duration": {func(e *document.Expect) { e.DurationUS = pointer[uint64](1_900_000) }, "duration_us"},
		"frames":                {func(e *document.Expect) { e.Frames = pointer[uint64](47) }, "frames"},
		"rate":                  {func(e *document.Expect) { e.FPS = pointer[uint64](25) }, "fps"},
		"size":                  {func(e *document.Expect) { e.Width = pointer[uint64](641) }, "width"},
		"lines":                 {func(e *document.Expect) { e.Height = pointer[uint64](481) }, "height"},
	} {
		if got := fields(expect(c.change), &media.Facts{Video: &video}); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	fractional := video
	fractional.FPSNumerator, fractional.FPSDenominator = 24000, 1001
	if got := mismatches(expect(func(*document.Expect) {}), &media.Facts{Video: &fractional}); len(got) != 1 || got[0].Found != "24000/1001" {
		t.Errorf("a fractional rate gave %+v", got)
	}
}

// MP4-23: audio true wants a track with samples, bytes and a duration, false
// wants none, absent checks nothing.
func TestMP4Sound(t *testing.T) {
	sounding := media.AudioTrack{Samples: 1, Bytes: 1, MediaDurationUS: 1}
	for _, c := range []struct {
		expect *bool
		tracks []media.AudioTrack
		want   string
	}{
		{nil, nil, ""},
		{nil, []media.AudioTrack{{}}, ""},
		{pointer(true), nil, "audio"},
		{pointer(true), []media.AudioTrack{sounding}, ""},
		{pointer(true), []media.AudioTrack{{}, sounding}, ""},
		{pointer(true), []media.AudioTrack{{Bytes: 1, MediaDurationUS: 1}}, "audio"},
		{pointer(true), []media.AudioTrack{{Samples: 1, MediaDurationUS: 1}}, "audio"},
		{pointer(true), []media.AudioTrack{{Samples: 1, Bytes: 1}}, "audio"},
		{pointer(false), nil, ""},
		{pointer(false), []media.AudioTrack{{}}, "audio"},
	} {
		facts := &media.Facts{Video: &media.VideoFacts{Tracks: c.tracks}}
		if got := fields(document.Expect{Audio: c.expect}, facts); got != c.want {
			t.Errorf("%+v: got %q, want %q", c, got, c.want)
		}
	}
}
