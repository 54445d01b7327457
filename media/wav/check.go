// Package wav checks the framing of WAV files (WAV-01 to WAV-12).
//
// It owns RIFF chunks and the format chunk; samples are not looked at. Invariant:
// memory and work depend on the number of chunks only, and chunks are bounded
// by the file's size.
package wav

import (
	"io"

	"github.com/grill-plan/grill-plan/media/binread"
)

// Facts of a WAV file (WAV-09).
type Facts struct {
	Format        string // "pcm" or "float"
	BitsPerSample uint64 // of the container when valid bits are fewer
	Channels      uint64
	SampleRate    uint64 // Hz
	Frames        uint64
	DurationUS    uint64 // rounded down
}

const (
	tagPCM        = 1
	tagFloat      = 3
	tagExtensible = 0xFFFE
	fmtSize       = 16
	extensionSize = 24 // 2 bytes of extension size and 22 bytes of extension
	placeholder   = 0xFFFFFFFF
	ahead         = 4096 // bytes; a file of tiny chunks must not cost a read each
)

// guidTail follows the format tag in the sub-formats for PCM and IEEE float
// (WAV-04).
const guidTail = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"

// Check reads the chunk headers and the format chunk of the size bytes of r.
// A refusal is a *binread.Error; any other error is the reader's own.
func Check(r io.ReaderAt, size int64) (Facts, error) {
	c := checker{r: binread.New(r, size).Buffered(size, ahead)}
	c.riff(size)
	for c.r.Left() > 0 {
		c.chunk()
	}
	c.complete()
	if err := c.r.Err(); err != nil {
		return Facts{}, err
	}
	return c.facts, nil
}

type checker struct {
	r          *binread.Reader
	facts      Facts
	blockAlign uint64
	format     bool // fmt was read
	data       bool // data was seen
}

// riff reads the 12 bytes in front of the chunks (WAV-01).
func (c *checker) riff(size int64) {
	if size < 12 {
		c.r.Fail(binread.Truncated, "wav_header", 0, "%d bytes are too few for a RIFF header", size)
		return
	}
	id, declared, form := c.r.FourCC(), c.r.U32LE(), c.r.FourCC()
	switch {
	case c.r.Err() != nil:
	case id == "RIFX" || id == "RF64" || id == "BW64":
		c.r.Fail(binread.Unsupported, "wav_form", 0, "%s files are not admitted, only RIFF", id)
	case id != "RIFF":
		c.r.Fail(binread.Malformed, "wav_form", 0, "the file does not start with RIFF")
	case form != "WAVE":
		c.r.Fail(binread.Malformed, "wav_form", 8, "the RIFF form is %q and not WAVE", form)
	case declared == placeholder:
		c.r.Fail(binread.Unsupported, "wav_placeholder_size", 4, "the RIFF size is a streaming placeholder")
	case int64(declared)+8 > size:
		c.r.Fail(binread.Truncated, "wav_size", 4, "the RIFF size is %d and the file has %d bytes after it", declared, size-8)
	case int64(declared)+8 < size:
		c.r.Fail(binread.Malformed, "wav_size", 4, "the RIFF size is %d and the file has %d bytes after it", declared, size-8)
	}
}

// chunk reads one chunk header and skips or judges its data (WAV-02).
func (c *checker) chunk() {
	start := c.r.Pos()
	if c.r.Left() < 8 {
		c.r.Fail(binread.Truncated, "wav_truncated_chunk", start, "%d bytes are too few for a chunk", c.r.Left())
		return
	}
	id, size := c.r.FourCC(), int64(c.r.U32LE())
	if c.r.Err() != nil {
		return
	}
	if size > c.r.Left() {
		kind, code := binread.Truncated, "wav_truncated_chunk"
		if size == placeholder {
			kind, code = binread.Unsupported, "wav_placeholder_size"
		}
		c.r.Fail(kind, code, start, "chunk %q declares %d bytes and %d are left", id, size, c.r.Left())
		return
	}
	if size%2 == 1 && size == c.r.Left() {
		c.r.Fail(binread.Truncated, "wav_missing_pad", start, "chunk %q has an odd size and no pad byte inside the RIFF size", id)
		return
	}
	switch id {
	case "fmt ":
		c.fmt(c.r.Section(size), start)
	case "data":
		c.samples(uint64(size), start)
	}
	c.r.Skip(size + size%2)
}

