package document_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/grill-plan/grill-plan/plan/document"
)

// templatingRules maps the codes of the vectors to the rules they name.
func templatingRules() map[string]string {
	return map[string]string{
		"unknown_placeholder": "TPL-02", "unclosed_placeholder": "TPL-03", "missing_request_field": "TPL-09",
		"output_repeated": "TPL-13", "output_set_mismatch": "TPL-14", "output_dir_required": "TPL-15", "marker_file_count": "TPL-17",
	}
}

func TestTemplatingVectors(t *testing.T) { // TPL-01, TPL-02, TPL-03, TPL-04, TPL-05, TPL-07, TPL-08, TPL-09, TPL-10, TPL-11, TPL-13, TPL-14, TPL-15, TPL-17
	expects := map[string]string{
		"image": `{"width":1,"height":1}`,
		"audio": `{"duration_us":1,"sample_rate":1,"channels":1}`,
		"video": `{"width":1,"height":1,"frames":1,"fps":1}`,
	}
	for _, c := range cases[struct {
		ID       string            `json:"id"`
		Modality string            `json:"modality"`
		Request  json.RawMessage   `json:"request"`
		Seed     uint64            `json:"seed"`
		Outputs  map[string]string `json:"outputs"`
		Markers  bool              `json:"markers"`
		Args     []string          `json:"args"`
		Expect   struct {
			Argv  []string `json:"argv"`
			Error string   `json:"error"`
		} `json:"expect"`
	}](t, "templating") {
		t.Run(c.ID, func(t *testing.T) {
			var outputs []string
			for _, placeholder := range []string{"output", "output_dir"} {
				if container, ok := c.Outputs[placeholder]; ok {
					outputs = append(outputs, `{"placeholder":"`+placeholder+`","container":"`+container+`","expect":`+expects[c.Modality]+`}`)
				}
			}
			args, err := json.Marshal(c.Args)
			if err != nil {
				t.Fatal(err)
			}
			w := mustWorkload(t, edit(t, imageWorkload, "modality", quote(c.Modality), "request", string(c.Request), "outputs", "["+strings.Join(outputs, ",")+"]"))
			runner := edit(t, cliRunner, "args", string(args))
			if c.Markers {
				runner = edit(t, runner, "markers", `"file"`)
			}
			r := mustRunner(t, runner)
			problems := document.Admit("W", "R", w, r)
			if c.Expect.Error != "" {
				rule := templatingRules()[c.Expect.Error]
				if rule == "" || !slices.ContainsFunc(problems, func(p document.Problem) bool { return p.Rule == rule }) {
					t.Errorf("want %s (%s), got %v", c.Expect.Error, rule, problems)
				}
				return
			}
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			sample := document.Schedule(w)[0]
			argv, err := document.SampleArgv(w, r, sample, document.ProjectionPaths(w, document.RunDirName(0)))
			if err != nil || !slices.Equal(argv, c.Expect.Argv) || sample.Seed != c.Seed {
				t.Errorf("%q %v, want %q", argv, err, c.Expect.Argv)
			}
		})
	}
}

func TestTemplatingSetupVectors(t *testing.T) { // TPL-16, TPL-17, TPL-13, SET-06
	for _, c := range cases[struct {
		ID       string   `json:"id"`
		Args     []string `json:"args"`
		Declared []string `json:"declared_outputs"`
		Valid    bool     `json:"expect_valid"`
	}](t, "templating_setup") {
		args, err := json.Marshal(c.Args)
		if err != nil {
			t.Fatal(err)
		}
		w, r := mustWorkload(t, imageWorkload), mustRunner(t, edit(t, cliRunner, "setup", `{"args":`+string(args)+`}`))
		problems := document.Admit("W", "R", w, r)
		if (len(problems) == 0) != c.Valid {
			t.Errorf("%s: admitted %v: %v", c.ID, !c.Valid, problems)
		}
		for _, p := range problems {
			if !strings.HasPrefix(p.Path, "setup.args[") || p.Document != "R" {
				t.Errorf("%s: at %s of %s", c.ID, p.Path, p.Document)
			}
		}
		argv, err := document.SetupArgv(w, r, document.ProjectionPaths(w, "setup"))
		if c.Valid && (err != nil || len(argv) != len(c.Args)) {
			t.Errorf("%s: %q %v", c.ID, argv, err)
		}
		if c.ID == "declared" && argv[0] != "setup/output.png" {
			t.Errorf("%s: %q", c.ID, argv)
		}
	}
	markers := mustRunner(t, edit(t, cliRunner, "args", `["{output}","{marker_file}"]`, "markers", `"file"`, "setup", `{"args":["{marker_file}"]}`))
	if got := violations(document.Admit("W", "R", mustWorkload(t, imageWorkload), markers)); !slices.Equal(got, []string{"setup.args[0] TPL-17"}) {
		t.Errorf("marker_file in setup of a runner with markers: %q", got)
	}
}

