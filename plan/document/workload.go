package document

import (
	"slices"

	"github.com/grill-plan/grill-plan/internal/strictjson"
)

// Bounds that the request and the expectations of outputs share (DOC-25, DOC-38).
const (
	maxPixels     = 16_384
	maxFrames     = 100_000
	maxFPS        = 240
	maxDurationUS = 3_600_000_000
	maxSampleRate = 4_294_967_295
	maxGuidance   = 4_294_967_295 // DOC-21
	maxChannels   = 65_535        // DOC-37, SPH-02
)

// workloadShape is what of a workload document has to be known before its
// requests can be read.
type workloadShape struct {
	modality string // "" when unknown: then no matrix of fields applies
	// speech: audio with an empty outputs array, which only a speech server can
	// use (DOC-39); its requests have no duration (SPH-04).
	speech bool
}

func shapeOf(tree *strictjson.Value) workloadShape {
	var shape workloadShape
	if v := tree.Lookup("modality"); v != nil && v.Kind == strictjson.String && slices.Contains(modalities(), v.Str) {
		shape.modality = v.Str
	}
	outputs := tree.Lookup("outputs")
	shape.speech = shape.modality == "audio" && outputs != nil && outputs.Kind == strictjson.Array && len(outputs.Items) == 0
	return shape
}

func modalities() []string { return []string{"image", "audio", "video"} }

// workloadTable is DOC-16, in the order of the typed serialization (DOC-13).
func workloadTable(shape workloadShape) []field[Workload] {
	return []field[Workload]{
		constant[Workload]("kind", "DOC-11", WorkloadKind),
		version[Workload](),
		text("name", "DOC-12", nameForm, func(w *Workload) *string { return &w.Name }),
		text("modality", "DOC-17", oneOf("DOC-17", modalities()...), func(w *Workload) *string { return &w.Modality }),
		requestField("request", shape, func(w *Workload) *Request { return &w.Request }),
		list("outputs", outputItems(shape), func(w *Workload) *[]Output { return &w.Outputs }),
		list("cells", cellItems(shape), func(w *Workload) *[]Cell { return &w.Cells }),
		list("slots", slotItems(), func(w *Workload) *[]Slot { return &w.Slots }),
		object("limits", limitsTable(), func(w *Workload) *Limits { return &w.Limits }),
		list("gates", gateItems(), func(w *Workload) *[]Gate { return &w.Gates }),
	}
}

// requestTable is every field a request of some modality may have (DOC-18,
// DOC-21 to DOC-25), in the order in which DOC names them.
func requestTable() []field[Request] {
	positive := func(max uint64) bound { return bound{"DOC-25", 1, max} }
	return []field[Request]{
		text("prompt", "DOC-18", plain("DOC-19", 0, maxPromptBytes), func(r *Request) *string { return &r.Prompt }),
		list("seeds", integers("DOC-20", 1, 16, bound{"DOC-20", 0, unlimited}), func(r *Request) *[]uint64 { return &r.Seeds }),
		optionalText("negative_prompt", "DOC-18", plain("DOC-19", 0, maxPromptBytes), func(r *Request) **string { return &r.NegativePrompt }),
		optionalInteger("guidance_milli", bound{"DOC-21", 0, maxGuidance}, func(r *Request) **uint64 { return &r.GuidanceMilli }),
		optionalInteger("width", positive(maxPixels), func(r *Request) **uint64 { return &r.Width }),
		optionalInteger("height", positive(maxPixels), func(r *Request) **uint64 { return &r.Height }),
		optionalInteger("steps", positive(1000), func(r *Request) **uint64 { return &r.Steps }),
		optionalInteger("images_per_run", positive(64), func(r *Request) **uint64 { return &r.ImagesPerRun }),
		optionalInteger("frames", positive(maxFrames), func(r *Request) **uint64 { return &r.Frames }),
		optionalInteger("fps", positive(maxFPS), func(r *Request) **uint64 { return &r.FPS }),
		optionalInteger("duration_us", positive(maxDurationUS), func(r *Request) **uint64 { return &r.DurationUS }),
		optionalInteger("sample_rate", positive(maxSampleRate), func(r *Request) **uint64 { return &r.SampleRate }),
	}
}

// matrix says which fields of a table one modality requires and rejects.
type matrix struct {
	rule     string
	what     string // "an image request"
	required []string
	rejected []string
}

