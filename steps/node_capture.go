package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/grill-plan/grill-plan/executor"
	"github.com/grill-plan/grill-plan/plan/compile"
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/plan/graph"
	"github.com/grill-plan/grill-plan/plan/spec"
	"github.com/grill-plan/grill-plan/steps/capture"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

// runCapture does a slot's setup and capture in one process and one attempt
// (PLN-42).
func (r *Runner) runCapture(ctx context.Context, work executor.Work) (executor.Result, error) {
	wanted, err := readSpec[spec.Capture](work.Node)
	if err != nil {
		return executor.Result{}, err
	}
	request, err := r.captureRequest(work, wanted)
	if err != nil {
		return executor.Result{}, err
	}
	outcome, err := capture.Run(ctx, request)
	switch {
	case err != nil:
		return executor.Result{}, interrupted(ctx, captureFailure(err))
	case outcome.Status == evidence.Cancelled:
		return executor.Result{}, interrupted(ctx, &executor.Failure{Code: evidence.Cancelled, Err: errors.New("the capture was cancelled")})
	case outcome.Status != evidence.Complete:
		return executor.Result{}, &executor.Failure{Code: outcome.Status,
			Err: fmt.Errorf("setup failed (%s); its streams are in %s", strings.Join(outcome.Setup, ", "), filepath.Join(work.Dir, evidence.SetupDir))}
	}
	return captureResult(work.Dir, outcome)
}

// captureFailure keeps the code that capture gave.
func captureFailure(err error) error {
	var coded *capture.Error
	if errors.As(err, &coded) {
		return &executor.Failure{Code: coded.Code, Err: coded.Err}
	}
	var rejected *capture.Rejected
	if errors.As(err, &rejected) {
		return &executor.Failure{Code: CaptureRejected, Err: Problems(rejected.Problems)}
	}
	return &executor.Failure{Code: CaptureFailed, Err: err}
}

// captureResult keys dependents on the completion record, which binds every
// file of the capture.
func captureResult(dir string, outcome capture.Outcome) (executor.Result, error) {
	facts, err := json.Marshal(outcome)
	if err != nil {
		return executor.Result{}, fmt.Errorf("summarise capture: %w", err)
	}
	return executor.Result{OutputDigest: outcome.CompletionSHA, Outcome: sampleCount(outcome.Samples), Facts: facts, Unread: oversized(dir, outcome.Samples.Planned)}, nil
}

// oversized are the outputs beyond their bound, which are evidence by their size
// alone (CAP-31): a sparse file may claim more than a disk holds.
func oversized(dir string, samples int) []string {
	var found []string
	folders := []string{evidence.SetupDir}
	for i := range samples {
		folders = append(folders, document.RunDirName(i))
	}
	for _, folder := range folders {
		run, _, err := evidence.ReadFile[evidence.Run](filepath.Join(dir, folder, evidence.RunFile))
		if err != nil {
			continue // unstarted, or no setup
		}
		for _, delivered := range run.Outputs {
			for _, file := range delivered.Files {
				if file.SHA256 == "" {
					found = append(found, folder+"/"+file.Name)
				}
			}
		}
	}
	return found
}

func sampleCount(counts capture.Counts) string {
	return fmt.Sprintf("%d of %d samples eligible", counts.Eligible, counts.Planned)
}

func (r *Runner) captureRequest(work executor.Work, wanted spec.Capture) (capture.Request, error) {
	request := capture.Request{
		Names: capture.Names{
			Workload: "workload of " + work.Node.Group, Runner: "runner of " + work.Node.Group,
			Deployment: "deployment of " + work.Node.Group,
		},
		Slot: wanted.Slot, Dir: work.Dir, Folder: r.Folder, Self: r.Self, Collector: r.Collector,
		Secrets: r.runnerSecrets(work.Node.Address),
		Progress: func(done, total int, text string) {
			if work.Progress != nil {
				work.Progress(executor.Progress{Done: done, Total: total, Text: text})
			}
		},
	}
	for _, part := range []struct {
		sha  string
		into *[]byte
	}{
		{wanted.Documents.Workload, &request.Workload},
		{wanted.Documents.Runner, &request.Runner},
		{wanted.Documents.Deployment, &request.Deployment},
	} {
		data, err := r.Document(part.sha)
		if err != nil {
			return request, err
		}
		*part.into = data
	}
	expected, err := expectedPrograms(work)
	if err != nil {
		return request, err
	}
	request.Expect = expected
	request.SetupEnded = r.setupEnded(work)
	return request, nil
}

// expectedPrograms reads what the side's preflight saw (PLN-40).
func expectedPrograms(work executor.Work) (*capture.Programs, error) {
	dirs := dirsOf(work, graph.Preflight)
	if len(dirs) != 1 {
		return nil, fmt.Errorf("capture %s needs one preflight and has %d", work.Node.Address, len(dirs))
	}
	path := filepath.Join(dirs[0], programsFile)
	data, err := evidence.ReadBytes(path, 1<<20)
	if err != nil {
		return nil, fmt.Errorf("read preflight: %w", err)
	}
	var observed observedPrograms
	if err := json.Unmarshal(data, &observed); err != nil {
		return nil, fmt.Errorf("read preflight: %s: %w", path, err)
	}
	programs := &capture.Programs{Program: observed.Program.ResolvedSHA256}
	if observed.Setup != nil {
		programs.Setup = observed.Setup.ResolvedSHA256
	}
	return programs, nil
}

// setupEnded tells the executor how the setup carried out within ended.
func (r *Runner) setupEnded(work executor.Work) func(error) {
	setup := ""
	for address := range work.Needs {
		if needOf(work, address, graph.Setup) {
			setup = address
		}
	}
	if setup == "" || work.Within == nil {
		return nil
	}
	return func(err error) {
		if err != nil {
			err = failure(evidence.SetupFailed, err)
		}
		work.Within(setup, err)
	}
}

func (r *Runner) runnerSecrets(address string) map[string]string {
	if r.Secrets == nil {
		return nil
	}
	values := map[string]string{}
	for _, entry := range r.Secrets.Env(address, compile.RunnerPart) {
		values[entry.Name] = entry.Value.Reveal()
	}
	return values
}

// recoverCapture ends left-over processes, then takes the capture over if its
// completion record is whole and inspect agrees (PLN-22).
func (r *Runner) recoverCapture(ctx context.Context, work executor.Work) (executor.Result, bool, error) {
	if err := capture.EndLeftOver(ctx, work.Dir); err != nil {
		return executor.Result{}, false, err
	}
	outcome, whole := capture.Whole(work.Dir)
	if !whole {
		return executor.Result{}, false, nil
	}
	if _, err := inspect.Inspect(ctx, work.Dir); err != nil {
		if ctx.Err() != nil {
			return executor.Result{}, false, context.Cause(ctx)
		}
		// Damaged evidence is kept as it is; the slot is measured again.
		return executor.Result{}, false, nil
	}
	result, err := captureResult(work.Dir, outcome)
	if err == nil && work.Within != nil {
		if ended := r.setupEnded(work); ended != nil {
			ended(nil)
		}
	}
	return result, err == nil, err
}
