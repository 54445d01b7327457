package steps_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/grill-plan/grill-plan/executor"
	"github.com/grill-plan/grill-plan/steps"
)

// A disk that is full or read-only fails the run with an error that says so;
// what was finished stays, and the same command goes on once there is room
// (CAP-08, PLN-19).
func TestNoRoom(t *testing.T) {
	b := newBench(t, experiment)
	small := filepath.Join(b.dir, "small")
	if err := os.Mkdir(small, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", small).CombinedOutput(); err != nil {
		if os.Getenv("REQUIRE_TOOLS") == "1" {
			t.Fatalf("a small file system cannot be mounted here, which needs root: %v: %s", err, out)
		}
		t.Skipf("a small file system cannot be mounted here, which needs root: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", small).Run() })
	inSmall := func(input *steps.RunInput) { input.RunDir = filepath.Join(small, "run") }
	outcome, err := b.run(inSmall)
	if err == nil && (outcome.ExitCode() != 1 || !strings.Contains(outcome.Report.Text("run"), "no space left")) {
		t.Errorf("a full disk: exit %d\n%s", outcome.ExitCode(), outcome.Report.Text("run"))
	}
	if err != nil && !strings.Contains(err.Error(), "no space left") {
		t.Errorf("a full disk: %v", err)
	}
	if served := b.read("serve.log"); !strings.HasPrefix(served, "old\n") || !strings.HasSuffix(served, "restored\n") {
		t.Errorf("a full disk left the host switched:\n%s", served)
	}
	if out, err := exec.Command("mount", "-o", "remount,size=64m", small).CombinedOutput(); err != nil {
		t.Fatalf("remount: %v: %s", err, out)
	}
	again, err := b.run(inSmall)
	if err != nil {
		t.Fatalf("with room again: %v", err)
	}
	b.mustJudge(again)
	if out, err := exec.Command("mount", "-o", "remount,ro", small).CombinedOutput(); err != nil {
		t.Fatalf("remount: %v: %s", err, out)
	}
	if _, err := b.run(inSmall); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a read-only run directory gives %v", err)
	}
}

// Another build of a program under one path makes its side stale, and the reason
// names the program and both hashes (PLN-15, PLN-40).
func TestRebuiltProgramIsNamed(t *testing.T) {
	b := newBench(t, experiment)
	b.mustRun()
	b.write("make.sh", b.read("make.sh")+"# another build\n", 0o700)
	_, err := b.run(nil)
	var discard *executor.DiscardError
	if !errors.As(err, &discard) || len(discard.Nodes) != 4 {
		t.Fatalf("error %v does not list four captures", err)
	}
	if text := err.Error(); !strings.Contains(text, "capture.a: the program "+filepath.Join(b.dir, "make.sh")+" changed from ") {
		t.Errorf("the program is not named:\n%s", text)
	}
	dry, err := steps.Dry(t.Context(), steps.DryRunInput{Loaded: b.load(), RunDir: filepath.Join(b.dir, "run")})
	if err != nil || !strings.Contains(strings.Join(dry.Nodes[0].Reasons, " "), "make.sh changed from ") {
		t.Errorf("plan does not name the program: %v %v", err, dry.Nodes[0].Reasons)
	}
}

// A missing hook program is found before any slot is measured.
func TestMissingHookMeasuresNothing(t *testing.T) {
	b := newBench(t, experiment)
	b.edit("plan.hcl", "    program     = \"./serve.sh\"\n    args        = [\"new\"]", "    program     = \"./absent.sh\"\n    args        = [\"new\"]")
	_, err := b.run(nil)
	var missing *steps.MissingHooksError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "absent.sh") {
		t.Errorf("error %v does not name the missing hook", err)
	}
	if made, served := b.read("made.log"), b.read("serve.log"); made != "" || served != "" {
		t.Errorf("something was started:\n%s\n%s", made, served)
	}
}

// An output that claims far more than its bound is evidence by its size and is
// not read, neither by the capture nor by the checkpoint (CAP-31).
func TestSparseOutputIsNotRead(t *testing.T) {
	b := newBench(t, strings.Replace(experiment, "  slots ", "  fail_fast = false\n  slots ", 1))
	b.edit("make.sh", "cp picture.png \"$2\"", "truncate -s 1T \"$2\"")
	outcome := b.mustRun()
	if outcome.ExitCode() != 2 || !strings.Contains(outcome.Report.Text("run"), "output_oversized 3 times") {
		t.Errorf("exit %d\n%s", outcome.ExitCode(), outcome.Report.Text("run"))
	}
	if again := b.mustRun(); !again.NothingDone() {
		t.Errorf("the second run did %d nodes", again.Summary.Ran)
	}
}

// Something else in place of a file of the run is an error at once (never a
// hang), and nothing is lost by it.
func TestOddFilesInRunDirectory(t *testing.T) {
	b := newBench(t, experiment)
	b.mustRun()
	for _, name := range []string{"manifest.json", "events.ndjson", "lock", "plan/graph.json", "plan/context.json"} {
		path := filepath.Join(b.dir, "run", filepath.FromSlash(name))
		if err := os.Rename(path, path+".kept"); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("mkfifo", path).CombinedOutput(); err != nil {
			t.Fatalf("mkfifo: %v: %s", err, out)
		}
		done := make(chan error, 2)
		go func() { _, err := b.run(nil); done <- err }()
		go func() { _, err := steps.Collect(t.Context(), filepath.Join(b.dir, "run")); done <- err }()
		failed := 0
		for range 2 {
			select {
			case err := <-done:
				if err != nil {
					failed++
				}
			case <-time.After(time.Minute):
				t.Fatalf("a FIFO in place of %s hangs", name)
			}
		}
		if failed == 0 && name != "lock" {
			t.Errorf("a FIFO in place of %s is not noticed", name)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".kept", path); err != nil {
			t.Fatal(err)
		}
	}
	if again := b.mustRun(); !again.NothingDone() {
		t.Errorf("afterwards a run did %d nodes", again.Summary.Ran)
	}
}

// A plan whose experiments all have an empty for_each measures nothing, which is
// an error and no verdict.
func TestNothingToMeasure(t *testing.T) {
	b := newBench(t, strings.Replace(experiment, `experiment "e" {`, "experiment \"e\" {\n  for_each = {}", 1))
	if _, err := b.run(nil); err == nil || !strings.Contains(err.Error(), "nothing to measure") {
		t.Errorf("an empty plan gives %v", err)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "run")); err == nil {
		t.Error("a run directory was made")
	}
}
