package mp4_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/grill-plan/grill-plan/media/mp4"
)

func TestAcceptsBuiltFiles(t *testing.T) {
	for name, m := range map[string]movieSpec{"progressive": av(), "fragmented": frag()} {
		t.Run(name, func(t *testing.T) {
			got, err := checkBytes(m.build().file())
			if err != nil {
				t.Fatal(err)
			}
			want := mp4.Facts{Layout: name, Width: 320, Height: 180, DisplayWidth: 640 << 16, DisplayHeight: 360 << 16,
				Frames: 48, FPSNumerator: 24, FPSDenominator: 1, MediaDurationUS: 2000000, DurationUS: 2000000,
				MdhdDurationUS: 514375000, // MP4-18: 12345/24 s, unlike the samples
				Audio:          []mp4.Audio{{Codec: "sowt", Channels: 2, SampleRate: 48000, Samples: 10, Bytes: 10, MediaDurationUS: 213333}}}
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
				t.Errorf("MP4-09 MP4-18 MP4-23 MP4-25:\n got %+v\nwant %+v", got, want)
			}
		})
	}
}

var stbl = []string{"moov", "trak", "mdia", "minf", "stbl"}

func path(base []string, more ...string) []string { return append(slices.Clone(base), more...) }

type refusalCase struct {
	name   string
	build  func() *node
	change func(root *node)
	code   string
}

func progressive() *node { return av().build() }
func fragmented() *node  { return frag().build() }

// TestRefusals changes one thing of a good file at a time.
func TestRefusals(t *testing.T) {
	groups := [][]refusalCase{framingCases(), tableCases(), trackCases(), fragmentCases()}
	for _, c := range slices.Concat(groups...) {
		t.Run(c.name, func(t *testing.T) {
			root := c.build()
			if _, err := checkBytes(root.file()); err != nil {
				t.Fatalf("before the change: %v", err)
			}
			c.change(root)
			_, err := checkBytes(root.file())
			wantCode(t, err, c.code)
		})
	}
}

func framingCases() []refusalCase {
	return []refusalCase{
		{"MP4-01 size below header", progressive, func(r *node) { r.at("free").size = func(uint32) uint32 { return 7 } }, "mp4_box_size"},
		{"MP4-01 uuid below header", progressive, func(r *node) { r.at("free").typ = "uuid" }, "mp4_box_size"},
		{"MP4-01 nested size 0", progressive, func(r *node) { r.at("moov", "trak").size = func(uint32) uint32 { return 0 } }, "mp4_box_size"},
		{"MP4-01 64-bit size 0", progressive, func(r *node) {
			r.at("free").size, r.at("free").data = func(uint32) uint32 { return 1 }, make([]byte, 8)
		}, "mp4_box_size"},
		{"MP4-01 child beyond parent", progressive, func(r *node) { r.at("moov", "trak").size = func(n uint32) uint32 { return n + 1<<20 } }, "mp4_truncated_box"},
		{"MP4-01 beyond file", progressive, func(r *node) { r.at("moov").size = func(n uint32) uint32 { return n + 1 } }, "mp4_truncated_box"},
		{"MP4-01 leftover bytes at the end", progressive, func(r *node) {
			r.kids[2].tail = nil
			r.kids = append(r.kids, &node{typ: "free", tail: []byte{1}, size: func(uint32) uint32 { return 8 }})
		}, "mp4_truncated_box"},
		{"MP4-01 leftover bytes in moov", progressive, func(r *node) { r.at("moov").tail = []byte{0, 0, 0} }, "mp4_truncated_box"},
		{"MP4-02 no moov", progressive, func(r *node) { r.drop("moov") }, "mp4_missing_box"},
		{"MP4-02 two moov", progressive, func(r *node) { r.repeat("moov") }, "mp4_repeated_box"},
		{"MP4-03 zero movie timescale", progressive, func(r *node) { r.at("moov", "mvhd").put32(12, 0) }, "mp4_zero_timescale"},
		{"MP4-03 zero media timescale", progressive, func(r *node) { r.at("moov", "trak", "mdia", "mdhd").put32(12, 0) }, "mp4_zero_timescale"},
		{"MP4-03 mvhd version 2", progressive, func(r *node) { r.at("moov", "mvhd").put32(0, 2<<24) }, "mp4_version"},
		{"MP4-03 mdhd version 2", progressive, func(r *node) { r.at("moov", "trak", "mdia", "mdhd").put32(0, 2<<24) }, "mp4_version"},
		{"MP4-04 samples in a free box", progressive, func(r *node) { r.at("mdat").typ = "free" }, "mp4_chunk_range"},
		{"MP4-06 handler text", progressive, func(r *node) { copy(r.at("moov", "trak", "mdia", "hdlr").data[8:], "text") }, "mp4_handler"},
		{"MP4-07 no video", progressive, func(r *node) { r.at("moov").drop("trak") }, "mp4_video_tracks"},
		{"MP4-07 two videos", progressive, func(r *node) {
			second := video(stretch{1, 1}).box(7, 0, false)
			r.at("moov").kids = append(r.at("moov").kids, second)
		}, "mp4_video_tracks"},
		{"MP4-07 same track id", progressive, func(r *node) { r.at("moov").repeat("trak") }, "mp4_track_id"},
		{"MP4-08 encv", progressive, func(r *node) { r.at(path(stbl, "stsd", "mp4v")...).typ = "encv" }, "mp4_encrypted"},
		{"MP4-08 protection box", progressive, func(r *node) {
			e := r.at(path(stbl, "stsd", "mp4v")...)
			e.kids = append(e.kids, box("btrt", w(0, 0, 0)), box("sinf", nil))
		}, "mp4_encrypted"},
	}
}

