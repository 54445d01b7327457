package compare_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/compare"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/gate"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

// experiment makes captures as inspect would give them.
type experiment struct {
	workload *document.Workload
	captures map[string]*inspect.Result
}

func text(s string) *string { return &s }

func newExperiment(b2 bool, values map[string][]uint64) *experiment {
	images := uint64(1)
	workload := &document.Workload{
		Name: "w", Modality: inspect.Image,
		Request: document.Request{Seeds: []uint64{7}, ImagesPerRun: &images},
		Cells:   []document.Cell{{ID: "hot", WarmupRuns: 1, MeasuredRuns: 3}},
		Gates:   []document.Gate{{Cell: "hot", Metric: document.EndToEndUS, MaxAdverseBPS: 168, MaxReferenceSpreadBPS: 120}},
	}
	for _, arm := range []string{"a", "b", "b2", "a2"} {
		if arm != "b2" || b2 {
			workload.Slots = append(workload.Slots, document.Slot{ID: "slot-" + arm, Arm: arm})
		}
	}
	e := &experiment{workload, map[string]*inspect.Result{}}
	for i, slot := range workload.Slots {
		e.captures[slot.Arm] = newCapture(workload, slot, values[slot.Arm], int64(i)*100_000)
	}
	return e
}

func newCapture(workload *document.Workload, slot document.Slot, values []uint64, start int64) *inspect.Result {
	side := "reference"
	if slot.Arm[0] == 'b' {
		side = "candidate"
	}
	program := evidence.Program{DeclaredPath: "/bin/render", ResolvedPath: "/bin/render", ResolvedSHA256: strings.Repeat("a", 64)}
	result := &inspect.Result{
		Workload:   workload,
		Runner:     &document.Runner{Kind: document.CLIRunnerKind, Cache: document.Cache{DeclaredState: "warm"}},
		Deployment: &document.Deployment{ModelRevision: text("r1"), Runtime: text("x"), Hardware: text("y"), Settings: text(side)},
		Receipt: evidence.Receipt{
			WorkloadSHA256: "w", RunnerSHA256: "runner", DeploymentSHA256: "d-" + side, Program: program,
			Slot: slot.ID, Arm: slot.Arm, Execution: "in-process",
			Collector:     evidence.Collector{SHA256: "c", OS: "linux", Arch: "amd64"},
			Host:          evidence.Host{MachineID: "m", BootID: "boot", Kernel: "k"},
			StartedUnixMS: start,
		},
		ReceiptSHA256: "receipt-" + slot.ID,
		Completion:    evidence.Completion{Status: evidence.Complete, FinishedUnixMS: start + 90_000, EvidenceSHA256: "e-" + slot.ID},
	}
	result.Samples = append(result.Samples, inspect.Sample{
		Plan: evidence.PlannedSample{Cell: "hot", Phase: evidence.Warmup, Seed: 7}, Reasons: []string{evidence.ExitNonzero},
	})
	for i, value := range values {
		us := value
		result.Samples = append(result.Samples, inspect.Sample{
			Plan:     evidence.PlannedSample{Index: i + 1, Cell: "hot", Phase: evidence.Measured, Seed: 7},
			Run:      &evidence.Run{Invocation: evidence.Invocation{StartedUnixMS: start + int64(i)*2000, EndToEndUS: &us}},
			Reasons:  []string{},
			Eligible: true, Identity: side,
		})
	}
	return result
}

func worked() map[string][]uint64 {
	return map[string][]uint64{
		"a":  {1000000, 1004000, 1002000},
		"b":  {1031000, 1029000, 1033000},
		"b2": {1031000, 1029000, 1033000},
		"a2": {1010000, 1008000, 1012000},
	}
}

