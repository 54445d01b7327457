package synth

import "math/bits"

// deflater writes one deflate block with the fixed Huffman codes (RFC 1951,
// 3.2.6) whose only back-references are repeats of the last byte. That is all
// that rows of constant blocks need.
type deflater struct {
	out   []byte
	hold  uint64 // bits not yet written, first bit lowest
	held  uint
	last  byte
	begun bool // last is set
	run   int  // repeats of last not yet written
}

const maxMatch = 258

// begin writes the header of the only and last block.
func (d *deflater) begin() { d.bits(1|1<<1, 3) }

func (d *deflater) write(p []byte) {
	for _, b := range p {
		if d.begun && b == d.last {
			if d.run++; d.run == maxMatch {
				d.flush()
			}
			continue
		}
		d.flush()
		d.symbol(int(b))
		d.last, d.begun = b, true
	}
}

// end closes the block and fills the last byte.
func (d *deflater) end() {
	d.flush()
	d.symbol(256)
	if d.held > 0 {
		d.bits(0, 8-d.held)
	}
}

// flush writes the pending repeats: as a match if there are three or more.
func (d *deflater) flush() {
	if d.run < 3 {
		for ; d.run > 0; d.run-- {
			d.symbol(int(d.last))
		}
		return
	}
	code, extra, width := lengthCode(d.run)
	d.symbol(code)
	d.bits(uint64(extra), width)
	d.bits(0, 5) // distance code 0: one byte back
	d.run = 0
}

// lengthCode is the table of RFC 1951, 3.2.5, as arithmetic.
func lengthCode(n int) (code, extra int, width uint) {
	switch {
	case n == maxMatch:
		return 285, 0, 0
	case n < 11:
		return 254 + n, 0, 0
	}
	n -= 3
	width = uint(bits.Len(uint(n))) - 3
	return 257 + 4*int(width) + n>>width, n & (1<<width - 1), width
}

// symbol writes a literal or length symbol in the fixed code.
func (d *deflater) symbol(s int) {
	switch {
	case s < 144:
		d.huffman(uint64(0x30+s), 8)
	case s < 256:
		d.huffman(uint64(0x190+s-144), 9)
	case s < 280:
		d.huffman(uint64(s-256), 7)
	default:
		d.huffman(uint64(0xC0+s-280), 8)
	}
}

// huffman writes a code, most significant bit first.
func (d *deflater) huffman(code uint64, width uint) {
	d.bits(bits.Reverse64(code)>>(64-width), width)
}

// bits writes the low width bits of v, least significant first.
func (d *deflater) bits(v uint64, width uint) {
	d.hold |= v << d.held
	for d.held += width; d.held >= 8; d.held -= 8 {
		d.out = append(d.out, byte(d.hold))
		d.hold >>= 8
	}
}
