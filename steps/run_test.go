package steps_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/executor"
	"github.com/grill-plan/grill-plan/steps"
	"github.com/grill-plan/grill-plan/steps/report"
)

// TestMain lets the test binary do one node's work, as `grill-plan node` does.
func TestMain(m *testing.M) {
	if dir := os.Getenv("STEPS_TEST_NODE_RUN"); dir != "" {
		record, err := steps.Node(context.Background(), dir, os.Getenv("STEPS_TEST_NODE_ADDRESS"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if record.Error != nil {
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// bench is a folder with a plan and the programs it names.
type bench struct {
	t   *testing.T
	dir string
}

// newBench writes a runner that copies a picture, a serve hook that logs what it
// is told, and a plan with the given experiment blocks.
func newBench(t *testing.T, blocks string) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 4))); err != nil {
		t.Fatal(err)
	}
	b.write("picture.png", picture.String(), 0o600)
	b.write("make.sh", "#!/bin/sh\necho \"$1 $TOKEN\" >> made.log\ncp picture.png \"$2\"\n", 0o700)
	b.write("serve.sh", "#!/bin/sh\necho \"$1\" >> serve.log\nexit \"${2:-0}\"\n", 0o700)
	b.write("plan.hcl", base+blocks, 0o600)
	return b
}

const base = `
plan {
  name    = "bench"
  version = 1
}

variable "token" {
  type      = string
  sensitive = true
}

workload "picture" {
  modality = "image"
  request {
    prompt         = "a harbour"
    seeds          = [18446744073709551615]
    width          = 8
    height         = 4
    steps          = 1
    images_per_run = 1
  }
  output "output" {
    container = "png"
    expect {
      width  = 8
      height = 4
    }
  }
  cell "only" {
    warmup_runs   = 1
    measured_runs = 3
  }
  limits {
    run_deadline_ms   = 20000
    setup_deadline_ms = 20000
    output_bytes      = 100000
    stdout_bytes      = 1000
    stderr_bytes      = 1000
  }
  gate {
    cell                     = "only"
    metric                   = "end_to_end_us"
    max_adverse_bps          = 9999
    max_reference_spread_bps = 1000000
  }
}

runner "reference" {
  program   = "./make.sh"
  args      = ["reference", "{output}"]
  env       = { TOKEN = var.token }
  execution = "in-process"
}

runner "candidate" {
  program   = "./make.sh"
  args      = ["candidate", "{output}"]
  env       = { TOKEN = var.token }
  execution = "in-process"
}

deployment "old" {
  model_revision = "r1"
  runtime        = "x"
  hardware       = "y"
  settings       = "old"
  switch {
    program     = "./serve.sh"
    args        = ["old"]
    deadline_ms = 20000
  }
}

deployment "new" {
  model_revision = "r1"
  runtime        = "x"
  hardware       = "y"
  settings       = "new"
  switch {
    program     = "./serve.sh"
    args        = ["new"]
    deadline_ms = 20000
  }
}
`

const experiment = `
experiment "e" {
  workload = workload.picture
  slots    = ["a", "b", "b2", "a2"]
  reference {
    runner     = runner.reference
    deployment = deployment.old
  }
  candidate {
    runner     = runner.candidate
    deployment = deployment.new
  }
  axis = ["runner.args", "settings"]
  restore {
    program     = "./serve.sh"
    args        = ["restored"]
    deadline_ms = 20000
  }
}
`

const secret = "hunter2-never-shown"

func (b *bench) write(name, text string, mode fs.FileMode) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), mode); err != nil {
		b.t.Fatal(err)
	}
}

// edit replaces text that occurs once in a file.
func (b *bench) edit(name, old, new string) {
	b.t.Helper()
	text := b.read(name)
	if strings.Count(text, old) != 1 {
		b.t.Fatalf("%s holds %q %d times", name, old, strings.Count(text, old))
	}
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(strings.Replace(text, old, new, 1)), 0o700); err != nil {
		b.t.Fatal(err)
	}
}

// read gives a file of the folder, "" when there is none.
func (b *bench) read(name string) string {
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		return ""
	}
	return string(data)
}

