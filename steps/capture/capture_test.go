package capture

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

func capture(t *testing.T, request Request) Outcome {
	t.Helper()
	outcome, err := Run(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// CAP-05, CAP-06, CAP-26, CAP-28, CAP-32: what a complete capture leaves, and
// that inspect recomputes all of it.
func TestComplete(t *testing.T) {
	request := standard("good").request(t)
	outcome := capture(t, request)
	if outcome.Status != evidence.Complete || outcome.Samples != (Counts{Planned: 4, Eligible: 4}) || len(outcome.Failed) != 0 {
		t.Fatalf("got %+v", outcome)
	}
	receipt := record[evidence.Receipt](t, request.Dir, evidence.ReceiptFile)
	if receipt.Slot != "B" || receipt.Arm != "b" || receipt.Execution != "in-process" || receipt.Root != request.Dir || receipt.Folder != request.Folder ||
		receipt.Collector != request.Collector || receipt.WorkloadSHA256 != evidence.Digest(request.Workload) || receipt.RunnerSHA256 != evidence.Digest(request.Runner) ||
		receipt.DeploymentSHA256 != evidence.Digest(request.Deployment) || receipt.Program.ResolvedSHA256 == "" || receipt.StartedUnixMS == 0 || len(receipt.Samples) != 4 {
		t.Errorf("receipt %+v", receipt)
	}
	for name, want := range map[string][]byte{evidence.WorkloadFile: request.Workload, evidence.RunnerFile: request.Runner, evidence.DeploymentFile: request.Deployment} {
		if got, err := os.ReadFile(filepath.Join(request.Dir, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s does not hold the exact bytes (%v)", name, err)
		}
	}
	// PRE-08: warmups of all cells, then measured runs; seeds start over.
	for i, want := range []evidence.PlannedSample{{Index: 0, Cell: "one", Phase: "warmup", Seed: 10}, {Index: 1, Cell: "one", Phase: "measured", Seed: 10},
		{Index: 2, Cell: "one", Phase: "measured", Seed: 11}, {Index: 3, Cell: "..", Phase: "measured", Seed: 10}} {
		checkSample(t, request.Dir, outcome.ReceiptSHA256, i, want)
	}
	if result, err := inspect.Inspect(t.Context(), request.Dir); err != nil || result.Completion.Status != evidence.Complete {
		t.Errorf("inspect: %v", err)
	}
	if again, whole := Whole(request.Dir); !whole || again.Samples != outcome.Samples || again.CompletionSHA != outcome.CompletionSHA || again.ReceiptSHA256 != outcome.ReceiptSHA256 {
		t.Errorf("PLN-22: whole %v, %+v", whole, again)
	}
}

func checkSample(t *testing.T, root, receipt string, index int, want evidence.PlannedSample) {
	t.Helper()
	dir := filepath.Join(root, document.RunDirName(index))
	reservation := record[evidence.Reservation](t, dir, evidence.ReservationFile)
	started := record[evidence.Process](t, dir, evidence.ProcessFile)
	run := record[evidence.Run](t, dir, evidence.RunFile)
	if reservation.ReceiptSHA256 != receipt || started.ReceiptSHA256 != receipt || run.ReceiptSHA256 != receipt {
		t.Errorf("INS-03: a record of sample %d belongs to another receipt", index)
	}
	got := *reservation.Sample
	if projection := document.RunDirName(index) + "/output.png"; !slices.Contains(got.Argv, projection) {
		t.Errorf("CAP-26: argv %q is not a projection", got.Argv)
	}
	got.Argv = nil
	if got.Index != want.Index || got.Cell != want.Cell || got.Phase != want.Phase || got.Seed != want.Seed {
		t.Errorf("sample %d is %+v, want %+v", index, got, want)
	}
	if reservation.Token == "" || !run.Eligible || len(run.Reasons) != 0 || run.Invocation.EndToEndUS == nil || run.Outputs[0].Files[0].SHA256 != evidence.Digest(picture()) {
		t.Errorf("sample %d: %+v", index, run)
	}
}

// CAP-03, PRV-02: directories 0700, files 0600.
func TestModes(t *testing.T) {
	request := standard("good").request(t)
	capture(t, request)
	err := filepath.WalkDir(request.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if entry.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// CAP-32: the completion lists every evidence file with its true hash, and seals
// itself.
func TestCompletionListsEveryFile(t *testing.T) {
	request := standard("good").request(t)
	capture(t, request)
	completion := record[evidence.Completion](t, request.Dir, evidence.CompletionFile)
	if err := evidence.CheckSeal(completion); err != nil {
		t.Error(err)
	}
	listed := map[string]evidence.EvidenceFile{}
	for _, file := range completion.Files {
		listed[file.Path] = file
	}
	found := 0
	err := filepath.WalkDir(request.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == evidence.CompletionFile {
			return err
		}
		found++
		name, err := filepath.Rel(request.Dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if file := listed[filepath.ToSlash(name)]; file.SHA256 != evidence.Digest(data) || file.Bytes != uint64(len(data)) {
			t.Errorf("%s is listed as %+v", name, file)
		}
		return nil
	})
	if err != nil || found != len(completion.Files) {
		t.Errorf("%d files, %d listed, error %v", found, len(completion.Files), err)
	}
	if !slices.IsSortedFunc(completion.Files, func(a, b evidence.EvidenceFile) int { return strings.Compare(a.Path, b.Path) }) {
		t.Error("the files are not sorted")
	}
}

// CAP-24, CAP-29, CAP-30, CAP-33: what fails in a sample is data and stops
// nothing; the capture is complete and inspect agrees.
func TestFailedSamplesAreData(t *testing.T) {
	for play, want := range map[string]string{
		"exit": "exit_nonzero", "signal": "signalled", "nothing": "output_missing", "garbage": "output_invalid", "fifo": "output_entry_type",
	} {
		t.Run(play, func(t *testing.T) {
			request := standard(play).request(t)
			outcome := capture(t, request)
			if outcome.Status != evidence.Complete || outcome.Samples != (Counts{Planned: 4, Ineligible: 4}) {
				t.Fatalf("got %+v", outcome)
			}
			for _, failed := range outcome.Failed {
				if got := strings.Join(failed.Reasons, " "); got != want {
					t.Errorf("sample %d: %q, want %q", failed.Index, got, want)
				}
			}
			if _, err := inspect.Inspect(t.Context(), request.Dir); err != nil {
				t.Errorf("inspect: %v", err)
			}
		})
	}
	request := standard("odd-exit").request(t)
	if outcome := capture(t, request); outcome.Samples != (Counts{Planned: 4, Eligible: 3, Ineligible: 1}) || outcome.Failed[0].Index != 2 {
		t.Errorf("one of four fails: %+v", outcome)
	}
}

// CAP-31: beyond the bound an output stays, unhashed.
func TestOversizedOutput(t *testing.T) {
	documents := standard("good")
	documents.workload["limits"].(map[string]any)["output_bytes"] = len(picture()) - 1
	request := documents.request(t)
	outcome := capture(t, request)
	if outcome.Samples.Ineligible != 4 || outcome.Failed[0].Reasons[0] != evidence.OutputOversized {
		t.Errorf("got %+v", outcome)
	}
	if _, err := os.Stat(filepath.Join(request.Dir, "run-000000", "output.png")); err != nil {
		t.Errorf("the file is gone: %v", err)
	}
	if _, err := inspect.Inspect(t.Context(), request.Dir); err != nil {
		t.Errorf("inspect: %v", err)
	}
}

// CAP-21: a sample beyond its deadline is recorded, and the next one runs.
func TestDeadline(t *testing.T) {
	documents := standard("hang-second")
	documents.workload["limits"].(map[string]any)["run_deadline_ms"] = 1500
	outcome := capture(t, documents.request(t))
	if outcome.Status != evidence.Complete || outcome.Samples.Ineligible == 0 || !slices.ContainsFunc(outcome.Failed, func(f FailedSample) bool {
		return f.Index == 1 && slices.Contains(f.Reasons, evidence.DeadlineExceeded)
	}) || outcome.Samples.Unstarted != 0 {
		t.Errorf("got %+v", outcome)
	}
}

// CAP-16: a group member that would write later is dead before outputs are read.
func TestLateWriter(t *testing.T) {
	request := standard("late-writer").request(t)
	if outcome := capture(t, request); outcome.Samples.Eligible != 4 {
		t.Errorf("got %+v", outcome)
	}
	if _, err := inspect.Inspect(t.Context(), request.Dir); err != nil {
		t.Errorf("something wrote after the sample: %v", err)
	}
}

// CAP-18: one sample at a time.
func TestSerial(t *testing.T) {
	if outcome := capture(t, standard("serial").request(t)); outcome.Samples.Eligible != 4 {
		t.Errorf("got %+v", outcome)
	}
}

// CAP-05, CAP-26, OUT-01: documents, receipt and reservation are there before a
// program starts, its output is not.
func TestPublishedBeforeTheStart(t *testing.T) {
	if outcome := capture(t, standard("reserved").request(t)); outcome.Samples.Eligible != 4 {
		t.Errorf("got %+v", outcome)
	}
}

// CAP-27: during capture outputs are absolute paths inside the capture directory,
// since the runner's directory is another.
func TestAbsolutePaths(t *testing.T) {
	documents := standard("absolute")
	documents.runner["cwd"] = t.TempDir()
	if outcome := capture(t, documents.request(t)); outcome.Samples.Eligible != 4 {
		t.Errorf("got %+v", outcome)
	}
}

// CAP-19, CAP-32: the pause follows every run, the last included, and is within
// the elapsed time.
func TestPauses(t *testing.T) {
	documents := standard("good")
	for _, cell := range documents.workload["cells"].([]any) {
		cell.(map[string]any)["pause_between_runs_ms"] = 120
	}
	request := documents.request(t)
	capture(t, request)
	if got := record[evidence.Completion](t, request.Dir, evidence.CompletionFile).ElapsedMS; got < 4*120 {
		t.Errorf("4 pauses of 120 ms within %d ms", got)
	}
}

// CAP-22, CAP-23: cancellation in a sample, in a pause and after the last sample.
func TestCancel(t *testing.T) {
	for _, c := range []struct {
		name, play string
		pause      int
		at         string // progress at which it is cancelled
		want       Counts
		status     string
	}{
		{"in a sample", "hang-second", 0, "sample 2 of 4, cell one, measured", Counts{Planned: 4, Eligible: 1, Ineligible: 1, Unstarted: 2}, evidence.Cancelled},
		{"in a pause", "good", 60_000, "sample 1 of 4 done", Counts{Planned: 4, Eligible: 1, Unstarted: 3}, evidence.Cancelled},
		{"after the last", "good", 0, "sample 4 of 4 done", Counts{Planned: 4, Eligible: 4}, evidence.Complete},
		{"before the first", "good", 0, "", Counts{Planned: 4, Unstarted: 4}, evidence.Cancelled},
	} {
		t.Run(c.name, func(t *testing.T) {
			documents := standard(c.play)
			for _, cell := range documents.workload["cells"].([]any) {
				cell.(map[string]any)["pause_between_runs_ms"] = c.pause
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			request := documents.request(t)
			request.Progress = func(_, _ int, text string) {
				if text == c.at && c.name == "in a sample" {
					go func() {
						time.Sleep(200 * time.Millisecond)
						cancel()
					}()
				} else if text == c.at {
					cancel()
				}
			}
			start := time.Now()
			outcome := cancelled(ctx, t, request, c.at == "" && c.name == "before the first")
			if outcome.Status != c.status || outcome.Samples != c.want {
				t.Errorf("got %+v, want %s with %+v", outcome, c.status, c.want)
			}
			if time.Since(start) > 50*time.Second {
				t.Error("the pause or the sample was waited for")
			}
			if _, err := inspect.Inspect(t.Context(), request.Dir); err != nil {
				t.Errorf("inspect: %v", err)
			}
		})
	}
}

// cancelled runs a capture whose context ends on the way, or at the setup's end
// when nothing else happens before the first sample.
func cancelled(ctx context.Context, t *testing.T, request Request, beforeFirst bool) Outcome {
	t.Helper()
	if beforeFirst {
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		clock := Clock{Suspended: func() time.Duration {
			cancel() // read once at the start, after everything was admitted
			return 0
		}}
		request.Clock, ctx = clock, inner
	}
	outcome, err := Run(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// CAP-02, CAP-03, CAP-04, PLN-07, PLN-40: what is refused before anything exists.
func TestRefusedBeforeAnything(t *testing.T) {
	for name, c := range map[string]struct {
		change func(documents, *Request)
		want   string
	}{
		"unknown slot":       {func(_ documents, r *Request) { r.Slot = "C" }, "CAP-02"},
		"bad workload":       {func(d documents, _ *Request) { d.workload["modality"] = "smell" }, "DOC-17"},
		"missing program":    {func(d documents, _ *Request) { d.runner["program"] = "/nothing/here" }, "DOC-43"},
		"missing cwd":        {func(d documents, _ *Request) { d.runner["cwd"] = "/nothing/here" }, "DOC-46"},
		"missing secret":     {func(d documents, _ *Request) { d.runner["env_secret"] = []any{"GP_SECRET"} }, "PLN-07"},
		"caches":             {func(d documents, _ *Request) { d.runner["cache"].(map[string]any)["paths"] = []any{"/x"} }, "cache.paths"},
		"bad deployment":     {func(_ documents, r *Request) { r.Deployment = []byte(`{"more":1}`) }, "DOC-"},
		"program changed":    {func(_ documents, r *Request) { r.Expect = &Programs{Program: strings.Repeat("0", 64)} }, ProgramChanged},
		"directory exists":   {func(_ documents, r *Request) { _ = os.Mkdir(r.Dir, 0o700) }, DirectoryExists},
		"a file is there":    {func(_ documents, r *Request) { _ = os.WriteFile(r.Dir, []byte("x"), 0o600) }, DirectoryExists},
		"a dangling link is": {func(_ documents, r *Request) { _ = os.Symlink("/nothing", r.Dir) }, DirectoryExists},
		"parent is missing":  {func(_ documents, r *Request) { r.Dir += "/deeper" }, "no such file"},
		"not an empty one": {func(_ documents, r *Request) {
			r.CreateDir = false
			_ = os.Mkdir(r.Dir, 0o700)
			_ = os.WriteFile(filepath.Join(r.Dir, "x"), nil, 0o600)
		}, DirectoryExists},
	} {
		t.Run(name, func(t *testing.T) {
			documents := standard("good")
			c.change(documents, &Request{})
			request := documents.request(t)
			c.change(documents, &request)
			around := filepath.Dir(strings.TrimSuffix(request.Dir, "/deeper"))
			before := listing(t, around)
			_, err := Run(t.Context(), request)
			if err == nil || !strings.Contains(explained(err), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if after := listing(t, around); !slices.Equal(before, after) {
				t.Errorf("before %q, after %q", before, after)
			}
		})
	}
}

func explained(err error) string {
	text := err.Error()
	var rejected *Rejected
	if errors.As(err, &rejected) {
		for _, problem := range rejected.Problems {
			text += " " + problem.Rule
		}
	}
	return text
}

func listing(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