// TestRequiredBoxes drops and repeats every box that is read (MP4-02, MP4-10).
func TestRequiredBoxes(t *testing.T) {
	trak := []string{"moov", "trak"}
	mdia := path(trak, "mdia")
	required := map[string][]string{}
	for _, name := range []string{"mvhd"} {
		required[name] = []string{"moov"}
	}
	for _, name := range []string{"tkhd", "mdia"} {
		required[name] = trak
	}
	for _, name := range []string{"mdhd", "hdlr", "minf"} {
		required[name] = mdia
	}
	for _, name := range []string{"dinf", "stbl"} {
		required[name] = path(mdia, "minf")
	}
	required["dref"] = path(mdia, "minf", "dinf")
	for _, name := range []string{"stsd", "stts", "stsc", "stsz", "stco"} {
		required[name] = stbl
	}
	for name, parent := range required {
		t.Run("MP4-02 without "+name, func(t *testing.T) {
			root := progressive()
			root.at(parent...).drop(name)
			_, err := checkBytes(root.file())
			wantCode(t, err, "mp4_missing_box")
		})
		t.Run("MP4-02 repeated "+name, func(t *testing.T) {
			root := progressive()
			root.at(parent...).repeat(name)
			_, err := checkBytes(root.file())
			wantCode(t, err, "mp4_repeated_box")
		})
	}
	for twin, of := range map[string]string{"stz2": "stsz", "co64": "stco"} {
		t.Run("MP4-10 "+twin+" beside "+of, func(t *testing.T) {
			root := progressive()
			p := root.at(stbl...)
			p.kids = append(p.kids, box(twin, w(0, 0, 0)))
			_, err := checkBytes(root.file())
			wantCode(t, err, "mp4_repeated_box")
		})
	}
}

