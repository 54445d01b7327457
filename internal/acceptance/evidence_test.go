package acceptance

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// judged: a busy machine may make one sample take twice its time, and then the
// verdict is INCONCLUSIVE, which is none of these tests' business.
func judged(code int) bool { return code == 0 || code == 2 }

// captures copies the captures of a finished run elsewhere and removes the run.
func captures(t *testing.T, dir string) string {
	t.Helper()
	elsewhere := t.TempDir()
	for _, arm := range []string{"a", "b", "a2"} {
		source := filepath.Join(dir, "nodes", "experiment.speed.capture."+arm, "attempt-1")
		if err := os.CopyFS(filepath.Join(elsewhere, arm), os.DirFS(source)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	return elsewhere
}

// TestCapturesStandAlone inspects and compares captures in another folder, after
// the run is gone, and again with one byte changed in each file in turn: the
// verdict is the run's, and damage is exit 1 with the file's name (INS-01,
// INS-04, INS-05, CMP-02, CMP-23).
func TestCapturesStandAlone(t *testing.T) {
	program := build(t)
	dir := filepath.Join(t.TempDir(), "run")
	verdict, out := run(t, program, "", "run", quickstart(t, "200ms"), "--out", dir)
	if !judged(verdict) {
		t.Fatalf("run ended with %d:\n%s", verdict, out)
	}
	elsewhere := captures(t, dir)
	compare := []string{"media", "compare"}
	for _, arm := range []string{"a", "b", "a2"} {
		if code, out := run(t, program, "", "media", "inspect", filepath.Join(elsewhere, arm)); code != 0 {
			t.Errorf("inspect %s ended with %d:\n%s", arm, code, out)
		}
		compare = append(compare, "--"+arm, filepath.Join(elsewhere, arm))
	}
	if code, out := run(t, program, "", compare...); code != verdict {
		t.Errorf("compare ended with %d:\n%s", code, out)
	}
	files := 0
	err := filepath.WalkDir(filepath.Join(elsewhere, "b"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		files++
		damage(t, program, elsewhere, path, compare)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Errorf("the capture has only %d files", files)
	}
}

// damage changes one byte of a file, demands that both commands name the file,
// and mends it.
func damage(t *testing.T, program, elsewhere, path string, compare []string) {
	t.Helper()
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(filepath.Join(elsewhere, "b"), path)
	if err != nil {
		t.Fatal(err)
	}
	bad := append([]byte(nil), good...)
	if len(bad) == 0 {
		bad = []byte("x")
	} else {
		bad[len(bad)/2] ^= 0x10
	}
	for _, args := range [][]string{{"media", "inspect", filepath.Join(elsewhere, "b")}, compare} {
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		code, out := run(t, program, "", args...)
		if code != 1 || !strings.Contains(out, filepath.ToSlash(relative)) {
			t.Errorf("%s with a changed byte: media %s ended with %d:\n%s", relative, args[1], code, out)
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestEditedPlan: plan prints the same bytes twice; after one argument is edited
// it names that argument and the nodes to do again, and run stops before any
// effect until --replan; nothing is deleted then (PLN-14, PLN-15, PLN-23).
func TestEditedPlan(t *testing.T) {
	program := build(t)
	plan := quickstart(t, "200ms")
	dir := filepath.Join(t.TempDir(), "run")
	if code, out := run(t, program, "", "run", plan, "--out", dir); !judged(code) {
		t.Fatalf("run ended with %d:\n%s", code, out)
	}
	_, first := run(t, program, "", "plan", plan, "--out", dir)
	_, second := run(t, program, "", "plan", plan, "--out", dir)
	if first != second {
		t.Error("plan printed other bytes the second time")
	}
	text, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	write(t, plan, strings.Replace(string(text), `"--work", "2"`, `"--work", "3"`, 1))
	_, edited := run(t, program, "", "plan", plan, "--out", dir)
	for _, want := range []string{
		"runner.args[10] changed", "3 reused, 0 to run, 7 to redo",
		"only with --replan:\n    experiment.speed.capture.b\n    experiment.speed.capture.a2\n",
	} {
		if !strings.Contains(edited, want) {
			t.Errorf("plan does not say %q:\n%s", want, edited)
		}
	}
	code, out := run(t, program, "", "run", plan, "--out", dir)
	if code != 1 || !strings.Contains(out, "--replan") || !strings.Contains(out, "experiment.speed.capture.b: runner.args[10] changed") {
		t.Errorf("run ended with %d:\n%s", code, out)
	}
	again := filepath.Join(dir, "nodes", "experiment.speed.capture.b", "attempt-2")
	if _, err := os.Stat(again); err == nil {
		t.Error("run made a new attempt without --replan")
	}
	if code, out := run(t, program, "", "run", plan, "--out", dir, "--replan"); !judged(code) {
		t.Errorf("run --replan ended with %d:\n%s", code, out)
	}
	for _, kept := range []string{again, filepath.Join(dir, "nodes", "experiment.speed.capture.b", "attempt-1", "completion.json")} {
		if _, err := os.Stat(kept); err != nil {
			t.Errorf("after --replan: %v", err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "nodes", "experiment.speed.capture.a", "attempt-2")); err == nil {
		t.Error("slot a was measured again although nothing of it changed")
	}
}
