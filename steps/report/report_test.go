package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/steps/compare"
	"github.com/grill-plan/grill-plan/steps/gate"
	"github.com/grill-plan/grill-plan/steps/report"
)

// experiment has one gate of the outcome given, judged from real values.
func experiment(address string, outcome gate.Verdict) report.Experiment {
	candidate := map[gate.Verdict][]gate.Value{
		gate.Pass:         gate.Wholes(1000000, 1000000, 1000000),
		gate.Inconclusive: gate.Wholes(1000000, 1000000, 1020000),
		gate.Regression:   gate.Wholes(1200000, 1200000, 1210000),
	}[outcome]
	reference := gate.Wholes(1000000, 1000000, 1001000, 1000000)
	out := gate.Judge(gate.Input{Metric: "end_to_end_us", Reference: reference, Candidate: candidate, MaxAdverseBPS: 100, MaxReferenceSpreadBPS: 300})
	judged := compare.Gate{
		Cell: "hot", Metric: "end_to_end_us", MaxAdverseBPS: 100, MaxReferenceSpreadBPS: 300,
		Outcome: out.Verdict, ReferenceRange: out.Reference, CandidateRange: out.Candidate,
		ReferenceSamples: len(reference), CandidateSamples: len(candidate),
	}
	if out.Reason != "" {
		judged.Reason = &out.Reason
	}
	mean := 1_000_000.0
	cell := compare.Cell{ID: "hot", Pools: []compare.Pool{{Pool: compare.ReferencePool}, {Pool: compare.CandidatePool}}}
	cell.Pools[0].EndToEndUS.Count, cell.Pools[0].EndToEndUS.Mean = 4, &mean
	compared := &compare.Report{
		Kind: compare.ReportKind, Version: 1, Verdict: out.Verdict, GateVerdict: out.Verdict, Reasons: []string{},
		Gates: []compare.Gate{judged}, Cells: []compare.Cell{cell},
		Captures:   []compare.Capture{{Arm: "a"}, {Arm: "b"}, {Arm: "a2"}},
		Statements: []string{"Output quality is not compared."},
	}
	lowered := compare.Lower(compared, compare.Facts{})
	return report.Experiment{
		Address: address, Report: compared, Lowered: &lowered,
		Slots: []report.Slot{
			{Slot: "a", Arm: "a", Dir: "nodes/a/attempt-1", EvidenceSHA256: strings.Repeat("a", 64), Attempts: []report.Attempt{{Number: 1, Ended: report.AttemptComplete}}},
			{Slot: "b", Arm: "b", Dir: "nodes/b/attempt-1", EvidenceSHA256: strings.Repeat("b", 64), Attempts: []report.Attempt{{Number: 1, Ended: report.AttemptComplete}}},
			{Slot: "a2", Arm: "a2", Dir: "nodes/a2/attempt-1", EvidenceSHA256: strings.Repeat("c", 64), Attempts: []report.Attempt{{Number: 1, Ended: report.AttemptComplete}}},
		},
		Sources: []report.Source{{File: "plan.hcl", Line: 42, Snippet: "  gate {\n    cell = \"hot\"\n  }\n"}},
	}
}

func run(experiments ...report.Experiment) *report.Run {
	return &report.Run{Plan: "demo", PlanSHA256: strings.Repeat("d", 64), Experiments: experiments}
}

func files(t *testing.T, r *report.Run) map[string]string {
	t.Helper()
	rendered, err := r.Files()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, file := range rendered {
		found[file.Name] = string(file.Data)
	}
	return found
}

