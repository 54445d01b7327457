package synth

import (
	"io"
	"testing"
)

// BenchmarkWork is the time of one unit of work.
func BenchmarkWork(b *testing.B) {
	for b.Loop() {
		if err := work(b.Context(), 1, 1); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVideo is the time of one second of 720p.
func BenchmarkVideo(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := Video(b.Context(), io.Discard, VideoOptions{Width: 1280, Height: 720, Frames: 24, FPS: 24}); err != nil {
			b.Fatal(err)
		}
	}
}