func requestMatrix(shape workloadShape) (matrix, bool) {
	switch shape.modality {
	case "image":
		return matrix{
			"DOC-22", "an image request",
			[]string{"width", "height", "steps", "images_per_run"},
			[]string{"frames", "fps", "duration_us", "sample_rate"},
		}, true
	case "audio":
		required := []string{"duration_us", "sample_rate"}
		if shape.speech {
			required = []string{"sample_rate"}
		}
		return matrix{
			"DOC-23", "an audio request", required,
			[]string{"width", "height", "images_per_run", "frames", "fps"},
		}, true
	case "video":
		return matrix{
			"DOC-24", "a video request",
			[]string{"width", "height", "frames", "fps"},
			[]string{"images_per_run", "sample_rate"},
		}, true
	}
	return matrix{}, false
}

func expectMatrix(modality string) (matrix, bool) {
	switch modality {
	case "image":
		return matrix{
			"DOC-37", "what an image is expected to be",
			[]string{"width", "height"},
			[]string{"frames", "fps", "duration_us", "sample_rate", "channels", "audio"},
		}, true
	case "audio":
		return matrix{
			"DOC-37", "what audio is expected to be",
			[]string{"duration_us", "sample_rate", "channels"},
			[]string{"width", "height", "frames", "fps", "audio"},
		}, true
	case "video":
		return matrix{
			"DOC-37", "what a video is expected to be",
			[]string{"width", "height", "frames", "fps"},
			[]string{"sample_rate", "channels"},
		}, true
	}
	return matrix{}, false
}

// apply reports the fields that the matrix misses and those it does not admit.
func (m matrix) apply(at place, v *strictjson.Value) {
	if v.Kind != strictjson.Object {
		return
	}
	for i := range v.Members {
		if member := &v.Members[i]; slices.Contains(m.rejected, member.Name) {
			at.member(member.Name).report(member.NameOffset, m.rule, "is no field of %s", m.what)
		}
	}
	for _, name := range m.required {
		if v.Lookup(name) == nil {
			at.member(name).report(v.Offset, m.rule, "is required in %s and missing", m.what)
		}
	}
}

func readRequest(at place, v *strictjson.Value, shape workloadShape, into *Request) {
	readObject(at, v, requestTable(), into)
	if m, ok := requestMatrix(shape); ok {
		m.apply(at, v)
	}
}

func requestField[T any](name string, shape workloadShape, get func(*T) *Request) field[T] {
	row := object(name, requestTable(), get)
	row.read = func(at place, v *strictjson.Value, into *T) { readRequest(at, v, shape, get(into)) }
	return row
}

func outputItems(shape workloadShape) items[Output] {
	containers := map[string][]string{"image": {"png", "jpeg"}, "audio": {"wav"}, "video": {"mp4"}}[shape.modality]
	if containers == nil {
		containers = []string{"png", "jpeg", "wav", "mp4"}
	}
	expect := object("expect", expectTable(), func(o *Output) *Expect { return &o.Expect })
	readExpect := expect.read
	expect.read = func(at place, v *strictjson.Value, into *Output) {
		readExpect(at, v, into)
		if m, ok := expectMatrix(shape.modality); ok {
			m.apply(at, v)
		}
	}
	table := []field[Output]{
		text("placeholder", "DOC-35", oneOf("DOC-35", "output", "output_dir"), func(o *Output) *string { return &o.Placeholder }),
		text("container", "DOC-36", oneOf("DOC-36", containers...), func(o *Output) *string { return &o.Container }),
		expect,
	}
	return objects("DOC-35", 0, 2, table, func(at place, v *strictjson.Value, outputs []Output) {
		unique(at, v, "DOC-35", "a placeholder", func(i int) string { return outputs[i].Placeholder })
	})
}

// expectTable is every expectation of some modality (DOC-37, DOC-38).
func expectTable() []field[Expect] {
	positive := func(max uint64) bound { return bound{"DOC-38", 1, max} }
	return []field[Expect]{
		optionalInteger("width", positive(maxPixels), func(e *Expect) **uint64 { return &e.Width }),
		optionalInteger("height", positive(maxPixels), func(e *Expect) **uint64 { return &e.Height }),
		optionalInteger("frames", positive(maxFrames), func(e *Expect) **uint64 { return &e.Frames }),
		optionalInteger("fps", positive(maxFPS), func(e *Expect) **uint64 { return &e.FPS }),
		optionalInteger("duration_us", positive(maxDurationUS), func(e *Expect) **uint64 { return &e.DurationUS }),
		optionalInteger("sample_rate", positive(maxSampleRate), func(e *Expect) **uint64 { return &e.SampleRate }),
		optionalInteger("channels", bound{"DOC-37", 1, maxChannels}, func(e *Expect) **uint64 { return &e.Channels }),
		optionalBoolean("audio", "DOC-38", func(e *Expect) **bool { return &e.Audio }),
	}
}

