package synth

import (
	"encoding/binary"
	"slices"
)

// The boxes of an MP4 file, written directly: nothing in them depends on a
// clock or a library.

func append16(b []byte, v uint16) []byte { return binary.BigEndian.AppendUint16(b, v) }
func append32(b []byte, v uint32) []byte { return binary.BigEndian.AppendUint32(b, v) }
func append64(b []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(b, v) }

// makeBox joins parts into a box.
func makeBox(typ string, parts ...[]byte) []byte {
	body := slices.Concat(parts...)
	return append(append(append32(nil, uint32(8+len(body))), typ...), body...)
}

// fullBox is a box with version 0 and flags.
func fullBox(typ string, flags uint32, parts ...[]byte) []byte {
	return makeBox(typ, append32(nil, flags), slices.Concat(parts...))
}

// words are 32-bit numbers.
func words(values ...uint32) []byte {
	var b []byte
	for _, v := range values {
		b = append32(b, v)
	}
	return b
}

func fileType() []byte {
	return makeBox("ftyp", []byte("isom"), words(0x200), []byte("isomiso2mp41"))
}

// unity is the transformation matrix that changes nothing.
func unity() []byte { return words(1<<16, 0, 0, 0, 1<<16, 0, 0, 0, 1<<30) }

// ticksPerFrame makes the media timescale a multiple of the rate.
const ticksPerFrame = 512

// movie is the moov box. Movie and video share a timescale, so that the
// declared durations are exact.
func (v *videoWriter) movie() []byte {
	timescale := uint32(v.o.FPS * ticksPerFrame)
	duration := v.o.Frames * ticksPerFrame // at most 512,000,000
	mvhd := fullBox("mvhd", 0, words(0, 0, timescale, uint32(duration), 1<<16), []byte{1, 0}, make([]byte, 10),
		unity(), make([]byte, 24), words(3)) // the next free track id
	parts := [][]byte{mvhd, v.videoTrack(timescale, uint32(duration))}
	if len(v.audio) > 0 {
		parts = append(parts, v.audioTrack(uint32(duration)))
	}
	return makeBox("moov", parts...)
}

// trackBox joins what all tracks have in common.
func trackBox(id, duration uint32, volume uint16, width, height uint64, mdia []byte) []byte {
	tkhd := fullBox("tkhd", 3, words(0, 0, id, 0, duration, 0, 0), append16(append32(nil, 0), volume), make([]byte, 2),
		unity(), words(uint32(width<<16), uint32(height<<16)))
	return makeBox("trak", tkhd, mdia)
}

func mediaBox(timescale, duration uint32, handler, name string, header, stbl []byte) []byte {
	mdhd := fullBox("mdhd", 0, words(0, 0, timescale, duration), append16(nil, 0x55C4), make([]byte, 2)) // language und
	hdlr := fullBox("hdlr", 0, words(0), []byte(handler), make([]byte, 12), []byte(name+"\x00"))
	dinf := makeBox("dinf", fullBox("dref", 0, words(1), fullBox("url ", 1)))
	return makeBox("mdia", mdhd, hdlr, makeBox("minf", header, dinf, stbl))
}

func (v *videoWriter) videoTrack(timescale, duration uint32) []byte {
	entry := makeBox("mp4v", make([]byte, 6), append16(nil, 1), make([]byte, 16),
		append16(append16(nil, uint16(v.o.Width)), uint16(v.o.Height)),
		words(72<<16, 72<<16, 0), append16(nil, 1), make([]byte, 32), append16(append16(nil, 24), 0xFFFF), esds())
	sizes := words(0, uint32(len(v.sizes)))
	for _, size := range v.sizes {
		sizes = append32(sizes, size)
	}
	stbl := makeBox("stbl", fullBox("stsd", 0, words(1), entry),
		fullBox("stts", 0, words(1, uint32(v.o.Frames), ticksPerFrame)),
		chunkRuns(v.video), fullBox("stsz", 0, sizes), chunkOffsets(v.video))
	vmhd := fullBox("vmhd", 1, make([]byte, 8))
	return trackBox(1, duration, 0, v.o.Width, v.o.Height, mediaBox(timescale, duration, "vide", "VideoHandler", vmhd, stbl))
}

// esds says that the mp4v entry holds JPEG pictures (object type 0x6C), which
// every ffmpeg since 4 decodes.
func esds() []byte {
	decoder := []byte{0x04, 13, 0x6C, 0x11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	sync := []byte{0x06, 1, 0x02}
	es := append([]byte{0x03, byte(3 + len(decoder) + len(sync)), 0, 1, 0}, decoder...)
	return fullBox("esds", 0, append(es, sync...))
}

func (v *videoWriter) audioTrack(movieDuration uint32) []byte {
	rate, channels := uint32(v.o.Audio.SampleRate), uint16(v.o.Audio.Channels)
	samples := uint32(v.heard)
	entry := makeBox("sowt", make([]byte, 6), append16(nil, 1), make([]byte, 8),
		append16(append16(nil, channels), 8*bytesPerSample), make([]byte, 4), words(rate<<16))
	stbl := makeBox("stbl", fullBox("stsd", 0, words(1), entry),
		fullBox("stts", 0, words(1, samples, 1)),
		chunkRuns(v.audio), fullBox("stsz", 0, words(bytesPerSample*uint32(channels), samples)), chunkOffsets(v.audio))
	smhd := fullBox("smhd", 0, make([]byte, 4))
	return trackBox(2, movieDuration, 0x0100, 0, 0, mediaBox(rate, samples, "soun", "SoundHandler", smhd, stbl))
}

// chunkRuns is stsc: an entry wherever the number of samples a chunk changes.
func chunkRuns(chunks []chunk) []byte {
	var entries []byte
	var count, before uint32
	for i, c := range chunks {
		if i == 0 || c.samples != before {
			entries = append(entries, words(uint32(i+1), c.samples, 1)...)
			count, before = count+1, c.samples
		}
	}
	return fullBox("stsc", 0, words(count), entries)
}

// chunkOffsets is stco, or co64 when the file is larger than 32 bits reach.
func chunkOffsets(chunks []chunk) []byte {
	wide := len(chunks) > 0 && chunks[len(chunks)-1].offset > 1<<32-1
	offsets := words(uint32(len(chunks)))
	for _, c := range chunks {
		if wide {
			offsets = append64(offsets, c.offset)
		} else {
			offsets = append32(offsets, uint32(c.offset))
		}
	}
	if wide {
		return fullBox("co64", 0, offsets)
	}
	return fullBox("stco", 0, offsets)
}
