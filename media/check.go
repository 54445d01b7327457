package media

import (
	"fmt"
	"io"

	"github.com/grill-plan/grill-plan/media/binread"
	"github.com/grill-plan/grill-plan/media/jpeg"
	"github.com/grill-plan/grill-plan/media/mp4"
	"github.com/grill-plan/grill-plan/media/png"
	"github.com/grill-plan/grill-plan/media/wav"
)

// Refusal is why a container check refused a file: a stable code, the byte
// offset and a message. Check returns it wrapped; use errors.As.
type Refusal = binread.Error

// Check reads the size bytes of r as the given container (PNG, JPEG, WAV or
// MP4) and reports its facts.
//
// A file that breaks the container's rules gives an error that wraps a
// *Refusal. Every other error means that nothing is known about the file: the
// error of the reader, or an unknown container name.
func Check(r io.ReaderAt, size int64, container string) (*Facts, error) {
	facts := &Facts{Container: container, Bytes: size, Validation: ContainerChecked}
	var err error
	switch container {
	case PNG:
		var f png.Facts
		f, err = png.Check(r, size)
		facts.Image = &ImageFacts{Width: f.Width, Height: f.Height}
	case JPEG:
		var f jpeg.Facts
		f, err = jpeg.Check(r, size)
		facts.Image = &ImageFacts{Width: f.Width, Height: f.Height}
	case WAV:
		var f wav.Facts
		f, err = wav.Check(r, size)
		audio := AudioFacts(f)
		facts.Audio = &audio
	case MP4:
		var f mp4.Facts
		f, err = mp4.Check(r, size)
		facts.Video = videoFacts(f)
	default:
		return nil, fmt.Errorf("check container %q: unknown container, use %s, %s, %s or %s", container, PNG, JPEG, WAV, MP4)
	}
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", container, err)
	}
	return facts, nil
}

// videoFacts gives the facts of an MP4 their evidence form.
func videoFacts(f mp4.Facts) *VideoFacts {
	v := &VideoFacts{
		Layout: f.Layout, Width: f.Width, Height: f.Height,
		DisplayWidth: Fixed1616(f.DisplayWidth), DisplayHeight: Fixed1616(f.DisplayHeight),
		Frames: f.Frames, FPSNumerator: f.FPSNumerator, FPSDenominator: f.FPSDenominator,
		MediaDurationUS: f.MediaDurationUS, DurationUS: f.DurationUS,
		MdhdDurationUS: f.MdhdDurationUS, FragmentGaps: f.FragmentGaps,
	}
	for _, a := range f.Audio {
		v.Tracks = append(v.Tracks, AudioTrack(a))
	}
	return v
}

// SniffLen is how many bytes Sniff looks at.
const SniffLen = 12

// Sniff guesses the container from a file's first bytes. It is a hint for
// messages and for files without a declared container; only Check decides.
func Sniff(prefix []byte) (container string, ok bool) {
	has := func(at int, text string) bool {
		return len(prefix) >= at+len(text) && string(prefix[at:at+len(text)]) == text
	}
	switch {
	case has(0, "\x89PNG\r\n\x1a\n"):
		return PNG, true
	case has(0, "\xff\xd8\xff"):
		return JPEG, true
	case has(0, "RIFF") && has(8, "WAVE"):
		return WAV, true
	}
	for _, box := range []string{"ftyp", "moov", "mdat", "styp", "moof", "free", "skip", "wide"} {
		if has(4, box) {
			return MP4, true
		}
	}
	return "", false
}
