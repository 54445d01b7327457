package acceptance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/diff"
)

// struck are the fields of results.json that two runs of one plan may differ
// in: clock readings, durations and what is computed from them, attempts, paths
// of the run folder, and digests over any of these.
var struck = map[string]bool{
	"started_unix_ms": true, "finished_unix_ms": true, "elapsed_ms": true, "gap_ms": true,
	"end_to_end_us": true, "reference_range": true, "candidate_range": true, "figures": true,
	"realtime_factor": true, "frames_per_second_end_to_end": true,
	"seconds_per_image": true, "images_per_second_end_to_end": true,
	"attempts": true, "attempt": true, "receipt_sha256": true, "evidence_sha256": true,
	"dir": true, "completion_sha256": true, "comparison_sha256": true,
	"advice": true, "suspended_us": true,
}

// TestKilledAtRandom kills the program with SIGKILL at random moments and goes
// on each time: the verdict and the results are those of an undisturbed run, no
// process is left over, and every capture that was complete at a kill is the one
// in the result (PLN-21, PLN-22, PLN-25, PLN-26, CAP-34).
func TestKilledAtRandom(t *testing.T) {
	kills := 50
	if testing.Short() {
		kills = 5
	}
	program := build(t)
	plan := quickstart(t, "80ms")
	want, took := undisturbed(t, program, plan)
	noisy := 0
	for done, trial := 0, 0; done < kills; trial++ {
		dir := filepath.Join(t.TempDir(), "killed")
		mark := fmt.Sprintf("grill-accept-%d-%d", os.Getpid(), trial)
		var kept []string
		for n := 1 + rand.N(3); n > 0 && done < kills; n-- {
			if !killed(t, program, mark, rand.N(took), "run", plan, "--out", dir) {
				break // it ended before the kill; the resume below shows the same result
			}
			done++
			kept = append(kept, completions(t, dir)...)
		}
		code, out := run(t, program, mark, "run", plan, "--out", dir)
		if code != 0 && code != 2 {
			t.Fatalf("trial %d: going on ended with %d:\n%s", trial, code, out)
		}
		text := raw(t, dir)
		for _, digest := range kept {
			if !strings.Contains(text, digest) {
				t.Errorf("trial %d: capture with evidence digest %s was complete when the program was killed and is not in the result", trial, digest)
			}
		}
		if left := marked(t, mark); len(left) > 0 {
			t.Errorf("trial %d: processes left over: %v", trial, left)
		}
		if explained := code == 2 && strings.Contains(out, "envelope_straddles_tolerance"); explained && noisy < 2+kills/5 {
			noisy++ // a busy machine made one sample take twice its time; the verdict says so
			continue
		}
		if code != 0 {
			t.Fatalf("trial %d: going on ended with %d:\n%s", trial, code, out)
		}
		if got := results(t, dir); !reflect.DeepEqual(got, want) {
			t.Fatalf("trial %d: results differ from an undisturbed run's:\n%s", trial,
				diff.Diff("undisturbed", asJSON(want), "killed", asJSON(got)))
		}
	}
}

// undisturbed runs the plan to its PASS without a kill. On a busy machine one
// sample may take twice its time, which is INCONCLUSIVE and no fault.
func undisturbed(t *testing.T, program, plan string) (want any, took time.Duration) {
	t.Helper()
	for try := 0; ; try++ {
		dir := filepath.Join(t.TempDir(), "undisturbed")
		began := time.Now()
		code, out := run(t, program, "", "run", plan, "--out", dir)
		if code == 0 {
			return results(t, dir), time.Since(began)
		}
		if code != 2 || try == 5 {
			t.Fatalf("undisturbed run ended with %d:\n%s", code, out)
		}
	}
}

// killed starts the program, kills it after a while and says whether that came
// before its end.
func killed(t *testing.T, program, mark string, after time.Duration, args ...string) bool {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = environment(t, mark)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled()
}

