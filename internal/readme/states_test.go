package readme

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Some requirements ask that the documentation says something. Line breaks do not
// matter.
func TestDocumentationStates(t *testing.T) {
	for _, statement := range []struct{ requirement, file, text string }{
		{"CAP-15", "docs/reliability.md", "**No sandbox.** A program that leaves its process group and clears its environment is out of reach."},
		{"CAP-11", "docs/reliability.md", "**A program that is exchanged while a capture runs** is not noticed"},
		{"MP4-27", "docs/reliability.md", "have the program write bit-exactly"},
	} {
		t.Run(statement.requirement, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(statement.file)))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Join(strings.Fields(string(data)), " "), statement.text) {
				t.Errorf("%s does not say %q", statement.file, statement.text)
			}
		})
	}
}
