package graph

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteDOT writes the graph for Graphviz (PLN-16): solid edges for needs,
// dashed ones for what only has to have ended, a cluster for each group.
func WriteDOT(w io.Writer, g *Graph) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "digraph plan {\n  rankdir = LR\n  node [shape = box, fontname = \"sans-serif\"]")
	for at, group := range append([]string{""}, g.groups...) {
		if group != "" {
			fmt.Fprintf(out, "  subgraph cluster_%d {\n  label = %s\n", at, dotQuote(group))
		}
		for i, node := range g.ordered {
			if node.Group == group {
				fmt.Fprintf(out, "  n%d [label = %s%s]\n", i, dotQuote(node.Address), dotStyle(node))
			}
		}
		if group != "" {
			fmt.Fprintln(out, "  }")
		}
	}
	for i, node := range g.ordered {
		for _, need := range node.Needs {
			fmt.Fprintf(out, "  n%d -> n%d\n", g.index[need], i)
		}
		for _, after := range node.After {
			fmt.Fprintf(out, "  n%d -> n%d [style = dashed]\n", g.index[after], i)
		}
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

func dotStyle(node *Node) string {
	switch node.Effect {
	case Measurement:
		return ", style = bold"
	case World:
		return ", style = dashed"
	}
	return ""
}

// dotQuote escapes for a double-quoted DOT string, where only the quote and
// the backslash have to be escaped and a line feed would break the label.
func dotQuote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(text) + `"`
}

// WriteMermaid writes the graph as a Mermaid flowchart (PLN-16).
func WriteMermaid(w io.Writer, g *Graph) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "flowchart LR")
	for i, node := range g.ordered {
		fmt.Fprintf(out, "  n%d[\"%s\"]\n", i, mermaidEscape(node.Address))
	}
	for i, node := range g.ordered {
		for _, need := range node.Needs {
			fmt.Fprintf(out, "  n%d --> n%d\n", g.index[need], i)
		}
		for _, after := range node.After {
			fmt.Fprintf(out, "  n%d -.-> n%d\n", g.index[after], i)
		}
	}
	return out.Flush()
}

// mermaidEscape writes as a numbered entity everything that Mermaid, or the
// HTML it makes, could read as syntax; # starts an entity and goes the same way.
func mermaidEscape(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-/ ", r):
			out.WriteRune(r)
		default:
			fmt.Fprintf(&out, "#%d;", r)
		}
	}
	return out.String()
}
