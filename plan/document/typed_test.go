package document_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/internal/strictjson"
	"github.com/grill-plan/grill-plan/plan/document"
)

// DOC-13: compact, fields in the order of the requirements, nothing escaped that
// need not be, absent fields left out, present ones kept also when they equal a
// default. Evidence rests on these bytes: they may not change.
func TestTypedWorkload(t *testing.T) {
	doc := edit(t, imageWorkload,
		"request.prompt", `"<a> & \u2028 \"b\" \ud83c\udfa7"`, "request.negative_prompt", `""`, "request.guidance_milli", `0`,
		"cells.0.pause_between_runs_ms", `0`,
		"cells.1", `{"id":"d","warmup_runs":0,"measured_runs":1,"request":{"prompt":"p","seeds":[18446744073709551615],"width":1,"height":1,"steps":1,"images_per_run":1}}`)
	want := `{"kind":"media-workload-v1","version":1,"name":"w","modality":"image",` +
		`"request":{"prompt":"<a> & ` + "\u2028" + ` \"b\" 🎧","seeds":[7],"negative_prompt":"","guidance_milli":0,"width":64,"height":48,"steps":20,"images_per_run":1},` +
		`"outputs":[{"placeholder":"output","container":"png","expect":{"width":64,"height":48}}],` +
		`"cells":[{"id":"c","warmup_runs":1,"measured_runs":3,"pause_between_runs_ms":0},` +
		`{"id":"d","warmup_runs":0,"measured_runs":1,"request":{"prompt":"p","seeds":[18446744073709551615],"width":1,"height":1,"steps":1,"images_per_run":1}}],` +
		`"slots":[{"id":"s1","arm":"a"},{"id":"s2","arm":"b"},{"id":"s3","arm":"a2"}],` +
		`"limits":{"run_deadline_ms":1000,"setup_deadline_ms":500,"output_bytes":1000,"stdout_bytes":10,"stderr_bytes":10},` +
		`"gates":[{"cell":"c","metric":"end_to_end_us","max_adverse_bps":100,"max_reference_spread_bps":300}]}`
	if got := string(mustWorkload(t, doc).Typed()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTypedRunnersAndDeployments(t *testing.T) {
	doc := edit(t, cliRunner, "env", `{"Z":"1","A":"<"}`, "cwd", `"/x"`, "markers", `"file"`, "env_secret", `["T"]`,
		"setup", `{"deadline_ms":1,"program":"p","args":[]}`, "arrays", `[{"shape":[1],"name":"x","dtype":"uint8"}]`)
	want := `{"kind":"media-runner-v1","version":1,"id":"r","program":"./render.sh","args":["{prompt}","{seed}","{output}"],` +
		`"env":{"A":"<","Z":"1"},"execution":"in-process","cache":{"declared_state":"unknown","paths":[]},"pins":[],` +
		`"cwd":"/x","setup":{"args":[],"program":"p","deadline_ms":1},"markers":"file","env_secret":["T"],` +
		`"arrays":[{"name":"x","dtype":"uint8","shape":[1]}]}`
	if got := string(mustRunner(t, doc).Typed()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	want = `{"kind":"media-speech-server-v1","version":1,"id":"r","endpoint":"http://127.0.0.1:8000/v1/audio/speech","model":"m",` +
		`"response_format":"pcm","stream":true,"voice":"v","pcm":{"channels":1,"sample_bytes":2},"auth_env":"T"}`
	if got := string(mustRunner(t, edit(t, speechRunner, "voice", `"v"`, "auth_env", `"T"`)).Typed()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	d, problems := document.ParseDeployment("D", []byte(`{"settings":"s","hardware":null,"model_revision":"r"}`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got := string(d.Typed()); got != `{"model_revision":"r","settings":"s"}` {
		t.Error(got)
	}
}

// DOC-13, DOC-14: spelling changes the raw hash and not the typed one.
func TestTypedHashIgnoresSpelling(t *testing.T) {
	other := "\n" + strings.Replace(imageWorkload, `"name":"w"`, `"na\u006de" : "\u0077"`, 1)
	reordered := edit(t, imageWorkload) // encoding/json sorts the fields
	for _, doc := range []string{other, reordered} {
		if mustWorkload(t, doc).TypedHash() != mustWorkload(t, imageWorkload).TypedHash() {
			t.Errorf("the typed hash depends on spelling: %s", doc)
		}
		if document.RawHash([]byte(doc)) == document.RawHash([]byte(imageWorkload)) {
			t.Error("the raw hash does not depend on spelling")
		}
	}
	if zero := edit(t, imageWorkload, "cells.0.pause_between_runs_ms", `0`); mustWorkload(t, zero).TypedHash() == mustWorkload(t, imageWorkload).TypedHash() {
		t.Error("an explicit zero is not kept (DOC-13)")
	}
	if got := document.RawHash(nil); got != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Error(got)
	}
}

// DOC-55, DOC-13: the typed serialization is a document and reads back
// as itself, for every kind.
func TestTypedReadsBack(t *testing.T) {
	for _, doc := range []string{imageWorkload, audioWorkload(t), videoWorkload(t), speechWorkload(t)} {
		w := mustWorkload(t, doc)
		if again := mustWorkload(t, string(w.Typed())); !reflect.DeepEqual(w, again) {
			t.Errorf("%+v came back as %+v", w, again)
		}
	}
	comfy := edit(t, comfyRunner, "cached", `"allow"`, "cached_nodes", `[]`, "phases", `[{"name":"p","classes":["c"]}]`,
		"reset", `{"program":"p","args":[],"deadline_ms":1,"cells":["c"]}`)
	for _, doc := range []string{cliRunner, speechRunner, imageRunner, videoRunner, comfyRunner, comfy} {
		r := mustRunner(t, doc)
		if again := mustRunner(t, string(r.Typed())); !reflect.DeepEqual(r, again) {
			t.Errorf("%+v came back as %+v", r, again)
		}
	}
}

// A tree built by hand obeys the same rules, and its problems carry the
// builder's own offsets.
func TestDecodeOfBuiltTrees(t *testing.T) {
	tree, errs := strictjson.Parse([]byte(edit(t, imageWorkload, "request.width", `0`, "request.sedes", `[]`)), 32)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	next := 1000
	renumber(tree, &next)
	_, problems := document.DecodeWorkload("workload.clip", tree)
	if got := violations(problems); !slices.Equal(got, []string{"request.sedes DOC-02", "request.width DOC-25"}) {
		t.Fatalf("%q", got)
	}
	for _, p := range problems {
		if p.Document != "workload.clip" || p.Offset < 1000 {
			t.Errorf("%+v", p)
		}
		if node, found := strictjson.Locate(tree, p.Path); !found || p.Rule == "DOC-25" && node.Offset != p.Offset {
			t.Errorf("%s leads to no place", p.Path)
		}
	}
	if got := document.Locate(tree, "request.width"); got < 1000 {
		t.Errorf("Locate gives %d", got)
	}
	repeated := strictjson.NewObject(1,
		strictjson.NewMember(2, "runtime", strictjson.NewString(3, "x")), strictjson.NewMember(4, "runtime", strictjson.NewString(5, "x")))
	if _, problems := document.DecodeDeployment("d", repeated); len(problems) != 1 || problems[0].Rule != "DOC-03" || problems[0].Offset != 4 {
		t.Errorf("%v", problems)
	}
	env := strictjson.NewObject(0, strictjson.NewMember(0, "env", strictjson.NewObject(1,
		strictjson.NewMember(2, "A", strictjson.NewString(3, "x")), strictjson.NewMember(4, "A", strictjson.NewString(5, "x")))),
		strictjson.NewMember(6, "kind", strictjson.NewString(7, document.CLIRunnerKind)))
	if _, problems := document.DecodeRunner("r", env); !slices.Contains(violations(problems), "env.A DOC-03") {
		t.Errorf("%v", problems)
	}
}

func renumber(v *strictjson.Value, next *int) {
	v.Offset = *next
	*next++
	for i := range v.Members {
		v.Members[i].NameOffset = *next
		*next++
		renumber(v.Members[i].Value, next)
	}
	for _, item := range v.Items {
		renumber(item, next)
	}
}

func TestDiff(t *testing.T) {
	for _, c := range []struct {
		name string
		new  string
		want []string
	}{
		{"nothing", edit(t, cliRunner), nil},
		{"one argument", edit(t, cliRunner, "args.1", `"x"`), []string{"args[1]"}},
		{"one more argument", edit(t, cliRunner, "args.3", `"x"`), []string{"args[3]"}},
		{"env", edit(t, cliRunner, "env.A", `"2"`, "env.B C", `""`), []string{"env.A", `env["B C"]`}},
		{"taken out and put in", edit(t, cliRunner, "execution", "", "cwd", `"x"`), []string{"execution", "cwd"}},
		{"another kind", edit(t, cliRunner, "cache", `1`, "id", `"s"`), []string{"id", "cache"}},
		{"no JSON", "{", []string{""}},
	} {
		if got := document.Diff([]byte(cliRunner), []byte(c.new)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := document.Diff([]byte(`[1,true]`), []byte(`[2,false,3]`)); !slices.Equal(got, []string{"[0]", "[1]", "[2]"}) {
		t.Errorf("%q", got)
	}
	if got := document.Diff([]byte("{"), []byte("{")); got != nil {
		t.Errorf("%q", got)
	}
}

// The words of axis.
func TestDifferencesInTheWordsOfAxis(t *testing.T) {
	a := mustRunner(t, cliRunner)
	sum := strings.Repeat("0", 64)
	for _, c := range []struct {
		name  string
		edits []string
		want  []string
	}{
		{"the id is a name", []string{"id", `"other"`}, nil},
		{"program and args", []string{"program", `"x"`, "args", `[]`}, []string{"runner.program", "runner.args"}},
		{"env", []string{"env", `{"A":"2","B":"1"}`}, []string{"runner.env.A", "runner.env.B"}},
		{"an env moved to env_secret", []string{"env", `{}`, "env_secret", `["A"]`}, []string{"runner.env.A", "runner.env_secret"}},
		{"the optional ones", []string{
			"cwd", `"x"`, "execution", `"unknown"`, "setup", `{"args":[]}`, "markers", `"file"`, "cache.declared_state", `"cold"`,
			"pins", `[{"path":"p","sha256":"` + sum + `"}]`, "arrays", `[{"name":"x","dtype":"uint8","shape":[1]}]`,
		}, []string{
			"runner.execution", "runner.cache", "runner.pins", "runner.cwd", "runner.setup", "runner.markers", "runner.arrays",
		}},
	} {
		b := mustRunner(t, edit(t, cliRunner, c.edits...))
		if got := document.DiffRunner(a, b); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		back := document.DiffRunner(b, a)
		if len(back) != len(c.want) {
			t.Errorf("%s the other way round: %q", c.name, back)
		}
	}
	speech := mustRunner(t, speechRunner)
	if got := document.DiffRunner(a, speech); !slices.Contains(got, "runner.kind") || !slices.Contains(got, "runner.program") || !slices.Contains(got, "runner.endpoint") {
		t.Errorf("another kind: %q", got)
	}
	if got := document.DiffRunner(speech, mustRunner(t, edit(t, speechRunner, "model", `"n"`, "voice", `"v"`))); !slices.Equal(got, []string{"runner.model", "runner.voice"}) {
		t.Errorf("speech: %q", got)
	}
	d := func(text string) *document.Deployment {
		d, problems := document.ParseDeployment("D", []byte(text))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return d
	}
	got := document.DiffDeployment(d(`{"model_revision":"a","runtime":"b","hardware":null}`), d(`{"model_revision":"a","runtime":"c","settings":"d"}`))
	if !slices.Equal(got, []string{"runtime", "settings"}) {
		t.Errorf("%q", got)
	}
}

// FuzzParse holds that nothing panics, and that what is admitted reads back from
// its typed serialization and renders without error where a pair is admitted.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		imageWorkload, audioWorkload(f), videoWorkload(f), speechWorkload(f), cliRunner, speechRunner, imageRunner, videoRunner, comfyRunner,
		`{"runtime":"x"}`, `[]`, `{"kind":"media-runner-v1","setup":null}`,
	} {
		f.Add([]byte(seed))
	}
	base := mustWorkload(f, imageWorkload)
	runner := mustRunner(f, cliRunner)
	f.Fuzz(func(t *testing.T, data []byte) {
		if w, problems := document.ParseWorkload("W", data); len(problems) == 0 {
			if again := mustWorkload(t, string(w.Typed())); again.TypedHash() != w.TypedHash() {
				t.Fatalf("%s has two typed hashes", data)
			}
			renderAll(t, w, runner)
		}
		if r, problems := document.ParseRunner("R", data); len(problems) == 0 {
			if again := mustRunner(t, string(r.Typed())); !reflect.DeepEqual(r, again) {
				t.Fatalf("%s changes when written", data)
			}
			renderAll(t, base, r)
		}
		if d, problems := document.ParseDeployment("D", data); len(problems) == 0 {
			if _, problems := document.ParseDeployment("D", d.Typed()); len(problems) > 0 {
				t.Fatal(problems)
			}
		}
	})
}

func renderAll(t *testing.T, w *document.Workload, r *document.Runner) {
	document.HeldBack("W", "R", w, r)
	if len(document.Admit("W", "R", w, r)) > 0 {
		return
	}
	for _, s := range document.Schedule(w) {
		if _, err := document.SampleArgv(w, r, s, document.ProjectionPaths(w, document.RunDirName(s.Index))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := document.SetupArgv(w, r, document.ProjectionPaths(w, "setup")); err != nil {
		t.Fatal(err)
	}
}
