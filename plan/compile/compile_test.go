package compile_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/grill-plan/grill-plan/plan"
	"github.com/grill-plan/grill-plan/plan/compile"
	"github.com/grill-plan/grill-plan/plan/graph"
)

var update = flag.Bool("update", false, "write the golden graphs again; read their diff")

const collector = "0000000000000000000000000000000000000000000000000000000000000000"

func mustBeClean(t testing.TB, found hcl.Diagnostics) {
	t.Helper()
	for _, diag := range found {
		t.Errorf("%v: %s: %s", diag.Subject, diag.Summary, diag.Detail)
	}
	if len(found) > 0 {
		t.FailNow()
	}
}

func compiled(t testing.TB, path string) *compile.Compiled {
	t.Helper()
	loaded, found := plan.Load(path, plan.Options{})
	mustBeClean(t, found)
	made, found := compile.Compile(loaded, compile.Options{Collector: collector})
	mustBeClean(t, found)
	return made
}

// base gives the sound plan of the language's tests with some texts replaced.
func base(t testing.TB, pairs ...string) string {
	t.Helper()
	data, err := os.ReadFile("../testdata/base.hcl")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%q does not occur", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func compileText(t testing.TB, text string) *compile.Compiled {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.hcl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return compiled(t, path)
}

// TestGolden holds the nodes, edges, claims, effects and specs of PLN-13 against
// files that a person has read. Run with -update after a change that is meant.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.hcl")
	if err != nil || len(files) < 4 {
		t.Fatalf("fixtures: %v %v", files, err)
	}
	for _, file := range append(files, "../testdata/plans/page") {
		name := strings.TrimSuffix(filepath.Base(file), ".hcl")
		t.Run(name, func(t *testing.T) {
			made := compiled(t, file)
			var out strings.Builder
			for _, node := range made.Graph.Nodes() {
				describe(&out, node)
			}
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(out.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if out.String() != string(want) {
				t.Errorf("the graph differs from %s; it is\n%s", golden, out.String())
			}
		})
	}
}

func describe(out *strings.Builder, node *graph.Node) {
	fmt.Fprintf(out, "%s\n  %s %s", node.Address, node.Kind, node.Effect)
	for _, mark := range []struct {
		set  bool
		name string
	}{
		{node.Claim != "", "claim=" + string(node.Claim)}, {node.Host != "", "host=" + node.Host}, {node.Group != "", "group=" + node.Group},
		{node.Always, "always"}, {node.Stops, "stops"}, {node.Tolerates, "tolerates"}, {node.Finally, "finally"}, {node.Within != "", "within=" + node.Within},
	} {
		if mark.set {
			out.WriteString(" " + mark.name)
		}
	}
	for _, need := range node.Needs {
		fmt.Fprintf(out, "\n  needs %s", need)
	}
	for _, after := range node.After {
		fmt.Fprintf(out, "\n  after %s", after)
	}
	fmt.Fprintf(out, "\n  %s\n", node.Spec)
}

// TestSameBytes holds PLN-08: the same files give the same graph, wherever they
// lie, and no path of this machine stands in it.
func TestSameBytes(t *testing.T) {
	var first []byte
	var documents []string
	for i := range 5 {
		dir := filepath.Join(t.TempDir(), strings.Repeat("deeper/", i))
		if err := os.CopyFS(dir, os.DirFS("../testdata/plans/page")); err != nil {
			t.Fatal(err)
		}
		made := compiled(t, dir)
		encoded, err := made.Graph.Encode()
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for name, data := range made.Documents {
			names = append(names, name+" "+string(data))
			if strings.Contains(string(data), dir) {
				t.Errorf("a document holds the folder: %s", data)
			}
		}
		slices.Sort(names)
		if i == 0 {
			first, documents = encoded, names
		}
		if string(first) != string(encoded) || !slices.Equal(documents, names) {
			t.Errorf("load %d differs", i)
		}
		if strings.Contains(string(encoded), dir) || strings.Contains(string(encoded), os.TempDir()) {
			t.Errorf("the graph holds a path of this machine")
		}
	}
}

// TestPreflightsComeFirst holds PLN-40: they precede every effect of every
// experiment in the order of the graph.
func TestPreflightsComeFirst(t *testing.T) {
	effects := false
	for _, node := range compiled(t, "../testdata/plans/page").Graph.Nodes() {
		if node.Kind != graph.Preflight {
			effects = true
		} else if effects || !node.Always {
			t.Errorf("%s comes after an effect", node.Address)
		}
	}
}

