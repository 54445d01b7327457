package graph

import (
	"fmt"
	"strings"
)

// Graph is a finished graph. It is read-only and safe for concurrent use.
type Graph struct {
	declared []*Node // in order of declaration
	ordered  []*Node // in topological order
	groups   []string
	index    map[string]int // address to position in ordered
	needed   [][]int        // by position: who needs it
	followed [][]int        // by position: who comes after it
}

// Builder collects nodes in the order of declaration, which decides the order
// of nodes that could come at the same time.
type Builder struct {
	nodes []Node
	read  bool // specs were read as part of JSON, hence are JSON
}

// Add appends a copy of the node.
func (b *Builder) Add(node Node) {
	node.Needs = append([]string(nil), node.Needs...)
	node.After = append([]string(nil), node.After...)
	b.nodes = append(b.nodes, node)
}

// CycleError is a cycle, as a path whose last address is its first.
type CycleError struct{ Path []string }

func (e *CycleError) Error() string {
	return "nodes need each other in a cycle: " + strings.Join(e.Path, " -> ")
}

// Build checks and freezes the graph: addresses are unique, every edge leads to
// a node, specs are JSON and there is no cycle (*CycleError). It takes
// O(nodes + edges) and one heap of the ready nodes.
func (b *Builder) Build() (*Graph, error) {
	nodes := append([]Node(nil), b.nodes...) // frozen apart from the builder
	g := &Graph{index: make(map[string]int, len(nodes))}
	byAddress := make(map[string]*Node, len(nodes))
	grouped := map[string]bool{}
	for i := range nodes {
		node := &nodes[i]
		if err := checkNode(node, b.read); err != nil {
			return nil, err
		}
		if byAddress[node.Address] != nil {
			return nil, fmt.Errorf("address %s occurs twice", node.Address)
		}
		byAddress[node.Address] = node
		g.declared = append(g.declared, node)
		if node.Group != "" && !grouped[node.Group] {
			grouped[node.Group] = true
			g.groups = append(g.groups, node.Group)
		}
	}
	for _, node := range g.declared {
		if err := checkEdges(node, byAddress); err != nil {
			return nil, err
		}
	}
	g.order()
	if len(g.ordered) < len(g.declared) {
		return nil, &CycleError{Path: findCycle(g.declared, byAddress, g.index)}
	}
	g.link()
	return g, nil
}

// link notes for each position who needs it and who comes after it.
func (g *Graph) link() {
	g.needed = make([][]int, len(g.ordered))
	g.followed = make([][]int, len(g.ordered))
	for i, node := range g.ordered {
		for _, need := range node.Needs {
			at := g.index[need]
			g.needed[at] = append(g.needed[at], i)
		}
		for _, after := range node.After {
			at := g.index[after]
			g.followed[at] = append(g.followed[at], i)
		}
	}
}

// edges are all addresses that have to come before a node.
func edges(node *Node) []string {
	if len(node.After) == 0 {
		return node.Needs
	}
	return append(append([]string(nil), node.Needs...), node.After...)
}

// order places nodes whose edges are placed, the earliest declared first.
func (g *Graph) order() {
	position := make(map[string]int, len(g.declared))
	for i, node := range g.declared {
		position[node.Address] = i
	}
	missing := make([]int, len(g.declared))
	dependents := make([][]int, len(g.declared))
	var ready minHeap
	for i, node := range g.declared {
		before := edges(node)
		if missing[i] = len(before); missing[i] == 0 {
			ready.push(i)
		}
		for _, address := range before {
			dependents[position[address]] = append(dependents[position[address]], i)
		}
	}
	for len(ready) > 0 {
		i := ready.pop()
		g.index[g.declared[i].Address] = len(g.ordered)
		g.ordered = append(g.ordered, g.declared[i])
		for _, dependent := range dependents[i] {
			if missing[dependent]--; missing[dependent] == 0 {
				ready.push(dependent)
			}
		}
	}
}

// findCycle walks back along unplaced edges until an address repeats.
func findCycle(nodes []*Node, declared map[string]*Node, placed map[string]int) []string {
	var at *Node
	for _, node := range nodes {
		if _, ok := placed[node.Address]; !ok {
			at = node
			break
		}
	}
	seen := map[string]int{}
	var path []string
	for {
		if first, ok := seen[at.Address]; ok {
			path = append(path[first:], at.Address)
			// Walked from a node to what it needs; shown from need to node.
			for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
				path[i], path[j] = path[j], path[i]
			}
			return path
		}
		seen[at.Address] = len(path)
		path = append(path, at.Address)
		for _, need := range edges(at) {
			if _, ok := placed[need]; !ok {
				at = declared[need]
				break
			}
		}
	}
}

// minHeap is a binary heap of positions.
type minHeap []int

func (h *minHeap) push(value int) {
	s := append(*h, value)
	for i := len(s) - 1; i > 0; {
		parent := (i - 1) / 2
		if s[parent] <= s[i] {
			break
		}
		s[parent], s[i] = s[i], s[parent]
		i = parent
	}
	*h = s
}

func (h *minHeap) pop() int {
	s := *h
	top, last := s[0], len(s)-1
	s[0] = s[last]
	s = s[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(s) {
			break
		}
		if child+1 < len(s) && s[child+1] < s[child] {
			child++
		}
		if s[i] <= s[child] {
			break
		}
		s[i], s[child] = s[child], s[i]
		i = child
	}
	*h = s
	return top
}