// run runs the program to its end and gives its exit code and output.
func run(t *testing.T, program, mark string, args ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = environment(t, mark)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// environment marks a process and gives each test a lock of its own in place of
// the machine's, which other tests hold.
func environment(t *testing.T, mark string) []string {
	lock := filepath.Join(os.TempDir(), fmt.Sprintf("grill-accept-%d.lock", os.Getpid()))
	t.Cleanup(func() { os.Remove(lock) })
	return append(os.Environ(), "GRILL_ACCEPT="+mark, "GRILL_PLAN_HOST_LOCK="+lock)
}

// build builds the program once for a test.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "grill-plan")
	out, err := exec.Command("go", "build", "-o", program, "github.com/grill-plan/grill-plan/cmd/grill-plan").CombinedOutput()
	if err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return program
}

// quickstart copies the quickstart plan with shorter samples and wider bounds,
// so that its verdict holds although they are short.
func quickstart(t *testing.T, takes string) string {
	t.Helper()
	examples := filepath.Join("..", "..", "examples", "plans")
	text, err := os.ReadFile(filepath.Join(examples, "quickstart.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	prompt, err := os.ReadFile(filepath.Join(examples, "prompts", "harbour.txt"))
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.ReplaceAll(string(text), `"1500ms"`, fmt.Sprintf("%q", takes))
	edited = strings.Replace(edited, "max_adverse_bps          = 2000", "max_adverse_bps          = 9999", 1)
	edited = strings.Replace(edited, "max_reference_spread_bps = 2000", "max_reference_spread_bps = 1000000", 1)
	if strings.Count(edited, "9999") != 1 || strings.Count(edited, "1000000") != 1 || !strings.Contains(edited, takes) {
		t.Fatal("the quickstart plan no longer has what this test edits")
	}
	edited = strings.ReplaceAll(edited, `"--work", "100"`, `"--work", "1"`)
	edited = strings.ReplaceAll(edited, `"--work", "200"`, `"--work", "2"`)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "quickstart.hcl"), edited)
	if err := os.Mkdir(filepath.Join(dir, "prompts"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "prompts", "harbour.txt"), string(prompt))
	return filepath.Join(dir, "quickstart.hcl")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func raw(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "report", "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// results reads results.json without what two runs may differ in.
func results(t *testing.T, dir string) any {
	t.Helper()
	var value any
	decoder := json.NewDecoder(strings.NewReader(raw(t, dir)))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return strike(value)
}

func strike(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name := range value {
			if struck[name] {
				value[name] = "struck"
				continue
			}
			value[name] = strike(value[name])
		}
	case []any:
		for i := range value {
			value[i] = strike(value[i])
		}
	}
	return value
}

func asJSON(value any) []byte {
	data, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		return []byte(err.Error())
	}
	return append(data, '\n')
}

// completions are the evidence digests of all captures that are complete.
func completions(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "nodes", "*", "*", "attempt-*", "completion.json"))
	if err != nil {
		t.Fatal(err)
	}
	deeper, err := filepath.Glob(filepath.Join(dir, "nodes", "*", "attempt-*", "completion.json"))
	if err != nil {
		t.Fatal(err)
	}
	var digests []string
	for _, path := range append(found, deeper...) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var completion struct {
			Status         string `json:"status"`
			EvidenceSHA256 string `json:"evidence_sha256"`
		}
		if err := json.Unmarshal(data, &completion); err != nil {
			t.Fatalf("%s: a published record is not whole: %v", path, err)
		}
		if completion.Status == "complete" {
			digests = append(digests, completion.EvidenceSHA256)
		}
	}
	return digests
}

// marked are the living processes whose environment holds the mark.
func marked(t *testing.T, mark string) []string {
	t.Helper()
	entries, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, path := range entries {
		data, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(data), "GRILL_ACCEPT="+mark+"\x00") {
			left = append(left, filepath.Base(filepath.Dir(path)))
		}
	}
	return left
}