// PLN-29, CMP-23: the worst experiment decides; 4 goes before what is not
// complete.
func TestExitCode(t *testing.T) {
	pass, unsure, slower := experiment("a", gate.Pass), experiment("b", gate.Inconclusive), experiment("c", gate.Regression)
	failed := experiment("d", gate.Pass)
	lowered := compare.Lower(failed.Report, compare.Facts{Failed: true})
	failed.Lowered = &lowered
	unfinished := report.Experiment{Address: "e"}
	for _, c := range []struct {
		experiments []report.Experiment
		want        int
		verdict     string
	}{
		{[]report.Experiment{pass}, 0, "PASS"},
		{[]report.Experiment{pass, unsure}, 2, "INCONCLUSIVE"},
		{[]report.Experiment{slower, unsure}, 3, "REGRESSION"},
		{[]report.Experiment{slower, failed, unsure}, 1, "ERROR"},
		{[]report.Experiment{slower, unfinished}, 4, report.Unfinished},
		{nil, 1, "ERROR"},
	} {
		r := run(c.experiments...)
		if got := r.ExitCode(); got != c.want {
			t.Errorf("exit %d, want %d", got, c.want)
		}
		var results struct {
			Verdict string
			Exit    int `json:"exit_code"`
		}
		if err := json.Unmarshal([]byte(files(t, r)[report.ResultsFile]), &results); err != nil {
			t.Fatal(err)
		}
		if results.Verdict != c.verdict || results.Exit != c.want {
			t.Errorf("results say %+v, want %s %d", results, c.verdict, c.want)
		}
	}
}

// PLN-36: the same run gives the same bytes, also when written again.
func TestSameBytes(t *testing.T) {
	dir := t.TempDir()
	make := func() *report.Run { return run(experiment("x", gate.Regression), experiment("y", gate.Pass)) }
	if err := make().Write(dir); err != nil {
		t.Fatal(err)
	}
	first := map[string][]byte{}
	for _, name := range []string{report.ResultsFile, report.SummaryFile, report.JUnitFile} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		first[name] = data
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		if err := make().Write(dir); err != nil {
			t.Fatal(err)
		}
		for name, want := range first {
			if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(data, want) {
				t.Errorf("%s differs: %v", name, err)
			}
		}
	}
}

// PLN-35: a gate that did not pass shows the place that declared its bound.
func TestGateSource(t *testing.T) {
	for outcome, shown := range map[gate.Verdict]bool{gate.Pass: false, gate.Inconclusive: true, gate.Regression: true} {
		r := run(experiment("x", outcome))
		for name, text := range map[string]string{"summary": files(t, r)[report.SummaryFile], "terminal": r.Text("RUN")} {
			if got := strings.Contains(text, "plan.hcl:42") && strings.Contains(text, `cell = "hot"`); got != shown {
				t.Errorf("%s of %s shows the source: %v, want %v\n%s", name, outcome, got, shown, text)
			}
		}
	}
}

// PLN-43: attempts behind each slot, and the first line after a redone slot.
func TestAttempts(t *testing.T) {
	e := experiment("x", gate.Pass)
	e.Slots[0].Attempts = []report.Attempt{{Number: 1, Ended: "interrupted"}, {Number: 2, Ended: report.AttemptComplete}}
	summary := files(t, run(e))[report.SummaryFile]
	if !strings.Contains(summary, "`2; 1 interrupted`") || !strings.Contains(summary, "## `x`: PASS\n") {
		t.Errorf("an interrupted attempt: %s", summary)
	}
	e.Slots[0].Attempts = []report.Attempt{{Number: 1, Ended: report.AttemptComplete}, {Number: 2, Ended: report.AttemptComplete, Why: "asked for"}}
	r := run(e)
	summary = files(t, r)[report.SummaryFile]
	if !strings.Contains(summary, "## `x`: PASS — slot `a` was complete and was captured again (2 attempts)\n") || !strings.Contains(summary, "made again: asked for") {
		t.Errorf("a redone slot: %s", summary)
	}
	if !strings.HasPrefix(r.Text("RUN"), "x: PASS — slot a was complete and was captured again") {
		t.Errorf("a redone slot: %s", r.Text("RUN"))
	}
	if !strings.Contains(files(t, r)[report.ResultsFile], `"redone_slots": [`) {
		t.Error("results do not name the redone slot")
	}
	for _, digest := range []string{"a", "b", "c"} {
		if !strings.Contains(summary, strings.Repeat(digest, 64)) {
			t.Error("the digest of a capture is missing")
		}
	}
}

