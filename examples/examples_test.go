// Package examples runs the example plans: each validates and dry-runs anywhere,
// and those whose program is installed are carried out to a verdict. The quickstart
// is carried out by package readme. It has no shipped code.
package examples

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/plan"
)

const (
	quickstart = "quickstart.hcl"
	ffmpeg     = "ffmpeg-preset.hcl"
	espeak     = "espeak-speech.hcl"
	gpu        = "gpu-experiments.hcl"
)

// copyPlans keeps what a run leaves beside a plan out of the project.
func copyPlans(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("plans")); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestExamples(t *testing.T) {
	program, folder := build(t), copyPlans(t)
	names, err := fs.Glob(os.DirFS("plans"), "*.hcl")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{espeak, ffmpeg, gpu, quickstart}; !slices.Equal(names, want) {
		t.Errorf("the plans are %q, tested are %q", names, want)
	}
	for _, name := range names {
		path := filepath.Join(folder, name)
		t.Run("validate "+name, func(t *testing.T) {
			program.run(t, 0, "validate", path)
			program.run(t, 0, "fmt", "--check", path)
		})
		// PLN-14: nothing of the machine is needed, and equal calls print equal bytes.
		t.Run("plan "+name, func(t *testing.T) {
			first := program.run(t, 0, "plan", path)
			if second := program.run(t, 0, "plan", path); first != second {
				t.Errorf("two calls printed\n%s\nand\n%s", first, second)
			}
			if _, err := os.Stat(filepath.Join(folder, "grill-runs")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("plan left a run directory: %v", err)
			}
		})
	}
	t.Run("ffmpeg", func(t *testing.T) { runFFmpeg(t, program, filepath.Join(folder, ffmpeg)) })
	t.Run("espeak-ng", func(t *testing.T) { runEspeak(t, program, filepath.Join(folder, espeak)) })
}

// The experiments of the results document: three pairs at 480p, one at 768p, and
// one at 480p whose baseline is the candidate of the others. EXP-02: seeds that are
// equal as floating-point numbers stay different.
func TestGPUExperiments(t *testing.T) {
	loaded, diags := plan.Load(filepath.Join("plans", gpu), plan.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	type pair struct {
		address, reference, candidate string
		width, height, seed           uint64
		switches                      bool
	}
	var got []pair
	for _, e := range loaded.Experiments {
		request := e.Workload.Document.Request
		got = append(got, pair{
			address:   e.Address,
			reference: *e.Reference.Deployment.Document.Settings,
			candidate: *e.Candidate.Deployment.Document.Settings,
			width:     *request.Width, height: *request.Height, seed: request.Seeds[0],
			switches: e.Reference.Deployment.Switch != nil && e.Restore != nil,
		})
	}
	want := []pair{
		{`experiment.chunking["480p-first"]`, "gemm-default", "gemm-chunk-8192", 832, 480, 7963148796659521215, true},
		{`experiment.chunking["480p-hot"]`, "gemm-default", "gemm-chunk-8192", 832, 480, 7963148796659521215, true},
		{`experiment.chunking["480p-second-seed-first"]`, "gemm-default", "gemm-chunk-8192", 832, 480, 7963148796659521216, true},
		{"experiment.chunking_768p", "gemm-default", "gemm-chunk-8192", 1344, 768, 7963148796659521215, true},
		{"experiment.direct", "gemm-chunk-8192", "gemm-chunk-8192-direct", 832, 480, 7963148796659521215, true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("experiments:\n got %+v\nwant %+v", got, want)
	}
}

func runFFmpeg(t *testing.T, program binary, file string) {
	path := tool(t, "/usr/bin/ffmpeg")
	// A busy machine may spread the reference; no sample may be ineligible for it.
	verdict(t, program, "--out", filepath.Join(t.TempDir(), "run"), "--var", "ffmpeg="+path, file)
}

func runEspeak(t *testing.T, program binary, file string) {
	path := tool(t, "/usr/bin/espeak-ng")
	verdict(t, program, "--out", filepath.Join(t.TempDir(), "run"),
		"--var", "espeak="+path, "--var", "duration_us="+spoken(t, program, path), file)
}

// spoken is how long the installed voice takes, as the comment in the plan says.
func spoken(t *testing.T, program binary, path string) string {
	t.Helper()
	prompt, err := os.ReadFile("plans/prompts/speech.txt")
	if err != nil {
		t.Fatal(err)
	}
	speech := filepath.Join(t.TempDir(), "speech.wav")
	said := exec.Command(path, "-v", "en-us", "-s", "160", "-w", speech, "--", strings.TrimSuffix(string(prompt), "\n"))
	if output, err := said.CombinedOutput(); err != nil {
		t.Fatalf("espeak-ng: %v\n%s", err, output)
	}
	var found any
	if err := json.Unmarshal([]byte(program.run(t, 0, "media", "check", "--json", speech)), &found); err != nil {
		t.Fatal(err)
	}
	duration, ok := number(found, "duration_us")
	if !ok {
		t.Fatalf("no duration_us in %v", found)
	}
	return duration
}

// number looks for a field at any depth.
func number(value any, name string) (string, bool) {
	switch value := value.(type) {
	case map[string]any:
		if found, ok := value[name].(float64); ok {
			return strconv.FormatInt(int64(found), 10), true
		}
		for _, inner := range value {
			if found, ok := number(inner, name); ok {
				return found, true
			}
		}
	case []any:
		for _, inner := range value {
			if found, ok := number(inner, name); ok {
				return found, true
			}
		}
	}
	return "", false
}

// verdict runs a plan to PASS, or to INCONCLUSIVE for the noise of the machine.
func verdict(t *testing.T, program binary, args ...string) {
	t.Helper()
	code, output := program.start(t, append([]string{"run"}, args...)...)
	if code != 0 && code != 2 || strings.Contains(output, "insufficient_samples") {
		t.Fatalf("run ended with %d:\n%s", code, output)
	}
	t.Logf("run ended with %d:\n%s", code, output)
}

// tool finds an outside program, or skips the test; where tools are required, its
// absence is a failure.
func tool(t *testing.T, path string) string {
	t.Helper()
	if found, err := exec.LookPath(filepath.Base(path)); err == nil {
		absolute, err := filepath.Abs(found)
		if err != nil {
			t.Fatal(err)
		}
		return absolute
	}
	if os.Getenv("REQUIRE_TOOLS") == "1" {
		t.Fatalf("%s is missing: run scripts/install-debian.sh", path)
	}
	t.Skipf("%s is missing", path)
	return ""
}

// binary is the built grill-plan.
type binary string

func build(t *testing.T) binary {
	t.Helper()
	path := filepath.Join(t.TempDir(), "grill-plan")
	output, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, "../cmd/grill-plan").CombinedOutput()
	if err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}
	return binary(path)
}

// run demands an exit status and gives standard output.
func (b binary) run(t *testing.T, want int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(string(b), args...)
	cmd.Env = append(os.Environ(), "GRILL_PLAN_HOST_LOCK="+string(b)+".lock")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	if code := cmd.ProcessState.ExitCode(); code != want {
		t.Fatalf("grill-plan %s ended with %d, want %d:\n%s%s", strings.Join(args, " "), code, want, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// start gives the exit status, and both streams together.
func (b binary) start(t *testing.T, args ...string) (int, string) {
	t.Helper()
	cmd := exec.Command(string(b), args...)
	cmd.Env = append(os.Environ(), "GRILL_PLAN_HOST_LOCK="+string(b)+".lock")
	output, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(output)
}
