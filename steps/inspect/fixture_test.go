package inspect_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/inspect"
	"github.com/grill-plan/grill-plan/steps/output"
	"github.com/grill-plan/grill-plan/steps/preflight"
)

const workloadJSON = `{
  "kind": "media-workload-v1", "version": 1, "name": "picture", "modality": "image",
  "request": {"prompt": "a harbour", "seeds": [7, 18446744073709551615], "width": 4, "height": 3, "steps": 1, "images_per_run": 1},
  "outputs": [{"placeholder": "output", "container": "png", "expect": {"width": 4, "height": 3}}],
  "cells": [{"id": "hot", "warmup_runs": 1, "measured_runs": 4}],
  "slots": [{"id": "a", "arm": "a"}, {"id": "b", "arm": "b"}, {"id": "a2", "arm": "a2"}],
  "limits": {"run_deadline_ms": 1000, "setup_deadline_ms": 2000, "output_bytes": 100000, "stdout_bytes": 8, "stderr_bytes": 8},
  "gates": [{"cell": "hot", "metric": "end_to_end_us", "max_adverse_bps": 100, "max_reference_spread_bps": 300}]
}
`

const runnerJSON = `{
  "kind": "media-runner-v1", "version": 1, "id": "r", "program": "/bin/render",
  "args": ["--seed", "{seed}", "--out", "{output}"], "env": {}, "execution": "in-process",
  "setup": {"args": ["--warm"]}, "cache": {"declared_state": "unknown", "paths": []}, "pins": []
}
`

const deploymentJSON = `{"model_revision": "r1"}` + "\n"

const startedMS = 1_790_000_000_000

// fixture writes a capture as capture would. Its fields can be changed before
// seal is called, and so can the files.
type fixture struct {
	t          *testing.T
	dir        string
	receipt    evidence.Receipt
	digest     string // of the receipt
	completion evidence.Completion
	files      map[string]bool
}

// newFixture writes documents and receipt. change may alter the receipt.
func newFixture(t *testing.T, change func(*evidence.Receipt)) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: filepath.Join(t.TempDir(), "capture"), files: map[string]bool{}}
	if err := os.Mkdir(f.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		evidence.WorkloadFile: workloadJSON, evidence.RunnerFile: runnerJSON, evidence.DeploymentFile: deploymentJSON,
	} {
		f.write(name, []byte(text))
	}
	workload, runner := f.documents()
	samples, setup, err := preflight.Plan(workload, runner)
	if err != nil {
		t.Fatal(err)
	}
	program := evidence.Program{DeclaredPath: "/bin/render", ResolvedPath: "/bin/render", ResolvedSHA256: strings.Repeat("a", 64)}
	f.receipt = evidence.Receipt{
		Kind: evidence.ReceiptKind, Version: 1,
		WorkloadSHA256: evidence.Digest([]byte(workloadJSON)), WorkloadTypedSHA256: workload.TypedHash(),
		RunnerSHA256: evidence.Digest([]byte(runnerJSON)), DeploymentSHA256: evidence.Digest([]byte(deploymentJSON)),
		Program: program, SetupProgram: &program, Slot: "a", Arm: "a", Execution: "in-process",
		Collector:     evidence.Collector{SHA256: strings.Repeat("c", 64), Version: "1", OS: "linux", Arch: "amd64"},
		StartedUnixMS: startedMS, Root: "/somewhere/capture", Folder: "/somewhere", Setup: setup, Samples: samples,
	}
	if change != nil {
		change(&f.receipt)
	}
	f.digest = record(f, evidence.ReceiptFile, f.receipt)
	f.completion = evidence.Completion{
		Kind: evidence.CompletionKind, Version: 1, ReceiptSHA256: f.digest, Status: evidence.Complete,
		FinishedUnixMS: startedMS + 5000, ElapsedMS: 5000, Unstarted: []int{},
	}
	return f
}

func (f *fixture) documents() (*document.Workload, *document.Runner) {
	workload, problems := document.ParseWorkload("workload", []byte(workloadJSON))
	runner, more := document.ParseRunner("runner", []byte(runnerJSON))
	if len(problems)+len(more) > 0 {
		f.t.Fatal(problems, more)
	}
	return workload, runner
}