// TPL-09, TPL-18: every cell is looked at, with its own request.
func TestTemplatesOfEveryCell(t *testing.T) {
	w := mustWorkload(t, edit(t, audioWorkload(t),
		"request.steps", `4`,
		"cells.1", `{"id":"d","warmup_runs":0,"measured_runs":1,"request":`+audioRequest+`}`,
		"cells.2", `{"id":"e","warmup_runs":0,"measured_runs":1}`))
	r := mustRunner(t, edit(t, cliRunner, "args", `["{steps}","{output}"]`))
	problems := document.Admit("W", "R", w, r)
	if len(problems) != 1 || problems[0].Path != "args[0]" || problems[0].Rule != "TPL-09" || !strings.HasSuffix(problems[0].Message, "in cell d") {
		t.Errorf("%v", problems)
	}
}

// TPL-15: one cell with several images is enough.
func TestSeveralImagesInOneCell(t *testing.T) {
	several := `{"prompt":"p","seeds":[1],"width":1,"height":1,"steps":1,"images_per_run":2}`
	w := mustWorkload(t, edit(t, imageWorkload, "cells.1", `{"id":"d","warmup_runs":0,"measured_runs":1,"request":`+several+`}`))
	if got := violations(document.Admit("W", "R", w, mustRunner(t, cliRunner))); !slices.Equal(got, []string{"args TPL-15"}) {
		t.Errorf("%q", got)
	}
}

// TPL-14: what is missing and what is too much, each named.
func TestOutputSetBothWays(t *testing.T) {
	w := mustWorkload(t, imageWorkload)
	got := violations(document.Admit("W", "R", w, mustRunner(t, edit(t, cliRunner, "args", `["{output_dir}"]`))))
	if !slices.Equal(got, []string{"args TPL-14", "args TPL-14"}) {
		t.Errorf("%q", got)
	}
}

// TPL-12: only args are templates.
func TestOnlyArgsAreTemplates(t *testing.T) {
	r := mustRunner(t, edit(t, cliRunner, "program", `"./{seed}"`, "cwd", `"{x"`, "env.A", `"{prompt}"`,
		"pins", `[{"path":"{p}","sha256":"`+strings.Repeat("0", 64)+`"}]`, "setup", `{"args":[],"program":"{y"}`))
	if problems := document.Admit("W", "R", mustWorkload(t, imageWorkload), r); len(problems) > 0 {
		t.Error(problems)
	}
	if r.Program != "./{seed}" || *r.Cwd != "{x" || r.Env[0].Value != "{prompt}" || *r.Setup.Program != "{y" {
		t.Errorf("%+v", r)
	}
}

// TPL-05, TPL-06: a prompt is never scanned and stays one element.
func TestPromptArrivesLiterally(t *testing.T) {
	r := mustRunner(t, edit(t, cliRunner, "args", `["a{prompt}b","{output}"]`))
	w := mustWorkload(t, imageWorkload)
	rapid.Check(t, func(t *rapid.T) {
		prompt := rapid.String().Draw(t, "prompt")
		w.Request.Prompt = prompt
		argv, err := document.SampleArgv(w, r, document.Schedule(w)[0], document.ProjectionPaths(w, "run-000000"))
		if err != nil || len(argv) != 2 || argv[0] != "a"+prompt+"b" {
			t.Fatalf("%q %v", argv, err)
		}
	})
}

