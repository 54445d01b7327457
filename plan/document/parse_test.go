package document_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/plan/document"
)

func TestBaseDocumentsAreAdmitted(t *testing.T) {
	for _, doc := range []string{imageWorkload, audioWorkload(t), videoWorkload(t), speechWorkload(t)} {
		mustWorkload(t, doc)
	}
	for _, doc := range []string{cliRunner, speechRunner, imageRunner, videoRunner, comfyRunner} {
		mustRunner(t, doc)
	}
}

// change is one edit of an admitted document and exactly the problems it makes.
type change struct {
	name  string // begins with the requirement it holds
	base  string
	edits []string
	want  []string // "path rule"
}

func checkChanges(t *testing.T, kind string, changes []change) {
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			doc := edit(t, c.base, c.edits...)
			problems := parseAny(kind, doc)
			slices.Sort(c.want)
			if got := violations(problems); !slices.Equal(got, c.want) {
				t.Fatalf("%s\ngot  %q\nwant %q", doc, got, c.want)
			}
			for _, p := range problems {
				if p.Document == "" || p.Message == "" || p.Offset < 0 || p.Offset > len(doc) {
					t.Errorf("problem without document, message or place: %+v", p)
				}
			}
		})
	}
}

func TestWorkloadRules(t *testing.T) {
	image, audio, video := imageWorkload, audioWorkload(t), videoWorkload(t)
	checkChanges(t, "workload", []change{
		{"DOC-02 unknown at the root", image, []string{"Kind", `1`}, []string{"Kind DOC-02"}},
		{"DOC-02 unknown in request", image, []string{"request.sampler", `1`}, []string{"request.sampler DOC-02"}},
		{"DOC-02 unknown in output", image, []string{"outputs.0.x", `1`}, []string{"outputs[0].x DOC-02"}},
		{"DOC-02 unknown in expect", image, []string{"outputs.0.expect.x", `1`}, []string{"outputs[0].expect.x DOC-02"}},
		{"DOC-02 unknown in cell", image, []string{"cells.0.x", `1`}, []string{"cells[0].x DOC-02"}},
		{"DOC-02 unknown in cell request", image, []string{"cells.0.request", `{"prompt":"p","seeds":[1],"width":1,"height":1,"steps":1,"images_per_run":1,"x":1}`}, []string{"cells[0].request.x DOC-02"}},
		{"DOC-02 unknown in slot", image, []string{"slots.0.x", `1`}, []string{"slots[0].x DOC-02"}},
		{"DOC-02 unknown in limits", image, []string{"limits.x", `1`}, []string{"limits.x DOC-02"}},
		{"DOC-02 unknown in gate", image, []string{"gates.0.x", `1`}, []string{"gates[0].x DOC-02"}},
		{"DOC-04 array for request", image, []string{"request", `["p",[1],1,1,1,1]`}, []string{"request DOC-04"}},
		{"DOC-04 array for limits", image, []string{"limits", `[1,1,1,1,1]`}, []string{"limits DOC-04"}},
		{"DOC-04 array for cell", image, []string{"cells.0", `["c",1,3]`}, []string{"cells[0] DOC-04", "gates[0].cell DOC-31"}},
		{"DOC-04 array for slot", image, []string{"slots.0", `["s","a"]`}, []string{"slots DOC-29", "slots[0] DOC-04"}},
		{"DOC-04 array for gate", image, []string{"gates.0", `[]`}, []string{"gates[0] DOC-04"}},
		{"DOC-04 array for output", image, []string{"outputs.0", `[]`}, []string{"outputs[0] DOC-04"}},
		{"DOC-04 array for expect", image, []string{"outputs.0.expect", `[]`}, []string{"outputs[0].expect DOC-04"}},
		{"DOC-04 array for cell request", image, []string{"cells.0.request", `[]`}, []string{"cells[0].request DOC-04"}},
		{"DOC-05 null optional", image, []string{"request.negative_prompt", `null`}, []string{"request.negative_prompt DOC-05"}},
		{"DOC-05 null number", image, []string{"cells.0.pause_between_runs_ms", `null`}, []string{"cells[0].pause_between_runs_ms DOC-05"}},
		{"DOC-05 null object", image, []string{"cells.0.request", `null`}, []string{"cells[0].request DOC-05"}},
		{"DOC-05 null array", image, []string{"gates", `null`}, []string{"gates DOC-05"}},
		{"DOC-05 null element", image, []string{"request.seeds.0", `null`}, []string{"request.seeds[0] DOC-05"}},
		{"DOC-06 name", image, []string{"name", ""}, []string{"name DOC-06"}},
		{"DOC-06 request", image, []string{"request", ""}, []string{"request DOC-06"}},
		{"DOC-06 prompt", image, []string{"request.prompt", ""}, []string{"request.prompt DOC-06"}},
		{"DOC-06 deep", image, []string{"gates.0.metric", "", "limits.stdout_bytes", ""}, []string{"gates[0].metric DOC-06", "limits.stdout_bytes DOC-06"}},
		{"DOC-07 fraction", image, []string{"request.width", `1.0`}, []string{"request.width DOC-07"}},
		{"DOC-07 exponent", image, []string{"request.width", `1e3`}, []string{"request.width DOC-07"}},
		{"DOC-07 minus zero", image, []string{"cells.0.warmup_runs", `-0`}, []string{"cells[0].warmup_runs DOC-07"}},
		{"DOC-07 string", image, []string{"request.width", `"64"`}, []string{"request.width DOC-07"}},
		{"DOC-07 boolean", image, []string{"request.width", `true`}, []string{"request.width DOC-07"}},
		{"DOC-07 one above 64 bits", image, []string{"request.seeds.0", `18446744073709551616`}, []string{"request.seeds[0] DOC-20"}},
		{"DOC-07 negative", image, []string{"request.seeds.0", `-1`}, []string{"request.seeds[0] DOC-20"}},
		{"DOC-11 kind", image, []string{"kind", `"media-workload-v2"`}, []string{"kind DOC-11"}},
		{"DOC-11 kind of a runner", image, []string{"kind", `"media-runner-v1"`}, []string{"kind DOC-11"}},
		{"DOC-11 kind missing", image, []string{"kind", ""}, []string{"kind DOC-06"}},
		{"DOC-11 version 2", image, []string{"version", `2`}, []string{"version DOC-11"}},
		{"DOC-11 version 0", image, []string{"version", `0`}, []string{"version DOC-11"}},
		{"DOC-11 version as text", image, []string{"version", `"1"`}, []string{"version DOC-07"}},
		{"DOC-12 name", image, []string{"name", `"a b"`}, []string{"name DOC-12"}},
		{"DOC-12 cell id", image, []string{"cells.0.id", `"c/d"`}, []string{"cells[0].id DOC-12", "gates[0].cell DOC-31"}},
		{"DOC-12 slot id", image, []string{"slots.0.id", `""`}, []string{"slots[0].id DOC-12"}},
		{"DOC-17 modality", image, []string{"modality", `"text"`}, []string{"modality DOC-17"}},
		{"DOC-18 prompt is text", image, []string{"request.prompt", `1`}, []string{"request.prompt DOC-18"}},
		{"DOC-18 seeds are an array", image, []string{"request.seeds", `1`}, []string{"request.seeds DOC-20"}},
		{"DOC-19 line feed", image, []string{"request.prompt", `"a\nb"`}, []string{"request.prompt DOC-19"}},
		{"DOC-19 DEL", image, []string{"request.prompt", `"a\u007f"`}, []string{"request.prompt DOC-19"}},
		{"DOC-19 U+0085", image, []string{"request.negative_prompt", `"\u0085"`}, []string{"request.negative_prompt DOC-19"}},
		{"DOC-19 U+2028 and empty", image, []string{"request.prompt", `"\u2028"`, "request.negative_prompt", `""`}, nil},
		{"DOC-20 repeated seeds are admitted", image, []string{"request.seeds", `[1,1]`}, nil},
		{"DOC-21 greatest guidance", image, []string{"request.guidance_milli", `4294967295`}, nil},
		{"DOC-21 more guidance", image, []string{"request.guidance_milli", `4294967296`}, []string{"request.guidance_milli DOC-21"}},
		{"DOC-22 image needs", image, []string{"request", `{"prompt":"p","seeds":[1]}`}, []string{
			"request.width DOC-22", "request.height DOC-22", "request.steps DOC-22", "request.images_per_run DOC-22",
		}},
		{"DOC-22 image rejects", image, []string{"request.frames", `1`, "request.fps", `1`, "request.duration_us", `1`, "request.sample_rate", `1`}, []string{
			"request.frames DOC-22", "request.fps DOC-22", "request.duration_us DOC-22", "request.sample_rate DOC-22",
		}},
		{"DOC-23 audio needs", audio, []string{"request", `{"prompt":"p","seeds":[1]}`}, []string{"request.duration_us DOC-23", "request.sample_rate DOC-23"}},
		{"DOC-23 audio may have steps", audio, []string{"request.steps", `1`}, nil},
		{"DOC-23 audio rejects", audio, []string{"request.width", `1`, "request.height", `1`, "request.images_per_run", `1`, "request.frames", `1`, "request.fps", `1`}, []string{
			"request.width DOC-23", "request.height DOC-23", "request.images_per_run DOC-23", "request.frames DOC-23", "request.fps DOC-23",
		}},
		{"DOC-24 video needs", video, []string{"request", `{"prompt":"p","seeds":[1]}`}, []string{
			"request.width DOC-24", "request.height DOC-24", "request.frames DOC-24", "request.fps DOC-24",
		}},
		{"DOC-24 video may have", video, []string{"request.duration_us", `1`, "request.steps", `1`}, nil},
		{"DOC-24 video rejects", video, []string{"request.images_per_run", `1`, "request.sample_rate", `1`}, []string{"request.images_per_run DOC-24", "request.sample_rate DOC-24"}},
		{"DOC-25 greatest sample rate", audio, []string{"request.sample_rate", `4294967295`}, nil},
		{"DOC-25 greater sample rate", audio, []string{"request.sample_rate", `4294967296`}, []string{"request.sample_rate DOC-25"}},
		{"DOC-26 nothing is compared", video, []string{"request.duration_us", `1`, "outputs.0.expect.frames", `99`, "outputs.0.expect.duration_us", `7`}, nil},
		{"DOC-27 repeated id", image, []string{"cells.1", `{"id":"c","warmup_runs":0,"measured_runs":1}`}, []string{"cells[1] DOC-27"}},
		{"DOC-28 nothing is inherited", image, []string{"cells.0.request", `{"prompt":"p","seeds":[1],"width":1}`}, []string{
			"cells[0].request.height DOC-22", "cells[0].request.steps DOC-22", "cells[0].request.images_per_run DOC-22",
		}},
		{"DOC-28 same bounds", image, []string{"cells.0.request", `{"prompt":"p","seeds":[],"width":0,"height":1,"steps":1,"images_per_run":1,"fps":1}`}, []string{
			"cells[0].request.seeds DOC-20", "cells[0].request.width DOC-25", "cells[0].request.fps DOC-22",
		}},
		{"DOC-29 four slots", image, []string{"slots.3", `{"id":"s4","arm":"b2"}`}, nil},
		{"DOC-29 repeated id", image, []string{"slots.1.id", `"s1"`}, []string{"slots[1] DOC-29"}},
		{"DOC-29 repeated arm", image, []string{"slots.1.arm", `"a"`}, []string{"slots[1] DOC-29", "slots DOC-29"}},
		{"DOC-29 b2 twice", image, []string{"slots.3", `{"id":"s4","arm":"b2"}`, "slots.4", `{"id":"s5","arm":"b2"}`}, []string{"slots[4] DOC-29", "slots DOC-29"}},
		{"DOC-29 unknown arm", image, []string{"slots.0.arm", `"c"`}, []string{"slots DOC-29", "slots[0].arm DOC-29"}},
		{"DOC-31 unknown cell", image, []string{"gates.0.cell", `"d"`}, []string{"gates[0].cell DOC-31"}},
		{"DOC-31 repeated pair", image, []string{"gates.1", `{"cell":"c","metric":"end_to_end_us","max_adverse_bps":1,"max_reference_spread_bps":1}`}, []string{"gates[1] DOC-31"}},
		{"DOC-32 metric", image, []string{"gates.0.metric", `"speed"`}, []string{"gates[0].metric DOC-32"}},
		{"DOC-35 placeholder", image, []string{"outputs.0.placeholder", `"file"`}, []string{"outputs[0].placeholder DOC-35"}},
		{"DOC-35 repeated", image, []string{"outputs.1", `{"placeholder":"output","container":"png","expect":{"width":1,"height":1}}`}, []string{"outputs[1] DOC-35"}},
		{"DOC-36 wav for image", image, []string{"outputs.0.container", `"wav"`}, []string{"outputs[0].container DOC-36"}},
		{"DOC-36 jpeg for image", image, []string{"outputs.0.container", `"jpeg"`}, nil},
		{"DOC-36 jpg is none", image, []string{"outputs.0.container", `"jpg"`}, []string{"outputs[0].container DOC-36"}},
		{"DOC-36 mp4 for audio", audio, []string{"outputs.0.container", `"mp4"`}, []string{"outputs[0].container DOC-36"}},
		{"DOC-36 wav for video", video, []string{"outputs.0.container", `"wav"`}, []string{"outputs[0].container DOC-36"}},
		{"DOC-37 image", image, []string{"outputs.0.expect", `{"width":1,"frames":1}`}, []string{"outputs[0].expect.height DOC-37", "outputs[0].expect.frames DOC-37"}},
		{"DOC-37 audio", audio, []string{"outputs.0.expect", `{"duration_us":1,"audio":true}`}, []string{
			"outputs[0].expect.sample_rate DOC-37", "outputs[0].expect.channels DOC-37", "outputs[0].expect.audio DOC-37",
		}},
		{"DOC-37 video", video, []string{"outputs.0.expect", `{"width":1,"height":1,"channels":1}`}, []string{
			"outputs[0].expect.frames DOC-37", "outputs[0].expect.fps DOC-37", "outputs[0].expect.channels DOC-37",
		}},
		{"DOC-37 channels", audio, []string{"outputs.0.expect.channels", `65536`}, []string{"outputs[0].expect.channels DOC-37"}},
		{"DOC-37 most channels", audio, []string{"outputs.0.expect.channels", `65535`}, nil},
		{"DOC-38 fps is whole", video, []string{"outputs.0.expect.fps", `23.976`}, []string{"outputs[0].expect.fps DOC-07"}},
		{"DOC-38 audio is a boolean", video, []string{"outputs.0.expect.audio", `1`}, []string{"outputs[0].expect.audio DOC-38"}},
		{"DOC-38 audio", video, []string{"outputs.0.expect.audio", `false`}, nil},
		{"DOC-38 bounds", video, []string{"outputs.0.expect.frames", `100001`, "outputs.0.expect.width", `0`}, []string{"outputs[0].expect.frames DOC-38", "outputs[0].expect.width DOC-38"}},
	})
}