func tableCases() []refusalCase {
	set := func(table string, at int, v uint32) func(*node) {
		return func(r *node) { r.at(path(stbl, table)...).put32(at, v) }
	}
	return []refusalCase{
		{"MP4-02 count beyond stts", progressive, set("stts", 4, 1<<30), "mp4_table_size"},
		{"MP4-02 count beyond stsc", progressive, set("stsc", 4, 2), "mp4_table_size"},
		{"MP4-02 count beyond stsz", progressive, set("stsz", 4, 0), "mp4_table_size"},
		{"MP4-02 count beyond stco", progressive, set("stco", 4, 1<<31), "mp4_table_size"},
		{"MP4-10 stts one less", progressive, set("stts", 8, 47), "mp4_sample_count"},
		{"MP4-10 stsz one more", progressive, set("stsz", 8, 49), "mp4_sample_count"},
		{"MP4-10 stsc one less", progressive, set("stsc", 12, 47), "mp4_sample_count"},
		{"MP4-10 stsc one more", progressive, set("stsc", 12, 49), "mp4_sample_count"},
		{"MP4-10 stsc from chunk 0", progressive, set("stsc", 8, 0), "mp4_chunk_runs"},
		{"MP4-10 stsc from chunk 2", progressive, set("stsc", 8, 2), "mp4_chunk_runs"},
		{"MP4-10 stsc entry 2 of 1", progressive, set("stsc", 16, 2), "mp4_chunk_runs"},
		{"MP4-10 stsc beyond the chunks", progressive, func(r *node) {
			r.at(path(stbl, "stsc")...).data = w(0, 2, 1, 48, 1, 2, 1, 1)
		}, "mp4_chunk_runs"},
		{"MP4-10 stsc not increasing", progressive, func(r *node) {
			r.at(path(stbl, "stsc")...).data = w(0, 2, 1, 48, 1, 1, 1, 1)
		}, "mp4_chunk_runs"},
		{"MP4-10 ctts one less", progressive, func(r *node) {
			p := r.at(stbl...)
			p.kids = append(p.kids, box("ctts", w(0, 1, 47, 3)))
		}, "mp4_sample_count"},
		{"MP4-10 stz2 of 5 bits", progressive, func(r *node) {
			p := r.at(path(stbl, "stsz")...)
			p.typ, p.data = "stz2", append(w(0, 5, 48), make([]byte, 48)...)
		}, "mp4_table_size"},
		{"MP4-11 no samples", progressive, func(r *node) {
			p := r.at(stbl...)
			p.at("stts").data, p.at("stsc").data, p.at("stsz").data, p.at("stco").data = w(0, 0), w(0, 0), w(0, 0, 0), w(0, 0)
		}, "mp4_empty_video"},
		{"MP4-11 no duration", progressive, set("stts", 12, 0), "mp4_empty_video"},
		{"MP4-12 one byte early", progressive, set("stco", 8, payloadAt-1), "mp4_chunk_range"},
		{"MP4-12 one byte late", progressive, set("stco", 8, payloadAt+11), "mp4_chunk_range"},
		{"MP4-12 across two payloads", progressive, func(r *node) {
			half := r.at("mdat")
			r.kids = slices.Insert(r.kids, 2, box("mdat", make([]byte, 38)))
			half.data = make([]byte, 20)
		}, "mp4_chunk_range"},
		{"MP4-05 offset near 2^64", progressive, func(r *node) {
			p := r.at(path(stbl, "stco")...)
			p.typ, p.data = "co64", w(0, 1, 1<<32-1, 1<<32-1)
		}, "mp4_chunk_range"},
		{"MP4-05 durations beyond 64 bits", progressive, func(r *node) {
			p := r.at(stbl...)
			big := uint32(1<<32 - 1)
			p.at("stts").data = w(0, 3, big, big, big, big, big, big)
		}, "mp4_overflow"},
		{"MP4-14 overlapping tracks beyond the payload", progressive, func(r *node) {
			r.at("mdat").data = make([]byte, 57)
			second := r.at("moov").kids[2].at("mdia", "minf", "stbl", "stco")
			second.put32(8, payloadAt)
		}, "mp4_payload_total"},
	}
}

