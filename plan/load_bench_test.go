package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/plan"
	"github.com/grill-plan/grill-plan/plan/compile"
)

// manyExperiments writes a plan of n experiments, each with a workload of its
// own, and gives its path. range() ends at 1024 elements, so more are made from
// two ranges.
func manyExperiments(tb testing.TB, n int) string {
	tb.Helper()
	base, err := os.ReadFile("testdata/base.hcl")
	if err != nil {
		tb.Fatal(err)
	}
	text := strings.ReplaceAll(string(base), `workload "w" {`, `workload "w" {
  for_each = local.keys`)
	text = strings.ReplaceAll(text, `experiment "x" {`, `experiment "x" {
  for_each = local.keys`)
	text = strings.ReplaceAll(text, "workload.w\n", "workload.w[each.key]\n")
	text = strings.ReplaceAll(text, "[1, 2]", "[each.value]")
	text += fmt.Sprintf("\nlocals {\n  keys = { for p in setproduct(range(%d), range(100)) : format(\"%%04d\", p[0] * 100 + p[1]) => p[0] * 100 + p[1] }\n}\n", n/100)
	path := filepath.Join(tb.TempDir(), "many.hcl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func BenchmarkLoadAndCompile(b *testing.B) {
	for _, n := range []int{100, 1000, 4000} {
		path := manyExperiments(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				loaded, found := plan.Load(path, plan.Options{})
				if found.HasErrors() || len(loaded.Experiments) != n {
					b.Fatal(len(loaded.Experiments), found)
				}
				if _, found = compile.Compile(loaded, compile.Options{}); found.HasErrors() {
					b.Fatal(found)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "us/experiment")
		})
	}
}
