package view

import (
	"fmt"

	"github.com/grill-plan/grill-plan/media"
)

// Checked is the document of `media check --json`.
type Checked struct {
	Kind    string        `json:"kind"` // media-check
	Version int           `json:"version"`
	Files   []CheckedFile `json:"files"`
}

// CheckedFile is what a container check said of one file: exactly one of Facts,
// Problem and Error is set.
type CheckedFile struct {
	Path    string       `json:"path"`
	Bytes   int64        `json:"bytes"`
	SHA256  string       `json:"sha256,omitempty"`
	Facts   *media.Facts `json:"facts,omitempty"`
	Problem *Refusal     `json:"problem,omitempty"` // the content is refused
	Error   string       `json:"error,omitempty"`   // nothing is known of the content
}

// Refusal is why a file is refused, and at which byte.
type Refusal struct {
	Kind    string `json:"kind"` // truncated, malformed, unsupported
	Code    string `json:"code"`
	Offset  int64  `json:"offset"`
	Message string `json:"message"`
}

// WriteChecked writes the facts of one file, or the reason of its refusal.
func WriteChecked(out *Output, file CheckedFile) {
	name := out.paint(bold, Line(file.Path))
	if p := file.Problem; p != nil {
		out.Printf("%s: %s at byte %d: %s: %s (%s)\n", name, out.paint(red, "refused"), p.Offset, Line(p.Kind), Line(p.Message), Line(p.Code))
	} else if f := file.Facts; f != nil {
		out.Printf("%s: %s, %d bytes, %s\n", name, Line(f.Container), f.Bytes, Line(f.Validation))
		writeFacts(out, f)
	}
	if file.SHA256 != "" {
		fact(out, "sha256", file.SHA256)
	}
}

// factColumn is the width of the names in lists of facts.
const factColumn = 15

func fact(out *Output, name, value string) { out.Printf("  %s %s\n", pad(name, factColumn), value) }

func writeFacts(out *Output, facts *media.Facts) {
	switch {
	case facts.Image != nil:
		fact(out, "size", fmt.Sprintf("%d x %d pixels", facts.Image.Width, facts.Image.Height))
	case facts.Audio != nil:
		audio := facts.Audio
		fact(out, "sound", fmt.Sprintf("%s, %d bits, %d channels, %d Hz", Line(audio.Format), audio.BitsPerSample, audio.Channels, audio.SampleRate))
		fact(out, "duration", fmt.Sprintf("%d us, %d frames", audio.DurationUS, audio.Frames))
	case facts.Video != nil:
		writeVideo(out, facts.Video)
	}
}

func writeVideo(out *Output, video *media.VideoFacts) {
	fact(out, "layout", Line(video.Layout))
	fact(out, "size", fmt.Sprintf("%d x %d pixels coded, %s x %s shown", video.Width, video.Height,
		fixed(video.DisplayWidth), fixed(video.DisplayHeight)))
	fact(out, "frames", fmt.Sprintf("%d at %d/%d per second", video.Frames, video.FPSNumerator, video.FPSDenominator))
	fact(out, "duration", fmt.Sprintf("%d us of samples, %d us presented, %d us in the media header",
		video.MediaDurationUS, video.DurationUS, video.MdhdDurationUS))
	if video.FragmentGaps > 0 {
		fact(out, "gaps", fmt.Sprintf("%d between fragments", video.FragmentGaps))
	}
	for _, track := range video.Tracks {
		fact(out, "sound", fmt.Sprintf("%s, %d channels, %d Hz, %d samples, %d bytes, %d us",
			Line(track.Codec), track.Channels, track.SampleRate, track.Samples, track.Bytes, track.MediaDurationUS))
	}
}

// fixed prints a 16.16 number exactly: 2^-16 has sixteen decimals, of which
// trailing zeros are left out.
func fixed(value media.Fixed1616) string {
	whole, rest := uint64(value)>>16, uint64(value)&0xffff
	if rest == 0 {
		return fmt.Sprint(whole)
	}
	digits := fmt.Sprintf("%016d", rest*152587890625) // 10^16 / 2^16
	for digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return fmt.Sprintf("%d.%s", whole, digits)
}