// DOC-15: all violations in one go, each with document, path and rule.
func TestAllViolationsInOneGo(t *testing.T) {
	doc := edit(t, imageWorkload,
		"name", `"a b"`, "request.width", `0`, "request.seeds", `[]`, "request.colour", `1`, "limits.output_bytes", `0`,
		"slots.0.arm", `"q"`, "gates.0.max_adverse_bps", `10000`, "cells.0.measured_runs", `0`)
	_, problems := document.ParseWorkload("W.json", []byte(doc))
	want := []string{
		"cells[0].measured_runs DOC-27", "gates[0].max_adverse_bps DOC-33", "limits.output_bytes DOC-30", "name DOC-12",
		"request.colour DOC-02", "request.seeds DOC-20", "request.width DOC-25", "slots DOC-29", "slots[0].arm DOC-29",
	}
	if got := violations(problems); !slices.Equal(got, want) {
		t.Fatalf("got %q", got)
	}
	if !slices.IsSortedFunc(problems, func(a, b document.Problem) int { return a.Offset - b.Offset }) {
		t.Error("problems are not in the order of the document")
	}
	for _, p := range problems {
		line := p.String()
		for _, part := range []string{"W.json", p.Path, p.Rule} {
			if !strings.Contains(line, part) {
				t.Errorf("%q does not name %s", line, part)
			}
		}
	}
}

