package synth

import (
	"bytes"
	"context"
	"fmt"
	"image/jpeg"
	"io"
	"math"
)

// VideoOptions describe a Motion-JPEG video in an MP4 file.
type VideoOptions struct {
	Width   uint64 // pixels, 1 to 16384
	Height  uint64
	Frames  uint64 // 1 to 1,000,000
	FPS     uint64 // frames per second, 1 to 1000, exact in the file
	Quality uint64 // of JPEG, 90 to 100; 0 means 90
	Seed    uint64
	Work    uint64 // units of computation a frame that do not change the bytes
	Audio   *VideoAudio
}

// VideoAudio adds a 16-bit PCM track as long as the video, rounded down to
// whole samples.
type VideoAudio struct {
	SampleRate uint64 // Hz, 1000 to 65535
	Channels   uint64 // 1 to 8
}

// maxEntryRate is what a sample entry's 16.16 rate holds.
const maxEntryRate = 65535

// groupTarget is about how many bytes of frames go into one chunk and one mdat
// box.
const groupTarget = 256 << 10

// Video writes an MP4 file, front to back: groups of frames and samples, each
// in an mdat box of its own, and the tables last. w needs no seeking. Invalid
// options give an error that wraps one *OptionError for each of them, before
// anything is written.
func Video(ctx context.Context, w io.Writer, o VideoOptions) error {
	var p problems
	p.picture(o.Width, o.Height)
	p.between("frames", o.Frames, 1, maxFrames)
	p.between("fps", o.FPS, 1, maxFPS)
	p.between("work", o.Work, 0, maxWork)
	quality := p.quality(o.Quality)
	if o.Audio != nil {
		p.between("sample_rate", o.Audio.SampleRate, minVideoRate, maxEntryRate)
		p.between("channels", o.Audio.Channels, 1, maxChannels)
		if len(p) == 0 && o.Frames*o.Audio.SampleRate/o.FPS > math.MaxUint32 {
			p = append(p, &OptionError{"frames", fmt.Sprintf("%d frames last too long for an audio track", o.Frames)})
		}
	}
	if err := p.err("video"); err != nil {
		return err
	}
	v := &videoWriter{w: w, o: o, quality: quality, frame: newFrame(o.Width, o.Height)}
	if o.Audio != nil {
		v.tone = newTone(o.Seed, o.Audio.SampleRate, o.Audio.Channels)
	}
	if err := v.write(ctx); err != nil {
		return fmt.Errorf("synthesise video: %w", err)
	}
	return nil
}

// chunk is a run of samples in the file.
type chunk struct {
	offset  uint64
	samples uint32
}

// videoWriter writes one file and remembers what its tables need.
type videoWriter struct {
	w       io.Writer
	o       VideoOptions
	quality int
	frame   frame
	tone    *tone

	at      uint64 // bytes written
	sizes   []uint32
	pending uint32 // frames of the group being filled
	group   bytes.Buffer
	sound   []byte
	heard   uint64 // audio samples written so far
	video   []chunk
	audio   []chunk
}

func (v *videoWriter) write(ctx context.Context) error {
	if err := v.put(fileType()); err != nil {
		return err
	}
	for n := range v.o.Frames {
		if err := work(ctx, v.o.Seed+n, v.o.Work); err != nil {
			return err
		}
		before := v.group.Len()
		v.frame.draw(v.o.Seed, n)
		if err := jpeg.Encode(&v.group, v.frame.picture, &jpeg.Options{Quality: v.quality}); err != nil {
			return fmt.Errorf("encode frame %d: %w", n, err)
		}
		v.sizes = append(v.sizes, uint32(v.group.Len()-before))
		v.pending++
		full := v.group.Len() >= groupTarget || v.soundDue(n+1) >= groupTarget
		if full || n == v.o.Frames-1 {
			if err := v.flush(n + 1); err != nil {
				return err
			}
		}
	}
	return v.put(v.movie())
}

// samplesUntil is how many audio samples belong to so many frames.
func (v *videoWriter) samplesUntil(frames uint64) uint64 {
	if v.tone == nil {
		return 0
	}
	return frames * v.o.Audio.SampleRate / v.o.FPS
}

// soundDue is the size of the audio that belongs to so many frames and is not
// yet written, in bytes.
func (v *videoWriter) soundDue(frames uint64) uint64 {
	if v.tone == nil {
		return 0
	}
	return (v.samplesUntil(frames) - v.heard) * v.o.Audio.Channels * bytesPerSample
}

// flush writes the pending frames, and the audio up to the same moment, as one
// mdat box.
func (v *videoWriter) flush(frames uint64) error {
	v.sound = v.sound[:0]
	first := v.heard
	for until := v.samplesUntil(frames); v.heard < until; v.heard++ {
		v.sound = v.tone.append(v.sound, v.heard)
	}
	start := v.at + 8
	v.video = append(v.video, chunk{offset: start, samples: v.pending})
	if v.heard > first {
		v.audio = append(v.audio, chunk{offset: start + uint64(v.group.Len()), samples: uint32(v.heard - first)})
	}
	err := v.put(append32(nil, uint32(8+v.group.Len()+len(v.sound))), []byte("mdat"), v.group.Bytes(), v.sound)
	v.pending = 0
	v.group.Reset()
	return err
}

func (v *videoWriter) put(parts ...[]byte) error {
	for _, p := range parts {
		n, err := v.w.Write(p)
		v.at += uint64(n)
		if err != nil {
			return err
		}
	}
	return nil
}
