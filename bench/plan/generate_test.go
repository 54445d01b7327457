package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/plan"
)

// What is measured is a plan without errors and of the size asked for.
func TestGenerate(t *testing.T) {
	for _, n := range []int{1, perFile, perFile + 1} {
		dir := filepath.Join(t.TempDir(), "plan")
		if err := write(dir, generate(n)); err != nil {
			t.Fatal(err)
		}
		loaded, diags := plan.Load(dir, plan.Options{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if len(loaded.Experiments) != n {
			t.Errorf("got %d experiments, want %d", len(loaded.Experiments), n)
		}
	}
}

// The peer reads all of it: as many values for each further experiment.
func TestReadAlone(t *testing.T) {
	var printed []string
	for _, n := range []int{1, 2, 3} {
		dir := filepath.Join(t.TempDir(), "plan")
		if err := write(dir, generate(n)); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := readAlone(dir, &out); err != nil {
			t.Fatal(err)
		}
		printed = append(printed, strings.TrimSpace(out.String()))
	}
	one, two, three := number(t, printed[0]), number(t, printed[1]), number(t, printed[2])
	if one == 0 || two <= one || three-two != two-one {
		t.Errorf("1, 2 and 3 experiments have %v values", printed)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	value, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return value
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
