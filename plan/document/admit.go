package document

import "slices"

// Admit holds the rules between a workload and a runner: DOC-34, DOC-39, DOC-48,
// PRE-10, the templates of every cell, and what server kinds ask of a workload.
// Offset of its problems is NoOffset; their Path leads to the place by Locate.
func Admit(workloadName, runnerName string, w *Workload, r *Runner) []Problem {
	pair := pair{
		w: w, r: r,
		workload: place{c: &collector{document: workloadName}},
		runner:   place{c: &collector{document: runnerName}},
	}
	pair.metrics()
	switch r.Kind {
	case CLIRunnerKind:
		pair.cli()
	case SpeechServerKind:
		pair.speech()
	default:
		pair.server()
	}
	if _, err := AllowanceMS(w, r); err != nil {
		pair.workload.member("limits").report(NoOffset, "PRE-10", "%s", err)
	}
	return append(pair.workload.c.problems, pair.runner.c.problems...)
}

type pair struct {
	w                *Workload
	r                *Runner
	workload, runner place
}

// metrics is the admission of gates (DOC-34, SPH-06).
func (p pair) metrics() {
	for i, gate := range p.w.Gates {
		at := p.workload.member("gates").item(i).member("metric")
		switch gate.Metric {
		case GenerationUS, LoadToGenerationUS:
			switch {
			case p.r.Kind == SpeechServerKind:
				at.report(NoOffset, "SPH-06", "is %s; a speech server has no markers, admitted: %s, %s, %s", gate.Metric, EndToEndUS, DurationRatio, FirstAudioUS)
			case p.r.Kind != CLIRunnerKind || p.r.Markers == nil:
				at.report(NoOffset, "DOC-34", "is %s, which needs a runner of kind %s with markers = \"file\"", gate.Metric, CLIRunnerKind)
			}
		case FirstAudioUS:
			if p.r.Kind != SpeechServerKind || !p.r.Server.Stream {
				at.report(NoOffset, "DOC-34", "is %s, which needs a runner of kind %s with stream = true", gate.Metric, SpeechServerKind)
			}
		case DurationRatio:
			if p.w.Modality != "audio" {
				at.report(NoOffset, "DOC-34", "is %s, which needs modality audio", gate.Metric)
			}
		}
	}
}

func (p pair) cli() {
	if len(p.w.Outputs) == 0 {
		p.workload.member("outputs").report(NoOffset, "DOC-39", "is empty; with a runner of kind %s at least one output is required", CLIRunnerKind)
	}
	admitSampleTemplates(p.runner.member("args"), p.w, p.r)
	if p.r.Setup == nil {
		return
	}
	setup := p.runner.member("setup")
	if d := p.r.Setup.DeadlineMS; d != nil && *d > p.w.Limits.SetupDeadlineMS {
		setup.member("deadline_ms").report(NoOffset, "DOC-48", "is %d, above the workload's limits.setup_deadline_ms of %d", *d, p.w.Limits.SetupDeadlineMS)
	}
	admitSetupTemplates(setup.member("args"), p.w, p.r)
}

// speech holds DOC-39 and SPH-04 to SPH-05.
func (p pair) speech() {
	if p.w.Modality != "audio" {
		p.workload.member("modality").report(NoOffset, "SPH-04", "is %s; a speech server needs audio", p.w.Modality)
	}
	if len(p.w.Outputs) > 0 {
		p.workload.member("outputs").report(NoOffset, "DOC-39", "is not empty; with a runner of kind %s it is", SpeechServerKind)
	}
	p.speechRequest(requestPath(p.workload, -1), &p.w.Request)
	for i := range p.w.Cells {
		if request := p.w.Cells[i].Request; request != nil {
			p.speechRequest(requestPath(p.workload, i), request)
		}
	}
}

func (p pair) speechRequest(at place, request *Request) {
	const most = 4096 // SPH-05
	for _, row := range requestTable() {
		if _, present := row.write(nil, request); present && !slices.Contains([]string{"prompt", "seeds", "sample_rate"}, row.name) {
			at.member(row.name).report(NoOffset, "SPH-04", "is not sent to a speech server; admitted: prompt, seeds, sample_rate")
		}
	}
	if request.SampleRate == nil {
		at.member("sample_rate").report(NoOffset, "SPH-04", "is required with a speech server and missing")
	}
	if n := characters(request.Prompt); n > most {
		at.member("prompt").report(NoOffset, "SPH-05", "has %d characters; at most %d are admitted", n, most)
	}
}

