package mp4_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/grill-plan/grill-plan/media/binread"
)

// samplePlan is a video track drawn at random, sample by sample.
type samplePlan struct {
	sizes     []uint32
	durations []uint32
	chunks    []int // samples in each
	sizeBits  int   // 4, 8, 16 or 32
	wide      bool  // co64
	composed  bool  // ctts
}

func drawPlan(t *rapid.T) samplePlan {
	n := rapid.IntRange(1, 40).Draw(t, "samples")
	p := samplePlan{
		sizeBits: rapid.SampledFrom([]int{4, 8, 16, 32}).Draw(t, "bits"),
		wide:     rapid.Bool().Draw(t, "wide"),
		composed: rapid.Bool().Draw(t, "composed"),
	}
	largest := uint32(min(300, 1<<min(p.sizeBits, 16)-1))
	for range n {
		p.sizes = append(p.sizes, rapid.Uint32Range(0, largest).Draw(t, "size"))
		p.durations = append(p.durations, rapid.Uint32Range(1, 5).Draw(t, "duration"))
	}
	for left := n; left > 0; {
		c := rapid.IntRange(1, left).Draw(t, "chunk")
		p.chunks = append(p.chunks, c)
		left -= c
	}
	return p
}

// sum adds 32-bit numbers.
func sum(values []uint32) (total uint64) {
	for _, v := range values {
		total += uint64(v)
	}
	return total
}

// stsz encodes the sizes with the planned width.
func (p samplePlan) stsz() *node {
	count := uint32(len(p.sizes))
	if p.sizeBits == 32 {
		return box("stsz", append(w(0, 0, count), w(p.sizes...)...))
	}
	data := w(0, uint32(p.sizeBits), count)
	for i, s := range p.sizes {
		switch {
		case p.sizeBits == 16:
			data = binary.BigEndian.AppendUint16(data, uint16(s))
		case p.sizeBits == 8:
			data = append(data, byte(s))
		case i%2 == 0:
			data = append(data, byte(s<<4))
		default:
			data[len(data)-1] |= byte(s)
		}
	}
	return box("stz2", data)
}

// build puts the chunks into one mdat each, with free boxes between.
func (p samplePlan) build() *node {
	root := box("", nil)
	var at uint64
	var offsets []uint64
	next := 0
	for _, c := range p.chunks {
		size := sum(p.sizes[next : next+c])
		root.kids = append(root.kids, box("free", make([]byte, 3)), box("mdat", make([]byte, size)))
		offsets = append(offsets, at+11+8)
		at += 11 + 8 + size
		next += c
	}
	trak := video(stretch{1, 1}).box(1, 0, false)
	t := trak.at("mdia", "minf", "stbl")
	stts, ctts := w(0, uint32(len(p.durations))), w(0, uint32(len(p.durations)))
	for i, d := range p.durations {
		stts = append(stts, w(1, d)...)
		ctts = append(ctts, w(1, uint32(i))...)
	}
	t.at("stts").data = stts
	if p.composed {
		t.kids = append(t.kids, box("ctts", ctts))
	}
	stsc, entries, before := []byte{}, uint32(0), 0
	for i, c := range p.chunks {
		if c != before {
			stsc = append(stsc, w(uint32(i+1), uint32(c), 1)...)
			entries, before = entries+1, c
		}
	}
	t.at("stsc").data = append(w(0, entries), stsc...)
	*t.at("stsz") = *p.stsz()
	stco := t.at("stco")
	stco.data = w(0, uint32(len(offsets)))
	for _, o := range offsets {
		if p.wide {
			stco.typ, stco.data = "co64", binary.BigEndian.AppendUint64(stco.data, o)
		} else {
			stco.data = binary.BigEndian.AppendUint32(stco.data, uint32(o))
		}
	}
	root.kids = append(root.kids, box("moov", nil, box("mvhd", append(w(0, 0, 0, 1000, 0), make([]byte, 80)...)), trak))
	return root
}

// TestRandomTables holds the one-pass reading of MP4-10, MP4-12 and MP4-15
// against samples written out one by one, and refuses a chunk that loses its
// last byte.
func TestRandomTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		root := p.build()
		got, err := checkBytes(root.file())
		if err != nil {
			t.Fatalf("MP4-10: %v", err)
		}
		if want := sum(p.durations) * 1_000_000 / 24; got.Frames != uint64(len(p.sizes)) || got.MediaDurationUS != want {
			t.Fatalf("MP4-10 MP4-15: got %+v, want %d frames and %d us", got, len(p.sizes), want)
		}
		chunk := rapid.IntRange(0, len(p.chunks)-1).Draw(t, "cut")
		mdat := root.kids[2*chunk+1]
		if len(mdat.data) == 0 {
			return
		}
		// The byte moves out of the payload; every offset stays.
		mdat.data = mdat.data[1:]
		after := root.kids[2*chunk+2]
		if after.typ != "free" {
			return
		}
		after.data = append(after.data, 0)
		_, err = checkBytes(root.file())
		var refusal *binread.Error
		if !errors.As(err, &refusal) || refusal.Code != "mp4_chunk_range" {
			t.Fatalf("MP4-12: got %v for a chunk without its last byte", err)
		}
	})
}

// TestRandomRuns holds fragments with any mix of given and default sizes and
// durations against the samples written out (MP4-13).
func TestRandomRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := movieSpec{timescale: 1000, fragmented: true, tracks: []trackSpec{video(stretch{1, 1})}}
		root := m.build()
		root.kids = root.kids[:1]
		var frames, ticks uint64
		for range rapid.IntRange(1, 6).Draw(t, "fragments") {
			flags := rapid.SampledFrom([]uint32{0, 0x100, 0x200, 0x300, 0xf00, 0x500, 0xa00}).Draw(t, "flags")
			count := rapid.Uint32Range(0, 20).Draw(t, "count")
			fixedSize, fixedTicks := rapid.Uint32Range(0, 9).Draw(t, "size"), rapid.Uint32Range(1, 9).Draw(t, "ticks")
			trun := w(flags|1, count, 0)
			payload, start := uint64(0), ticks
			for range count {
				size, duration := fixedSize, fixedTicks
				if flags&0x100 != 0 {
					duration = rapid.Uint32Range(1, 9).Draw(t, "own ticks")
					trun = append(trun, w(duration)...)
				}
				if flags&0x200 != 0 {
					size = rapid.Uint32Range(0, 9).Draw(t, "own size")
					trun = append(trun, w(size)...)
				}
				for _, f := range []uint32{0x400, 0x800} {
					if flags&f != 0 {
						trun = append(trun, w(7)...)
					}
				}
				payload, ticks, frames = payload+uint64(size), ticks+uint64(duration), frames+1
			}
			part := m.build()
			part.at("moof", "traf", "tfhd").data = w(0x020018, 1, fixedTicks, fixedSize)
			part.at("moof", "traf", "tfdt").data = w(1<<24, uint32(start>>32), uint32(start))
			part.at("moof", "traf", "trun").data = trun
			m.placeRunOnly(part.at("moof"))
			root.kids = append(root.kids, part.at("moof"), box("mdat", make([]byte, payload)))
		}
		got, err := checkBytes(root.file())
		if frames == 0 {
			if err == nil {
				t.Fatal("MP4-11: a file without samples passes")
			}
			return
		}
		if err != nil {
			t.Fatalf("MP4-13: %v", err)
		}
		if got.Frames != frames || got.MediaDurationUS != ticks*1_000_000/24 || got.FragmentGaps != 0 {
			t.Fatalf("MP4-13: got %+v, want %d frames and %d ticks", got, frames, ticks)
		}
	})
}
