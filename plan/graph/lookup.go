package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// FormatVersion is the version of the encoded form of a graph.
const FormatVersion = 1

// Nodes are all nodes in topological order; among those that are ready the
// first declared comes first.
func (g *Graph) Nodes() []*Node { return g.ordered }

// Declared are all nodes in the order of their declaration.
func (g *Graph) Declared() []*Node { return g.declared }

// Groups are the groups in the order of their first declared node.
func (g *Graph) Groups() []string { return g.groups }

// Len is the number of nodes.
func (g *Graph) Len() int { return len(g.ordered) }

// Lookup finds a node by its address.
func (g *Graph) Lookup(address string) (*Node, bool) {
	i, known := g.index[address]
	if !known {
		return nil, false
	}
	return g.ordered[i], true
}

// Position is the place of an address in Nodes, or -1.
func (g *Graph) Position(address string) int {
	if i, known := g.index[address]; known {
		return i
	}
	return -1
}

// NeededBy are the positions, ascending, of the nodes that need the one at a
// position.
func (g *Graph) NeededBy(position int) []int { return g.needed[position] }

// FollowedBy are the positions, ascending, of the nodes that come after the one
// at a position without needing it.
func (g *Graph) FollowedBy(position int) []int { return g.followed[position] }

// Dependents are the nodes, in topological order, that need the node at an
// address, directly or through others. After edges do not count. O(V+E).
func (g *Graph) Dependents(address string) []*Node {
	start, known := g.index[address]
	if !known {
		return nil
	}
	reached := make([]bool, len(g.ordered))
	reached[start] = true
	var dependents []*Node
	for i := start; i < len(g.ordered); i++ {
		if !reached[i] {
			continue
		}
		if i > start {
			dependents = append(dependents, g.ordered[i])
		}
		for _, n := range g.needed[i] {
			reached[n] = true
		}
	}
	return dependents
}

// Parse reads what Encode wrote and checks it as Build does.
func Parse(data []byte) (*Graph, error) {
	nodes, err := decodeNodes(data)
	if err != nil {
		return nil, fmt.Errorf("read graph: %w", err)
	}
	built, err := (&Builder{nodes: nodes, read: true}).Build()
	if err != nil {
		return nil, fmt.Errorf("read graph: %w", err)
	}
	return built, nil
}

func decodeNodes(data []byte) ([]Node, error) {
	if nodes, ok := decodeLines(data); ok {
		return nodes, nil
	}
	var whole struct {
		Format int    `json:"format"`
		Nodes  []Node `json:"nodes"`
	}
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, err
	}
	if whole.Format != FormatVersion {
		return nil, fmt.Errorf("format %d is not known here (this is format %d)", whole.Format, FormatVersion)
	}
	return whole.Nodes, nil
}

// decodeLines reads the form that Encode writes, a node a line, on all
// processors; anything else is left to the general way, and to its errors.
func decodeLines(data []byte) ([]Node, bool) {
	body, ok := bytes.CutPrefix(data, fmt.Appendf(nil, "{\"format\":%d,\"nodes\":[\n", FormatVersion))
	if !ok {
		return nil, false
	}
	if body, ok = bytes.CutSuffix(body, []byte("\n]}\n")); !ok {
		return nil, false
	}
	lines := bytes.Split(body, []byte(",\n"))
	nodes := make([]Node, len(lines))
	part := (len(lines) + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0)
	var group sync.WaitGroup
	var failed atomic.Bool
	for start := 0; start < len(lines); start += part {
		group.Go(func() {
			for i := start; i < min(start+part, len(lines)); i++ {
				if json.Unmarshal(lines[i], &nodes[i]) != nil {
					failed.Store(true)
					return
				}
			}
		})
	}
	group.Wait()
	return nodes, !failed.Load()
}

// String is the graph as text, for tests and people: a line for each node in
// topological order, followed by its edges.
func (g *Graph) String() string {
	var out strings.Builder
	for _, node := range g.ordered {
		fmt.Fprintf(&out, "%s (%s %s", node.Address, node.Kind, node.Effect)
		if node.Claim != NoClaim {
			fmt.Fprintf(&out, " %s", node.Claim)
		}
		out.WriteString(")\n")
		for _, need := range node.Needs {
			fmt.Fprintf(&out, "  needs %s\n", need)
		}
		for _, after := range node.After {
			fmt.Fprintf(&out, "  after %s\n", after)
		}
	}
	return out.String()
}
