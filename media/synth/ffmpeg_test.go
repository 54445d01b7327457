package synth

import (
	"bytes"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// ffmpeg runs the decoder, or skips; with REQUIRE_TOOLS=1 it must be there.
// Anything on its error stream is a failure.
func ffmpeg(t *testing.T, args ...string) []byte {
	t.Helper()
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		if os.Getenv("REQUIRE_TOOLS") == "1" {
			t.Fatalf("ffmpeg is required: %v", err)
		}
		t.Skip("ffmpeg is not installed")
	}
	base := []string{"-nostdin", "-hide_banner", "-v", "error", "-xerror", "-err_detect", "explode"}
	cmd := exec.Command(path, append(base, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("ffmpeg %v: %v\n%s", args, err, stderr.String())
	}
	return out
}

func save(t *testing.T, name string, raw []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// planes are the samples of a picture in ffmpeg's order, without padding.
func planes(p *image.YCbCr) []byte {
	var b []byte
	width, height := p.Bounds().Dx(), p.Bounds().Dy()
	for y := range height {
		b = append(b, p.Y[y*p.YStride:][:width]...)
	}
	for _, plane := range [][]byte{p.Cb, p.Cr} {
		for y := range (height + 1) / 2 {
			b = append(b, plane[y*p.CStride:][:(width+1)/2]...)
		}
	}
	return b
}

// TestFFmpegDecodesVideo: every frame with the planes that were drawn, every
// sample of sound, at the exact times.
func TestFFmpegDecodesVideo(t *testing.T) {
	o := VideoOptions{Width: 322, Height: 178, Frames: 61, FPS: 24, Seed: 11, Audio: &VideoAudio{SampleRate: 48000, Channels: 2}}
	path := save(t, "v.mp4", videoBytes(t, o))

	var want []byte
	frame := newFrame(o.Width, o.Height)
	for n := range o.Frames {
		frame.draw(o.Seed, n)
		want = append(want, planes(frame.picture)...)
	}
	got := ffmpeg(t, "-f", "mov", "-i", path, "-map", "0:V:0", "-c:v", "rawvideo", "-pix_fmt", "+", "-fps_mode", "passthrough", "-f", "rawvideo", "-")
	if !bytes.Equal(got, want) {
		t.Errorf("decoded pictures differ: %d bytes, want %d", len(got), len(want))
	}

	var sound []byte
	tone := newTone(o.Seed, o.Audio.SampleRate, o.Audio.Channels)
	for i := range o.Frames * o.Audio.SampleRate / o.FPS {
		sound = tone.append(sound, i)
	}
	if got := ffmpeg(t, "-f", "mov", "-i", path, "-map", "0:a:0", "-c:a", "pcm_s16le", "-f", "s16le", "-"); !bytes.Equal(got, sound) {
		t.Errorf("decoded sound differs: %d bytes, want %d", len(got), len(sound))
	}

	lines := 0
	for line := range strings.Lines(string(ffmpeg(t, "-copyts", "-f", "mov", "-i", path, "-map", "0:V:0", "-c:v", "rawvideo",
		"-fps_mode", "passthrough", "-enc_time_base", "1/24", "-f", "framecrc", "-"))) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, ",")
		if pts := strings.TrimSpace(fields[2]); pts != strconv.Itoa(lines) {
			t.Fatalf("frame %d has the time %s/24", lines, pts)
		}
		lines++
	}
	if lines != int(o.Frames) {
		t.Errorf("%d frames, want %d", lines, o.Frames)
	}
}

// TestFFmpegDecodesRest: pictures and sound of the other containers.
func TestFFmpegDecodesRest(t *testing.T) {
	picture := newFrame(33, 18)
	picture.draw(4, 0)
	path := save(t, "i.jpg", imageBytes(t, ImageOptions{Format: JPEG, Width: 33, Height: 18, Seed: 4}))
	if got := ffmpeg(t, "-i", path, "-f", "rawvideo", "-pix_fmt", "+", "-"); !bytes.Equal(got, planes(picture.picture)) {
		t.Error("the decoded JPEG differs")
	}
	path = save(t, "i.png", imageBytes(t, ImageOptions{Format: PNG, Width: 33, Height: 18, Seed: 4}))
	if got := ffmpeg(t, "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"); len(got) != 33*18*3 {
		t.Errorf("the decoded PNG has %d bytes", len(got))
	}
	raw := audioBytes(t, AudioOptions{SampleRate: 44100, Channels: 2, DurationUS: 300_000})
	path = save(t, "a.wav", raw)
	if got := ffmpeg(t, "-i", path, "-f", "s16le", "-"); !bytes.Equal(got, raw[wavHeader:]) {
		t.Error("the decoded WAV differs")
	}
}
