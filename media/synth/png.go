package synth

import (
	"context"
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"io"
)

// chunkTarget is about how many compressed bytes go into one IDAT chunk.
const chunkTarget = 64 << 10

// writePNG writes an 8-bit RGB picture of 8×8 blocks. The compression is this
// package's own (deflater), so the bytes do not depend on a library's version.
func writePNG(ctx context.Context, w io.Writer, o ImageOptions) error {
	header := binary.BigEndian.AppendUint32(nil, uint32(o.Width))
	header = binary.BigEndian.AppendUint32(header, uint32(o.Height))
	header = append(header, 8, 2, 0, 0, 0)
	out := chunkWriter{w: w}
	out.raw([]byte("\x89PNG\r\n\x1a\n"))
	out.chunk("IHDR", header)

	d := deflater{out: []byte{0x78, 0x01}} // zlib: 32 KiB window, no dictionary
	d.begin()
	sum := adler32.New()
	row := make([]byte, 1+3*o.Width)
	for y := uint64(0); y < o.Height && out.err == nil; y++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		drawRow(row, o, y)
		sum.Write(row) // never fails
		d.write(row)
		if len(d.out) >= chunkTarget {
			out.chunk("IDAT", d.out)
			d.out = d.out[:0]
		}
	}
	d.end()
	out.chunk("IDAT", binary.BigEndian.AppendUint32(d.out, sum.Sum32()))
	out.chunk("IEND", nil)
	return out.err
}

// drawRow makes one filtered row. The first row of a block is stored as
// differences to the left pixel (filter 1), the others as differences to the
// row above (filter 2), which are all 0.
func drawRow(row []byte, o ImageOptions, y uint64) {
	clear(row)
	if y%8 != 0 {
		row[0] = 2
		return
	}
	row[0] = 1
	var left [3]byte
	for x := uint64(0); x < o.Width; x += 8 {
		noise := mix(o.Seed, x/8, y/8, 0)
		for i := range left {
			ramp := (5+uint64(i))*(x/8) + (9-2*uint64(i))*(y/8)
			value := byte(24 + (ramp+(noise>>(16*i))%64)%208)
			row[1+3*x+uint64(i)] = value - left[i]
			left[i] = value
		}
	}
}

// chunkWriter writes PNG chunks and keeps the first error.
type chunkWriter struct {
	w   io.Writer
	err error
}

func (c *chunkWriter) raw(p []byte) {
	if c.err == nil {
		_, c.err = c.w.Write(p)
	}
}

func (c *chunkWriter) chunk(typ string, data []byte) {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	c.raw(append(head, typ...))
	c.raw(data)
	sum := crc32.Update(crc32.ChecksumIEEE([]byte(typ)), crc32.IEEETable, data)
	c.raw(binary.BigEndian.AppendUint32(nil, sum))
}
