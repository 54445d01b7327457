package inspect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/gate"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

// INS-01, INS-02, INS-07, INS-13, INS-15, INS-19, INS-20: a whole capture, its
// report, and a copy of it elsewhere.
func TestWholeCapture(t *testing.T) {
	f := whole(t)
	result, err := f.inspect()
	if err != nil {
		t.Fatal(err)
	}
	report := inspect.Describe(result)
	if report.Status != evidence.Complete || len(report.Runs) != 5 || report.Execution != "in-process" || report.Statement == "" {
		t.Errorf("report %+v", report)
	}
	stats := report.Cells[0].EndToEndUS
	if stats.Count != 4 || *stats.Min != 100_001 || *stats.Max != 100_004 || *stats.Median != 100_002.5 {
		t.Errorf("statistics over measured samples only: %+v", stats)
	}
	if d := report.Cells[0].Determinism; len(d) != 2 || d[0].Seed != 7 || d[0].Samples != 2 || d[1].Determinism != gate.Deterministic {
		t.Errorf("determinism %+v", d)
	}
	first, err := report.JSON()
	if err != nil || !json.Valid(first) {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "copied")
	if err := os.CopyFS(elsewhere, os.DirFS(f.dir)); err != nil {
		t.Fatal(err)
	}
	copied, err := inspect.Inspect(context.Background(), elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	second, err := inspect.Describe(copied).JSON()
	if err != nil || !bytes.Equal(first, second) {
		t.Error("a copy of the capture gives other report bytes")
	}
	if strings.Contains(string(first), "harbour") {
		t.Error("the report holds the prompt")
	}
}

// INS-03, INS-04, INS-05: one flipped byte in any file is an error that names
// that file, wherever it is flipped.
func TestFlippedByte(t *testing.T) {
	f := whole(t)
	err := filepath.WalkDir(f.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(f.dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		step := max(1, len(data)/9)
		for i := 0; i < len(data); i += step {
			changed := bytes.Clone(data)
			changed[i] ^= 1
			if err := os.WriteFile(path, changed, 0o600); err != nil {
				return err
			}
			_, err := f.inspect()
			if found, ok := inspect.AsError(err); !ok || found.File != filepath.ToSlash(name) {
				t.Errorf("byte %d of %s flipped: %v", i, name, err)
			}
		}
		return os.WriteFile(path, data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.inspect(); err != nil {
		t.Errorf("restored: %v", err)
	}
}

// INS-05: every missing file is named; INS-08, CAP-34: no completion, no capture.
func TestMissingFile(t *testing.T) {
	for _, name := range []string{
		"workload.json", "runner.json", "deployment.json", "receipt.json", "setup/run.json", "setup/stdout.bin",
		"run-000002/reservation.json", "run-000002/process.json", "run-000002/run.json", "run-000002/stderr.bin", "run-000002/output.png",
	} {
		f := whole(t)
		if err := os.Remove(filepath.Join(f.dir, name)); err != nil {
			t.Fatal(err)
		}
		f.refused(name, inspect.CodeMissing)
	}
	f := whole(t)
	if err := os.RemoveAll(filepath.Join(f.dir, "run-000003")); err != nil {
		t.Fatal(err)
	}
	f.refused("run-000003", inspect.CodeMissing)
	f = whole(t)
	if err := os.Remove(filepath.Join(f.dir, "completion.json")); err != nil {
		t.Fatal(err)
	}
	f.refused("completion.json", inspect.CodeIncomplete)
}

// INS-05: unexpected files are refused, save a run's own leftovers.
func TestUnexpectedFile(t *testing.T) {
	f := whole(t)
	for _, left := range []string{"run-000001/left.tmp", "run-000001/deep/er", "setup/log"} {
		if err := os.MkdirAll(filepath.Join(f.dir, filepath.Dir(left)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(f.dir, left), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.inspect(); err != nil {
		t.Errorf("leftovers of a run: %v", err)
	}
	for _, name := range []string{"notes.txt", "run-000005", ".grill-tmp-1", "cache-setup.json"} {
		f := whole(t)
		if err := os.WriteFile(filepath.Join(f.dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		f.refused(name, inspect.CodeUnexpected)
	}
	f = whole(t)
	f.write("run-000001/left.tmp", []byte("x")) // listed, though no record accounts for it
	f.seal()
	f.refused("run-000001/left.tmp", inspect.CodeMissing)
	f = whole(t)
	f.write("extra/file", []byte("x"))
	f.seal()
	f.refused("extra/file", inspect.CodeUnexpected)
}

// INS-03: a record of another capture is refused, however well formed.
func TestForeignRecord(t *testing.T) {
	other := newFixture(t, func(r *evidence.Receipt) { r.StartedUnixMS++ })
	other.setup()
	for i := range other.receipt.Samples {
		other.sample(i, uint64(100_000+i), 1, nil)
	}
	for _, name := range []string{"run-000002/reservation.json", "run-000002/process.json", "run-000002/run.json"} {
		f := whole(t)
		data, err := os.ReadFile(filepath.Join(other.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		f.write(name, data)
		f.seal()
		f.refused(name, inspect.CodeForeignRecord)
	}
	f := whole(t)
	f.completion.ReceiptSHA256 = other.digest
	f.reseal()
	f.refused("completion.json", inspect.CodeForeignRecord)
}

// INS-02: the receipt says what the documents give.
func TestReceiptAgainstDocuments(t *testing.T) {
	for name, change := range map[string]func(*evidence.Receipt){
		"typed hash":   func(r *evidence.Receipt) { r.WorkloadTypedSHA256 = strings.Repeat("0", 64) },
		"raw hash":     func(r *evidence.Receipt) { r.RunnerSHA256 = strings.Repeat("0", 64) },
		"slot":         func(r *evidence.Receipt) { r.Slot = "b" },
		"arm":          func(r *evidence.Receipt) { r.Arm = "a2" },
		"execution":    func(r *evidence.Receipt) { r.Execution = "unknown" },
		"argv":         func(r *evidence.Receipt) { r.Samples[1].Argv[1] = "8" },
		"seed":         func(r *evidence.Receipt) { r.Samples[1].Seed = 8 },
		"phase":        func(r *evidence.Receipt) { r.Samples[0].Phase = evidence.Measured },
		"left out":     func(r *evidence.Receipt) { r.Samples = r.Samples[:4] },
		"setup":        func(r *evidence.Receipt) { r.Setup.DeadlineMS++ },
		"no setup":     func(r *evidence.Receipt) { r.Setup = nil },
		"program":      func(r *evidence.Receipt) { r.Program.ResolvedSHA256 = "none" },
		"no setup run": func(r *evidence.Receipt) { r.SetupProgram = nil },
		"collector":    func(r *evidence.Receipt) { r.Collector.SHA256 = "" },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, change)
			f.completion.Status, f.completion.Unstarted = evidence.Cancelled, []int{0, 1, 2, 3, 4}
			f.seal()
			f.refused(evidence.ReceiptFile, inspect.CodePlanMismatch)
		})
	}
}

// INS-04: what a forger writes consistently is derived anew and refused.
func TestForgedRun(t *testing.T) {
	slow, code := uint64(1_000_001), 0
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		code   string
	}{
		"eligibility":    {func(r *evidence.Run) { r.Eligible = false }, inspect.CodeReasonsMismatch},
		"reason":         {func(r *evidence.Run) { r.Reasons, r.Eligible = []string{evidence.ExitNonzero}, false }, inspect.CodeReasonsMismatch},
		"facts":          {func(r *evidence.Run) { r.Outputs[0].Files[0].Facts.Image.Width = 5 }, inspect.CodeOutputMismatch},
		"hash":           {func(r *evidence.Run) { r.Outputs[0].Files[0].SHA256 = strings.Repeat("0", 64) }, inspect.CodeOutputMismatch},
		"no output":      {func(r *evidence.Run) { r.Outputs = []evidence.Output{} }, inspect.CodeOutputMismatch},
		"deadline":       {func(r *evidence.Run) { r.Invocation.EndToEndUS = &slow }, inspect.CodeInvocation},
		"no deadline":    {func(r *evidence.Run) { r.Invocation.Deadline = true }, inspect.CodeInvocation},
		"no ending":      {func(r *evidence.Run) { r.Invocation.ExitCode = nil }, inspect.CodeInvocation},
		"two endings":    {func(r *evidence.Run) { r.Invocation.Signal = "SIGKILL" }, inspect.CodeInvocation},
		"spawn failed":   {func(r *evidence.Run) { r.Invocation.SpawnError = "no such file" }, inspect.CodeInvocation},
		"never started":  {func(r *evidence.Run) { r.Invocation.EndToEndUS = nil }, inspect.CodeInvocation},
		"cancelled exit": {func(r *evidence.Run) { r.Invocation.Cancelled, r.Invocation.ExitCode = true, &code }, inspect.CodeInvocation},
		"truncation":     {func(r *evidence.Run) { r.Invocation.Stdout.Truncated = true }, inspect.CodeInvocation},
		"read bytes":     {func(r *evidence.Run) { r.Invocation.Stdout.Bytes = 6 }, inspect.CodeInvocation},
		"stream hash":    {func(r *evidence.Run) { r.Invocation.Stderr.SHA256 = strings.Repeat("0", 64) }, inspect.CodeDigestMismatch},
		"reservation":    {func(r *evidence.Run) { r.ReservationSHA256 = strings.Repeat("0", 64) }, inspect.CodeForeignRecord},
		"sample":         {func(r *evidence.Run) { sample := *r.Sample; sample.Seed++; r.Sample = &sample }, inspect.CodeForeignRecord},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			f.setup()
			for i := range f.receipt.Samples {
				if i == 2 {
					f.sample(i, 100_002, 1, c.change)
				} else {
					f.sample(i, uint64(100_000+i), 1, nil)
				}
			}
			f.seal()
			f.refused("run-000002/run.json", c.code)
		})
	}
}

// INS-14, CAP-30: failed samples are facts and no error.
func TestFailedSamples(t *testing.T) {
	f := newFixture(t, nil)
	f.setup()
	f.sample(0, 100_000, 1, nil)
	f.write("run-000001/output.png", picture(t, 5, 1)) // another width
	f.invoke("run-000001", &f.receipt.Samples[1], nil, exited(100_000, 3), "hello", "", nil)
	f.write("run-000002/output.png", []byte("no picture"))
	f.invoke("run-000002", &f.receipt.Samples[2], nil, exited(100_000, 0), "hello", "", nil)
	f.invoke("run-000003", &f.receipt.Samples[3], nil, evidence.Invocation{
		StartedUnixMS: startedMS, SpawnError: "no such file", Stdout: stream(""), Stderr: stream(""),
	}, "", "", nil)
	late := exited(1_000_000, 0)
	late.ExitCode, late.Signal, late.Deadline = nil, "SIGKILL", true
	f.invoke("run-000004", &f.receipt.Samples[4], nil, late, "hello", "", nil)
	f.seal()
	result, err := f.inspect()
	if err != nil {
		t.Fatal(err)
	}
	summary := inspect.Describe(result).Cells[0].Summary
	if summary.Ineligible != 4 || summary.EndToEndUS.Count != 0 || summary.EndToEndUS.Min != nil || summary.EndToEndUS.Mean != nil {
		t.Errorf("summary %+v", summary)
	}
	counts := map[string]int{}
	for _, reason := range summary.Reasons {
		counts[reason.Reason] = reason.Count
	}
	for reason, want := range map[string]int{
		evidence.SpawnFailed: 1, evidence.ExitNonzero: 1, evidence.DeadlineExceeded: 1, evidence.OutputMissing: 2,
		evidence.OutputInvalid: 1, evidence.ExpectationMismatch: 1,
	} {
		if counts[reason] != want {
			t.Errorf("%s: %d, want %d", reason, counts[reason], want)
		}
	}
}

// INS-07: other statuses inspect, and follow from the runs.
func TestOtherStatuses(t *testing.T) {
	failed := newFixture(t, nil)
	failed.invoke(evidence.SetupDir, nil, failed.receipt.Setup, exited(100, 1), "hello", "", nil)
	failed.completion.Status, failed.completion.Unstarted = evidence.SetupFailed, []int{0, 1, 2, 3, 4}
	failed.seal()
	cancelled := newFixture(t, nil)
	cancelled.setup()
	cancelled.sample(0, 100, 1, nil)
	killed := exited(100, 0)
	killed.ExitCode, killed.Signal, killed.Cancelled = nil, "SIGKILL", true
	cancelled.invoke("run-000001", &cancelled.receipt.Samples[1], nil, killed, "hello", "", nil)
	cancelled.completion.Status, cancelled.completion.Unstarted = evidence.Cancelled, []int{2, 3, 4}
	cancelled.seal()
	before := newFixture(t, nil)
	before.completion.Status, before.completion.Unstarted = evidence.Cancelled, []int{0, 1, 2, 3, 4}
	before.seal()
	for name, f := range map[string]*fixture{evidence.SetupFailed: failed, evidence.Cancelled: cancelled, "cancelled before setup": before} {
		result, err := f.inspect()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.HasPrefix(name, result.Completion.Status) {
			t.Errorf("%s: status %s", name, result.Completion.Status)
		}
		f.completion.Status = evidence.Complete
		f.reseal()
		f.refused(evidence.CompletionFile, inspect.CodeStatusMismatch)
	}
	cancelled.completion.Status, cancelled.completion.Unstarted = evidence.Cancelled, []int{3, 4}
	cancelled.reseal()
	cancelled.refused(evidence.CompletionFile, inspect.CodeStatusMismatch)
	gap := newFixture(t, nil)
	gap.setup()
	gap.sample(1, 100, 1, nil)
	gap.completion.Status, gap.completion.Unstarted = evidence.Cancelled, []int{0, 2, 3, 4}
	gap.seal()
	gap.refused("run-000001/run.json", inspect.CodeStatusMismatch)
}
