package synth

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
)

// AudioOptions describe a WAV file of 16-bit integer PCM.
type AudioOptions struct {
	SampleRate uint64 // Hz, 1 to 768000
	Channels   uint64 // 1 to 8
	// DurationUS in microseconds, at least 1. The file has the smallest number
	// of sample frames that last so long, which is exact whenever a whole
	// number of frames, rounded down to microseconds, gives this duration.
	DurationUS uint64
	Seed       uint64
	Work       uint64 // units of computation that do not change the bytes
}

const (
	bytesPerSample = 2
	wavHeader      = 44
	maxDataBytes   = 1<<32 - 1 - wavHeader
	checkEvery     = 1 << 16 // sample frames between looks at the context
)

// Audio writes a WAV file. Invalid options give an error that wraps one
// *OptionError for each of them, before anything is written.
func Audio(ctx context.Context, w io.Writer, o AudioOptions) error {
	var p problems
	p.between("sample_rate", o.SampleRate, 1, maxRate)
	p.between("channels", o.Channels, 1, maxChannels)
	p.between("work", o.Work, 0, maxWork)
	frames, ok := framesFor(o.DurationUS, o.SampleRate)
	if o.DurationUS == 0 || !ok || frames > maxDataBytes/(bytesPerSample*max(1, o.Channels)) {
		p = append(p, &OptionError{"duration_us", fmt.Sprintf("%d is not between 1 and what fits into a WAV file of 4 GiB", o.DurationUS)})
	}
	if err := p.err("audio"); err != nil {
		return err
	}
	if err := work(ctx, o.Seed, o.Work); err != nil {
		return fmt.Errorf("synthesise audio: %w", err)
	}
	if err := writeWAV(ctx, w, o, frames); err != nil {
		return fmt.Errorf("synthesise audio: %w", err)
	}
	return nil
}

// framesFor is ceil(us × rate / 1,000,000), and whether it fits in 64 bits.
func framesFor(us, rate uint64) (uint64, bool) {
	hi, lo := bits.Mul64(us, rate)
	lo, carry := bits.Add64(lo, 999_999, 0)
	if hi += carry; hi >= 1_000_000 {
		return 0, false
	}
	frames, _ := bits.Div64(hi, lo, 1_000_000)
	return frames, true
}

func writeWAV(ctx context.Context, w io.Writer, o AudioOptions, frames uint64) error {
	block := o.Channels * bytesPerSample
	data := frames * block
	le := binary.LittleEndian
	h := append(make([]byte, 0, wavHeader), "RIFF"...)
	h = le.AppendUint32(h, uint32(wavHeader-8+data))
	h = append(h, "WAVEfmt "...)
	h = le.AppendUint32(h, 16)
	h = le.AppendUint16(h, 1)
	h = le.AppendUint16(h, uint16(o.Channels))
	h = le.AppendUint32(h, uint32(o.SampleRate))
	h = le.AppendUint32(h, uint32(o.SampleRate*block))
	h = le.AppendUint16(h, uint16(block))
	h = le.AppendUint16(h, 8*bytesPerSample)
	h = append(h, "data"...)
	h = le.AppendUint32(h, uint32(data))
	buffered := bufio.NewWriterSize(w, 64<<10)
	buffered.Write(h) // an error sticks and shows at Flush
	tone := newTone(o.Seed, o.SampleRate, o.Channels)
	var frame []byte
	for i := range frames {
		if i%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		frame = tone.append(frame[:0], i)
		if _, err := buffered.Write(frame); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// tone is a melody of triangle waves, one voice a channel, in integers only.
type tone struct {
	seed, rate, channels uint64
	phase                []uint32
	step                 []uint32
}

func newTone(seed, rate, channels uint64) *tone {
	return &tone{seed: seed, rate: rate, channels: channels,
		phase: make([]uint32, channels), step: make([]uint32, channels)}
}

// append adds sample frame number i. Frames must be asked for in order.
func (t *tone) append(to []byte, i uint64) []byte {
	const notesPerSecond = 4
	note := max(1, t.rate/notesPerSecond)
	for ch := range t.channels {
		if i%note == 0 {
			hertz := 110 + mix(t.seed, ch, i/note, 3)%770
			t.step[ch] = uint32(hertz << 32 / t.rate)
		}
		t.phase[ch] += t.step[ch]
		// A triangle between -2^13 and 2^13: the phase folded at its half.
		folded := int64(t.phase[ch])
		if folded >= 1<<31 {
			folded = 1<<32 - folded
		}
		value := int16(folded>>17 - 1<<13)
		to = binary.LittleEndian.AppendUint16(to, uint16(value))
	}
	return to
}
