package document_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/plan/document"
)

func TestIDVectors(t *testing.T) { // DOC-12
	for _, c := range cases[struct {
		ID    string `json:"id"`
		Value string `json:"value"`
		Valid bool   `json:"expect_valid"`
	}](t, "ids") {
		if got := document.ValidName(c.Value); got != c.Valid {
			t.Errorf("%s: %v, want %v", c.ID, got, c.Valid)
		}
		if got := len(parseAny("workload", edit(t, imageWorkload, "name", quote(c.Value)))) == 0; got != c.Valid {
			t.Errorf("%s as a name: admitted %v, want %v", c.ID, got, c.Valid)
		}
	}
}

// boundEdit puts a value, or as many things as the value says, where a vector
// of group bounds points.
func boundEdit(t *testing.T, field, where string, n uint64) (kind, doc string) {
	t.Helper()
	number := strconv.FormatUint(n, 10)
	repeat := func(item func(i int) string) string {
		var list []string
		for i := range int(n) {
			list = append(list, item(i))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	video, audio := videoWorkload(t), audioWorkload(t)
	switch where + " " + field {
	case "request seeds.length":
		return "workload", edit(t, imageWorkload, "request.seeds", repeat(func(i int) string { return "1" }))
	case "request prompt.bytes":
		return "workload", edit(t, imageWorkload, "request.prompt", quote(strings.Repeat("x", int(n))))
	case "request negative_prompt.bytes":
		return "workload", edit(t, imageWorkload, "request.negative_prompt", quote(strings.Repeat("x", int(n))))
	case "request frames", "request fps", "request duration_us":
		return "workload", edit(t, video, "request."+field, number)
	case "request sample_rate":
		return "workload", edit(t, audio, "request."+field, number)
	case "request width", "request height", "request steps", "request images_per_run":
		return "workload", edit(t, imageWorkload, "request."+field, number)
	case "workload cells.length":
		cell := func(i int) string { return fmt.Sprintf(`{"id":"c%d","warmup_runs":0,"measured_runs":1}`, i) }
		gates := "gates.0.cell"
		return "workload", edit(t, imageWorkload, "cells", repeat(cell), gates, `"c0"`)
	case "workload gates.length":
		cells := `[{"id":"c0","warmup_runs":0,"measured_runs":1},{"id":"c1","warmup_runs":0,"measured_runs":1},
			{"id":"c2","warmup_runs":0,"measured_runs":1},{"id":"c3","warmup_runs":0,"measured_runs":1}]`
		metrics := []string{"end_to_end_us", "generation_us", "load_to_generation_us", "first_audio_us", "duration_ratio"}
		gate := func(i int) string {
			return fmt.Sprintf(`{"cell":"c%d","metric":%q,"max_adverse_bps":1,"max_reference_spread_bps":1}`, i%4, metrics[i/4])
		}
		return "workload", edit(t, audio, "cells", cells, "gates", repeat(gate))
	case "workload slots.length":
		arms := []string{"a", "b", "a2", "b2", "a"}
		return "workload", edit(t, imageWorkload, "slots", repeat(func(i int) string { return fmt.Sprintf(`{"id":"s%d","arm":%q}`, i, arms[i]) }))
	case "cell warmup_runs", "cell measured_runs":
		return "workload", edit(t, imageWorkload, "cells.0."+field, number)
	case "gate max_adverse_bps", "gate max_reference_spread_bps":
		return "workload", edit(t, imageWorkload, "gates.0."+field, number)
	case "expect channels":
		return "workload", edit(t, audio, "outputs.0.expect.channels", number)
	case "runner cache.paths.length":
		return "runner", edit(t, cliRunner, "cache.paths", repeat(func(i int) string { return `"p"` }))
	case "runner cache.path.bytes":
		return "runner", edit(t, cliRunner, "cache.paths", "["+quote(strings.Repeat("x", int(n)))+"]")
	}
	if where == "limits" {
		return "workload", edit(t, imageWorkload, "limits."+field, number)
	}
	return "", ""
}

// The bounds of documents; those of programs, markers and walks are held where
// these are read.
func TestBoundVectors(t *testing.T) { // DOC-20, DOC-25, DOC-27, DOC-30, DOC-31, DOC-33, DOC-49
	elsewhere := []string{"speech request", "document", "program", "marker", "walk"}
	for _, c := range cases[struct {
		ID    string  `json:"id"`
		Field string  `json:"field"`
		Where string  `json:"where"`
		Min   *uint64 `json:"min"`
		Max   *uint64 `json:"max"`
	}](t, "bounds") {
		if slices.Contains(elsewhere, c.Where) {
			continue
		}
		check := func(n uint64, admitted bool) {
			kind, doc := boundEdit(t, c.Field, c.Where, n)
			if kind == "" {
				t.Fatalf("%s: no document has it", c.ID)
			}
			if problems := parseAny(kind, doc); (len(problems) == 0) != admitted {
				t.Errorf("%s with %d: admitted %v: %v", c.ID, n, !admitted, problems)
			}
		}
		check(*c.Min, true)
		if *c.Min > 0 {
			check(*c.Min-1, false)
		}
		if c.Max != nil {
			check(*c.Max, true)
			check(*c.Max+1, false)
		}
	}
}

func TestDeploymentVectors(t *testing.T) { // DOC-01, DOC-02, DOC-03, DOC-04, DOC-08, DOC-52, DOC-53
	for _, c := range cases[struct {
		ID     string  `json:"id"`
		Text   *string `json:"text"`
		Repeat *struct {
			Text  string `json:"text"`
			Count int    `json:"count"`
		} `json:"runtime_repeat"`
		Valid bool `json:"expect_valid"`
	}](t, "deployment_documents") {
		text := ""
		if c.Text != nil {
			text = *c.Text
		}
		if c.Repeat != nil {
			text = `{"runtime":` + quote(strings.Repeat(c.Repeat.Text, c.Repeat.Count)) + `}`
		}
		if problems := parseAny("deployment", text); (len(problems) == 0) != c.Valid {
			t.Errorf("%s: admitted %v: %v", c.ID, !c.Valid, problems)
		}
	}
}

func TestSeedVectors(t *testing.T) { // DOC-07, EXP-02
	for _, c := range cases[struct {
		ID   string `json:"id"`
		JSON string `json:"json"`
		Text string `json:"expect_text"`
	}](t, "seed_exactness") {
		w := mustWorkload(t, edit(t, imageWorkload, "request.seeds", "["+c.JSON+"]"))
		r := mustRunner(t, cliRunner)
		sample := document.Schedule(w)[0]
		argv, err := document.SampleArgv(w, r, sample, document.ProjectionPaths(w, "run-000000"))
		if err != nil {
			t.Fatal(err)
		}
		if argv[1] != c.Text {
			t.Errorf("%s rendered as %s", c.ID, argv[1])
		}
		if !strings.Contains(string(w.Typed()), `"seeds":[`+c.Text+`]`) {
			t.Errorf("%s serialized as %s", c.ID, w.Typed())
		}
	}
}

func TestDurationSecondsVectors(t *testing.T) { // TPL-11
	for _, c := range cases[struct {
		US     uint64 `json:"duration_us"`
		Expect string `json:"expect"`
	}](t, "duration_seconds") {
		if got := document.DurationSeconds(c.US); got != c.Expect {
			t.Errorf("%d: %s, want %s", c.US, got, c.Expect)
		}
	}
}

type cellVector struct {
	ID       string   `json:"id"`
	Warmup   uint64   `json:"warmup_runs"`
	Measured uint64   `json:"measured_runs"`
	Pause    *uint64  `json:"pause_between_runs_ms"`
	Seeds    []uint64 `json:"seeds"`
}

func withCells(t *testing.T, cells []cellVector) string {
	t.Helper()
	type cell struct {
		ID       string          `json:"id"`
		Warmup   uint64          `json:"warmup_runs"`
		Measured uint64          `json:"measured_runs"`
		Pause    *uint64         `json:"pause_between_runs_ms,omitempty"`
		Request  json.RawMessage `json:"request"`
	}
	var list []cell
	for _, c := range cells {
		seeds, _ := json.Marshal(c.Seeds)
		request := `{"prompt":"p","width":1,"height":1,"steps":1,"images_per_run":1,"seeds":` + string(seeds) + `}`
		list = append(list, cell{c.ID, c.Warmup, c.Measured, c.Pause, json.RawMessage(request)})
	}
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return edit(t, imageWorkload, "cells", string(raw), "gates.0.cell", quote(cells[0].ID))
}

func TestScheduleVectors(t *testing.T) { // PRE-07, PRE-08
	for _, c := range cases[struct {
		ID     string       `json:"id"`
		Cells  []cellVector `json:"cells"`
		Expect [][]any      `json:"expect"`
	}](t, "schedule") {
		var got []string
		for i, s := range document.Schedule(mustWorkload(t, withCells(t, c.Cells))) {
			if s.Index != i {
				t.Errorf("%s: sample %d has index %d", c.ID, i, s.Index)
			}
			got = append(got, fmt.Sprint([]any{s.Cell, s.Phase, s.Seed}))
		}
		var want []string
		for _, e := range c.Expect {
			want = append(want, fmt.Sprint(e))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.ID, got, want)
		}
	}
}

func TestAllowanceVectors(t *testing.T) { // PRE-10, DOC-27
	for _, c := range cases[struct {
		ID     string       `json:"id"`
		Cells  []cellVector `json:"cells"`
		Run    uint64       `json:"run_deadline_ms"`
		Setup  *uint64      `json:"setup_deadline_ms_if_declared"`
		Expect struct {
			Samples  int     `json:"samples"`
			MS       *uint64 `json:"allowance_ms"`
			Overflow bool    `json:"overflow"`
		} `json:"expect"`
	}](t, "allowance") {
		doc := edit(t, withCells(t, c.Cells), "limits.run_deadline_ms", strconv.FormatUint(c.Run, 10))
		runner := cliRunner
		if c.Setup != nil {
			// The setup term is the effective deadline: here the limit, since the
			// runner declares none.
			doc = edit(t, doc, "limits.setup_deadline_ms", strconv.FormatUint(*c.Setup, 10))
			runner = edit(t, runner, "setup", `{"args":[]}`)
		}
		w, r := mustWorkload(t, doc), mustRunner(t, runner)
		if n := len(document.Schedule(w)); n != c.Expect.Samples {
			t.Errorf("%s: %d samples", c.ID, n)
		}
		ms, err := document.AllowanceMS(w, r)
		if (err != nil) != c.Expect.Overflow || !c.Expect.Overflow && ms != *c.Expect.MS {
			t.Errorf("%s: %d, %v", c.ID, ms, err)
		}
		refused := slices.Contains(violations(document.Admit("W", "R", w, r)), "limits PRE-10")
		if refused != c.Expect.Overflow {
			t.Errorf("%s: refused %v", c.ID, refused)
		}
	}
}

func TestSpeechEndpointVectors(t *testing.T) { // SPH-03, PRV-06
	for _, c := range cases[struct {
		ID       string `json:"id"`
		Endpoint string `json:"endpoint"`
		Valid    bool   `json:"expect_valid"`
	}](t, "speech_endpoint") {
		for _, runner := range []string{speechRunner, imageRunner, videoRunner, comfyRunner} {
			problems := parseAny("runner", edit(t, runner, "endpoint", quote(c.Endpoint)))
			if (len(problems) == 0) != c.Valid {
				t.Errorf("%s: admitted %v: %v", c.ID, !c.Valid, problems)
			}
		}
	}
}

func TestSpeechBodyVectors(t *testing.T) { // the body of SPH_08
	for _, c := range cases[struct {
		ID     string `json:"id"`
		Runner struct {
			Model  string  `json:"model"`
			Format string  `json:"response_format"`
			Stream bool    `json:"stream"`
			Voice  *string `json:"voice"`
		} `json:"runner"`
		Prompt string `json:"prompt"`
		Body   string `json:"expect_body"`
		SHA256 string `json:"expect_sha256"`
	}](t, "speech_body") {
		doc := edit(t, speechRunner, "model", quote(c.Runner.Model), "response_format", quote(c.Runner.Format), "stream", strconv.FormatBool(c.Runner.Stream))
		if c.Runner.Format == "wav" {
			doc = edit(t, doc, "pcm", "")
		}
		if c.Runner.Voice != nil {
			doc = edit(t, doc, "voice", quote(*c.Runner.Voice))
		}
		body := document.SpeechBody(mustRunner(t, doc).Server, c.Prompt)
		sum := sha256.Sum256(body)
		if string(body) != c.Body || hex.EncodeToString(sum[:]) != c.SHA256 {
			t.Errorf("%s: %s", c.ID, body)
		}
	}
	sse := mustRunner(t, edit(t, speechRunner, "stream_format", `"sse"`))
	if body := string(document.SpeechBody(sse.Server, "x")); !strings.HasSuffix(body, `"stream":true,"stream_format":"sse"}`) { // SPH_26
		t.Error(body)
	}
}