func mustCompare(t *testing.T, e *experiment) *compare.Report {
	t.Helper()
	report, err := compare.Compare(e.captures)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// CMP-08, CMP-17, CMP-24, CMP-25, CMP-28: pools, ranges and descriptions.
func TestReport(t *testing.T) {
	e := newExperiment(false, worked())
	report := mustCompare(t, e)
	judged := report.Gates[0]
	if judged.Outcome != gate.Inconclusive || judged.Reason == nil || *judged.Reason != gate.EnvelopeStraddlesTolerance {
		t.Fatalf("gate %+v", judged)
	}
	if judged.ReferenceSamples != 6 || judged.CandidateSamples != 3 || judged.ReferenceRange.Greatest.String() != "1012000/1" {
		t.Errorf("pools %+v", judged)
	}
	if judged.Figures == nil || judged.Figures.PassFromBPS.Int64() != 330 {
		t.Errorf("figures %+v", judged.Figures)
	}
	pools := report.Cells[0].Pools
	if got := *pools[0].EndToEndUS.Median; got != 1006000 || pools[0].EndToEndUS.Count != 6 || !slices.Equal(pools[0].Arms, []string{"a", "a2"}) {
		t.Errorf("reference pool %+v", pools[0])
	}
	if pools[1].Determinism[0].Determinism != gate.Deterministic || *pools[1].SecondsPerImage != 1.031 {
		t.Errorf("candidate pool %+v", pools[1])
	}
	if report.Cells[0].CrossArm[0].Equality != gate.Different {
		t.Errorf("cross arm %+v", report.Cells[0].CrossArm)
	}
	if report.Captures[1].Slot != "slot-b" || report.Captures[1].Cells[0].IneligibleWarmups != 1 || report.Captures[1].Execution != "in-process" ||
		report.Captures[1].CacheState != "warm" {
		t.Errorf("capture %+v", report.Captures[1])
	}
}

// CMP-08: B2 joins the candidate pool.
func TestSecondCandidateJoinsThePool(t *testing.T) {
	values := worked()
	values["b2"] = []uint64{1500000, 1500000, 1500000}
	report := mustCompare(t, newExperiment(true, values))
	if report.Gates[0].CandidateSamples != 6 || report.Gates[0].CandidateRange.Greatest.String() != "1500000/1" {
		t.Errorf("gate %+v", report.Gates[0])
	}
}

// CMP-09: one ineligible measured sample withholds the gate; the failed warmup
// of every capture here does not.
func TestIneligibleSampleWithholds(t *testing.T) {
	e := newExperiment(false, map[string][]uint64{"a": {5, 5, 5}, "b": {5, 5, 5}, "a2": {5, 5, 5}})
	e.workload.Gates[0].MaxReferenceSpreadBPS = 1000
	if report := mustCompare(t, e); report.Verdict != gate.Pass {
		t.Fatalf("with a failed warmup: %s", report.Verdict)
	}
	sample := &e.captures["a2"].Samples[2]
	sample.Eligible, sample.Reasons = false, []string{evidence.ExitNonzero, evidence.OutputMissing}
	report := mustCompare(t, e)
	if report.Verdict != gate.Inconclusive || *report.Gates[0].Reason != gate.InsufficientSamples || report.Gates[0].IneligibleSamples != 1 {
		t.Errorf("gate %+v", report.Gates[0])
	}
	summary := report.Captures[2].Cells[0].Summary
	if summary.Ineligible != 1 || len(summary.Reasons) != 2 || summary.Reasons[0] != (inspect.ReasonCount{Reason: evidence.ExitNonzero, Count: 1}) {
		t.Errorf("reasons %+v", summary)
	}
}

// CMP-01 to CMP-07: each violation is INVALID with its code, and no report.
func TestInvalid(t *testing.T) {
	for name, c := range map[string]struct {
		b2   bool
		do   func(e *experiment)
		code string
	}{
		"CMP-01 a missing":        {false, func(e *experiment) { delete(e.captures, "a") }, compare.CodeMissingArm},
		"CMP-01 a2 missing":       {false, func(e *experiment) { delete(e.captures, "a2") }, compare.CodeMissingArm},
		"CMP-01 b2 missing":       {true, func(e *experiment) { delete(e.captures, "b2") }, compare.CodeMissingArm},
		"CMP-01 b2 superfluous":   {false, func(e *experiment) { e.captures["b2"] = e.captures["b"] }, compare.CodeSuperfluousArm},
		"CMP-01 unknown arm":      {false, func(e *experiment) { e.captures["c"] = e.captures["b"] }, compare.CodeSuperfluousArm},
		"CMP-02 cancelled":        {false, func(e *experiment) { e.captures["b"].Completion.Status = evidence.Cancelled }, compare.CodeNotComplete},
		"CMP-02 setup failed":     {false, func(e *experiment) { e.captures["a"].Completion.Status = evidence.SetupFailed }, compare.CodeNotComplete},
		"CMP-03 wrong arm":        {false, func(e *experiment) { e.captures["a2"] = e.captures["a"] }, compare.CodeWrongArm},
		"CMP-04 workload":         {false, func(e *experiment) { e.captures["b"].Receipt.WorkloadSHA256 = "x" }, compare.CodeWorkloadDiffers},
		"CMP-04 collector":        {false, func(e *experiment) { e.captures["a2"].Receipt.Collector.SHA256 = "x" }, compare.CodeCollectorDiffers},
		"CMP-04 platform":         {false, func(e *experiment) { e.captures["b"].Receipt.Collector.Arch = "arm64" }, compare.CodePlatformDiffers},
		"CMP-05 a2 runner":        {false, func(e *experiment) { e.captures["a2"].Receipt.RunnerSHA256 = "x" }, compare.CodeSideDiffers},
		"CMP-05 a2 declared path": {false, func(e *experiment) { e.captures["a2"].Receipt.Program.DeclaredPath = "x" }, compare.CodeSideDiffers},
		"CMP-05 a2 program bytes": {false, func(e *experiment) { e.captures["a2"].Receipt.Program.ResolvedSHA256 = "x" }, compare.CodeSideDiffers},
		"CMP-05 a2 setup":         {false, func(e *experiment) { e.captures["a2"].Receipt.SetupProgram = &evidence.Program{} }, compare.CodeSideDiffers},
		"CMP-05 a2 deployment":    {false, func(e *experiment) { e.captures["a2"].Deployment.Settings = nil }, compare.CodeSideDiffers},
		"CMP-05 b2 is not b":      {true, func(e *experiment) { e.captures["b2"].Receipt.RunnerSHA256 = "x" }, compare.CodeSideDiffers},
		"CMP-05 nothing differs":  {false, func(e *experiment) { e.captures["b"].Deployment = e.captures["a"].Deployment }, compare.CodeSidesEqual},
		"CMP-06 overlap":          {false, func(e *experiment) { e.captures["b"].Receipt.StartedUnixMS = 89_999 }, compare.CodeOrder},
	} {
		t.Run(name, func(t *testing.T) {
			e := newExperiment(c.b2, worked())
			c.do(e)
			report, err := compare.Compare(e.captures)
			invalid, ok := compare.AsInvalid(err)
			if !ok || invalid.Code != c.code || report != nil {
				t.Errorf("got %v %v, want %s and no report (CMP-07)", report, err, c.code)
			}
		})
	}
}

// CMP-05: what does not count as a difference within a side.
func TestSameSide(t *testing.T) {
	e := newExperiment(true, worked())
	e.captures["a2"].Receipt.Program.ResolvedPath = "/elsewhere"
	e.captures["a2"].Receipt.DeploymentSHA256 = "reformatted"
	mustCompare(t, e)
	e.captures["b"].Deployment, e.captures["b2"].Deployment = e.captures["a"].Deployment, e.captures["a"].Deployment
	for _, arm := range []string{"b", "b2"} {
		e.captures[arm].Receipt.Program.ResolvedSHA256 = "another build"
	}
	mustCompare(t, e)
}

// CMP-29: one set of captures gives one report; CMP-30: what it never says.
func TestReportBytes(t *testing.T) {
	first, err := mustCompare(t, newExperiment(true, worked())).JSON()
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := mustCompare(t, newExperiment(true, worked())).JSON()
		if err != nil || !bytes.Equal(first, again) {
			t.Fatal("the report differs from one call to the next")
		}
	}
	if !json.Valid(first) {
		t.Error("the report is not JSON")
	}
	report := mustCompare(t, newExperiment(true, worked()))
	words := report.Text()
	if !strings.Contains(words, "Output quality is not compared.") {
		t.Error("the report does not say that quality is not compared")
	}
	for _, statement := range report.Statements {
		words = strings.ReplaceAll(words, statement, "")
	}
	if found := regexp.MustCompile(`(?i)significan|winner|because of the candidate|caused|p-value|confidence`).FindString(words); found != "" {
		t.Errorf("the report says %q", found)
	}
}

