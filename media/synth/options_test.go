package synth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestOptionErrors(t *testing.T) {
	ctx := t.Context()
	for _, c := range []struct {
		want []string
		run  func(io.Writer) error
	}{
		{[]string{"format", "width", "height", "work", "quality"}, func(w io.Writer) error {
			return Image(ctx, w, ImageOptions{Format: "gif", Width: 0, Height: maxSide + 1, Quality: 89, Work: maxWork + 1})
		}},
		{[]string{"width"}, func(w io.Writer) error {
			return Image(ctx, w, ImageOptions{Format: PNG, Width: maxSide, Height: maxSide})
		}},
		{[]string{"sample_rate", "channels", "duration_us"}, func(w io.Writer) error {
			return Audio(ctx, w, AudioOptions{Channels: 9})
		}},
		{[]string{"duration_us"}, func(w io.Writer) error {
			return Audio(ctx, w, AudioOptions{SampleRate: 48000, Channels: 2, DurationUS: 1<<64 - 1})
		}},
		{[]string{"duration_us"}, func(w io.Writer) error {
			return Audio(ctx, w, AudioOptions{SampleRate: 48000, Channels: 2, DurationUS: 22_400_000_000})
		}},
		{[]string{"frames", "fps", "quality"}, func(w io.Writer) error {
			return Video(ctx, w, VideoOptions{Width: 8, Height: 8, Quality: 101})
		}},
		{[]string{"sample_rate", "channels"}, func(w io.Writer) error {
			return Video(ctx, w, VideoOptions{Width: 8, Height: 8, Frames: 1, FPS: 1, Audio: &VideoAudio{SampleRate: 96000}})
		}},
		{[]string{"frames"}, func(w io.Writer) error {
			return Video(ctx, w, VideoOptions{Width: 8, Height: 8, Frames: 100_000, FPS: 1, Audio: &VideoAudio{SampleRate: 48000, Channels: 1}})
		}},
	} {
		var b bytes.Buffer
		err := c.run(&b)
		var got []string
		for _, e := range unjoin(err) {
			var o *OptionError
			if errors.As(e, &o) {
				got = append(got, o.Option)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) || b.Len() > 0 {
			t.Errorf("got options %v and %d bytes (%v), want %v and none", got, b.Len(), err, c.want)
		}
	}
}

// unjoin lists the errors under the outer wrapping.
func unjoin(err error) []error {
	joined, ok := errors.Unwrap(err).(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	return joined.Unwrap()
}

// TestCancel: work, rows, samples and frames stop for a context.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range map[string]error{
		"work":  Image(ctx, io.Discard, ImageOptions{Format: PNG, Width: 8, Height: 8, Work: maxWork}),
		"image": Image(ctx, io.Discard, ImageOptions{Format: PNG, Width: 8, Height: 8}),
		"audio": Audio(ctx, io.Discard, AudioOptions{SampleRate: 8000, Channels: 1, DurationUS: 1}),
		"video": Video(ctx, io.Discard, VideoOptions{Width: 8, Height: 8, Frames: 5, FPS: 5}),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// full is a disk with room for n bytes.
type full struct{ n int }

var errFull = errors.New("no space left")

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.n {
		n := f.n
		f.n = 0
		return n, errFull
	}
	f.n -= len(p)
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	ctx := t.Context()
	for name, run := range map[string]func(io.Writer) error{
		"png":  func(w io.Writer) error { return Image(ctx, w, ImageOptions{Format: PNG, Width: 40, Height: 40}) },
		"jpeg": func(w io.Writer) error { return Image(ctx, w, ImageOptions{Format: JPEG, Width: 40, Height: 40}) },
		"audio": func(w io.Writer) error {
			return Audio(ctx, w, AudioOptions{SampleRate: 8000, Channels: 1, DurationUS: 50_000})
		},
		"video": func(w io.Writer) error { return Video(ctx, w, VideoOptions{Width: 8, Height: 8, Frames: 2, FPS: 5}) },
	} {
		var size bytes.Buffer
		if err := run(&size); err != nil {
			t.Fatal(err)
		}
		for n := 0; n < size.Len(); n += 1 + size.Len()/20 {
			if err := run(&full{n}); !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "synthesise ") {
				t.Errorf("%s with room for %d of %d bytes: got %v", name, n, size.Len(), err)
			}
		}
	}
}
