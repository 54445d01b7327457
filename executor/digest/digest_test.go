package digest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/executor/digest"
	"github.com/grill-plan/grill-plan/plan/graph"
)

func build(t *testing.T, nodes ...graph.Node) *graph.Graph {
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

// PLN-20, PLN-21: the text under the digest is part of the scheme; changing it
// makes every run directory stale and needs a new scheme.
func TestTextOfTheScheme(t *testing.T) {
	g := build(t,
		graph.Node{Address: "p", Kind: graph.Toy, Effect: graph.Pure},
		graph.Node{Address: "q", Kind: graph.Toy, Effect: graph.Pure},
		graph.Node{Address: "w", Kind: graph.Toy, Effect: graph.World, Needs: []string{"p"}, Spec: json.RawMessage(`{"run": "x"}`)},
		graph.Node{Address: "v", Kind: graph.Toy, Effect: graph.World, Needs: []string{"w", "p"}},
		graph.Node{Address: "m\"", Kind: graph.Toy, Effect: graph.Measurement, Needs: []string{"w", "v", "q"}, After: []string{"p"}},
		graph.Node{Address: "report", Kind: graph.Toy, Effect: graph.Pure, After: []string{"q", "w"}},
	)
	ending := func(n *graph.Node) digest.Ending {
		if n.Address == "q" {
			return digest.Ending{Left: "early", Ended: "left_out"}
		}
		return digest.Ending{Output: "digest-of-" + n.Address, Ended: "done"}
	}
	text := func(address string) string {
		node, _ := g.Lookup(address)
		data, err := digest.Text(digest.Scheme, node, node.Spec, digest.Entries(g, node, ending))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	want := "grill-plan node 1\naddress \"m\\\"\"\nkind \"toy\"\nspec {}\nneed \"p\" \"digest-of-p\"\n" +
		"left \"q\" \"early\"\nworld \"v\" \"{}\"\nworld \"w\" \"{\\\"run\\\":\\\"x\\\"}\"\n"
	if got := text("m\""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := text("report"); !strings.HasSuffix(got, "spec {}\nafter \"q\" \"left_out\"\n") {
		t.Errorf("got\n%s", got)
	}
	node, _ := g.Lookup("p")
	if _, err := digest.Input(digest.Scheme+1, node, node.Spec, nil); err == nil {
		t.Error("an unknown scheme was accepted")
	}
}

func TestEveryLabelCounts(t *testing.T) {
	base := graph.Node{Address: "a", Kind: graph.Toy, Spec: json.RawMessage("{}")}
	other, kind := base, base
	other.Address, kind.Kind = "b", graph.Capture
	seen := map[string]string{}
	for name, c := range map[string]struct {
		node    graph.Node
		spec    string
		entries []digest.Entry
	}{
		"base": {base, "{}", nil}, "address": {other, "{}", nil}, "kind": {kind, "{}", nil}, "spec": {base, `{"a":1}`, nil},
		"need":   {base, "{}", []digest.Entry{{Address: "x", Output: "1"}}},
		"left":   {base, "{}", []digest.Entry{{Address: "x", Left: "1"}}},
		"world":  {base, "{}", []digest.Entry{{Address: "x", Spec: json.RawMessage("1")}}},
		"after":  {base, "{}", []digest.Entry{{Address: "x", Ended: "1"}}},
		"two":    {base, "{}", []digest.Entry{{Address: "x", Output: "1"}, {Address: "y", Output: "1"}}},
		"posing": {base, "{}", []digest.Entry{{Address: "x", Output: "1\"\nneed \"y\" \"1"}}},
	} {
		sum, err := digest.Input(digest.Scheme, &c.node, json.RawMessage(c.spec), c.entries)
		if err != nil || !digest.Valid(sum) {
			t.Fatalf("%s: %q %v", name, sum, err)
		}
		if twin, met := seen[sum]; met {
			t.Errorf("%s and %s have one digest", name, twin)
		}
		seen[sum] = name
	}
}

func TestFilesDigest(t *testing.T) {
	file := digest.File{Path: "a", Size: 1, SHA256: strings.Repeat("0", 64)}
	seen := map[string]bool{digest.Files(nil): true}
	for i, files := range [][]digest.File{{file}, {file, file}, {{Path: "b", Size: 1, SHA256: file.SHA256}}, {{Path: "a", Type: "fifo"}}, {{Path: "a", Size: 2, SHA256: file.SHA256}}} {
		sum := digest.Files(files)
		if seen[sum] {
			t.Error(fmt.Sprint(i, " has the digest of another list"))
		}
		seen[sum] = true
	}
	for _, text := range []string{"", strings.Repeat("0", 63), strings.Repeat("A", 64), strings.Repeat("0", 65)} {
		if digest.Valid(text) {
			t.Errorf("%q is valid", text)
		}
	}
}
