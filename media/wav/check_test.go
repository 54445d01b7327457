package wav_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/grill-plan/grill-plan/media/binread"
	"github.com/grill-plan/grill-plan/media/wav"
)

func checkBytes(raw []byte) (wav.Facts, error) {
	return wav.Check(bytes.NewReader(raw), int64(len(raw)))
}

// TestVectors holds WAV-01 to WAV-09, WAV-11 and WAV-12.
func TestVectors(t *testing.T) {
	for _, v := range readVectors(t) {
		t.Run("WAV-01 WAV-02 WAV-03 WAV-04 WAV-05 WAV-06 WAV-07 WAV-08 WAV-11 "+v.ID, func(t *testing.T) {
			got, err := checkBytes(v.Base64)
			if !v.Expect.Valid {
				var refusal *binread.Error
				if !errors.As(err, &refusal) {
					t.Fatalf("got %v, want a refusal", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := wav.Facts{Format: v.Expect.Format, BitsPerSample: v.Expect.Bits, Channels: v.Expect.Channels,
				SampleRate: v.Expect.SampleRate, Frames: v.Expect.Frames, DurationUS: v.Expect.DurationUS}
			if got != want {
				t.Errorf("WAV-09: got %+v, want %+v", got, want)
			}
		})
	}
}

func chunk(id string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(id), uint32(len(data)))
	b = append(b, data...)
	if len(data)%2 == 1 {
		b = append(b, 0)
	}
	return b
}

func riff(chunks ...[]byte) []byte {
	body := append([]byte("WAVE"), slices.Concat(chunks...)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func format(tag, channels uint16, rate uint32, bits uint16, extra ...byte) []byte {
	le := binary.LittleEndian
	align := channels * bits / 8
	b := le.AppendUint16(nil, tag)
	b = le.AppendUint16(b, channels)
	b = le.AppendUint32(b, rate)
	b = le.AppendUint32(b, rate*uint32(align))
	b = le.AppendUint16(b, align)
	b = le.AppendUint16(b, bits)
	return chunk("fmt ", append(b, extra...))
}

// extension is the rest of an extensible format.
func extension(size uint16, tag byte) []byte {
	b := binary.LittleEndian.AppendUint16(nil, size)
	b = append(b, 16, 0, 0, 0, 0, 0, tag, 0)
	return append(b, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71)
}

func TestStructure(t *testing.T) {
	pcm, data := format(1, 1, 8000, 16), chunk("data", make([]byte, 8))
	cases := []struct {
		name string
		raw  []byte
		code string
	}{
		{"WAV-01 form AVI", append([]byte("RIFF\x04\x00\x00\x00"), "AVI "...), "wav_form"},
		{"WAV-02 seven bytes left", riff(pcm, data, make([]byte, 7)), "wav_truncated_chunk"},
		{"WAV-02 chunk too long", riff(pcm, data, []byte("LIST\x09\x00\x00\x00"), make([]byte, 8)), "wav_truncated_chunk"},
		{"WAV-02 no pad byte", riff(pcm, data, []byte("LIST\x03\x00\x00\x00abc")), "wav_missing_pad"},
		{"WAV-02 odd chunks are padded", riff(chunk("JUNK", make([]byte, 3)), pcm, chunk("LIST", make([]byte, 5)), data), ""},
		{"WAV-03 fmt of 15 bytes", riff(chunk("fmt ", make([]byte, 15)), data), "wav_fmt_length"},
		{"WAV-03 fmt of 18 bytes", riff(format(1, 1, 8000, 16, 0, 0), data), ""},
		{"WAV-03 no data", riff(pcm), "wav_missing_data"},
		{"WAV-04 extension of 21 bytes", riff(format(0xFFFE, 1, 8000, 16, extension(21, 1)...), data), "wav_extension"},
		{"WAV-04 extension longer than fmt", riff(format(0xFFFE, 1, 8000, 16, extension(24, 1)...), data), "wav_extension"},
		{"WAV-04 extension of another format", riff(format(0xFFFE, 1, 8000, 16, extension(22, 6)...), data), "wav_format"},
		{"WAV-04 extensible inside extensible", riff(format(0xFFFE, 1, 8000, 16, append(append([]byte{22, 0, 16, 0, 0, 0, 0, 0}, 0xFE, 0xFF), extension(22, 1)[10:]...)...), data), "wav_format"},
		{"WAV-05 float of 16 bits", riff(format(3, 1, 8000, 16), data), "wav_bits"},
		{"WAV-05 float of 64 bits", riff(format(3, 1, 8000, 64), data), ""},
		{"WAV-05 pcm of 64 bits", riff(format(1, 1, 8000, 64), data), "wav_bits"},
		{"WAV-06 channels times bits beyond 16 bits", riff(format(1, 65535, 1, 32), chunk("data", nil)), "wav_block_align"},
		{"WAV-06 byte rate beyond 32 bits", riff(format(1, 2, 1<<31, 16), chunk("data", nil)), "wav_byte_rate"},
		{"WAV-07 half a sample", riff(pcm, chunk("data", make([]byte, 7))), "wav_misaligned_data"},
		{"WAV-11 data of placeholder size", riff(pcm, []byte("data\xff\xff\xff\xff"), make([]byte, 8)), "wav_placeholder_size"},
		{"WAV-11 BW64", append([]byte("BW64"), riff(pcm, data)[4:]...), "wav_form"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := checkBytes(c.raw)
			if c.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var refusal *binread.Error
			if !errors.As(err, &refusal) || refusal.Code != c.code {
				t.Errorf("got %v, want a refusal with code %s", err, c.code)
			}
		})
	}
}

// TestNoFrames: a file without samples is valid and lasts 0 (WAV-12).
func TestNoFrames(t *testing.T) {
	got, err := checkBytes(valid(t, "zero-frames"))
	if err != nil || got.Frames != 0 || got.DurationUS != 0 {
		t.Errorf("WAV-12: got %+v, %v", got, err)
	}
}

func TestTruncation(t *testing.T) {
	for _, id := range []string{"pcm16", "list-after", "pcm8-odd-padded", "extensible-pcm"} {
		raw := valid(t, id)
		for n := range raw {
			var refusal *binread.Error
			if _, err := checkBytes(raw[:n]); !errors.As(err, &refusal) {
				t.Errorf("WAV-01 %s cut at %d: got %v, want a refusal", id, n, err)
			}
		}
	}
}

type broken struct{}

var errDisk = errors.New("disk on fire")

func (broken) ReadAt([]byte, int64) (int, error) { return 0, errDisk }

func TestReadError(t *testing.T) {
	if _, err := wav.Check(broken{}, 100); !errors.Is(err, errDisk) {
		t.Errorf("got %v, want the reader's error", err)
	}
}

func FuzzCheck(f *testing.F) {
	for _, v := range readVectors(f) {
		f.Add(v.Base64)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := checkBytes(raw)
		var refusal *binread.Error
		switch {
		case err != nil:
			if !errors.As(err, &refusal) {
				t.Fatalf("not a refusal: %v", err)
			}
		case got.Channels == 0 || got.SampleRate == 0 || got.Frames > uint64(len(raw)):
			t.Fatalf("accepted with %+v", got)
		}
	})
}
