package preflight

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/grill-plan/grill-plan/internal/strictjson"
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
)

// Notes of the report.
const (
	allowanceNote  = "an allowance and no bound: stalls of file systems and of the scheduler can exceed it"
	projectionNote = "paths of outputs are relative to a capture directory that does not exist yet"
	bodyNote       = "a body is exactly what would be sent; the seed is not sent"
	privateNote    = "holds prompts and paths: review it before sharing"
)

// Report is the JSON document of PRE-03 to PRE-14, indented, with one line feed
// at the end. It has no clock reading; the same bytes come out as long as the
// documents and the programs are the same.
func (a *Admitted) Report() []byte {
	w := &writer{}
	w.object(func() {
		w.text("kind", "media-preflight")
		w.number("version", 1)
		a.writeDocuments(w)
		a.writePrograms(w)
		w.member("counts", a.writeCounts)
		w.member("allowance", func(w *writer) {
			w.number("milliseconds", a.AllowanceMS)
			w.text("note", allowanceNote)
		})
		w.text("privacy", privateNote)
		if a.Runner.Kind == document.CLIRunnerKind {
			w.text("projection", projectionNote)
		} else {
			w.text("body", bodyNote)
		}
		a.writeHeldBack(w)
		w.name("samples")
		w.list(len(a.Samples), func(i int) { w.object(func() { a.writeSample(w, &a.Samples[i]) }) })
	})
	var indented bytes.Buffer
	// The bytes were written here and are valid JSON, so that this cannot fail.
	_ = json.Indent(&indented, w.out, "", "  ")
	indented.WriteByte('\n')
	return indented.Bytes()
}

func (a *Admitted) writeDocuments(w *writer) {
	w.member("workload", func(w *writer) {
		w.text("name", a.Workload.Name)
		w.text("sha256", a.WorkloadSHA256)
		w.text("typed_sha256", a.WorkloadTypedSHA256)
	})
	w.member("runner", func(w *writer) {
		w.text("id", a.Runner.ID)
		w.text("kind", a.Runner.Kind)
		w.text("sha256", a.RunnerSHA256)
	})
}

// writePrograms leaves the blocks out for a server runner (PRE-12).
func (a *Admitted) writePrograms(w *writer) {
	if a.Runner.Kind != document.CLIRunnerKind {
		return
	}
	identity := func(p *evidence.Program) func(*writer) {
		return func(w *writer) {
			w.text("declared_path", p.DeclaredPath)
			w.text("resolved_path", p.ResolvedPath)
			w.text("resolved_sha256", p.ResolvedSHA256)
		}
	}
	w.member("program", identity(&a.Program))
	w.text("cwd", a.Cwd)
	if a.Setup == nil {
		return
	}
	w.member("setup", func(w *writer) {
		w.member("program", identity(a.SetupProgram))
		w.number("deadline_ms", a.Setup.DeadlineMS)
		w.texts("argv", a.Setup.Argv)
	})
}

func (a *Admitted) writeCounts(w *writer) {
	w.number("cells", uint64(a.Counts.Cells))
	w.number("warmup_samples", uint64(a.Counts.Warmup))
	w.number("measured_samples", uint64(a.Counts.Measured))
	w.number("samples", uint64(a.Counts.Samples))
	w.number("output_files", a.Counts.Files)
}

// writeHeldBack says what capture would refuse although the pair is admitted.
func (a *Admitted) writeHeldBack(w *writer) {
	held := document.HeldBack(a.WorkloadName, a.RunnerName, a.Workload, a.Runner)
	if len(held) == 0 {
		return
	}
	w.name("not_in_this_version")
	w.list(len(held), func(i int) { w.value(held[i].String()) })
}

func (a *Admitted) writeSample(w *writer, s *evidence.PlannedSample) {
	w.number("index", uint64(s.Index))
	w.text("cell", s.Cell)
	w.text("phase", s.Phase)
	w.number("seed", s.Seed)
	switch a.Runner.Kind {
	case document.CLIRunnerKind:
		w.texts("argv", s.Argv)
	case document.SpeechServerKind:
		w.text("body", string(a.body(s)))
	}
}

func (a *Admitted) body(s *evidence.PlannedSample) []byte {
	return document.SpeechBody(a.Runner.Server, document.EffectiveRequest(a.Workload, s.Cell).Prompt)
}

// Digest is the output digest of a preflight (PLN-40): the documents, every
// projected argv or body, the programs as the runner writes them and what their
// bytes hash to. Absolute and resolved paths are no part of it, so that a moved
// folder changes nothing.
func (a *Admitted) Digest() string {
	w := &writer{}
	w.object(func() {
		w.number("preflight", 1)
		w.text("workload", a.WorkloadSHA256)
		w.text("runner", a.RunnerSHA256)
		if a.Runner.Kind == document.CLIRunnerKind {
			w.text("program", a.Runner.Program)
			w.text("program_sha256", a.Program.ResolvedSHA256)
		}
		if a.Setup != nil {
			declared := a.Runner.Program
			if a.Runner.Setup.Program != nil {
				declared = *a.Runner.Setup.Program
			}
			w.text("setup_program", declared)
			w.text("setup_program_sha256", a.SetupProgram.ResolvedSHA256)
			w.number("setup_deadline_ms", a.Setup.DeadlineMS)
			w.texts("setup_argv", a.Setup.Argv)
		}
		w.name("samples")
		w.list(len(a.Samples), func(i int) { w.object(func() { a.writeSample(w, &a.Samples[i]) }) })
	})
	sum := sha256.Sum256(w.out)
	return hex.EncodeToString(sum[:])
}

// writer appends compact JSON in the order of the calls.
type writer struct{ out []byte }

func (w *writer) object(fields func()) {
	w.out = append(w.out, '{')
	fields()
	w.out = append(w.out, '}')
}

func (w *writer) name(name string) { w.out = strictjson.AppendName(w.out, name) }

func (w *writer) member(name string, fields func(*writer)) {
	w.name(name)
	w.object(func() { fields(w) })
}

func (w *writer) text(name, value string) {
	w.name(name)
	w.value(value)
}

func (w *writer) value(text string) { w.out = strictjson.AppendString(w.out, text) }

func (w *writer) number(name string, value uint64) {
	w.name(name)
	w.out = strictjson.AppendUint(w.out, value)
}

func (w *writer) texts(name string, values []string) {
	w.name(name)
	w.list(len(values), func(i int) { w.value(values[i]) })
}

func (w *writer) list(n int, item func(i int)) {
	w.out = append(w.out, '[')
	for i := range n {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		item(i)
	}
	w.out = append(w.out, ']')
}