// PRV-05: what a prompt or an env value says reaches no message.
func TestMessagesHoldNoPrivateValues(t *testing.T) {
	secret := "hunter2"
	w := edit(t, imageWorkload, "request.prompt", quote(secret+"\n"), "request.negative_prompt", quote(secret+"\t"), "request.seeds", `["`+secret+`"]`)
	r := edit(t, cliRunner, "env.B", quote(secret+"\x00"), "env.C", `["`+secret+`"]`, "args.0", quote(secret+"\x00"))
	s := edit(t, speechRunner, "endpoint", `"https://`+secret+`@h/"`) // PRV-06
	for kind, doc := range map[string]string{"workload": w, "runner": r, "speech": s} {
		problems := parseAny(strings.Replace(kind, "speech", "runner", 1), doc)
		if len(problems) == 0 {
			t.Errorf("%s was admitted", kind)
		}
		for _, p := range problems {
			if strings.Contains(p.String(), secret) {
				t.Errorf("a private value is shown: %s", p)
			}
		}
	}
}

// DOC-02: a misspelt name gets the nearest one, however it is written.
func TestSuggestions(t *testing.T) {
	for doc, want := range map[string]string{
		edit(t, imageWorkload, "request.sedes", `1`):             `"seeds"`,
		edit(t, imageWorkload, "VERSION", `1`):                   `"version"`,
		edit(t, imageWorkload, "gates.0.metric", `"end_to_end"`): `"end_to_end_us"`,
		edit(t, imageWorkload, "gates.0.cell", `"cc"`):           "",
		edit(t, imageWorkload, "request.zzzz", `1`):              "",
	} {
		_, problems := document.ParseWorkload("W", []byte(doc))
		if len(problems) != 1 {
			t.Fatalf("%v", problems)
		}
		_, suggested, _ := strings.Cut(problems[0].Message, "did you mean ")
		if strings.TrimSuffix(suggested, "?") != want {
			t.Errorf("%s suggests %q, want %q", problems[0], suggested, want)
		}
	}
}