func (b *bench) load() *steps.Loaded {
	b.t.Helper()
	loaded, diags, err := steps.Load(b.t.Context(), steps.PlanInput{
		Path: filepath.Join(b.dir, "plan.hcl"), Vars: []string{"token=" + secret},
	})
	if err != nil || diags.HasErrors() {
		b.t.Fatalf("load: %v %v", err, diags)
	}
	return loaded
}

func (b *bench) run(change func(*steps.RunInput)) (*steps.RunOutcome, error) {
	b.t.Helper()
	input := steps.RunInput{Loaded: b.load(), RunDir: filepath.Join(b.dir, "run"), HostLock: filepath.Join(b.dir, "host.lock")}
	if change != nil {
		change(&input)
	}
	return steps.Run(b.t.Context(), input)
}

func (b *bench) mustRun() *steps.RunOutcome {
	b.t.Helper()
	outcome, err := b.run(nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return outcome
}

// mustJudge demands a verdict; which one is not this package's business, and the
// samples here are too short for any.
func (b *bench) mustJudge(outcome *steps.RunOutcome) {
	b.t.Helper()
	if code := outcome.ExitCode(); code != 0 && code != 2 && code != 3 {
		b.t.Fatalf("no verdict, exit %d\n%s", code, outcome.Report.Text("run"))
	}
}

func lines(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }

// A switch runs before every slot, b2 included, and restore after the last one
// (PLN-30, PLN-34); the second run has nothing to do and switches nothing.
func TestSwitchBeforeEverySlot(t *testing.T) {
	b := newBench(t, experiment)
	outcome := b.mustRun()
	b.mustJudge(outcome)
	want := []string{"old", "new", "new", "old", "restored"}
	if got := lines(b.read("serve.log")); !slices.Equal(got, want) {
		t.Errorf("hooks ran as %v, want %v", got, want)
	}
	if made := lines(b.read("made.log")); len(made) != 16 || made[0] != "reference "+secret {
		t.Errorf("samples ran as %q", made)
	}
	again := b.mustRun()
	if !again.NothingDone() || again.ExitCode() != outcome.ExitCode() {
		t.Errorf("the second run did %d nodes", again.Summary.Ran)
	}
	if got := lines(b.read("serve.log")); !slices.Equal(got, want) {
		t.Errorf("the second run ran hooks: %v", got)
	}
}

// With on_change_only the slot after one of the same deployment has no switch
// (PLN-30).
func TestSwitchOnChangeOnly(t *testing.T) {
	b := newBench(t, experiment)
	b.edit("plan.hcl", "    args        = [\"new\"]\n", "    args        = [\"new\"]\n    on_change_only = true\n")
	b.mustRun()
	if got := lines(b.read("serve.log")); !slices.Equal(got, []string{"old", "new", "old", "restored"}) {
		t.Errorf("hooks ran as %v", got)
	}
}

// A failed switch starts no sample; restore still runs; the experiment is an
// ERROR (PLN-33), and the next run tries again.
func TestFailedSwitch(t *testing.T) {
	b := newBench(t, experiment)
	b.edit("plan.hcl", `args        = ["new"]`, `args        = ["new", "7"]`)
	outcome := b.mustRun()
	if outcome.ExitCode() != 1 {
		t.Errorf("exit %d, want 1", outcome.ExitCode())
	}
	if made := b.read("made.log"); strings.Contains(made, "candidate") || strings.Count(made, "reference") != 4 {
		t.Errorf("samples after a failed switch:\n%s", made)
	}
	if got := lines(b.read("serve.log")); !slices.Equal(got, []string{"old", "new", "restored"}) {
		t.Errorf("hooks ran as %v", got)
	}
	if len(outcome.Summary.Failed) != 1 || outcome.Summary.Failed[0].Code != "switch_failed" {
		t.Errorf("root causes are %v", outcome.Summary.Failed)
	}
	b.edit("plan.hcl", `args        = ["new", "7"]`, `args        = ["new"]`)
	b.mustJudge(b.mustRun())
	if made := b.read("made.log"); strings.Count(made, "reference") != 8 {
		t.Errorf("slot a was measured again:\n%s", made)
	}
}

// An inspect after which no gate can be decided any more ends the experiment
// with the verdict that it would have had (PLN-13); fail_fast = false goes on.
func TestEarlyStop(t *testing.T) {
	for _, failFast := range []bool{true, false} {
		b := newBench(t, strings.Replace(experiment, "  slots ", fmt.Sprintf("  fail_fast = %v\n  slots ", failFast), 1))
		b.edit("make.sh", "cp picture.png", `[ "$1" = candidate ] || cp picture.png`)
		outcome := b.mustRun()
		if outcome.ExitCode() != 2 {
			t.Errorf("fail_fast %v: exit %d, want 2\n%s", failFast, outcome.ExitCode(), outcome.Report.Text("run"))
		}
		lowered := outcome.Report.Experiments[0].Lowered
		gates := outcome.Report.Experiments[0].Report.Gates
		if lowered == nil || len(gates) != 1 || gates[0].Reason == nil || *gates[0].Reason != "insufficient_samples" {
			t.Errorf("fail_fast %v: verdict %+v, gates %+v", failFast, lowered, gates)
		}
		want := 16
		if failFast {
			want = 8
		}
		if made := lines(b.read("made.log")); len(made) != want {
			t.Errorf("fail_fast %v: %d samples ran, want %d", failFast, len(made), want)
		}
	}
}

// A program that is missing on one side stops the experiment before any slot
// costs time: all preflights come before the first effect (PRE-13, PLN-40).
func TestMissingProgramMeasuresNothing(t *testing.T) {
	b := newBench(t, experiment)
	text := b.read("plan.hcl")
	at := strings.Index(text, `runner "candidate"`)
	text = text[:at] + strings.Replace(text[at:], "./make.sh", "./absent.sh", 1)
	b.write("plan.hcl", strings.Replace(text, `axis = ["runner.args", `, `axis = ["runner.program", "runner.args", `, 1), 0o600)
	_, err := b.run(nil)
	var rejected *executor.RejectedError
	if !errors.As(err, &rejected) || !strings.Contains(err.Error(), "absent.sh") {
		t.Errorf("error %v does not name what is missing", err)
	}
	if made, served := b.read("made.log"), b.read("serve.log"); made != "" || served != "" {
		t.Errorf("something was started although a program is missing:\n%s\n%s", made, served)
	}
}

// A secret reaches the child and no file of the run (PLN-07).
func TestSecretIsStoredNowhere(t *testing.T) {
	b := newBench(t, experiment)
	b.mustRun()
	err := filepath.WalkDir(filepath.Join(b.dir, "run"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("%s holds the value of a sensitive variable", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Keys of any text give folders inside the run directory and nothing else
// (PLN-44).
func TestKeysAreNoPaths(t *testing.T) {
	keyed := strings.Replace(experiment, `experiment "e" {`, "experiment \"e\" {\n  for_each = toset([\"../../up\", \"A b\", \"a b\", \".\", \"\"])", 1)
	b := newBench(t, keyed)
	b.mustJudge(b.mustRun())
	var folders []string
	entries, err := os.ReadDir(filepath.Join(b.dir, "run", "nodes", "experiment.e"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		folders = append(folders, entry.Name())
	}
	want := []string{"%", "%2E", "%2E.%2F..%2Fup", "%41%20b", "a%20b"}
	if !slices.Equal(folders, want) {
		t.Errorf("folders %q, want %q", folders, want)
	}
	if found, err := filepath.Glob(filepath.Join(b.dir, "..", "up*")); err != nil || len(found) > 0 {
		t.Errorf("a key left the run directory: %v %v", found, err)
	}
}

// Setup and capture of a slot are one attempt in one folder (PLN-42, SET-01).
func TestSetupWithinCapture(t *testing.T) {
	b := newBench(t, experiment)
	b.edit("plan.hcl", "runner \"candidate\" {\n", "runner \"candidate\" {\n  setup {\n    args = [\"setup\", \"{output}\"]\n  }\n")
	b.edit("plan.hcl", `axis = ["runner.args", `, `axis = ["runner.setup", "runner.args", `)
	b.mustJudge(b.mustRun())
	nodes := filepath.Join(b.dir, "run", "nodes")
	if _, err := os.Stat(filepath.Join(nodes, "experiment.e.capture.b", "attempt-1", "setup", "run.json")); err != nil {
		t.Errorf("setup's record is not in its capture: %v", err)
	}
	if _, err := os.Stat(filepath.Join(nodes, "experiment.e.setup.b", "attempt-1.json")); err != nil {
		t.Errorf("the setup has no checkpoint: %v", err)
	}
	if _, err := os.Stat(filepath.Join(nodes, "experiment.e.setup.b", "attempt-1")); err == nil {
		t.Error("the setup has a folder of its own")
	}
}

// Deleting report/ and writing it again gives the same bytes (PLN-36); damaged
// evidence gives ERROR and no verdict.
func TestReportFromEvidence(t *testing.T) {
	b := newBench(t, experiment)
	outcome := b.mustRun()
	dir := filepath.Join(outcome.RunDir, steps.ReportDir)
	before := map[string]string{}
	for _, name := range []string{report.ResultsFile, report.SummaryFile, report.JUnitFile} {
		before[name] = b.read(filepath.Join("run", "report", name))
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	collected, err := steps.Collect(t.Context(), outcome.RunDir)
	if err != nil {
		t.Fatal(err)
	}
	if err := steps.WriteReport(collected, dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range before {
		if again := b.read(filepath.Join("run", "report", name)); again != text || text == "" {
			t.Errorf("%s differs when written again", name)
		}
	}
	output := filepath.Join(outcome.RunDir, "nodes", "experiment.e.capture.b", "attempt-1", "run-000002", "output.png")
	data, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(output, data, 0o600); err != nil {
		t.Fatal(err)
	}
	damaged, err := steps.Collect(t.Context(), outcome.RunDir)
	if err != nil {
		t.Fatal(err)
	}
	if damaged.ExitCode() != 1 || !strings.Contains(damaged.Text("run"), "run-000002/output.png") {
		t.Errorf("damaged evidence: exit %d\n%s", damaged.ExitCode(), damaged.Text("run"))
	}
}

// Nodes done in processes of their own give what nodes done here give: nothing
// passes between them in memory (architecture page, "A node's work").
func TestNodesInProcessesOfTheirOwn(t *testing.T) {
	b := newBench(t, experiment)
	text := strings.Replace(b.read("plan.hcl"), "  sensitive = true\n", "  default   = \"plain\"\n", 1)
	b.write("plan.hcl", text, 0o600)
	outcome, err := b.run(func(input *steps.RunInput) {
		input.Place = func(ctx context.Context, address string) error {
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Env = append(os.Environ(), "STEPS_TEST_NODE_RUN="+input.RunDir, "STEPS_TEST_NODE_ADDRESS="+address)
			cmd.Stderr = os.Stderr
			return cmd.Run()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.mustJudge(outcome)
	if result, ok := outcome.Summary.Lookup("experiment.e.capture.b2"); !ok || result.State != executor.StateDone {
		t.Errorf("capture.b2 is %+v", result)
	}
}

// What the language admits and this version does not carry out is refused by
// name, with nothing started or created.
func TestHeldBackIsRefused(t *testing.T) {
	b := newBench(t, strings.Replace(experiment, "  restore {", "  distance {\n    cells = [\"only\"]\n  }\n  restore {", 1))
	_, err := b.run(nil)
	if err == nil || !strings.Contains(err.Error(), "distance") {
		t.Errorf("error %v does not name the distance block", err)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "run")); err == nil {
		t.Error("a run directory was made")
	}
}

// A run directory belongs to one plan.
func TestRunDirectoryOfAnotherPlan(t *testing.T) {
	b := newBench(t, experiment)
	b.mustRun()
	b.edit("plan.hcl", `name    = "bench"`, `name    = "other"`)
	if _, err := b.run(nil); err == nil || !strings.Contains(err.Error(), `plan "bench"`) {
		t.Errorf("error %v does not name the plan it belongs to", err)
	}
}

// An experiment that depends on another waits for it and does not read it: doing
// the first again redoes nothing of the second (PLN-21, PLN-43, PLN-45).
func TestDependingIsOrderOnly(t *testing.T) {
	second := strings.Replace(experiment, `experiment "e" {`, "experiment \"d\" {\n  depends_on = [experiment.e]", 1)
	b := newBench(t, second+experiment)
	b.mustRun()
	want := append(slices.Repeat([]string{"old", "new", "new", "old", "restored"}, 2), "old", "new", "new", "old", "restored")
	outcome, err := b.run(func(input *steps.RunInput) { input.Redo = []string{"experiment.e.capture.a"} })
	if err != nil {
		t.Fatal(err)
	}
	b.mustJudge(outcome)
	if got := lines(b.read("serve.log")); !slices.Equal(got, want) {
		t.Errorf("hooks ran as %v, want %v", got, want)
	}
	for _, slot := range outcome.Report.Experiments[0].Slots {
		if len(slot.Attempts) != 1 {
			t.Errorf("slot %s of the depending experiment has attempts %v", slot.Slot, slot.Attempts)
		}
	}
	first := lines(outcome.Report.Text("run"))
	at := slices.IndexFunc(first, func(line string) bool { return strings.HasPrefix(line, "experiment.e:") })
	if at < 0 || !strings.Contains(first[at], "captured again (2 attempts)") {
		t.Errorf("the first line of an experiment with a redone slot does not say so:\n%s", strings.Join(first, "\n"))
	}
}

// Programs of the same bytes under an axis of program_bytes are refused before
// anything is measured; other bytes under two paths are what it is for (PLN-12).
func TestProgramBytes(t *testing.T) {
	b := newBench(t, strings.Replace(experiment, `axis = ["runner.args", "settings"]`,
		`axis = ["program_bytes", "runner.program", "runner.args", "settings"]`, 1))
	text := b.read("plan.hcl")
	at := strings.Index(text, `runner "candidate"`)
	b.write("plan.hcl", text[:at]+strings.Replace(text[at:], "./make.sh", "./other.sh", 1), 0o600)
	b.write("other.sh", b.read("make.sh"), 0o700)
	if _, err := b.run(nil); err == nil || !strings.Contains(err.Error(), "program_bytes") {
		t.Errorf("equal bytes give %v", err)
	}
	if made := b.read("made.log"); made != "" {
		t.Errorf("samples ran: %s", made)
	}
	b.write("other.sh", b.read("make.sh")+"# another build\n", 0o700)
	b.mustJudge(b.mustRun())
}

// A capture whose completion record is whole and whose checkpoint is missing is
// inspected and taken over, not repeated; a damaged one is kept and measured
// again (PLN-22).
func TestWholeCaptureIsTakenOver(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		b := newBench(t, experiment)
		b.mustRun()
		node := filepath.Join(b.dir, "run", "nodes", "experiment.e.capture.a2")
		if err := os.Remove(filepath.Join(node, "attempt-1.json")); err != nil {
			t.Fatal(err)
		}
		if damaged {
			if err := os.WriteFile(filepath.Join(node, "attempt-1", "run-000001", "output.png"), []byte("cut"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		outcome := b.mustRun()
		b.mustJudge(outcome)
		made, attempts := len(lines(b.read("made.log"))), len(outcome.Report.Experiments[0].Slots[3].Attempts)
		if want := map[bool][2]int{false: {16, 1}, true: {20, 2}}[damaged]; made != want[0] || attempts != want[1] {
			t.Errorf("damaged %v: %d samples ran and slot a2 has %d attempts, want %v", damaged, made, attempts, want)
		}
		taken := strings.Contains(b.read(filepath.Join("run", "events.ndjson")), `"node_taken_over","node":"experiment.e.capture.a2"`)
		if taken == damaged {
			t.Errorf("damaged %v: taken over is %v", damaged, taken)
		}
	}
}
