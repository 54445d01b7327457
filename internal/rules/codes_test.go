package rules

import (
	"slices"
	"testing"
)

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
