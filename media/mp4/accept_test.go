package mp4_test

import (
	"encoding/binary"
	"slices"
	"testing"
)

// TestAcceptedVariants are forms the rules admit.
func TestAcceptedVariants(t *testing.T) {
	cases := []struct {
		name   string
		build  func() *node
		change func(*node)
	}{
		{"MP4-01 last box of size 0", progressive, func(r *node) { r.at("moov").size = func(uint32) uint32 { return 0 } }},
		{"MP4-02 no ftyp, unknown boxes", progressive, func(r *node) {
			r.at("moov").kids = append(r.at("moov").kids, box("udta", []byte{1, 2, 3}))
			r.kids = append(r.kids, box("wide", nil), box("uuid", make([]byte, 16)))
		}},
		{"MP4-09 two equal entries", progressive, func(r *node) {
			r.at(path(stbl, "stsd")...).put32(4, 2)
			r.at(path(stbl, "stsd")...).repeat("mp4v")
		}},
		{"MP4-10 stz2 of 4 bits", progressive, func(r *node) {
			p := r.at(path(stbl, "stsz")...)
			p.typ, p.data = "stz2", append(w(0, 4, 48), slices.Repeat([]byte{0x11}, 24)...)
		}},
		{"MP4-10 stz2 of 16 bits", progressive, func(r *node) {
			p := r.at(path(stbl, "stsz")...)
			p.typ, p.data = "stz2", append(w(0, 16, 48), slices.Repeat([]byte{0, 1}, 48)...)
		}},
		{"MP4-10 co64 and ctts", progressive, func(r *node) {
			p := r.at(stbl...)
			p.at("stco").data = w(0, 1, 0, payloadAt)
			p.at("stco").typ = "co64"
			p.kids = append(p.kids, box("ctts", w(1<<24, 2, 40, 1<<32-5, 8, 7)))
		}},
		{"MP4-13 mvex without moof", progressive, func(r *node) { r.at("moov").kids = append(r.at("moov").kids, box("mvex", nil)) }},
		{"MP4-22 empty edit list", progressive, func(r *node) {
			tr := r.at("moov", "trak")
			tr.kids = append(tr.kids, box("edts", nil, box("elst", w(0, 0))))
		}},
		{"MP4-13 runs without offsets", fragmented, func(r *node) {
			for i, traf := range r.at("moof").kids[1:] {
				traf.at("tfhd").data = w(0x10, uint32(i+1), 1) // base: moof, then the end of the traf before
			}
			run := r.at("moof").kids[2].at("trun")
			run.data = append(w(0x100, 10), run.data[12:]...)
			moof := r.at("moof")
			r.at("moof", "traf", "trun").put32(8, uint32(len(moof.bytes())+8))
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			root := c.build()
			c.change(root)
			got, err := checkBytes(root.file())
			if err != nil {
				t.Fatal(err)
			}
			if got.Frames != 48 || got.FPSNumerator != 24 || got.Audio[0].Bytes != 10 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestFragmentDefaults holds the order trun, tfhd, trex of MP4-13.
func TestFragmentDefaults(t *testing.T) {
	m := movieSpec{timescale: 1000, fragmented: true, tracks: []trackSpec{video(stretch{6, 1})}}
	for name, c := range map[string]struct {
		trex, tfhd, trun []byte
		size, ticks      uint64
	}{
		"trex":                         {w(0, 1, 1, 3, 2, 0), w(0x020000, 1), w(0x1, 6, 0), 12, 18},
		"tfhd":                         {w(0, 1, 1, 3, 2, 0), w(0x020018, 1, 5, 1), w(0x1, 6, 0), 6, 30},
		"trun":                         {w(0, 1, 1, 3, 9, 0), w(0x020018, 1, 5, 9), w(0x301, 2, 0, 7, 4, 8, 5), 9, 15},
		"flags and offsets of samples": {w(0, 1, 1, 3, 9, 0), w(0x02003a, 1, 1, 5, 9, 77), w(0xf05, 2, 0, 66, 7, 4, 1, 2, 8, 5, 1, 2), 9, 15},
	} {
		t.Run("MP4-13 from "+name, func(t *testing.T) {
			root := m.build()
			root.at("moov", "mvex", "trex").data = c.trex
			root.at("moof", "traf", "tfhd").data = c.tfhd
			root.at("moof", "traf", "trun").data = c.trun
			root.at("mdat").data = make([]byte, c.size)
			m.placeRunOnly(root.at("moof"))
			got, err := checkBytes(root.file())
			if err != nil {
				t.Fatal(err)
			}
			if want := c.ticks * 1000000 / 24; got.MediaDurationUS != want {
				t.Errorf("duration: got %d, want %d", got.MediaDurationUS, want)
			}
			root.at("mdat").data = root.at("mdat").data[1:]
			_, err = checkBytes(root.file())
			wantCode(t, err, "mp4_run_range")
		})
	}
}

// placeRunOnly sets the data offset of the only run.
func (m movieSpec) placeRunOnly(moof *node) {
	moof.at("traf", "trun").put32(8, uint32(len(moof.bytes())+8))
}

// TestFragmentGap: a later start is reported and changes no sum (MP4-13).
func TestFragmentGap(t *testing.T) {
	root := fragmented()
	second := frag().build()
	second.at("moof", "traf", "tfdt").put32(4, 50) // the first ends at 48
	second.at("moof").kids[2].at("tfdt").put32(4, 10240)
	root.kids = append(root.kids, second.at("moof"), second.at("mdat"))
	got, err := checkBytes(root.file())
	if err != nil {
		t.Fatal(err)
	}
	if got.FragmentGaps != 1 || got.Frames != 96 || got.MediaDurationUS != 4000000 || got.FPSNumerator != 24 {
		t.Errorf("MP4-13: got %+v", got)
	}
}

// TestHybrid: samples in moov and in fragments both count, in that order
// (MP4-13).
func TestHybrid(t *testing.T) {
	root := progressive()
	part := fragmented()
	root.at("moov").kids = append(root.at("moov").kids, part.at("moov", "mvex"))
	part.at("moof", "traf", "tfdt").put32(4, 48)
	part.at("moof").kids[2].at("tfdt").put32(4, 10240)
	root.kids = append(root.kids, part.at("moof"), part.at("mdat"))
	got, err := checkBytes(root.file())
	if err != nil {
		t.Fatal(err)
	}
	if got.Layout != "fragmented" || got.Frames != 96 || got.Audio[0].Samples != 20 || got.FragmentGaps != 0 {
		t.Errorf("MP4-13: got %+v", got)
	}
	part.at("moof", "traf", "tfdt").put32(4, 47)
	_, err = checkBytes(root.file())
	wantCode(t, err, "mp4_fragment_overlap")
}

// TestSoundDescriptions: QuickTime's versions 1 and 2 of the sound entry.
func TestSoundDescriptions(t *testing.T) {
	for version, extra := range map[uint16][]byte{
		1: make([]byte, 16),
		2: append(append(w(72), 0x40, 0xE7, 0x70, 0, 0, 0, 0, 0), append(w(6), make([]byte, 20)...)...), // 48000.0
	} {
		root := progressive()
		e := root.at("moov").kids[2].at("mdia", "minf", "stbl", "stsd", "sowt")
		binary.BigEndian.PutUint16(e.data[8:], version)
		e.data = append(e.data, extra...)
		e.kids = []*node{box("wave", nil)}
		e.tail = make([]byte, 4)
		got, err := checkBytes(root.file())
		if err != nil {
			t.Fatalf("MP4-23 version %d: %v", version, err)
		}
		want := map[uint16]uint64{1: 2, 2: 6}[version]
		if got.Audio[0].Channels != want || got.Audio[0].SampleRate != 48000 {
			t.Errorf("MP4-23 version %d: got %+v", version, got.Audio)
		}
	}
}

// TestSeveralAudioTracks: each is reported and obeys the checks (MP4-07).
func TestSeveralAudioTracks(t *testing.T) {
	m := av()
	m.tracks = append(m.tracks, sound())
	got, err := checkBytes(m.build().file())
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Audio) != 2 || got.Audio[1].Samples != 0 {
		t.Errorf("MP4-07 MP4-23: got %+v", got.Audio)
	}
}