// DOC-03, DOC-08: what the reader finds and what the table finds come together.
func TestReaderAndTableReportTogether(t *testing.T) {
	doc := strings.Replace(cliRunner, `"env":{"A":"1"}`, `"env":{"A":"1","\u0041":"1"},"Program":"\ud800"`, 1)
	problems := parseAny("runner", doc)
	want := []string{"Program DOC-02", "Program DOC-08", "env.A DOC-03"}
	if got := violations(problems); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// DOC-09: the bound is on bytes and comes before parsing.
func TestDocumentSize(t *testing.T) {
	pad := func(n int) []byte {
		return []byte(imageWorkload + strings.Repeat(" ", n-len(imageWorkload)))
	}
	if _, problems := document.ParseWorkload("W", pad(4_194_304)); len(problems) > 0 {
		t.Errorf("4 MiB refused: %v", problems)
	}
	broken := append(pad(4_194_304), 0xff)
	for _, kind := range []string{"workload", "runner", "deployment"} {
		if got := violations(parseAny(kind, string(broken))); !slices.Equal(got, []string{"DOC-09"}) {
			t.Errorf("%s of 4 MiB and 1 byte: %q", kind, got)
		}
	}
}

// What is wrong two hundred thousand times is listed a thousand times, quickly.
func TestProblemsAreBounded(t *testing.T) {
	var doc strings.Builder
	doc.WriteString("{")
	for i := range 200_000 {
		fmt.Fprintf(&doc, `"seed%d":1,`, i)
	}
	doc.WriteString(`"x":1}`)
	problems := parseAny("workload", doc.String())
	if n := len(problems); n != 1001 {
		t.Fatalf("%d problems", n)
	}
	if !slices.ContainsFunc(problems, func(p document.Problem) bool { return strings.Contains(p.Message, "more problems than are listed") }) {
		t.Error("nothing says that there are more")
	}
}

// DOC-16: the root has exactly these fields, each required.
func TestWorkloadRoot(t *testing.T) {
	fields := []string{"kind", "version", "name", "modality", "request", "outputs", "cells", "slots", "limits", "gates"}
	for _, name := range fields {
		got := violations(parseAny("workload", edit(t, imageWorkload, name, "")))
		if !slices.Contains(got, name+" DOC-06") {
			t.Errorf("without %s: %q", name, got)
		}
	}
	for _, name := range []string{"id", "program", "description", "$schema", "arms"} {
		if got := violations(parseAny("workload", edit(t, imageWorkload, name, `""`))); len(got) != 1 || !strings.HasSuffix(got[0], " DOC-02") {
			t.Errorf("with %s: %q", name, got)
		}
	}
}

// DOC-01: exactly one object.
func TestRootIsOneObject(t *testing.T) {
	for _, text := range []string{"", "[]", "null", "1", `"x"`, "{} {}", "\xef\xbb\xbf{}", "{}x", "{'a':1}"} {
		for _, kind := range []string{"workload", "runner", "deployment"} {
			if got := violations(parseAny(kind, text)); !slices.Contains(got, "DOC-01") {
				t.Errorf("%s %q: %q", kind, text, got)
			}
		}
	}
}
