package rules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every import rule says why, and none is shadowed by an earlier one.
func TestImportRulesAreSound(t *testing.T) {
	rules := ImportRules()
	for i, rule := range rules {
		if rule.Reason == "" {
			t.Errorf("%s has no reason", rule.Package)
		}
		folder, family := strings.CutSuffix(rule.Package, "/...")
		for _, earlier := range rules[:i] {
			if matches(earlier.Package, folder) && (!family || strings.HasSuffix(earlier.Package, "/...")) {
				t.Errorf("%s never applies: %s stands before it", rule.Package, earlier.Package)
			}
		}
	}
}

// tree writes a module of the files given and loads it.
func tree(t *testing.T, sources map[string]string) []*File {
	t.Helper()
	dir := t.TempDir()
	for name, source := range sources {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func importing(pkg, name string) string {
	return "package " + pkg + "\n\nimport _ \"" + name + "\"\n"
}

func TestCheckImports(t *testing.T) {
	for _, test := range []struct {
		name, file, source string
		want               string // part of the problem, "" for none
	}{
		{"plan knows documents", "plan/a.go", importing("plan", Module+"/plan/document"), ""},
		{"plan reads HCL", "plan/a.go", importing("plan", "github.com/hashicorp/hcl/v2/hclsyntax"), ""},
		{"plan never runs", "plan/a.go", importing("plan", Module+"/executor"), "plan may not import executor"},
		{"plan tests never run", "plan/a_test.go", importing("plan", Module+"/executor"), "not even in tests"},
		{"executor knows no HCL", "executor/a.go", importing("executor", "github.com/hashicorp/hcl/v2"), "executor may not import github.com/hashicorp/hcl/v2"},
		{"executor knows no steps", "executor/a.go", importing("executor", Module+"/steps"), "executor may not import steps"},
		{"executor tests know no media", "executor/a_test.go", importing("executor", Module+"/media"), "not even in tests"},
		{"executor reads graphs", "executor/a.go", importing("executor", Module+"/plan/graph"), ""},
		{"media starts nothing", "media/png/a.go", importing("png", "os/exec"), "media/png may not import os/exec"},
		{"media tests may ask ffprobe", "media/png/a_test.go", importing("png", "os/exec"), ""},
		{"media stands alone", "media/a.go", importing("media", Module+"/internal/durable"), "media may not import internal/durable"},
		{"a system's file counts", "media/a_darwin.go", importing("media", "os/exec"), "media may not import os/exec"},
		{"a prefix is no path", "executor/a.go", importing("executor", "golang.org/x/system"), "executor may not import golang.org/x/system"},
		{"shipped files test nothing", "steps/a.go", importing("steps", "testing"), "shipped files may not import testing"},
		{"conformance suites may", "steps/stepstest/a.go", importing("stepstest", "testing"), ""},
		{"no folder without a rule", "surprise/a.go", "package surprise\n", "no import rule"},
		{"another system is not looked at", "plan/a.go", "//go:build windows\n\n" + importing("plan", Module+"/executor"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			expect(t, CheckImports(tree(t, map[string]string{test.file: test.source})), test.want)
		})
	}
}

// expect wants exactly one problem that contains want, or none if it is empty.
func expect(t *testing.T, problems []Problem, want string) {
	t.Helper()
	switch {
	case want == "" && len(problems) > 0:
		t.Errorf("got %v, want no problem", problems)
	case want != "" && (len(problems) != 1 || !strings.Contains(problems[0].String(), want)):
		t.Errorf("got %v, want one problem with %q", problems, want)
	}
}

func TestCheckShape(t *testing.T) {
	const doc = "// Package p owns nothing.\npackage p\n"
	for _, test := range []struct {
		name, file, source string
		want               string
	}{
		{"plain", "p/a.go", doc, ""},
		{"at the bound", "p/a.go", doc + strings.Repeat("\n", maxLines-2), ""},
		{"too long", "p/a.go", doc + strings.Repeat("\n", maxLines-1), "501 lines"},
		{"tests may be longer", "p/a_test.go", "package p\n" + strings.Repeat("\n", maxLines), ""},
		{"package name", "p/util/a.go", "// Package util owns nothing.\npackage util\n", `a name with "util"`},
		{"file name", "p/run_helpers_test.go", "package p\n", `a name with "helpers"`},
		{"unfinished", "p/a.go", doc + "\n// TO" + "DO: more\n", "p/a.go:4: unfinished"},
		{"an escape is no note", "p/a.go", doc + "\n// \\uXXXX is an escape.\n", ""},
		{"init", "p/a.go", doc + "\nfunc init() {}\n", "no work in init"},
		{"method called init", "p/a.go", doc + "\ntype t struct{}\n\nfunc (t) init() {}\n", ""},
		{"state", "p/a.go", doc + "\nvar count int\n", "package variable count"},
		{"table", "p/a.go", doc + "\nvar primes = []int{2, 3}\n", ""},
		{"embedded", "p/a.go", doc + "\nimport _ \"embed\"\n\n//go:embed a.txt\nvar text string\n", ""},
		{"exit", "p/a.go", doc + "\nimport \"os\"\n\nfunc f() { os.Exit(1) }\n", "os.Exit outside main"},
		{"fatal", "p/a.go", doc + "\nimport \"log\"\n\nfunc f() { log.Fatalf(\"x\") }\n", "log.Fatalf outside main"},
		{"exit of main", "p/a.go", "// Command p does nothing.\npackage main\n\nimport \"os\"\n\nfunc main() { os.Exit(1) }\n", ""},
		{"no comment", "p/a.go", "package p\n", "no package comment"},
		{"other comment", "p/a.go", "// What p owns.\npackage p\n", "does not start with"},
		{"only tests", "p/a_test.go", "package p\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			expect(t, CheckShape(tree(t, map[string]string{test.file: test.source})), test.want)
		})
	}
	t.Run("two comments", func(t *testing.T) {
		expect(t, CheckShape(tree(t, map[string]string{"p/a.go": doc, "p/b.go": doc})), "a second package comment")
	})
}

const requirementsText = `# Requirements

- **DOC-01** One object.
  <br>*Note:* see DOC-09 and SHA-256.
- **DOC-02** Unknown fields are rejected.
- **DOC-03** Twice is rejected.
- **SPH-01** Servers.
`

func coverageOf(t *testing.T, sources map[string]string) Coverage {
	t.Helper()
	dir := t.TempDir()
	sources["docs/requirements.md"] = requirementsText
	for name, source := range sources {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	coverage, err := Cover(dir)
	if err != nil {
		t.Fatal(err)
	}
	return coverage
}

func TestCoverage(t *testing.T) {
	coverage := coverageOf(t, map[string]string{
		// A comment above a test, a string in a table, a script, and places that do
		// not count: shipped code, other text files, text that only looks like an id.
		"p/a_test.go":            "package p\n\n// DOC-01\nfunc TestOne(t *testing.T) {\n\tname := \"DOC-02 unknown\"\n\t_ = \"UTF-16 and SHA-256\"\n}\n",
		"p/b.go":                 "// Package p holds DOC-03.\npackage p\n",
		"cmd/testdata/x.txtar":   "# SPH-01\nexec true\n",
		"cmd/testdata/notes.txt": "DOC-03\n",
		"p/c_test.go":            "package p\n\n// DOC-77\n",
	})
	var got []string
	for _, requirement := range coverage.Requirements {
		for _, holder := range coverage.Holders[requirement.ID] {
			got = append(got, requirement.ID+" "+holder.String())
		}
	}
	want := []string{"DOC-01 p/a_test.go:3 TestOne", "DOC-02 p/a_test.go:5 TestOne", "SPH-01 cmd/testdata/x.txtar:1"}
	if !slices.Equal(got, want) {
		t.Errorf("holders:\n got %q\nwant %q", got, want)
	}

	problems := CheckCoverage(coverage, []string{"DOC"}, []Exemption{{ID: "DOC-02"}})
	var messages []string
	for _, problem := range problems {
		messages = append(messages, problem.String())
	}
	want = []string{
		"p/c_test.go:3: no requirement is called DOC-77",
		"p/a_test.go: DOC-02 is held by a test: remove its exemption",
		"docs/requirements.md: DOC-03 is held by no test: Twice is rejected.",
	}
	if !slices.Equal(messages, want) {
		t.Errorf("problems:\n got %q\nwant %q", messages, want)
	}
}
