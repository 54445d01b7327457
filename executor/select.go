package executor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/executor/digest"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// selectNodes marks what a run is about: with names of groups, those whole, the
// groups of whatever they need, and nodes outside any group whose needs are met
// (a report of what there is).
func selectNodes(g *graph.Graph, only []string) ([]bool, error) {
	nodes := g.Nodes()
	selected := make([]bool, len(nodes))
	if len(only) == 0 {
		for i := range selected {
			selected[i] = true
		}
		return selected, nil
	}
	groups := map[string]bool{}
	for _, name := range only {
		if !slices.Contains(g.Groups(), name) {
			return nil, fmt.Errorf("--only %s: there is no such experiment; there are %s", name, strings.Join(g.Groups(), ", "))
		}
		groups[name] = true
	}
	for grown := true; grown; {
		grown = false
		for i := len(nodes) - 1; i >= 0; i-- {
			if !selected[i] && !(nodes[i].Group != "" && groups[nodes[i].Group]) {
				continue
			}
			selected[i] = true
			for _, need := range nodes[i].Needs {
				at := g.Position(need)
				selected[at] = true
				if group := nodes[at].Group; group != "" && !groups[group] {
					groups[group], grown = true, true
				}
			}
		}
	}
	for i, node := range nodes {
		if node.Group == "" && !slices.ContainsFunc(node.Needs, func(need string) bool { return !selected[g.Position(need)] }) {
			selected[i] = true
		}
	}
	return selected, nil
}

// redoNodes marks what --redo names, and what follows it.
func redoNodes(g *graph.Graph, redo []string) ([]bool, error) {
	marked := make([]bool, g.Len())
	for _, address := range redo {
		found := false
		for i, node := range g.Nodes() {
			if node.Address == address || node.Group == address && address != "" {
				marked[i], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("--redo %s: there is no such node or experiment", address)
		}
	}
	for i := range marked {
		if marked[i] {
			for _, follower := range g.NeededBy(i) {
				if digest.IsInput(g.Nodes()[follower], g.Nodes()[i]) {
					marked[follower] = true
				}
			}
		}
	}
	return marked, nil
}

// leftSwitched are the groups that were switched and not restored since, in the
// order in which that happened.
func leftSwitched(events []checkpoint.Event) []string {
	var left []string
	for _, event := range events {
		switch event.Event {
		case checkpoint.GroupSwitched, checkpoint.GroupRestored:
			left = slices.DeleteFunc(left, func(group string) bool { return group == event.Group })
			if event.Event == checkpoint.GroupSwitched {
				left = append(left, event.Group)
			}
		}
	}
	return left
}
