package capture

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

func withSetup(play string, args ...any) documents {
	documents := standard("good")
	documents.runner["setup"] = map[string]any{"args": append([]any{play}, args...)}
	return documents
}

// SET-01, SET-03, SET-05: setup runs once, before the first sample, and is kept
// apart.
func TestSetup(t *testing.T) {
	request := withSetup("good", "{output}").request(t)
	var ended []error
	request.SetupEnded = func(err error) { ended = append(ended, err) }
	outcome := capture(t, request)
	if outcome.Status != evidence.Complete || outcome.Samples.Eligible != 4 || len(ended) != 1 || ended[0] != nil {
		t.Fatalf("got %+v, ended %v", outcome, ended)
	}
	run := record[evidence.Run](t, request.Dir, evidence.SetupDir, evidence.RunFile)
	if run.Sample != nil || run.Eligible || len(run.Reasons) != 0 || len(run.Outputs) != 1 || run.Outputs[0].Files[0].Facts == nil {
		t.Errorf("got %+v", run)
	}
	first := record[evidence.Run](t, request.Dir, "run-000000", evidence.RunFile)
	if run.Invocation.StartedUnixMS > first.Invocation.StartedUnixMS {
		t.Error("setup started after the first sample")
	}
	if _, err := inspect.Inspect(t.Context(), request.Dir); err != nil {
		t.Errorf("inspect: %v", err)
	}
	bare := standard("good").request(t)
	capture(t, bare)
	if _, err := os.Stat(filepath.Join(bare.Dir, evidence.SetupDir)); err == nil {
		t.Error("there is setup evidence without a setup")
	}
}

// SET-04, SET-05: a setup that fails, or does not deliver what it was told to,
// starts no sample.
func TestSetupFails(t *testing.T) {
	for name, c := range map[string]struct {
		documents documents
		want      string
	}{
		"exit":              {withSetup("exit", "/dev/null"), "exit_nonzero"},
		"signal":            {withSetup("signal", "/dev/null"), "signalled"},
		"missing output":    {withSetup("nothing", "{output}"), "output_missing"},
		"invalid output":    {withSetup("garbage", "{output}"), "output_invalid"},
		"beyond the bound":  {withSetup("hang", "/dev/null"), "deadline_exceeded"},
		"nothing was asked": {withSetup("nothing"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "beyond the bound" {
				c.documents.runner["setup"].(map[string]any)["deadline_ms"] = 200
			}
			request := c.documents.request(t)
			var ended []error
			request.SetupEnded = func(err error) { ended = append(ended, err) }
			outcome := capture(t, request)
			wanted, samples := evidence.SetupFailed, Counts{Planned: 4, Unstarted: 4}
			if c.want == "" {
				wanted, samples = evidence.Complete, Counts{Planned: 4, Eligible: 4}
			}
			if outcome.Status != wanted || outcome.Samples != samples || strings.Join(outcome.Setup, " ") != c.want {
				t.Errorf("got %+v", outcome)
			}
			if len(ended) != 1 || (ended[0] == nil) != (c.want == "") {
				t.Errorf("ended %v", ended)
			}
			completion := record[evidence.Completion](t, request.Dir, evidence.CompletionFile)
			if c.want != "" && !slices.Equal(completion.Unstarted, []int{0, 1, 2, 3}) {
				t.Errorf("unstarted %v", completion.Unstarted)
			}
			if _, err := inspect.Inspect(t.Context(), request.Dir); err != nil {
				t.Errorf("inspect: %v", err)
			}
			if _, whole := Whole(request.Dir); whole != (c.want == "") {
				t.Errorf("PLN-22: whole %v", whole)
			}
		})
	}
}

// SET-08: a setup that fails is not tried again.
func TestSetupIsNotRetried(t *testing.T) {
	counter := filepath.Join(t.TempDir(), "counter")
	if outcome := capture(t, withSetup("count", counter).request(t)); outcome.Status != evidence.SetupFailed {
		t.Errorf("got %+v", outcome)
	}
	if data, err := os.ReadFile(counter); err != nil || len(data) != 1 {
		t.Errorf("it ran %d times, error %v", len(data), err)
	}
}

// CAP-23, SET-04: cancellation during setup.
func TestCancelDuringSetup(t *testing.T) {
	request := withSetup("hang", "/dev/null").request(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request.Progress = func(_, _ int, text string) {
		if text == "setup" {
			time.AfterFunc(200*time.Millisecond, cancel)
		}
	}
	outcome, err := Run(ctx, request)
	if err != nil || outcome.Status != evidence.Cancelled || outcome.Samples != (Counts{Planned: 4, Unstarted: 4}) {
		t.Errorf("got %+v, error %v", outcome, err)
	}
	if _, err := inspect.Inspect(t.Context(), request.Dir); err != nil {
		t.Errorf("inspect: %v", err)
	}
}

// SET-02: setup shares the environment of the runner, secrets included.
func TestSetupEnvironment(t *testing.T) {
	documents := withSetup("environment", "/dev/null")
	documents.runner["env_secret"] = []any{"GP_SECRET"}
	request := documents.request(t)
	request.Secrets = map[string]string{"GP_SECRET": "hunter2-secret"}
	capture(t, request)
	printed, err := os.ReadFile(filepath.Join(request.Dir, evidence.SetupDir, evidence.StdoutFile))
	if err != nil || string(printed) != "declared-value hunter2-secret true\n" {
		t.Errorf("got %q, error %v", printed, err)
	}
}
