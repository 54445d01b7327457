package preflight_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/preflight"
	"github.com/grill-plan/grill-plan/steps/program"
)

const (
	workload = `{"kind":"media-workload-v1","version":1,"name":"w","modality":"image",
		"request":{"prompt":"a cat","seeds":[7,18446744073709551615],"width":64,"height":48,"steps":20,"images_per_run":1},
		"outputs":[{"placeholder":"output","container":"png","expect":{"width":64,"height":48}}],
		"cells":[{"id":"c","warmup_runs":1,"measured_runs":3,"pause_between_runs_ms":10},
			{"id":"d","warmup_runs":1,"measured_runs":1}],
		"slots":[{"id":"s1","arm":"a"},{"id":"s2","arm":"b"},{"id":"s3","arm":"a2"}],
		"limits":{"run_deadline_ms":1000,"setup_deadline_ms":500,"output_bytes":1000,"stdout_bytes":10,"stderr_bytes":10},
		"gates":[{"cell":"c","metric":"end_to_end_us","max_adverse_bps":100,"max_reference_spread_bps":300}]}`
	runner = `{"kind":"media-runner-v1","version":1,"id":"r","program":"./render.sh",
		"args":["{prompt}","{seed}","{output}"],"env":{},"execution":"in-process","setup":{"args":["--warm"],"deadline_ms":400},
		"cache":{"declared_state":"unknown","paths":[]},"pins":[]}`
	speechWorkload = `{"kind":"media-workload-v1","version":1,"name":"speech","modality":"audio",
		"request":{"prompt":"The quick brown fox","seeds":[1],"sample_rate":44100},"outputs":[],
		"cells":[{"id":"short","warmup_runs":2,"measured_runs":10}],
		"slots":[{"id":"s1","arm":"a"},{"id":"s2","arm":"b"},{"id":"s3","arm":"a2"}],
		"limits":{"run_deadline_ms":60000,"setup_deadline_ms":1,"output_bytes":1000000,"stdout_bytes":1,"stderr_bytes":1},
		"gates":[{"cell":"short","metric":"end_to_end_us","max_adverse_bps":100,"max_reference_spread_bps":300},
			{"cell":"short","metric":"first_audio_us","max_adverse_bps":100,"max_reference_spread_bps":300},
			{"cell":"short","metric":"duration_ratio","max_adverse_bps":100,"max_reference_spread_bps":300}]}`
	speechRunner = `{"kind":"media-speech-server-v1","version":1,"id":"r","endpoint":"http://127.0.0.1:8000/v1/audio/speech",
		"model":"m","response_format":"pcm","stream":true,"pcm":{"channels":1,"sample_bytes":2}}`
)

