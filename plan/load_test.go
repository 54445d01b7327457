package plan_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/grill-plan/grill-plan/plan"
	"github.com/grill-plan/grill-plan/plan/document"
)

// base is the sound plan that tests change.
func base(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("testdata/base.hcl")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// edit replaces texts, each of which has to occur.
func edit(t testing.TB, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%q does not occur", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

// write makes a plan folder and gives its path.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func loadText(t testing.TB, text string, options plan.Options) (*plan.Plan, hcl.Diagnostics) {
	t.Helper()
	return plan.Load(filepath.Join(write(t, map[string]string{"plan.hcl": text}), "plan.hcl"), options)
}

func mustLoad(t testing.TB, text string, options plan.Options) *plan.Plan {
	t.Helper()
	loaded, found := loadText(t, text, options)
	mustBeClean(t, found)
	return loaded
}

func mustBeClean(t testing.TB, found hcl.Diagnostics) {
	t.Helper()
	for _, diag := range found {
		t.Errorf("%v: %s: %s", diag.Subject, diag.Summary, diag.Detail)
	}
	if len(found) > 0 {
		t.FailNow()
	}
}

// wantError expects exactly one error with a summary and a part of its detail.
func wantError(t testing.TB, found hcl.Diagnostics, summary, part string) {
	t.Helper()
	if len(found) != 1 || found[0].Summary != summary || !strings.Contains(found[0].Detail, part) {
		t.Errorf("want %q: …%s…", summary, part)
		for _, diag := range found {
			t.Errorf("found %v: %s: %s", diag.Subject, diag.Summary, diag.Detail)
		}
	}
}

func TestFolderIsReadTogether(t *testing.T) { // PLN-01, PLN-45
	text := base(t)
	at := strings.Index(text, `experiment "x"`)
	second := strings.Replace(text[at:], `"x"`, `"second"`, 1)
	third := strings.Replace(text[at:], `experiment "x" {`, "experiment \"third\" {\n  for_each = toset([\"10\", \"9\", \"b\"])", 1)
	dir := write(t, map[string]string{
		"b.hcl": text[:at] + text[at:], "a.hcl": second + "\n" + third, "notes.txt": "not read", ".hidden.hcl": "{{{",
	})
	loaded, found := plan.Load(dir, plan.Options{})
	mustBeClean(t, found)
	var addresses []string
	for _, e := range loaded.Experiments {
		addresses = append(addresses, e.Address)
	}
	want := []string{"experiment.second", `experiment.third["10"]`, `experiment.third["9"]`, `experiment.third["b"]`, "experiment.x"}
	if !slices.Equal(addresses, want) {
		t.Errorf("experiments %v, want %v", addresses, want)
	}
	if len(loaded.Files) != 2 || string(loaded.Files["a.hcl"]) != second+"\n"+third {
		t.Errorf("files %v", loaded.Files)
	}
	if !filepath.IsAbs(loaded.Folder) || loaded.Name != "base" {
		t.Errorf("folder %q, name %q", loaded.Folder, loaded.Name)
	}
}

func TestUnreadablePlans(t *testing.T) {
	dir := write(t, map[string]string{"empty/readme": "", "plan.txt": "", "big.hcl": strings.Repeat("#", 16<<20+1)})
	if err := os.Mkdir(filepath.Join(dir, "folder.hcl"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, part := range map[string]string{
		"absent.hcl": "no such file", "empty": "holds no .hcl file", "plan.txt": "does not end in .hcl",
		"big.hcl": "larger than 16777216 bytes", "folder.hcl": "holds no .hcl file",
	} {
		_, found := plan.Load(filepath.Join(dir, path), plan.Options{})
		wantError(t, found, "Plan not readable", part)
	}
}

// TestInlineAndJSONAreEqual holds PLN-04 and DOC-13: a block and a JSON document
// with the same content have the same typed hash, and an inline document is its
// typed serialization (PLN-38).
func TestInlineAndJSONAreEqual(t *testing.T) {
	loaded, found := plan.Load("testdata/plans/equal", plan.Options{})
	mustBeClean(t, found)
	if len(loaded.Experiments) != 2 {
		t.Fatalf("%d experiments", len(loaded.Experiments))
	}
	inline, file := loaded.Experiments[0], loaded.Experiments[1]
	if a, b := inline.Workload.Document.TypedHash(), file.Workload.Document.TypedHash(); a != b {
		t.Errorf("workload: typed hash %s inline and %s from JSON\n%s\n%s", a, b, inline.Workload.Bytes, file.Workload.Document.Typed())
	}
	for _, sides := range [][2]*plan.Side{{inline.Reference, file.Reference}, {inline.Candidate, file.Candidate}} {
		if a, b := sides[0].Runner.Document.Typed(), sides[1].Runner.Document.Typed(); string(a) != string(b) {
			t.Errorf("runner: inline and JSON\n%s\n%s", a, b)
		}
		if a, b := sides[0].Deployment.Document.Typed(), sides[1].Deployment.Document.Typed(); string(a) != string(b) {
			t.Errorf("deployment: inline and JSON\n%s\n%s", a, b)
		}
	}
	if string(inline.Workload.Bytes) != string(inline.Workload.Document.Typed()) {
		t.Errorf("inline bytes are not the typed serialization: %s", inline.Workload.Bytes)
	}
}

// TestDocumentKeepsItsBytes holds PLN-05 and DOC-14.
func TestDocumentKeepsItsBytes(t *testing.T) {
	loaded, found := plan.Load("testdata/plans/equal", plan.Options{})
	mustBeClean(t, found)
	data, err := os.ReadFile("testdata/plans/equal/documents/workload.json")
	if err != nil {
		t.Fatal(err)
	}
	use := loaded.Experiments[1].Workload
	if string(use.Bytes) != string(data) || use.SHA256 != document.RawHash(data) {
		t.Errorf("the document's bytes changed")
	}
	if string(use.Bytes) == string(use.Document.Typed()) {
		t.Errorf("the fixture shows nothing: its bytes are the typed serialization")
	}
}

func TestDocumentErrorsPointIntoTheFile(t *testing.T) { // PLN-02, DOC-15
	json := "{\n  \"kind\": \"media-workload-v1\",\n  \"version\": 1.0,\n  \"Name\": \"x\"\n}\n"
	dir := write(t, map[string]string{"plan.hcl": base(t) + "workload \"f\" {\n  document = \"w.json\"\n}\n", "w.json": json})
	loaded, found := plan.Load(dir, plan.Options{})
	places := map[int]string{}
	for _, diag := range found {
		if filepath.Base(diag.Subject.Filename) != "w.json" {
			t.Errorf("%v: %s", diag.Subject, diag.Detail)
		}
		places[diag.Subject.Start.Line] += diag.Detail
		if len(loaded.Sources[diag.Subject.Filename]) == 0 {
			t.Errorf("no source for %s", diag.Subject.Filename)
		}
	}
	if !strings.Contains(places[3], "version") || !strings.Contains(places[4], "Name") || !strings.Contains(places[1], "request is required") {
		t.Errorf("places: %v", places)
	}
}

// TestWholeNumbersAreExact holds PLN-03 and EXP-02.
func TestWholeNumbersAreExact(t *testing.T) {
	text := edit(t, base(t), "[1, 2]", `[7963148796659521215, 7963148796659521216, 18446744073709551615, 18446744073709551614 + 1, 1e3, jsondecode("9007199254740993"), var.seed]`) +
		"\nvariable \"seed\" {\n  type = number\n}\n"
	for _, given := range []string{"18446744073709551613", "18446744073709551613.0"} {
		loaded := mustLoad(t, text, plan.Options{Vars: []string{"seed=" + given}})
		want := []uint64{7963148796659521215, 7963148796659521216, 18446744073709551615, 18446744073709551615, 1000, 9007199254740993, 18446744073709551613}
		if got := loaded.Experiments[0].Workload.Document.Request.Seeds; !slices.Equal(got, want) {
			t.Errorf("seeds %d, want %d", got, want)
		}
		if stored := string(loaded.Variables["seed"]); stored != "18446744073709551613" {
			t.Errorf("stored %s", stored)
		}
	}
}

func TestNumbersThatAreNone(t *testing.T) { // PLN-03
	for literal, summary := range map[string]string{
		"18446744073709551616": "Invalid workload", "0.5": "Not a whole number", "-1": "Invalid workload",
		"1/3": "Not a whole number", "1e400": "Number out of bounds", `"7"`: "Invalid workload", "true": "Invalid workload",
	} {
		_, found := loadText(t, edit(t, base(t), "[1, 2]", "[1, "+literal+"]"), plan.Options{})
		wantError(t, found, summary, "")
		at := strings.Index(base(t), "[1, 2]") + 4
		if len(found) == 1 && found[0].Subject.Start.Byte != at {
			t.Errorf("%s: at byte %d, want the element at %d", literal, found[0].Subject.Start.Byte, at)
		}
	}
}

func TestNamesFromLabelsAndKeys(t *testing.T) { // PLN-38, PLN-09
	text := edit(t, base(t),
		`workload "w" {`, "workload \"w\" {\n  for_each = { \"480p\" = 64, \"768p\" = 128 }", "width          = 64", "width          = each.value",
		"width  = 64", "width  = each.value",
		"workload = workload.w", "for_each = toset([\"768p\", \"480p\"])\n  workload = workload.w[each.key]",
		`runner "r" {`, "runner \"r\" {\n  id = \"renamed\"")
	loaded := mustLoad(t, text, plan.Options{})
	if len(loaded.Experiments) != 2 {
		t.Fatalf("%d experiments", len(loaded.Experiments))
	}
	for i, key := range []string{"480p", "768p"} {
		e := loaded.Experiments[i]
		if e.Key != key || !e.HasKey || e.Workload.Document.Name != "w-"+key || e.Workload.Address != `workload.w["`+key+`"]` {
			t.Errorf("%+v %s %s", e, e.Workload.Document.Name, e.Workload.Address)
		}
		if e.Reference.Runner.Document.ID != "renamed" {
			t.Errorf("id %q", e.Reference.Runner.Document.ID)
		}
	}
}

func TestRunnerDefaults(t *testing.T) { // PLN-38
	loaded := mustLoad(t, base(t), plan.Options{})
	want := `{"kind":"media-runner-v1","version":1,"id":"r","program":"self:","args":["{seed}","{output}"],"env":{},"execution":"in-process","cache":{"declared_state":"unknown","paths":[]},"pins":[]}`
	if got := string(loaded.Experiments[0].Reference.Runner.Bytes); got != want {
		t.Errorf("runner %s", got)
	}
	if got := string(loaded.Experiments[0].Reference.Deployment.Bytes); got != `{"settings":"one"}` {
		t.Errorf("deployment %s", got)
	}
	e := loaded.Experiments[0]
	if !e.FailFast || !e.Decode || e.RequireSameBoot || e.MaxGapMS != nil || e.AllowHostChange || !slices.Equal(e.Arms, []string{"a", "b", "a2"}) {
		t.Errorf("defaults of an experiment: %+v", e)
	}
}

func TestGateSources(t *testing.T) { // PLN-35
	text := base(t)
	gate := mustLoad(t, text, plan.Options{}).Experiments[0].Workload.Gates[0]
	wantLine := 1 + strings.Count(text[:strings.Index(text, "  gate {")], "\n")
	wantSnippet := "gate {\n  cell                     = \"hot\"\n  metric                   = \"end_to_end_us\"\n  max_adverse_bps          = 100\n  max_reference_spread_bps = 300\n}"
	if gate.Range.Start.Line != wantLine || gate.Range.Start.Column != 3 || gate.File != "plan.hcl" || gate.Snippet != wantSnippet {
		t.Errorf("%+v", gate)
	}
}

func TestExamplesLoad(t *testing.T) {
	files, err := filepath.Glob("../examples/plans/*.hcl")
	if err != nil || len(files) == 0 {
		t.Skip("no examples here")
	}
	for _, file := range files {
		_, found := plan.Load(file, plan.Options{})
		mustBeClean(t, found)
	}
}

func TestPageExample(t *testing.T) {
	loaded, found := plan.Load("testdata/plans/page", plan.Options{Vars: []string{"steps=9"}})
	mustBeClean(t, found)
	e := loaded.Experiments[0]
	if *e.Workload.Document.Request.Steps != 9 || e.Workload.Document.Request.Prompt != "A harbour at dawn" || e.Host != "gpu0" {
		t.Errorf("%+v", e.Workload.Document.Request)
	}
	change := e.Candidate.Deployment.Switch
	if change == nil || change.Ready.HTTP == "" || change.Verify.ExpectStdout != "gemm-chunk-8192\n" || change.Hook.DeadlineMS != 180_000 {
		t.Errorf("switch %+v", change)
	}
	if e.Restore == nil || e.Distance == nil || e.Distance.Expect != "equal" || !slices.Equal(e.Distance.Cells, []string{"hot"}) {
		t.Errorf("restore %v, distance %v", e.Restore, e.Distance)
	}
	if _, err := json.Marshal(loaded); err != nil {
		t.Error(err)
	}
}