// TestDocumentsAreThoseOfTheNodes holds PLN-38: every document named by a spec
// is there under its SHA-256, and no other.
func TestDocumentsAreThoseOfTheNodes(t *testing.T) {
	made := compiled(t, "../testdata/plans/equal")
	used := map[string]bool{}
	for _, node := range made.Graph.Nodes() {
		for sha := range made.Documents {
			if strings.Contains(string(node.Spec), sha) {
				used[sha] = true
			}
		}
	}
	if len(used) != len(made.Documents) || len(used) != 8 {
		t.Errorf("%d documents used, %d there, want 8", len(used), len(made.Documents))
	}
}

func TestCollectorIsInEachCapture(t *testing.T) { // PLN-41
	for _, node := range compileText(t, base(t)).Graph.Nodes() {
		has := strings.Contains(string(node.Spec), `"collector":"`+collector+`"`)
		if has != (node.Kind == graph.Capture) {
			t.Errorf("%s: %s", node.Address, node.Spec)
		}
	}
}

func TestDifferencesWithoutAxis(t *testing.T) { // PLN-12
	text := base(t, "  axis = [\"settings\"]\n", "", `deployment "e" {`, "deployment \"e\" {\n  runtime = \"r\"",
		`    runner     = runner.r
    deployment = deployment.e`, "    runner     = runner.s\n    deployment = deployment.e") + `
runner "s" {
  program   = "./s"
  args      = ["{seed}", "{output}"]
  execution = "in-process"
  env       = { A = "1" }
}
`
	want := []string{"runtime", "settings", "runner.program", "runner.env.A"}
	if got := compileText(t, text).Differences["experiment.x"]; !slices.Equal(got, want) {
		t.Errorf("differences %v, want %v", got, want)
	}
	declared := strings.Replace(text, "  reference {", "  axis = [\"runtime\", \"settings\", \"runner.program\", \"runner.env.A\", \"program_bytes\"]\n  reference {", 1)
	made := compileText(t, declared)
	node, _ := made.Graph.Lookup("experiment.x.preflight.candidate")
	if !strings.Contains(string(node.Spec), `"program_bytes":true`) {
		t.Errorf("spec %s", node.Spec)
	}
}

// TestSensitiveNamesOnOneSide holds PLN-12 with PLN-07: a name that is sensitive
// on one side only is a difference of env; two values under one name are none.
func TestSensitiveNamesOnOneSide(t *testing.T) {
	text := base(t, `axis = ["settings"]`, `axis = ["settings", "runner.env.T"]`, `    runner     = runner.r
    deployment = deployment.e`, "    runner     = runner.s\n    deployment = deployment.e") + `
variable "token" {
  sensitive = true
  default   = file("plan.hcl")
}
runner "s" {
  program   = self()
  args      = ["{seed}", "{output}"]
  execution = "in-process"
  env       = { T = var.token }
}
`
	if got := compileText(t, text).Differences["experiment.x"]; !slices.Equal(got, []string{"settings", "runner.env.T"}) {
		t.Errorf("differences %v", got)
	}
}

func TestGates(t *testing.T) { // PLN-35
	text := base(t)
	gates := compileText(t, text).Gates["experiment.x"]
	line := 1 + strings.Count(text[:strings.Index(text, "  gate {")], "\n")
	if len(gates) != 1 || gates[0].File != "plan.hcl" || gates[0].Line != line || gates[0].Column != 3 || !strings.HasPrefix(gates[0].Snippet, "gate {\n  cell ") {
		t.Errorf("gates %+v, want line %d", gates, line)
	}
}

func TestHeldBack(t *testing.T) {
	made := compiled(t, "../testdata/plans/page")
	var texts []string
	for _, held := range made.HeldBack {
		if held.Range.Start.Line < 1 || held.Address == "" {
			t.Errorf("%+v has no place", held)
		}
		texts = append(texts, held.What)
	}
	all := strings.Join(texts, "\n")
	for _, part := range []string{"distance", "runner.comfy: markers", "runner.comfy: cache.paths"} {
		if strings.Count(all, part) < 2 { // once per experiment
			t.Errorf("%q is not held back in\n%s", part, all)
		}
	}
	if plain := compileText(t, base(t)); len(plain.HeldBack) > 0 {
		t.Errorf("held back of a plain plan: %v", plain.HeldBack)
	}
}

// TestSwitchBeforeEverySlot holds the graph's half of PLN-30.
func TestSwitchBeforeEverySlot(t *testing.T) {
	data, err := os.ReadFile("testdata/four_slots.hcl")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		string(data): {"a", "b", "a2"},
		strings.ReplaceAll(string(data), "on_change_only = true", "on_change_only = false"): {"a", "b", "b2", "a2"},
	} {
		var slots []string
		for _, node := range compileText(t, text).Graph.Nodes() {
			if node.Kind == graph.Switch {
				slots = append(slots, strings.TrimPrefix(node.Address, "experiment.x.switch."))
			}
		}
		if !slices.Equal(slots, want) {
			t.Errorf("switches of slots %v, want %v", slots, want)
		}
	}
}
