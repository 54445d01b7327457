package rules

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// root is the module's folder, seen from this package.
const root = "../.."

func report(t *testing.T, problems []Problem) {
	t.Helper()
	for _, problem := range problems {
		t.Error(problem)
	}
}

func loadModule(t *testing.T) []*File {
	t.Helper()
	files, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// PRE-16: packages of media start nothing, so that no check asks an outside program.
func TestModuleImports(t *testing.T) {
	report(t, CheckImports(loadModule(t)))
}

func TestModuleShape(t *testing.T) {
	report(t, CheckShape(loadModule(t)))
}

// The requirements of the finished groups are each held by a test.
func TestModuleRequirements(t *testing.T) {
	coverage, err := Cover(root)
	if err != nil {
		t.Fatal(err)
	}
	report(t, CheckCoverage(coverage, HeldGroups(), Exemptions()))
}

// Tests read testdata/requirements.md, people read docs/requirements.md.
func TestRequirementsCopiesAgree(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join(root, "docs", "requirements.md"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(root, "testdata", "requirements.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(docs, data) {
		t.Error("docs/requirements.md and testdata/requirements.md differ: edit one, copy it over the other")
	}
}

func readDoc(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Every fixed word of shipped code is explained: a code on the page of codes, the
// name of a field on the page of evidence. Every code of the page is still in use.
func TestReasonCodesAreDocumented(t *testing.T) {
	page, evidence := readDoc(t, "reason-codes.md"), readDoc(t, "evidence.md")
	explained := regexp.MustCompile("`([a-z0-9_]+)`")
	var known []string
	for _, match := range explained.FindAllStringSubmatch(page+evidence, -1) {
		known = append(known, match[1])
	}
	files := loadModule(t)
	for _, word := range Words(files) {
		if !slices.Contains(known, word.Text) {
			t.Errorf("%s:%d: %s is explained neither in docs/reason-codes.md nor in docs/evidence.md", word.Path, word.Line, word.Text)
		}
	}
	for _, code := range DocumentedCodes(page) {
		if !inUse(files, code) {
			t.Errorf("docs/reason-codes.md lists %s, which the program does not have", code)
		}
	}
}

func inUse(files []*File, code string) bool {
	return slices.ContainsFunc(files, func(file *File) bool {
		_, found := literals(file)[code]
		return found && !file.Test()
	})
}

// Every field of a record of a capture stands on the page of evidence.
func TestEvidenceFieldsAreDocumented(t *testing.T) {
	page := readDoc(t, "evidence.md")
	tag := regexp.MustCompile("`json:\"([a-z0-9_]+)")
	for _, name := range []string{"steps/evidence/records.go", "media/facts.go"} {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		fields := tag.FindAllStringSubmatch(string(data), -1)
		if len(fields) == 0 {
			t.Errorf("%s has no fields: has it moved?", name)
		}
		for _, field := range fields {
			if !regexp.MustCompile("`" + field[1] + "`").MatchString(page) {
				t.Errorf("docs/evidence.md does not explain %s of %s", field[1], name)
			}
		}
	}
}

// Every block, attribute and function of the language stands on its page.
func TestLanguageIsDocumented(t *testing.T) {
	page := readDoc(t, "plan-language.md")
	word := regexp.MustCompile(`"([a-z][a-z0-9_]*)"`)
	for name, pattern := range map[string]*regexp.Regexp{
		"plan/schema.go":    word,
		"plan/functions.go": regexp.MustCompile(`"([a-z][a-z0-9_]*)": +\w`),
	} {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		words := pattern.FindAllStringSubmatch(string(data), -1)
		if len(words) < 20 {
			t.Errorf("%s names %d words: has the table moved?", name, len(words))
		}
		for _, match := range words {
			if !regexp.MustCompile("`" + match[1] + "[`( ]").MatchString(page) {
				t.Errorf("docs/plan-language.md does not explain %s of %s", match[1], name)
			}
		}
	}
}