// PRE-11: projections are relative, the paths of a capture absolute.
func TestPaths(t *testing.T) {
	w := mustWorkload(t, edit(t, imageWorkload, "outputs.0.container", `"jpeg"`)) // OUT-02
	p := document.ProjectionPaths(w, document.RunDirName(12))
	want := document.Paths{
		Output: "run-000012/output.jpeg", OutputDir: "run-000012/output_dir",
		MarkerFile: "run-000012/markers.ndjson", ArrayDir: "run-000012/array_dir",
	}
	if p != want {
		t.Errorf("%+v", p)
	}
	if got := p.Under("/cap"); got.Output != "/cap/run-000012/output.jpeg" || got.MarkerFile != "/cap/run-000012/markers.ndjson" {
		t.Errorf("%+v", got)
	}
	none := mustWorkload(t, edit(t, imageWorkload, "outputs.0.placeholder", `"output_dir"`))
	if p := document.ProjectionPaths(none, "setup").Under("/cap"); p.Output != "" || p.OutputDir != "/cap/setup/output_dir" {
		t.Errorf("%+v", p)
	}
}

// DOC-44: ~ alone or before a slash, nothing else.
func TestExpandTilde(t *testing.T) {
	for _, c := range []struct{ path, home, want string }{
		{"~", "/h", "/h"}, {"~/x", "/h", "/h/x"}, {"~name/x", "/h", "~name/x"}, {"a/~", "/h", "a/~"}, {"x", "", "x"}, {"~name", "", "~name"},
	} {
		if got, err := document.ExpandTilde(c.path, c.home); err != nil || got != c.want {
			t.Errorf("%s: %s %v", c.path, got, err)
		}
	}
	for _, path := range []string{"~", "~/x"} {
		if got, err := document.ExpandTilde(path, ""); err == nil {
			t.Errorf("%s without HOME: %s", path, got)
		}
	}
}

// Rendering a pair that was not admitted gives an error and no wrong argv.
func TestArgvOfPairsNotAdmitted(t *testing.T) {
	w := mustWorkload(t, imageWorkload)
	for _, args := range []string{`["{x}"]`, `["{"]`, `["{frames}"]`, `["{marker_file}"]`, `["{array_dir}"]`} {
		r := mustRunner(t, edit(t, cliRunner, "args", args, "setup", `{"args":`+args+`}`))
		if argv, err := document.SampleArgv(w, r, document.Schedule(w)[0], document.Paths{}); err == nil {
			t.Errorf("sample %s: %q", args, argv)
		}
		if argv, err := document.SetupArgv(w, r, document.Paths{}); err == nil {
			t.Errorf("setup %s: %q", args, argv)
		}
	}
	if argv, err := document.SetupArgv(w, mustRunner(t, cliRunner), document.Paths{}); argv != nil || err != nil {
		t.Errorf("no setup: %q %v", argv, err)
	}
}

// FuzzTemplate holds that Admit and SampleArgv agree on which args are usable.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"{prompt}", "{", "}{", "{{seed}}", "{output}{output_dir}", "a{b}c", "\x00{seed}", "{marker_file}", "{\x1b}"} {
		f.Add(seed)
	}
	w := mustWorkload(f, imageWorkload)
	base := mustRunner(f, cliRunner)
	f.Fuzz(func(t *testing.T, template string) {
		r := *base
		r.Args = []string{template}
		problems := document.Admit("W", "R", w, &r)
		argv, err := document.SampleArgv(w, &r, document.Schedule(w)[0], document.ProjectionPaths(w, "run-000000"))
		if len(problems) == 0 && (err != nil || len(argv) != 1) {
			t.Fatalf("%q admitted, but %q %v", template, argv, err)
		}
	})
}
