package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

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

func TestWords(t *testing.T) {
	files := tree(t, map[string]string{
		"steps/a.go":      "package steps\n\ntype t struct {\n\tA int `json:\"not_this\"`\n}\n\nconst c = \"some_code\"\n\nvar _ = []string{\"word\", \"No_Code\", \"some_code\", `raw_code`}\n",
		"steps/a_test.go": "package steps\n\nconst d = \"test_only\"\n",
		"plan/a.go":       "package plan\n\nconst e = \"max_adverse_bps\"\n",
	})
	var got []string
	for _, word := range Words(files) {
		got = append(got, word.Text)
	}
	if want := []string{"raw_code", "some_code"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDocumentedCodes(t *testing.T) {
	page := "Text with `prose_code`.\n\n| code | |\n| --- | --- |\n| `one`, `two_codes` | see `other_code` |\n| plain | `x` |\n| `one` | again |\n"
	if got, want := DocumentedCodes(page), []string{"one", "two_codes"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
