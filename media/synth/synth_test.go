package synth

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"testing"

	gowav "github.com/go-audio/wav"
	"pgregory.net/rapid"

	"github.com/grill-plan/grill-plan/media"
)

// generate runs a generator into memory.
func generate(t *testing.T, run func(context.Context, io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := run(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func imageBytes(t *testing.T, o ImageOptions) []byte {
	t.Helper()
	return generate(t, func(ctx context.Context, w io.Writer) error { return Image(ctx, w, o) })
}

func audioBytes(t *testing.T, o AudioOptions) []byte {
	t.Helper()
	return generate(t, func(ctx context.Context, w io.Writer) error { return Audio(ctx, w, o) })
}

func videoBytes(t *testing.T, o VideoOptions) []byte {
	t.Helper()
	return generate(t, func(ctx context.Context, w io.Writer) error { return Video(ctx, w, o) })
}

func checked(t *testing.T, raw []byte, container string) *media.Facts {
	t.Helper()
	facts, err := media.Check(bytes.NewReader(raw), int64(len(raw)), container)
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// TestGolden: the bytes are fixed. A change here is a change of every digest
// that anybody has recorded of a synthetic file.
func TestGolden(t *testing.T) {
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"png":   {imageBytes(t, ImageOptions{Format: PNG, Width: 67, Height: 41, Seed: 1}), goldenPNG},
		"jpeg":  {imageBytes(t, ImageOptions{Format: JPEG, Width: 67, Height: 41, Seed: 1}), goldenJPEG},
		"audio": {audioBytes(t, AudioOptions{SampleRate: 22050, Channels: 2, DurationUS: 700_000, Seed: 1}), goldenAudio},
		"video": {videoBytes(t, VideoOptions{Width: 67, Height: 41, Frames: 10, FPS: 24, Seed: 1, Audio: &VideoAudio{SampleRate: 48000, Channels: 1}}), goldenVideo},
	} {
		if sum := sha256.Sum256(c.raw); hex.EncodeToString(sum[:]) != c.want {
			t.Errorf("%s: got %x, want %s", name, sum, c.want)
		}
	}
}

// TestEqualOptions: seeds and sizes change the bytes, work does not.
func TestEqualOptions(t *testing.T) {
	o := ImageOptions{Format: PNG, Width: 64, Height: 48, Seed: 1}
	a := imageBytes(t, o)
	o.Work = 3
	if !bytes.Equal(a, imageBytes(t, o)) {
		t.Error("work changed a picture")
	}
	o.Seed = 2
	if bytes.Equal(a, imageBytes(t, o)) {
		t.Error("another seed gave the same picture")
	}
	s := AudioOptions{SampleRate: 8000, Channels: 1, DurationUS: 1_000_000, Seed: 1}
	b := audioBytes(t, s)
	s.Work, s.Seed = 3, 1
	if !bytes.Equal(b, audioBytes(t, s)) {
		t.Error("work changed a sound")
	}
	s.Seed = 2
	if bytes.Equal(b, audioBytes(t, s)) {
		t.Error("another seed gave the same sound")
	}
	v := VideoOptions{Width: 32, Height: 16, Frames: 3, FPS: 25, Seed: 1}
	c := videoBytes(t, v)
	v.Work = 1
	if !bytes.Equal(c, videoBytes(t, v)) {
		t.Error("work changed a video")
	}
}

// TestPNG decodes pictures of many sizes and holds every pixel against the
// first of its block.
func TestPNG(t *testing.T) {
	for _, size := range [][2]uint64{{1, 1}, {7, 9}, {8, 8}, {9, 17}, {1, 100}, {300, 2}, {700, 90}, {16384, 1}} {
		raw := imageBytes(t, ImageOptions{Format: PNG, Width: size[0], Height: size[1], Seed: 5})
		facts := checked(t, raw, media.PNG)
		if facts.Image.Width != size[0] || facts.Image.Height != size[1] {
			t.Errorf("PNG-07: got %+v, want %v", facts.Image, size)
		}
		picture, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%v: %v", size, err)
		}
		colours := map[color.Color]bool{}
		for y := range int(size[1]) {
			for x := range int(size[0]) {
				got := picture.At(x, y)
				if want := picture.At(x&^7, y&^7); got != want {
					t.Fatalf("%v: pixel %d,%d is %v and its block %v", size, x, y, got, want)
				}
				colours[got] = true
			}
		}
		if blocks := ((size[0] + 7) / 8) * ((size[1] + 7) / 8); blocks > 10 && len(colours) < 5 {
			t.Errorf("%v: only %d colours", size, len(colours))
		}
	}
}

// TestManyChunks: a picture that compresses to more than one IDAT chunk.
func TestManyChunks(t *testing.T) {
	raw := imageBytes(t, ImageOptions{Format: PNG, Width: 4096, Height: 800, Seed: 5})
	if n := bytes.Count(raw, []byte("IDAT")); n < 2 {
		t.Fatalf("%d IDAT chunks", n)
	}
	checked(t, raw, media.PNG)
	if _, err := png.Decode(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
}

// TestJPEGPlanes: what a decoder gives back are the planes that were drawn.
func TestJPEGPlanes(t *testing.T) {
	for _, quality := range []uint64{0, 90, 93, 97, 100} {
		for _, size := range [][2]uint64{{1, 1}, {17, 9}, {64, 48}, {321, 180}} {
			raw := imageBytes(t, ImageOptions{Format: JPEG, Width: size[0], Height: size[1], Quality: quality, Seed: 9})
			facts := checked(t, raw, media.JPEG)
			if facts.Image.Width != size[0] || facts.Image.Height != size[1] {
				t.Errorf("JPG-07: got %+v, want %v", facts.Image, size)
			}
			want := newFrame(size[0], size[1])
			want.draw(9, 0)
			samePlanes(t, raw, want.picture)
		}
	}
}

func samePlanes(t *testing.T, raw []byte, want *image.YCbCr) {
	t.Helper()
	decoded, err := jpeg.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	got := decoded.(*image.YCbCr)
	if got.Bounds() != want.Bounds() {
		t.Fatalf("got %v, want %v", got.Bounds(), want.Bounds())
	}
	for y := range want.Bounds().Dy() {
		for x := range want.Bounds().Dx() {
			if got.YCbCrAt(x, y) != want.YCbCrAt(x, y) {
				t.Fatalf("%d,%d: got %v, want %v", x, y, got.YCbCrAt(x, y), want.YCbCrAt(x, y))
			}
		}
	}
}

// TestDeflater: the standard library inflates what the deflater wrote.
func TestDeflater(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []byte
		for range rapid.IntRange(0, 20).Draw(t, "runs") {
			b := rapid.Byte().Draw(t, "byte")
			want = append(want, bytes.Repeat([]byte{b}, rapid.IntRange(1, 600).Draw(t, "length"))...)
		}
		d := deflater{out: []byte{0x78, 0x01}}
		d.begin()
		cut := rapid.IntRange(0, len(want)).Draw(t, "cut")
		d.write(want[:cut])
		d.write(want[cut:])
		d.end()
		r, err := zlib.NewReader(bytes.NewReader(d.out))
		if err != nil {
			t.Fatal(err)
		}
		// The stream has no checksum, so it ends short behind the data.
		got, err := io.ReadAll(r)
		if !bytes.Equal(got, want) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("got %d bytes and %v, want %d", len(got), err, len(want))
		}
	})
}