func trackCases() []refusalCase {
	edit := func(data ...uint32) func(*node) {
		return func(r *node) {
			tr := r.at("moov", "trak")
			tr.kids = append(tr.kids, box("edts", nil, box("elst", w(data...))))
		}
	}
	soundEdit := func(r *node) {
		tr := r.at("moov").kids[2]
		tr.kids = append(tr.kids, box("edts", nil, box("elst", w(0, 1, 100, 1<<32-1, 1<<16))))
	}
	entry := path(stbl, "stsd", "mp4v")
	return []refusalCase{
		{"MP4-09 zero width", progressive, func(r *node) { r.at(entry...).put32(24, 180) }, "mp4_zero_size"},
		{"MP4-09 zero height", progressive, func(r *node) { r.at(entry...).put32(24, 320<<16) }, "mp4_zero_size"},
		{"MP4-09 entries of two sizes", progressive, func(r *node) {
			stsd := r.at(path(stbl, "stsd")...)
			stsd.put32(4, 2)
			other := video(stretch{1, 1}).box(9, 0, false).at("mdia", "minf", "stbl", "stsd", "mp4v")
			other.put32(24, 320<<16|181)
			stsd.kids = append(stsd.kids, other)
		}, "mp4_sample_entries"},
		{"MP4-09 external data", progressive, func(r *node) { r.at("moov", "trak", "mdia", "minf", "dinf", "dref", "url ").put32(0, 0) }, "mp4_data_reference"},
		{"MP4-09 data reference 2 of 1", progressive, func(r *node) { r.at(entry...).data[7] = 2 }, "mp4_data_reference"},
		{"MP4-02 dref count", progressive, func(r *node) { r.at("moov", "trak", "mdia", "minf", "dinf", "dref").put32(4, 2) }, "mp4_data_reference"},
		{"MP4-02 stsd count", progressive, func(r *node) { r.at(path(stbl, "stsd")...).put32(4, 2) }, "mp4_sample_entries"},
		{"MP4-21 empty edit", progressive, edit(0, 1, 2000, 1<<32-1, 1<<16), "mp4_edit_list"},
		{"MP4-21 empty edit on audio", progressive, soundEdit, "mp4_edit_list"},
		{"MP4-21 two entries", progressive, edit(0, 2, 1000, 0, 1<<16, 1000, 24, 1<<16), "mp4_edit_list"},
		{"MP4-21 rate 2", progressive, edit(0, 1, 1000, 0, 2<<16), "mp4_edit_list"},
		{"MP4-21 zero segment", progressive, edit(0, 1, 0, 0, 1<<16), "mp4_edit_list"},
		{"MP4-22 starts at the end", progressive, edit(0, 1, 1000, 48, 1<<16), "mp4_edit_list"},
		{"MP4-22 starts past the end, fragmented", fragmented, edit(0, 1, 0, 49, 1<<16), "mp4_edit_list"},
		{"MP4-02 two edts", progressive, func(r *node) {
			edit(0, 1, 1000, 0, 1<<16)(r)
			r.at("moov", "trak").repeat("edts")
		}, "mp4_repeated_box"},
		{"MP4-02 two elst", progressive, func(r *node) {
			edit(0, 1, 1000, 0, 1<<16)(r)
			r.at("moov", "trak", "edts").repeat("elst")
		}, "mp4_repeated_box"},
	}
}