func TestText(t *testing.T) {
	got := mustCompare(t, newExperiment(false, worked())).Text()
	for _, want := range []string{
		"INCONCLUSIVE\n\ngate hot end_to_end_us: INCONCLUSIVE\n  envelope_straddles_tolerance: ",
		"  reference  1000000 to 1012000 us, 6 samples (a, a2)\n  candidate  1029000 to 1033000 us, 3 samples (b)\n",
		"  bounds     max_adverse_bps 168, max_reference_spread_bps 120\n",
		"would pass from max_adverse_bps 330; would regress up to 167; spread bound needed 120",
		"a2 is off a by 0.80 %",
		"difference +2.49 %, 3.1 times what unchanged slots differ by; chance of that without any effect 17 %",
		"Repeat after lowering the noise",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("text lacks %q:\n%s", want, got)
		}
	}
}

// PLN-13: what an early stop reports.
func TestStopped(t *testing.T) {
	for _, arms := range [][]string{{"a"}, {"a", "b"}, {"a", "b", "b2"}} {
		e := newExperiment(true, worked())
		captures := map[string]*inspect.Result{}
		for _, arm := range arms {
			captures[arm] = e.captures[arm]
		}
		sample := &captures[arms[len(arms)-1]].Samples[1]
		sample.Eligible, sample.Reasons = false, []string{evidence.ExitNonzero}
		if inspect.CanStillDecide(values(captures), e.workload, []string{"a", "b", "b2", "a2"}) {
			t.Errorf("%v: a gate without its samples can still decide", arms)
		}
		report, err := compare.Stopped(captures)
		if err != nil {
			t.Fatal(err)
		}
		if report.Verdict != gate.Inconclusive || *report.Gates[0].Reason != gate.InsufficientSamples || !report.StoppedEarly ||
			!strings.Contains(report.Text(), "Stopped early") {
			t.Errorf("%v: %s %+v", arms, report.Verdict, report.Gates[0])
		}
	}
	if _, err := compare.Stopped(map[string]*inspect.Result{"b": newExperiment(false, worked()).captures["b"]}); err == nil {
		t.Error("an experiment without arm a")
	}
}