func (f *fixture) write(name string, data []byte) {
	f.t.Helper()
	path := filepath.Join(f.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.files[name] = true
}

func record[T evidence.Record](f *fixture, name string, record T) string {
	f.t.Helper()
	data, err := evidence.Marshal(record)
	if err != nil {
		f.t.Fatal(err)
	}
	f.write(name, data)
	return evidence.Digest(data)
}

// picture is a PNG of the size the workload expects; shade tells two apart.
func picture(t *testing.T, width int, shade uint8) []byte {
	t.Helper()
	canvas := image.NewGray(image.Rect(0, 0, width, 3))
	canvas.SetGray(0, 0, color.Gray{Y: shade})
	var out bytes.Buffer
	if err := png.Encode(&out, canvas); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func exited(us uint64, code int) evidence.Invocation {
	return evidence.Invocation{
		StartedUnixMS: startedMS, EndToEndUS: &us, ExitCode: &code,
		Stdout: stream("hello"), Stderr: stream(""),
	}
}

func stream(text string) evidence.Stream {
	kept := text[:min(len(text), 8)]
	return evidence.Stream{Bytes: uint64(len(text)), Retained: uint64(len(kept)), SHA256: evidence.Digest([]byte(kept)), Truncated: len(text) > len(kept)}
}

// invoke writes the records of one process, judged as capture judges it.
func (f *fixture) invoke(dir string, sample *evidence.PlannedSample, setup *evidence.SetupPlan, went evidence.Invocation, stdout, stderr string, change func(*evidence.Run)) {
	f.t.Helper()
	workload, runner := f.documents()
	request := output.ForSample(workload, "hot")
	if sample == nil {
		request.Outputs = output.Used(workload.Outputs, runner.Setup.Args)
	}
	reserved := record(f, dir+"/"+evidence.ReservationFile, evidence.Reservation{
		Kind: evidence.ReservationKind, Version: 1, ReceiptSHA256: f.digest, Sample: sample, Setup: setup, Token: "t",
	})
	if went.EndToEndUS != nil {
		record(f, dir+"/"+evidence.ProcessFile, evidence.Process{Kind: evidence.ProcessKind, Version: 1, ReceiptSHA256: f.digest, PID: 1, Group: 1})
	}
	f.write(dir+"/"+evidence.StdoutFile, []byte(stdout))
	f.write(dir+"/"+evidence.StderrFile, []byte(stderr))
	outputs, err := output.Collect(context.Background(), filepath.Join(f.dir, dir), request)
	if err != nil {
		f.t.Fatal(err)
	}
	reasons := evidence.SampleReasons(went, outputs)
	run := evidence.Run{
		Kind: evidence.RunKind, Version: 1, ReceiptSHA256: f.digest, ReservationSHA256: reserved, Sample: sample,
		Invocation: went, Outputs: outputs, Reasons: reasons, Eligible: sample != nil && len(reasons) == 0,
	}
	if change != nil {
		change(&run)
	}
	record(f, dir+"/"+evidence.RunFile, run)
}

func (f *fixture) setup() {
	f.invoke(evidence.SetupDir, nil, f.receipt.Setup, exited(100_000, 0), "hello", "", nil)
}

// sample writes a good sample; change may alter its record.
func (f *fixture) sample(index int, us uint64, shade uint8, change func(*evidence.Run)) {
	dir := document.RunDirName(index)
	f.write(dir+"/output.png", picture(f.t, 4, shade))
	f.invoke(dir, &f.receipt.Samples[index], nil, exited(us, 0), "hello", "", change)
}

// seal lists the files and publishes the completion.
func (f *fixture) seal() {
	f.t.Helper()
	f.completion.Files = nil
	var names []string
	for name := range f.files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(f.dir, filepath.FromSlash(name)))
		if err != nil {
			f.t.Fatal(err)
		}
		f.completion.Files = append(f.completion.Files, evidence.EvidenceFile{Path: name, Bytes: uint64(len(data)), SHA256: evidence.Digest(data)})
	}
	f.reseal()
}

// reseal publishes the completion as it stands, with a digest that fits: what a
// forger would do.
func (f *fixture) reseal() {
	f.t.Helper()
	digest, err := evidence.Seal(f.completion)
	if err != nil {
		f.t.Fatal(err)
	}
	f.completion.EvidenceSHA256 = digest
	record(f, evidence.CompletionFile, f.completion)
	delete(f.files, evidence.CompletionFile)
}

// whole is a complete capture of five eligible samples.
func whole(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, nil)
	f.setup()
	for i := range f.receipt.Samples {
		f.sample(i, uint64(100_000+i), 1, nil)
	}
	f.seal()
	return f
}

func (f *fixture) inspect() (*inspect.Result, error) {
	return inspect.Inspect(context.Background(), f.dir)
}

// refused demands an error at a file with a code.
func (f *fixture) refused(file, code string) {
	f.t.Helper()
	result, err := f.inspect()
	found, ok := inspect.AsError(err)
	if !ok || result != nil {
		f.t.Fatalf("got %v, want an error at %s", err, file)
	}
	if found.File != file || found.Code != code {
		f.t.Errorf("got %v, want %s %s", err, file, code)
	}
}