func TestAudio(t *testing.T) {
	for _, o := range []AudioOptions{
		{SampleRate: 8000, Channels: 1, DurationUS: 1},
		{SampleRate: 44100, Channels: 2, DurationUS: 1_500_000},
		{SampleRate: 22050, Channels: 1, DurationUS: 333_333},
		{SampleRate: 48000, Channels: 8, DurationUS: 20_000},
		{SampleRate: 3, Channels: 1, DurationUS: 2_000_000},
	} {
		raw := audioBytes(t, o)
		facts := checked(t, raw, media.WAV).Audio
		if facts.SampleRate != o.SampleRate || facts.Channels != o.Channels || facts.BitsPerSample != 16 || facts.Format != "pcm" {
			t.Errorf("WAV-09: %+v gave %+v", o, facts)
		}
		if facts.DurationUS < o.DurationUS || facts.DurationUS > o.DurationUS+1_000_000/o.SampleRate+1 {
			t.Errorf("WAV-08: %+v lasts %d us", o, facts.DurationUS)
		}
		buffer, err := gowav.NewDecoder(bytes.NewReader(raw)).FullPCMBuffer()
		if err != nil {
			t.Fatal(err)
		}
		if uint64(buffer.NumFrames()) != facts.Frames || uint64(buffer.Format.SampleRate) != o.SampleRate {
			t.Errorf("%+v: a decoder finds %d frames", o, buffer.NumFrames())
		}
	}
	buffer, err := gowav.NewDecoder(bytes.NewReader(audioBytes(t, AudioOptions{SampleRate: 8000, Channels: 1, DurationUS: 1_000_000}))).FullPCMBuffer()
	if err != nil {
		t.Fatal(err)
	}
	low, high := 0, 0
	for _, v := range buffer.Data {
		low, high = min(low, v), max(high, v)
	}
	if low > -8000 || low < -8192 || high < 8000 || high > 8192 {
		t.Errorf("the wave goes from %d to %d", low, high)
	}
}