// server holds what image, video and ComfyUI servers ask of a workload (SRV-01,
// SRV-08, SRV-14).
func (p pair) server() {
	admitted := map[string][]string{
		ImageServerKind: {"image"}, VideoServerKind: {"video"}, ComfyUIServerKind: modalities(),
	}[p.r.Kind]
	if !slices.Contains(admitted, p.w.Modality) {
		p.workload.member("modality").report(NoOffset, "SRV-01", "is %s; a runner of kind %s admits: %s", p.w.Modality, p.r.Kind, quoteList(admitted))
	}
	if len(p.w.Outputs) != 1 || p.w.Outputs[0].Placeholder != "output" {
		p.workload.member("outputs").report(NoOffset, "SRV-01", "has to declare exactly one output, with placeholder output, for a runner of kind %s", p.r.Kind)
	}
	if cells := cellsWithSeveralImages(p.w); len(cells) > 0 {
		p.workload.report(NoOffset, "SRV-01", "asks for several images per run in cell %s; a server delivers one file per sample", quoteList(cells))
	}
	p.bindings()
	p.reset()
}

func (p pair) bindings() {
	for i, b := range p.r.Server.Bindings {
		for c := range p.w.Cells {
			if !hasField(cellRequest(p.w, &p.w.Cells[c]), b.Field) {
				p.runner.member("bindings").item(i).member("field").report(NoOffset, "SRV-08",
					"is %s, which the request does not have in cell %s", b.Field, p.w.Cells[c].ID)
			}
		}
	}
}

func hasField(request *Request, name string) bool {
	switch name {
	case "seed":
		return true
	case "images_per_run":
		return request.ImagesPerRun != nil
	case "negative_prompt":
		return request.NegativePrompt != nil
	}
	_, ok := requestValue(name, request)
	return ok
}

func (p pair) reset() {
	if p.r.Server.Reset == nil {
		return
	}
	ids := make([]string, len(p.w.Cells))
	for i := range p.w.Cells {
		ids[i] = p.w.Cells[i].ID
	}
	for i, cell := range p.r.Server.Reset.Cells {
		if !slices.Contains(ids, cell) {
			p.runner.member("reset").member("cells").item(i).report(NoOffset, "SRV-14",
				"names no cell of the workload; declared: %s%s", quoteList(ids), suggestion(cell, ids))
		}
	}
}

// NotInThisVersion is the Rule of what HeldBack names.
const NotInThisVersion = "not_in_this_version"

// HeldBack names what a valid pair of documents asks for and this version of
// capture does not carry out. It is never left out silently: capture and run
// refuse the pair with these problems, while plan and preflight show it. Their
// Rule is NotInThisVersion.
func HeldBack(workloadName, runnerName string, w *Workload, r *Runner) []Problem {
	workload := place{c: &collector{document: workloadName}}
	runner := place{c: &collector{document: runnerName}}
	const held = "not carried out by this version"
	if r.Kind != CLIRunnerKind {
		runner.member("kind").report(NoOffset, NotInThisVersion, "is %s; server runners are read and checked, but %s", r.Kind, held)
	}
	if r.Markers != nil {
		runner.member("markers").report(NoOffset, NotInThisVersion, "is declared; marker files are %s", held)
	}
	if len(r.Cache.Paths) > 0 {
		runner.member("cache").member("paths").report(NoOffset, NotInThisVersion, "is not empty; cache observation is %s", held)
	}
	if r.Arrays != nil {
		runner.member("arrays").report(NoOffset, NotInThisVersion, "is declared; reference arrays are %s", held)
	}
	for i, gate := range w.Gates {
		switch gate.Metric {
		case GenerationUS, LoadToGenerationUS, FirstAudioUS:
			workload.member("gates").item(i).member("metric").report(NoOffset, NotInThisVersion, "is %s; gates on it are %s", gate.Metric, held)
		}
	}
	return append(workload.c.problems, runner.c.problems...)
}
