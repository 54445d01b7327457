package graph_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/grill-plan/grill-plan/plan/graph"
)

func toy(address string, needs ...string) graph.Node {
	return graph.Node{Address: address, Kind: graph.Toy, Effect: graph.Pure, Needs: needs}
}

func build(t testing.TB, nodes ...graph.Node) *graph.Graph {
	t.Helper()
	var b graph.Builder
	for _, node := range nodes {
		b.Add(node)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func addresses(nodes []*graph.Node) string {
	var names []string
	for _, node := range nodes {
		names = append(names, node.Address)
	}
	return strings.Join(names, " ")
}

func TestOrderIsDeclarationOrderAmongReady(t *testing.T) {
	g := build(t, toy("d", "c"), toy("b"), toy("c", "a"), toy("a"))
	if got := addresses(g.Nodes()); got != "b a c d" {
		t.Errorf("order %q", got)
	}
	if got := addresses(g.Declared()); got != "d b c a" {
		t.Errorf("declared %q", got)
	}
	if got := addresses(g.Dependents("a")); got != "c d" {
		t.Errorf("dependents %q", got)
	}
	want := "b (toy pure)\na (toy pure)\nc (toy pure)\n  needs a\nd (toy pure)\n  needs c\n"
	if g.String() != want {
		t.Errorf("text form:\n%s", g)
	}
}

func TestBuildRefuses(t *testing.T) {
	measurement := toy("m")
	measurement.Effect = graph.Measurement
	within := toy("w")
	within.Effect, within.Within = graph.World, "m"
	finally := toy("f")
	finally.Effect, finally.Finally = graph.World, true
	always := measurement
	always.Always = true
	broken := toy("s")
	broken.Spec = json.RawMessage(`{"a":`)
	cases := []struct {
		name  string
		nodes []graph.Node
		want  string
	}{
		{"repeated address", []graph.Node{toy("a"), toy("a")}, "occurs twice"},
		{"missing need", []graph.Node{toy("a", "b")}, "refers to b, which is no node"},
		{"no address", []graph.Node{toy("")}, "no address"},
		{"line feed", []graph.Node{toy("a\nb")}, "control characters"},
		{"kind", []graph.Node{{Address: "a", Kind: "x", Effect: graph.Pure}}, "kind"},
		{"effect", []graph.Node{{Address: "a", Kind: graph.Toy}}, "effect"},
		{"claim", []graph.Node{{Address: "a", Kind: graph.Toy, Effect: graph.Pure, Claim: "x"}}, "claim"},
		{"always", []graph.Node{always}, "done anew"},
		{"within without need", []graph.Node{measurement, within}, "does not need it"},
		{"finally without group", []graph.Node{finally}, "of a group"},
		{"spec", []graph.Node{broken}, "spec"},
		{"itself", []graph.Node{toy("a", "a")}, "a -> a"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var b graph.Builder
			for _, node := range c.nodes {
				b.Add(node)
			}
			if _, err := b.Build(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}

// PLN-10: a cycle is shown as the path that leads back.
func TestCycleIsAPath(t *testing.T) {
	var b graph.Builder
	after := toy("c", "b")
	after.After = []string{"d"}
	for _, node := range []graph.Node{toy("x", "a"), toy("a"), toy("b", "a", "d"), after, toy("d", "c")} {
		b.Add(node)
	}
	_, err := b.Build()
	var cycle *graph.CycleError
	if !errors.As(err, &cycle) {
		t.Fatalf("error %v", err)
	}
	if want := []string{"b", "c", "d", "b"}; !reflect.DeepEqual(cycle.Path, want) {
		t.Errorf("path %v, want %v", cycle.Path, want)
	}
}

func randomGraph(t *rapid.T) []graph.Node {
	count := rapid.IntRange(0, 20).Draw(t, "count")
	nodes := make([]graph.Node, count)
	for i := range nodes {
		nodes[i] = toy(fmt.Sprintf("n%d", i))
		nodes[i].Spec = json.RawMessage(fmt.Sprintf(`{"v":%d}`, rapid.IntRange(0, 3).Draw(t, "v")))
		for j := range i {
			switch rapid.IntRange(0, 5).Draw(t, "edge") {
			case 0:
				nodes[i].Needs = append(nodes[i].Needs, fmt.Sprintf("n%d", j))
			case 1:
				nodes[i].After = append(nodes[i].After, fmt.Sprintf("n%d", j))
			}
		}
	}
	return rapid.Permutation(nodes).Draw(t, "declared")
}

// PLN-08: equal input gives equal bytes, read back gives the same graph.
func TestOrderAndEncodingHoldForRandomGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b graph.Builder
		for _, node := range randomGraph(t) {
			b.Add(node)
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		for i, node := range g.Nodes() {
			for _, to := range append(append([]string{}, node.Needs...), node.After...) {
				if at := g.Position(to); at < 0 || at >= i {
					t.Fatalf("%s at %d waits for %s at %d", node.Address, i, to, at)
				}
			}
		}
		data, err := g.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := graph.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		second, err := again.Encode()
		if err != nil || !bytes.Equal(data, second) || again.String() != g.String() {
			t.Fatalf("read back differs: %v", err)
		}
	})
}

func TestDiffSpecNamesAttributes(t *testing.T) {
	cases := []struct {
		name, old, new string
		want           []string
	}{
		{"PLN-15 element", `{"hook":{"args":["a","b","c"]}}`, `{"hook":{"args":["a","b","d"]}}`, []string{"hook.args[2]"}},
		{"PLN-15 attribute", `{"documents":{"runner":"1","workload":"2"}}`, `{"documents":{"runner":"3","workload":"2"}}`, []string{"documents.runner"}},
		{"added", `{"a":1}`, `{"a":1,"b":null}`, []string{"b"}},
		{"length", `{"a":[1,2]}`, `{"a":[1]}`, []string{"a[1]"}},
		{"key", `{"env":{"A B":"1"}}`, `{"env":{"A B":"2"}}`, []string{`env["A B"]`}},
		{"exact number", `{"seed":18446744073709551615}`, `{"seed":18446744073709551614}`, []string{"seed"}},
		{"type", `{"a":{"b":1}}`, `{"a":[1]}`, []string{"a"}},
		{"two", `{"b":1,"a":1}`, `{"b":2,"a":2}`, []string{"a", "b"}},
		{"none", `{"a":1}`, `{"a":1}`, nil},
		{"not JSON", `{`, `{}`, []string{"spec"}},
		{"spelling", `{"a":1,"b":2}`, `{"b":2,"a":1}`, []string{"spec"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := graph.DiffSpec(json.RawMessage(c.old), json.RawMessage(c.new)); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func awkward(t testing.TB) *graph.Graph {
	first, second := toy(`experiment.x["a \"b\" \\ #1; <i> é |"].capture.a`), toy("report")
	first.Group, first.Effect = `experiment.x["]"]`, graph.Measurement
	second.After = []string{first.Address}
	world := toy("end", first.Address)
	world.Effect = graph.World
	return build(t, first, world, second)
}

// PLN-16: Graphviz reads every address we can write.
func TestDOTRenders(t *testing.T) {
	program, err := exec.LookPath("dot")
	if err != nil {
		if os.Getenv("REQUIRE_TOOLS") == "1" {
			t.Fatal(err)
		}
		t.Skip("dot is not installed")
	}
	var text bytes.Buffer
	if err := graph.WriteDOT(&text, awkward(t)); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "-Tplain")
	command.Stdin = &text
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("dot: %v\n%s", err, out)
	}
	if got := strings.Count(string(out), "\nedge "); got != 2 {
		t.Errorf("%d edges rendered, want 2:\n%s", got, out)
	}
}

// PLN-16: no byte of an address reaches Mermaid as syntax.
func TestMermaidText(t *testing.T) {
	var text bytes.Buffer
	if err := graph.WriteMermaid(&text, awkward(t)); err != nil {
		t.Fatal(err)
	}
	want := `flowchart LR
  n0["experiment.x#91;#34;a #92;#34;b#92;#34; #92;#92; #35;1#59; #60;i#62; #233; #124;#34;#93;.capture.a"]
  n1["end"]
  n2["report"]
  n0 --> n1
  n0 -.-> n2
`
	if text.String() != want {
		t.Errorf("got\n%s", text.String())
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"format":1,"nodes":[{"address":"a","kind":"toy","effect":"pure","spec":{"x": 1}}]}`))
	f.Add([]byte(`{"format":1,"nodes":[{"address":"a","kind":"toy","effect":"pure","needs":["a"]}]}`))
	f.Add([]byte(`{"format":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := graph.Parse(data)
		if err != nil {
			return
		}
		first, err := g.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := graph.Parse(first)
		if err != nil {
			t.Fatal(err)
		}
		if second, _ := again.Encode(); !bytes.Equal(first, second) {
			t.Errorf("not canonical:\n%s\n%s", first, second)
		}
	})
}