// TestFramesFor: the fewest frames that last so long, so that the checked
// duration is the wanted one wherever any number of frames gives it.
func TestFramesFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		us := rapid.Uint64Range(1, 1<<40).Draw(t, "us")
		rate := rapid.Uint64Range(1, maxRate).Draw(t, "rate")
		n, ok := framesFor(us, rate)
		if !ok || n*1_000_000/rate < us || (n-1)*1_000_000/rate >= us {
			t.Fatalf("%d us at %d Hz: %d frames", us, rate, n)
		}
	})
	if _, ok := framesFor(1<<64-1, maxRate*1000); ok {
		t.Error("an overflow went unnoticed")
	}
}

func TestVideo(t *testing.T) {
	for _, o := range []VideoOptions{
		{Width: 1, Height: 1, Frames: 1, FPS: 1},
		{Width: 320, Height: 180, Frames: 49, FPS: 24, Seed: 3},
		{Width: 64, Height: 48, Frames: 30, FPS: 60, Audio: &VideoAudio{SampleRate: 44100, Channels: 2}},
		{Width: 65, Height: 47, Frames: 7, FPS: 7, Quality: 100, Audio: &VideoAudio{SampleRate: 8000, Channels: 8}},
		{Width: 640, Height: 360, Frames: 60, FPS: 30, Audio: &VideoAudio{SampleRate: 48000, Channels: 2}}, // several chunks
	} {
		facts := checked(t, videoBytes(t, o), media.MP4).Video
		if facts.Width != o.Width || facts.Height != o.Height || facts.Frames != o.Frames || facts.FPSNumerator != o.FPS ||
			facts.FPSDenominator != 1 || facts.DurationUS != o.Frames*1_000_000/o.FPS || facts.DurationUS != facts.MdhdDurationUS {
			t.Errorf("MP4-25: %+v gave %+v", o, facts)
		}
		if o.Audio == nil {
			if facts.Tracks != nil {
				t.Errorf("MP4-23: sound without being asked for: %+v", facts.Tracks)
			}
			continue
		}
		samples := o.Frames * o.Audio.SampleRate / o.FPS
		if a := facts.Tracks[0]; a.Codec != "sowt" || a.Samples != samples || a.Bytes != samples*2*o.Audio.Channels || a.SampleRate != o.Audio.SampleRate {
			t.Errorf("MP4-23: %+v gave %+v", o.Audio, a)
		}
	}
}

// largest remembers the largest single write.
type largest struct{ n int }

func (l *largest) Write(p []byte) (int, error) {
	l.n = max(l.n, len(p))
	return len(p), nil
}

// TestVideoStreams: no group grows with the length of the video, whether frames
// or sound make it up.
func TestVideoStreams(t *testing.T) {
	var l largest
	o := VideoOptions{Width: 8, Height: 8, Frames: 400, FPS: 1, Audio: &VideoAudio{SampleRate: 8000, Channels: 2}}
	if err := Video(t.Context(), &l, o); err != nil {
		t.Fatal(err)
	}
	if l.n > 2*groupTarget {
		t.Errorf("one write of %d bytes", l.n)
	}
}

func TestLargeOffsets(t *testing.T) {
	small := chunkOffsets([]chunk{{offset: 1<<32 - 1}})
	large := chunkOffsets([]chunk{{offset: 5}, {offset: 1 << 32}})
	if string(small[4:8]) != "stco" || string(large[4:8]) != "co64" || len(large) != 8+8+16 {
		t.Errorf("got %x and %x", small, large)
	}
}