func fragmentCases() []refusalCase {
	traf := []string{"moof", "traf"}
	return []refusalCase{
		{"MP4-13 no mvex", fragmented, func(r *node) { r.at("moov").drop("mvex") }, "mp4_missing_box"},
		{"MP4-13 no trex", fragmented, func(r *node) { r.at("moov", "mvex").drop("trex") }, "mp4_missing_box"},
		{"MP4-13 no trex of a track without fragments", fragmented, func(r *node) {
			r.at("moof").kids = r.at("moof").kids[:2]
			frag().placeRuns(r.at("moof"))
			r.at("moov", "mvex").kids = r.at("moov", "mvex").kids[:1]
		}, "mp4_missing_box"},
		{"MP4-13 two trex", fragmented, func(r *node) { r.at("moov", "mvex").repeat("trex") }, "mp4_repeated_box"},
		{"MP4-13 no mfhd", fragmented, func(r *node) { r.at("moof").kids[0].typ = "free" }, "mp4_missing_box"},
		{"MP4-13 no tfhd", fragmented, func(r *node) { r.at(traf...).kids[0].typ = "free" }, "mp4_missing_box"},
		{"MP4-13 two tfhd", fragmented, func(r *node) { r.at(traf...).kids[1].typ = "tfhd" }, "mp4_repeated_box"},
		{"MP4-13 unknown track", fragmented, func(r *node) { r.at(path(traf, "tfhd")...).put32(4, 9) }, "mp4_track_id"},
		{"MP4-13 no mdat after moof", fragmented, func(r *node) { r.kids = []*node{r.at("mdat"), r.at("moov"), r.at("moof")} }, "mp4_run_range"},
		{"MP4-13 another moof before the mdat", fragmented, func(r *node) {
			// The run reaches into the next mdat, which follows another moof.
			other := video(stretch{1, 1}).traf(1)
			other.kids = other.kids[:1]
			between := box("moof", nil, box("mfhd", w(0, 2)), other)
			r.kids = slices.Insert(r.kids, 2, between)
			shift := uint32(len(between.bytes()))
			for _, traf := range r.at("moof").kids[1:] {
				run := traf.at("trun")
				run.put32(8, binary.BigEndian.Uint32(run.data[8:])+shift)
			}
		}, "mp4_run_range"},
		{"MP4-13 run a byte late", fragmented, func(r *node) {
			run := r.at("moof").kids[2].at("trun")
			run.put32(8, binary.BigEndian.Uint32(run.data[8:])+1)
		}, "mp4_run_range"},
		{"MP4-13 run a byte early", fragmented, func(r *node) {
			run := r.at(path(traf, "trun")...)
			run.put32(8, binary.BigEndian.Uint32(run.data[8:])-1)
		}, "mp4_run_range"},
		{"MP4-13 run before the file", fragmented, func(r *node) { r.at(path(traf, "trun")...).put32(8, 1<<31) }, "mp4_run_range"},
		{"MP4-13 run count beyond trun", fragmented, func(r *node) { r.at(path(traf, "trun")...).put32(4, 1<<32-1) }, "mp4_table_size"},
		{"MP4-13 sample description 0", fragmented, func(r *node) { r.at("moov", "mvex", "trex").put32(8, 0) }, "mp4_fragment_entry"},
		{"MP4-13 fragment in the past", fragmented, func(r *node) {
			r.kids = append(r.kids, r.at("moof"), r.at("mdat"))
		}, "mp4_fragment_overlap"},
		{"MP4-05 base offset near 2^64", fragmented, func(r *node) {
			r.at(path(traf, "tfhd")...).data = w(0x11, 1, 1<<32-1, 1<<32-1, 1)
		}, "mp4_run_range"},
	}
}

type broken struct{ at int64 }

var errDisk = errors.New("disk on fire")

func (b broken) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > b.at {
		return 0, errDisk
	}
	raw := av().build().file()
	return copy(p, raw[off:]), nil
}

// TestReadErrors: a failed read is no statement about the file.
func TestReadErrors(t *testing.T) {
	size := int64(len(av().build().file()))
	for at := int64(0); at < size; at += 13 {
		if _, err := mp4.Check(broken{at}, size); !errors.Is(err, errDisk) {
			t.Fatalf("reads beyond %d fail: got %v", at, err)
		}
	}
	if _, err := mp4.Check(io.NewSectionReader(nil, 0, 0), 0); err == nil {
		t.Fatal("an empty file was accepted")
	}
}
