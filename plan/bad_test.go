package plan_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/grill-plan/grill-plan/plan"
	"github.com/grill-plan/grill-plan/plan/compile"
)

// TestBadPlans loads each fixture beside a sound plan and holds what is found
// against the comments of the fixture. `# error: SUMMARY: PART` on a line says
// that one error with this summary, whose detail holds PART, points at that
// line; several are separated by ` && `. An error that is missing and one too
// many both fail. A fixture that starts with `# alone` is a whole plan.
//
// The fixtures hold PLN-01, PLN-02, PLN-03, PLN-05, PLN-09, PLN-10, PLN-11 and
// PLN-12.
func TestBadPlans(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.hcl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".hcl"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := expectations(data)
			if len(want) == 0 {
				t.Fatal("the fixture expects nothing")
			}
			found := loadFixture(t, filepath.Base(file), data)
			checkExpectations(t, filepath.Base(file), want, found)
		})
	}
}

type expectation struct {
	line          int
	summary, part string
}

func expectations(data []byte) []expectation {
	var want []expectation
	scanner := bufio.NewScanner(bytes.NewReader(data))
	for line := 1; scanner.Scan(); line++ {
		_, text, marked := strings.Cut(scanner.Text(), "# error: ")
		if !marked {
			continue
		}
		for _, one := range strings.Split(text, " && ") {
			summary, part, _ := strings.Cut(one, ": ")
			want = append(want, expectation{line, summary, strings.TrimSpace(part)})
		}
	}
	return want
}

func loadFixture(t *testing.T, name string, data []byte) hcl.Diagnostics {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/beside")); err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(data, []byte("# alone")) {
		copyFile(t, "testdata/base.hcl", filepath.Join(dir, "base.hcl"))
	}
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, found := plan.Load(dir, plan.Options{})
	if !found.HasErrors() {
		_, more := compile.Compile(loaded, compile.Options{Collector: strings.Repeat("0", 64)})
		found = append(found, more...)
	}
	return found
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func checkExpectations(t *testing.T, name string, want []expectation, found hcl.Diagnostics) {
	t.Helper()
	for _, diag := range found {
		checkForm(t, diag)
		line, file := 0, ""
		if diag.Subject != nil {
			line, file = diag.Subject.Start.Line, filepath.Base(diag.Subject.Filename)
		}
		match := slices.IndexFunc(want, func(w expectation) bool {
			return file == name && w.line == line && w.summary == diag.Summary && strings.Contains(diag.Detail, w.part)
		})
		if match < 0 {
			t.Errorf("unexpected: %s:%d: %s: %s", file, line, diag.Summary, diag.Detail)
			continue
		}
		want = slices.Delete(want, match, match+1)
	}
	for _, w := range want {
		t.Errorf("missing: %s:%d: %s: …%s…", name, w.line, w.summary, w.part)
	}
}

// checkForm holds what every diagnostic has: a place, a short summary without
// full stop, a detail in sentences, and nothing a stock writer would print a
// value from.
func checkForm(t *testing.T, diag *hcl.Diagnostic) {
	t.Helper()
	switch {
	case diag.Subject == nil || diag.Subject.Start.Line < 1 || diag.Subject.Start.Column < 1:
		t.Errorf("no place: %v", diag)
	case diag.Summary == "" || strings.HasSuffix(diag.Summary, "."):
		t.Errorf("summary %q", diag.Summary)
	case diag.Detail == "":
		t.Errorf("no detail: %v", diag)
	case diag.Expression != nil || diag.EvalContext != nil:
		t.Errorf("carries values: %v", diag)
	}
}

// TestDiagnosticsAreSorted holds the order of PLN-02 over all fixtures of a
// folder at once.
func TestDiagnosticsAreSorted(t *testing.T) {
	_, found := plan.Load("testdata/bad", plan.Options{})
	if len(found) < 20 {
		t.Fatalf("only %d diagnostics", len(found))
	}
	last := ""
	for _, diag := range found {
		if diag.Subject == nil {
			continue
		}
		place := fmt.Sprintf("%s:%09d", diag.Subject.Filename, diag.Subject.Start.Byte)
		if place < last {
			t.Errorf("%s after %s", place, last)
		}
		last = place
	}
}