func cellItems(shape workloadShape) items[Cell] {
	request := optionalObject("request", requestTable(), func(c *Cell) **Request { return &c.Request })
	request.read = func(at place, v *strictjson.Value, into *Cell) {
		into.Request = new(Request)
		readRequest(at, v, shape, into.Request) // DOC-28
	}
	table := []field[Cell]{
		text("id", "DOC-12", nameForm, func(c *Cell) *string { return &c.ID }),
		integer("warmup_runs", bound{"DOC-27", 0, 20}, func(c *Cell) *uint64 { return &c.WarmupRuns }),
		integer("measured_runs", bound{"DOC-27", 1, 100}, func(c *Cell) *uint64 { return &c.MeasuredRuns }),
		optionalInteger("pause_between_runs_ms", bound{"DOC-27", 0, unlimited}, func(c *Cell) **uint64 { return &c.PauseBetweenRunsMS }),
		request,
	}
	return objects("DOC-27", 1, 64, table, func(at place, v *strictjson.Value, cells []Cell) {
		unique(at, v, "DOC-27", "the id of a cell", func(i int) string { return cells[i].ID })
	})
}

func slotItems() items[Slot] {
	arms := []string{ArmA, ArmB, ArmB2, ArmA2}
	table := []field[Slot]{
		text("id", "DOC-12", nameForm, func(s *Slot) *string { return &s.ID }),
		text("arm", "DOC-29", oneOf("DOC-29", arms...), func(s *Slot) *string { return &s.Arm }),
	}
	return objects("DOC-29", 3, 4, table, func(at place, v *strictjson.Value, slots []Slot) {
		unique(at, v, "DOC-29", "the id of a slot", func(i int) string { return slots[i].ID })
		unique(at, v, "DOC-29", "an arm", func(i int) string { return slots[i].Arm })
		for _, arm := range []string{ArmA, ArmB, ArmA2} {
			if !slices.ContainsFunc(slots, func(s Slot) bool { return s.Arm == arm }) {
				at.report(v.Offset, "DOC-29", "has no slot of arm %s; a, b and a2 are required once each, b2 is optional", arm)
			}
		}
	})
}

func limitsTable() []field[Limits] {
	positive := bound{"DOC-30", 1, unlimited}
	return []field[Limits]{
		integer("run_deadline_ms", positive, func(l *Limits) *uint64 { return &l.RunDeadlineMS }),
		integer("setup_deadline_ms", positive, func(l *Limits) *uint64 { return &l.SetupDeadlineMS }),
		integer("output_bytes", positive, func(l *Limits) *uint64 { return &l.OutputBytes }),
		integer("stdout_bytes", positive, func(l *Limits) *uint64 { return &l.StdoutBytes }),
		integer("stderr_bytes", positive, func(l *Limits) *uint64 { return &l.StderrBytes }),
	}
}

func metrics() []string {
	return []string{EndToEndUS, GenerationUS, LoadToGenerationUS, FirstAudioUS, DurationRatio}
}

func gateItems() items[Gate] {
	table := []field[Gate]{
		text("cell", "DOC-31", nameForm, func(g *Gate) *string { return &g.Cell }),
		text("metric", "DOC-32", oneOf("DOC-32", metrics()...), func(g *Gate) *string { return &g.Metric }),
		integer("max_adverse_bps", bound{"DOC-33", 0, 9_999}, func(g *Gate) *uint64 { return &g.MaxAdverseBPS }),
		integer("max_reference_spread_bps", bound{"DOC-33", 0, 1_000_000}, func(g *Gate) *uint64 { return &g.MaxReferenceSpreadBPS }),
	}
	return objects("DOC-31", 1, 16, table, func(at place, v *strictjson.Value, gates []Gate) {
		unique(at, v, "DOC-31", "a pair of cell and metric", func(i int) string {
			if gates[i].Cell == "" || gates[i].Metric == "" {
				return ""
			}
			return gates[i].Cell + " " + gates[i].Metric
		})
	})
}

// checkGateCells reports gates on cells that are not declared (DOC-31).
func checkGateCells(root place, tree *strictjson.Value, w *Workload) {
	gates := tree.Lookup("gates")
	if gates == nil || gates.Kind != strictjson.Array || len(w.Gates) != len(gates.Items) {
		return
	}
	ids := make([]string, len(w.Cells))
	for i := range w.Cells {
		ids[i] = w.Cells[i].ID
	}
	for i, gate := range w.Gates {
		v := gates.Items[i].Lookup("cell")
		if v == nil || !ValidName(gate.Cell) || slices.Contains(ids, gate.Cell) {
			continue
		}
		root.member("gates").item(i).member("cell").report(v.Offset, "DOC-31",
			"names no declared cell; declared: %s%s", quoteList(ids), suggestion(gate.Cell, ids))
	}
}