type suite struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Time     string `xml:"time,attr"`
	Cases    []struct {
		Class   string  `xml:"classname,attr"`
		Name    string  `xml:"name,attr"`
		Time    string  `xml:"time,attr"`
		Failure *string `xml:"failure"`
		Error   *string `xml:"error"`
		Skipped *string `xml:"skipped"`
	} `xml:"testcase"`
}

func parseJUnit(t *testing.T, text string) suite {
	t.Helper()
	var found suite
	if err := xml.Unmarshal([]byte(text), &found); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return found
}

func TestJUnit(t *testing.T) {
	failed := report.Experiment{Address: "broken", Failures: []report.Failure{{Address: "broken.capture.a", Code: "evidence_failed", Message: "disk full"}}}
	lowered := compare.Lower(nil, compare.Facts{Failed: true})
	failed.Lowered = &lowered
	got := parseJUnit(t, files(t, run(experiment("p", gate.Pass), experiment("i", gate.Inconclusive), experiment("r", gate.Regression), failed))[report.JUnitFile])
	if got.Name != "demo" || got.Tests != 4 || got.Failures != 1 || got.Errors != 1 || got.Skipped != 1 || got.Time != "12.000000" {
		t.Errorf("suite %+v", got)
	}
	if got.Cases[0].Class != "p" || got.Cases[0].Name != "hot end_to_end_us" || got.Cases[0].Time != "4.000000" || got.Cases[0].Failure != nil {
		t.Errorf("case %+v", got.Cases[0])
	}
	if got.Cases[2].Failure == nil || !strings.Contains(*got.Cases[2].Failure, "plan.hcl:42") {
		t.Errorf("regression %+v", got.Cases[2])
	}
	if got.Cases[3].Error == nil || !strings.Contains(*got.Cases[3].Error, "disk full") || got.Cases[1].Skipped == nil {
		t.Errorf("error and inconclusive %+v", got.Cases)
	}
	// A verdict that was lowered shows although every gate passed.
	capped := experiment("c", gate.Pass)
	capped.Lowered = &compare.Lowered{Verdict: gate.Inconclusive, Reasons: []string{compare.HostChanged}}
	got = parseJUnit(t, files(t, run(capped))[report.JUnitFile])
	if got.Tests != 2 || got.Skipped != 1 || got.Cases[1].Name != "verdict" || !strings.Contains(*got.Cases[1].Skipped, compare.HostChanged) {
		t.Errorf("lowered %+v", got)
	}
}

// Text from outside can neither break the XML nor leave its place in the
// Markdown, nor reach the terminal as an escape sequence.
func TestHostileText(t *testing.T) {
	nasty := "]]></failure> <b>&\" ``` `x` | \x1b[31m\x00 \xff\nsecond line"
	e := experiment(nasty, gate.Regression)
	e.Failures = []report.Failure{{Address: nasty, Code: "code", Message: nasty}}
	e.Sources[0] = report.Source{File: nasty, Line: 1, Snippet: nasty + "\n```\n# not a heading\n"}
	e.Slots[0].Dir = nasty
	r := run(e)
	r.Plan, r.Problems = nasty, e.Failures
	rendered := files(t, r)
	decoder := xml.NewDecoder(strings.NewReader(rendered[report.JUnitFile]))
	for {
		if _, err := decoder.Token(); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			break
		}
	}
	if !json.Valid([]byte(rendered[report.ResultsFile])) {
		t.Error("results are not JSON")
	}
	summary := rendered[report.SummaryFile]
	if strings.ContainsAny(summary+r.Text("RUN"), "\x1b\x00") {
		t.Error("control characters reach the reader")
	}
	inside := false
	for _, line := range strings.Split(summary, "\n") {
		if strings.HasPrefix(line, "````") {
			inside = !inside
		}
		if strings.HasPrefix(line, "# not a heading") && !inside || strings.HasPrefix(line, "second line") && !inside {
			t.Errorf("text left its place: %q", line)
		}
	}
}