// fmt reads the format chunk (WAV-03 to WAV-06).
func (c *checker) fmt(r *binread.Reader, start int64) {
	if c.format {
		r.Fail(binread.Malformed, "wav_repeated_fmt", start, "a second fmt chunk")
		return
	}
	c.format = true
	if r.Left() < fmtSize {
		r.Fail(binread.Malformed, "wav_fmt_length", start, "the fmt chunk has %d bytes and needs %d", r.Left(), fmtSize)
		return
	}
	tag, channels, rate := r.U16LE(), uint64(r.U16LE()), uint64(r.U32LE())
	byteRate, align, bits := uint64(r.U32LE()), uint64(r.U16LE()), uint64(r.U16LE())
	if tag == tagExtensible {
		tag = c.extension(r, start)
	}
	if r.Err() != nil {
		return
	}
	format, admitted := sampleFormat(tag, bits)
	switch {
	case format == "":
		r.Fail(binread.Unsupported, "wav_format", start, "format tag %#04x is neither integer PCM (1) nor IEEE float (3)", tag)
	case channels == 0:
		r.Fail(binread.Malformed, "wav_zero_channels", start, "the file has no channels")
	case rate == 0:
		r.Fail(binread.Malformed, "wav_zero_rate", start, "the sample rate is 0")
	case !admitted:
		r.Fail(binread.Unsupported, "wav_bits", start, "%d bits per sample do not fit format %s", bits, format)
	case align != channels*bits/8:
		r.Fail(binread.Malformed, "wav_block_align", start, "the block alignment is %d and should be %d", align, channels*bits/8)
	case byteRate != rate*align:
		r.Fail(binread.Malformed, "wav_byte_rate", start, "the byte rate is %d and should be %d", byteRate, rate*align)
	}
	c.blockAlign = align
	c.facts = Facts{Format: format, BitsPerSample: bits, Channels: channels, SampleRate: rate}
}

// sampleFormat names a format and says whether it may have so many bits
// (WAV-05).
func sampleFormat(tag uint16, bits uint64) (format string, admitted bool) {
	switch tag {
	case tagPCM:
		return "pcm", bits == 8 || bits == 16 || bits == 24 || bits == 32
	case tagFloat:
		return "float", bits == 32 || bits == 64
	}
	return "", false
}

// extension reads what follows an extensible format and returns the tag of its
// sub-format (WAV-04).
func (c *checker) extension(r *binread.Reader, start int64) uint16 {
	if r.Left() < extensionSize {
		r.Fail(binread.Malformed, "wav_extension", start, "an extensible fmt chunk lacks its 22-byte extension")
		return 0
	}
	declared := r.U16LE()
	if declared < extensionSize-2 || int64(declared) > r.Left() {
		r.Fail(binread.Malformed, "wav_extension", start, "the fmt extension declares %d bytes and %d are left", declared, r.Left())
		return 0
	}
	r.Skip(6) // valid bits and channel mask say nothing about framing
	tag := r.U16LE()
	if tail := string(r.Bytes(len(guidTail))); r.Err() == nil && tail != guidTail {
		r.Fail(binread.Unsupported, "wav_format", start, "the extensible sub-format is neither PCM nor IEEE float")
	}
	return tag
}

// samples judges the size of the data chunk (WAV-03, WAV-07, WAV-08).
func (c *checker) samples(size uint64, start int64) {
	switch {
	case c.data:
		c.r.Fail(binread.Malformed, "wav_repeated_data", start, "a second data chunk")
		return
	case !c.format:
		c.r.Fail(binread.Malformed, "wav_data_before_fmt", start, "the data chunk comes before the fmt chunk")
		return
	}
	c.data = true
	if c.r.Err() != nil {
		return
	}
	if size%c.blockAlign != 0 {
		c.r.Fail(binread.Malformed, "wav_misaligned_data", start, "%d bytes of data are no multiple of the block alignment %d", size, c.blockAlign)
		return
	}
	c.facts.Frames = size / c.blockAlign
	// 2^32 frames times 1,000,000 fit in 64 bits: this cannot overflow.
	c.facts.DurationUS, _ = binread.Microseconds(c.facts.Frames, c.facts.SampleRate)
}

func (c *checker) complete() {
	switch {
	case c.r.Err() != nil:
	case !c.format:
		c.r.Fail(binread.Malformed, "wav_missing_fmt", c.r.Pos(), "the file has no fmt chunk")
	case !c.data:
		c.r.Fail(binread.Malformed, "wav_missing_data", c.r.Pos(), "the file has no data chunk")
	}
}
