package mp4_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/grill-plan/grill-plan/media/binread"
	"github.com/grill-plan/grill-plan/media/mp4"
)

// node is a box of a file under construction: data, then children.
type node struct {
	typ  string
	data []byte
	kids []*node
	tail []byte // after the children
	size func(real uint32) uint32
}

func (n *node) bytes() []byte {
	body := slices.Clone(n.data)
	for _, k := range n.kids {
		body = append(body, k.bytes()...)
	}
	body = append(body, n.tail...)
	size := uint32(8 + len(body))
	if n.size != nil {
		size = n.size(size)
	}
	out := binary.BigEndian.AppendUint32(nil, size)
	return append(append(out, n.typ...), body...)
}

// at finds the first box along a path of types.
func (n *node) at(path ...string) *node {
	for _, typ := range path {
		i := n.index(typ)
		if i < 0 {
			panic("no box " + typ)
		}
		n = n.kids[i]
	}
	return n
}

func (n *node) index(typ string) int {
	return slices.IndexFunc(n.kids, func(k *node) bool { return k.typ == typ })
}

func (n *node) drop(typ string) { n.kids = slices.Delete(n.kids, n.index(typ), n.index(typ)+1) }

func (n *node) repeat(typ string) { n.kids = append(n.kids, n.kids[n.index(typ)]) }

// put32 overwrites a 32-bit number in a box's own data.
func (n *node) put32(at int, v uint32) { binary.BigEndian.PutUint32(n.data[at:], v) }

func w(values ...uint32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

func box(typ string, data []byte, kids ...*node) *node {
	return &node{typ: typ, data: data, kids: kids}
}

// stretch is a run of samples of equal duration.
type stretch struct{ count, delta uint32 }

// trackSpec describes a track of one-byte samples in one chunk.
type trackSpec struct {
	handler   string
	timescale uint32
	runs      []stretch
	edit      []byte // elst data; nil for no edit list
}

func (t trackSpec) samples() (n uint32) {
	for _, r := range t.runs {
		n += r.count
	}
	return n
}

const payloadAt = 16 // of the file's mdat, after an 8-byte free box

// movie is a whole file: free, mdat, moov. In a fragmented one the tables of
// moov are empty and a moof with one run a stretch stands before its mdat.
type movieSpec struct {
	timescale  uint32
	tracks     []trackSpec
	fragmented bool
}

func (m movieSpec) build() *node {
	root := box("", nil)
	moov := box("moov", nil, box("mvhd", append(w(0, 0, 0, m.timescale, 0), make([]byte, 80)...)))
	var payload uint32
	mvex := box("mvex", nil)
	moof := box("moof", nil, box("mfhd", w(0, 1)))
	for i, t := range m.tracks {
		id := uint32(i + 1)
		moov.kids = append(moov.kids, t.box(id, payload, m.fragmented))
		mvex.kids = append(mvex.kids, box("trex", w(0, id, 1, 0, 0, 0)))
		moof.kids = append(moof.kids, t.traf(id))
		payload += t.samples()
	}
	mdat := box("mdat", make([]byte, payload))
	if !m.fragmented {
		root.kids = []*node{box("free", nil), mdat, moov}
		return root
	}
	moov.kids = append(moov.kids, mvex)
	root.kids = []*node{moov, moof, mdat}
	m.placeRuns(moof)
	return root
}

// placeRuns sets the data offsets of the first run of each traf, from moof.
func (m movieSpec) placeRuns(moof *node) {
	at := uint32(len(moof.bytes()) + 8)
	for _, traf := range moof.kids[1:] {
		for _, k := range traf.kids {
			if k.typ == "trun" {
				k.put32(8, at)
				at += binary.BigEndian.Uint32(k.data[4:])
			}
		}
	}
}

func (t trackSpec) traf(id uint32) *node {
	traf := box("traf", nil, box("tfhd", w(0x020000|0x10, id, 1)), box("tfdt", w(0, 0)))
	for _, r := range t.runs {
		data := w(0x000101, r.count, 0)
		for range r.count {
			data = binary.BigEndian.AppendUint32(data, r.delta)
		}
		traf.kids = append(traf.kids, box("trun", data))
	}
	return traf
}

func (t trackSpec) box(id, offset uint32, empty bool) *node {
	tkhd := box("tkhd", append(append(w(0, 0, 0, id, 0, 0), make([]byte, 52)...), w(640<<16, 360<<16)...))
	mdhd := box("mdhd", w(0, 0, 0, t.timescale, 12345, 0))
	hdlr := box("hdlr", append(append(w(0, 0), t.handler...), make([]byte, 13)...))
	dref := box("dref", w(0, 1), box("url ", w(1)))
	entry := box("mp4v", append(append(make([]byte, 6), 0, 1), make([]byte, 70)...))
	binary.BigEndian.PutUint16(entry.data[24:], 320)
	binary.BigEndian.PutUint16(entry.data[26:], 180)
	if t.handler != "vide" {
		entry = box("sowt", append(append(make([]byte, 6), 0, 1), make([]byte, 20)...))
		binary.BigEndian.PutUint16(entry.data[16:], 2)
		entry.put32(24, 48000<<16)
	}
	stts, stsc, stsz, stco := w(0, uint32(len(t.runs))), w(0, 1, 1, t.samples(), 1), w(0, 1, t.samples()), w(0, 1, payloadAt+offset)
	for _, r := range t.runs {
		stts = append(stts, w(r.count, r.delta)...)
	}
	if empty {
		stts, stsc, stsz, stco = w(0, 0), w(0, 0), w(0, 0, 0), w(0, 0)
	}
	trak := box("trak", nil, tkhd, box("mdia", nil, mdhd, hdlr, box("minf", nil,
		box("dinf", nil, dref),
		box("stbl", nil, box("stsd", w(0, 1), entry), box("stts", stts), box("stsc", stsc), box("stsz", stsz), box("stco", stco)))))
	if t.edit != nil {
		trak.kids = append(trak.kids, box("edts", nil, box("elst", t.edit)))
	}
	return trak
}

// file is the bytes of all top-level boxes.
func (n *node) file() []byte {
	var b []byte
	for _, k := range n.kids {
		b = append(b, k.bytes()...)
	}
	return b
}

func video(runs ...stretch) trackSpec {
	return trackSpec{handler: "vide", timescale: 24, runs: runs}
}

func sound(runs ...stretch) trackSpec {
	return trackSpec{handler: "soun", timescale: 48000, runs: runs}
}

// av is a file with both tracks.
func av() movieSpec {
	return movieSpec{timescale: 1000, tracks: []trackSpec{video(stretch{48, 1}), sound(stretch{10, 1024})}}
}

func frag() movieSpec {
	m := av()
	m.fragmented = true
	return m
}

func checkBytes(raw []byte) (mp4.Facts, error) {
	return mp4.Check(bytes.NewReader(raw), int64(len(raw)))
}

// wantCode fails unless err is a refusal with the code.
func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var refusal *binread.Error
	if !errors.As(err, &refusal) {
		t.Fatalf("got %v, want a refusal with code %s", err, code)
	}
	if refusal.Code != code {
		t.Errorf("got code %s (%v), want %s", refusal.Code, err, code)
	}
}