// machine is a folder with the program that the runner names.
func machine(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "render.sh"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func input(folder, w, r string) preflight.Input {
	return preflight.Input{WorkloadName: "W.json", RunnerName: "R.json", Workload: []byte(w), Runner: []byte(r), Folder: folder}
}

func admit(t *testing.T, in preflight.Input) *preflight.Admitted {
	t.Helper()
	a, problems, err := preflight.Check(context.Background(), in)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return a
}

type report struct {
	Workload struct {
		SHA256 string `json:"sha256"`
		Typed  string `json:"typed_sha256"`
	} `json:"workload"`
	Runner struct {
		SHA256 string `json:"sha256"`
	} `json:"runner"`
	Program map[string]string `json:"program"`
	Setup   *struct {
		Program  map[string]string `json:"program"`
		Argv     []string          `json:"argv"`
		Deadline uint64            `json:"deadline_ms"`
	} `json:"setup"`
	Counts    map[string]int `json:"counts"`
	Allowance struct {
		MS   json.Number `json:"milliseconds"`
		Note string      `json:"note"`
	} `json:"allowance"`
	Projection string   `json:"projection"`
	HeldBack   []string `json:"not_in_this_version"`
	Samples    []struct {
		Cell  string   `json:"cell"`
		Phase string   `json:"phase"`
		Seed  uint64   `json:"seed"`
		Argv  []string `json:"argv"`
		Body  string   `json:"body"`
	} `json:"samples"`
}

func read(t *testing.T, data []byte) report {
	t.Helper()
	var r report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return r
}

func TestReportOfAProgram(t *testing.T) {
	dir := machine(t)
	r := read(t, admit(t, input(dir, workload, runner)).Report())
	// PRE-05
	if r.Workload.SHA256 != document.RawHash([]byte(workload)) || r.Runner.SHA256 != document.RawHash([]byte(runner)) {
		t.Errorf("PRE-05: raw hashes %+v", r)
	}
	if w, _ := document.ParseWorkload("", []byte(workload)); r.Workload.Typed != w.TypedHash() {
		t.Error("PRE-05: typed hash")
	}
	// PRE-06, DOC-47
	want := map[string]string{
		"declared_path": dir + "/render.sh", "resolved_path": dir + "/render.sh",
		"resolved_sha256": document.RawHash([]byte("#!/bin/sh\n")),
	}
	for key, value := range want {
		if r.Program[key] != value || r.Setup.Program[key] != value {
			t.Errorf("PRE-06: %s is %s and %s", key, r.Program[key], r.Setup.Program[key])
		}
	}
	if !slices.Equal(r.Setup.Argv, []string{"--warm"}) || r.Setup.Deadline != 400 {
		t.Errorf("setup %+v", r.Setup)
	}
	// PRE-07, PRE-08, PRE-11
	var lines []string
	for _, s := range r.Samples {
		lines = append(lines, s.Cell+" "+s.Phase+" "+strings.Join(s.Argv, "|"))
	}
	wantLines := []string{
		"c warmup a cat|7|run-000000/output.png", "d warmup a cat|7|run-000001/output.png",
		"c measured a cat|7|run-000002/output.png", "c measured a cat|18446744073709551615|run-000003/output.png",
		"c measured a cat|7|run-000004/output.png", "d measured a cat|7|run-000005/output.png",
	}
	if !slices.Equal(lines, wantLines) || r.Samples[3].Seed != 18446744073709551615 {
		t.Errorf("PRE-07: %q", lines)
	}
	if !strings.Contains(r.Projection, "does not exist yet") {
		t.Errorf("PRE-11: %q", r.Projection)
	}
	// PRE-09
	for key, value := range map[string]int{"cells": 2, "warmup_samples": 2, "measured_samples": 4, "samples": 6, "output_files": 6} {
		if r.Counts[key] != value {
			t.Errorf("PRE-09: %s is %d", key, r.Counts[key])
		}
	}
	// PRE-10: 6 × 1000 + 4 × 10 + 400
	if r.Allowance.MS != "6440" || !strings.Contains(r.Allowance.Note, "can exceed it") {
		t.Errorf("PRE-10: %+v", r.Allowance)
	}
	if r.HeldBack != nil {
		t.Errorf("held back: %q", r.HeldBack)
	}
}

func TestExpectedFilesOfDirectories(t *testing.T) { // PRE-09
	dir := machine(t)
	several := strings.NewReplacer(`"images_per_run":1`, `"images_per_run":3`, `"placeholder":"output"`, `"placeholder":"output_dir"`).Replace(workload)
	r := read(t, admit(t, input(dir, several, strings.Replace(runner, "{output}", "{output_dir}", 1))).Report())
	if r.Counts["output_files"] != 18 {
		t.Errorf("%d files", r.Counts["output_files"])
	}
}

// SPH-24, PRE-12: the speech example of the media CLI document.
func TestReportOfASpeechServer(t *testing.T) {
	a := admit(t, input("/", speechWorkload, speechRunner))
	r := read(t, a.Report())
	if r.Program != nil || r.Setup != nil || r.Projection != "" {
		t.Errorf("PRE-12: a server has a program block: %s", a.Report())
	}
	if r.Counts["samples"] != 12 || r.Allowance.MS != "720000" || len(r.Samples) != 12 || len(a.Workload.Gates) != 3 {
		t.Errorf("SPH-24: %+v", r)
	}
	for _, s := range r.Samples {
		if s.Body != `{"model":"m","input":"The quick brown fox","response_format":"pcm","stream":true}` || s.Argv != nil {
			t.Errorf("PRE-12: %+v", s)
		}
	}
	if len(r.HeldBack) != 2 {
		t.Errorf("held back: %q", r.HeldBack)
	}
}

// PRE-14: equal bytes, and no clock in them.
func TestReportIsDeterministic(t *testing.T) {
	dir := machine(t)
	first := admit(t, input(dir, workload, runner)).Report()
	if second := admit(t, input(dir, workload, runner)).Report(); !bytes.Equal(first, second) {
		t.Errorf("%s\n%s", first, second)
	}
	if !bytes.HasSuffix(first, []byte("}\n")) || !json.Valid(first) {
		t.Error("PRE-03: one JSON document")
	}
}

// PRE-02: no package that looks at documents and machine can start a process or
// open a connection.
func TestNothingToStartOrContactWith(t *testing.T) {
	for _, folder := range []string{".", "../program", "../evidence", "../../plan/document", "../../internal/strictjson"} {
		pkg, err := build.ImportDir(folder, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range pkg.Imports {
			if slices.Contains([]string{"os/exec", "net", "net/http", "net/rpc", "plugin"}, name) {
				t.Errorf("%s imports %s", folder, name)
			}
		}
	}
}

// PRE-02: nothing is created, and what pins and caches name is not looked at.
func TestNoSideEffects(t *testing.T) {
	dir := machine(t)
	r := strings.NewReplacer(`"paths":[]`, `"paths":["cache"]`, `"pins":[]`, `"pins":[{"path":"pin","sha256":"`+strings.Repeat("0", 64)+`"}]`).Replace(runner)
	admit(t, input(dir, workload, r)).Report()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "render.sh" {
		t.Errorf("%v %v", entries, err)
	}
}

// PRE-04, PRE-13, DOC-15: every violation of both documents and of the machine,
// each with document, path and rule.
func TestCheckReportsEverything(t *testing.T) {
	dir := machine(t)
	for _, c := range []struct {
		name, workload, runner string
		want                   []string
	}{
		{"both documents", strings.Replace(workload, `"width":64`, `"width":0`, 1), strings.Replace(runner, `"pins":[]`, `"pins":{}`, 1), []string{
			"W.json request.width DOC-25", "R.json pins DOC-50",
		}},
		{
			"pair and machine", strings.Replace(workload, "end_to_end_us", "generation_us", 1),
			strings.NewReplacer("./render.sh", "./missing", `"env":{}`, `"env":{},"cwd":"nowhere"`, `"args":["--warm"]`, `"args":["{seed}"],"program":"render"`).Replace(runner),
			[]string{
				"W.json gates[0].metric DOC-34", "R.json setup.args[0] TPL-16",
				"R.json program DOC-43", "R.json setup.program DOC-43", "R.json cwd DOC-46",
			},
		},
		{"output set", workload, strings.Replace(runner, "{output}", "x", 1), []string{"R.json args TPL-14"}},
		{"no JSON", "", "[]", []string{"W.json DOC-01", "R.json DOC-01"}},
		{"allowance", strings.Replace(workload, `"run_deadline_ms":1000`, `"run_deadline_ms":18446744073709551615`, 1), runner, []string{"W.json limits PRE-10"}},
	} {
		a, problems, err := preflight.Check(context.Background(), input(dir, c.workload, c.runner))
		if a != nil || err != nil {
			t.Errorf("%s: admitted, or %v", c.name, err)
		}
		var got []string
		for _, p := range problems {
			got = append(got, strings.Join(strings.Fields(p.Document+" "+p.Path+" "+p.Rule), " "))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// What is missing on this machine leaves the documents' part usable.
func TestDocumentsWithoutMachine(t *testing.T) {
	in := input(t.TempDir(), workload, runner)
	a, problems := preflight.Documents(in)
	if len(problems) > 0 || len(a.Samples) != 6 || a.AllowanceMS != 6440 || a.Setup == nil {
		t.Fatalf("%v %+v", problems, a)
	}
	missing, err := a.OnMachine(context.Background(), in)
	if err != nil || len(missing) != 1 || missing[0].Rule != "DOC-43" {
		t.Errorf("%v %v", missing, err)
	}
}

func TestCheckEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := preflight.Check(ctx, input(machine(t), workload, runner)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// PLN-40: the digest covers documents, argv, program paths as written and
// program bytes; where the folder lies is no part of it.
func TestDigest(t *testing.T) {
	dir := machine(t)
	digest := func(folder, w, r string) string { return admit(t, input(folder, w, r)).Digest() }
	base := digest(dir, workload, runner)
	if moved := digest(machine(t), workload, runner); moved != base {
		t.Error("a moved folder changes the digest")
	}
	if err := os.Rename(filepath.Join(dir, "render.sh"), filepath.Join(dir, "target")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", filepath.Join(dir, "render.sh")); err != nil {
		t.Fatal(err)
	}
	if linked := digest(dir, workload, runner); linked != base {
		t.Error("another resolved path changes the digest")
	}
	different := map[string]string{
		"workload":       digest(dir, workload+" ", runner),
		"runner":         digest(dir, workload, runner+" "),
		"program path":   digest(dir, workload, strings.Replace(runner, "./render.sh", "render.sh", 1)),
		"setup deadline": digest(dir, workload, strings.Replace(runner, "400", "401", 1)),
	}
	if err := os.WriteFile(filepath.Join(dir, "target"), []byte("#!/bin/sh\n#\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	different["program bytes"] = digest(dir, workload, runner)
	seen := map[string]string{base: "base"}
	for what, d := range different {
		if seen[d] != "" {
			t.Errorf("%s and %s have one digest", what, seen[d])
		}
		seen[d] = what
	}
}

// One resolver serves many preflights.
func TestSharedResolver(t *testing.T) {
	in := input(machine(t), workload, runner)
	in.Programs = new(program.Resolver)
	if a, b := admit(t, in), admit(t, in); a.Program != b.Program || a.Digest() != b.Digest() {
		t.Error("a resolver that remembers answers differently")
	}
}

// DOC-54: self: is the running executable.
func TestSelf(t *testing.T) {
	dir := machine(t)
	in := input(t.TempDir(), workload, strings.Replace(runner, "./render.sh", "self:", 1))
	in.Self = filepath.Join(dir, "render.sh")
	a := admit(t, in)
	if a.Program.DeclaredPath != "self:" || a.Program.ResolvedPath != in.Self || *a.SetupProgram != a.Program {
		t.Errorf("%+v %+v", a.Program, a.SetupProgram)
	}
}
