package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/grill-plan/grill-plan/plan"
)

// What is measured is a plan without errors, and the peer reads all of it.
func TestGenerate(t *testing.T) {
	source := generate(2)
	name := filepath.Join(t.TempDir(), "plan.hcl")
	if err := os.WriteFile(name, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, diags := plan.Load(name, plan.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if len(loaded.Experiments) != 2 {
		t.Errorf("got %d experiments, want 2", len(loaded.Experiments))
	}
	one, err := readWithLibrary(name, []byte(generate(1)))
	if err != nil {
		t.Fatal(err)
	}
	two, err := readWithLibrary(name, []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	if one == 0 || two <= one {
		t.Errorf("the library evaluated %d and %d values, want more for more experiments", one, two)
	}
}

func TestParseSizes(t *testing.T) {
	if counts, err := parseSizes("250,500"); err != nil || len(counts) != 2 || counts[1] != 500 {
		t.Errorf("got %v, %v", counts, err)
	}
	for _, bad := range []string{"", "0", "-1", "a", "1,,2"} {
		if _, err := parseSizes(bad); err == nil {
			t.Errorf("admitted %q", bad)
		}
	}
}