func values(captures map[string]*inspect.Result) []*inspect.Result {
	var all []*inspect.Result
	for _, capture := range captures {
		all = append(all, capture)
	}
	return all
}

// PLN-13: gates that can and cannot be decided.
func TestCanStillDecide(t *testing.T) {
	arms := []string{"a", "b", "a2"}
	e := newExperiment(false, worked())
	all := []*inspect.Result{e.captures["a"]}
	if !inspect.CanStillDecide(all, e.workload, arms) || !inspect.CanStillDecide(nil, e.workload, arms) {
		t.Error("a sound start decides nothing any more")
	}
	e.workload.Cells = append(e.workload.Cells, document.Cell{ID: "other", MeasuredRuns: 3})
	e.workload.Gates = append(e.workload.Gates, document.Gate{Cell: "other", Metric: document.EndToEndUS})
	e.captures["a"].Samples[1].Eligible = false
	if !inspect.CanStillDecide(all, e.workload, arms) {
		t.Error("the gate of the other cell can still decide")
	}
	e.workload.Cells[1].MeasuredRuns = 2
	if inspect.CanStillDecide(all, e.workload, arms) {
		t.Error("two candidate samples decide")
	}
}

// CMP-26, CMP-27: rates and ratios of pools of sound and video.
func TestPoolRates(t *testing.T) {
	e := newExperiment(false, map[string][]uint64{"a": {500000, 500000, 500000}, "b": {1000000, 1000000, 1000000}, "a2": {500000, 500000, 500000}})
	e.workload.Modality, e.workload.Request.ImagesPerRun = inspect.Audio, nil
	for arm, capture := range e.captures {
		for i := range capture.Samples {
			capture.Samples[i].AudioUS = map[string]uint64{"a": 1000000, "a2": 3000000, "b": 1000000}[arm]
		}
	}
	pools := mustCompare(t, e).Cells[0].Pools
	if got := *pools[0].RealtimeFactor; got != 0.25 {
		t.Errorf("realtime factor %v: a mean of ratios would be 1/3", got)
	}
	if bps := pools[1].DurationRatioBPS; bps == nil || *bps.Min != 5000 || *bps.Max != 5000 {
		t.Errorf("duration ratio %+v", bps)
	}
	if fmt.Sprint(pools[0].FramesPerSecondEndToEnd != nil, pools[0].SecondsPerImage != nil) != "false false" {
		t.Error("rates of other modalities")
	}
}
