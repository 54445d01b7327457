package executor

import (
	"slices"

	"github.com/grill-plan/grill-plan/plan/graph"
)

// summarize sorts out how a walk ended: root causes first.
func summarize(j *judge, w *walker) *Summary {
	summary := &Summary{Stopped: w.stopped, RestoreFailed: w.restoreFailed}
	for i, node := range j.graph.Nodes() {
		result := w.status[i].result
		result.Causes = rootCauses(j.graph, w, result.Causes)
		summary.Nodes = append(summary.Nodes, result)
		switch result.State {
		case StateDone:
			summary.Ran++
		case StateReused:
			summary.Reused++
		case StateFailed:
			if node.Finally {
				summary.RestoreFailed = append(summary.RestoreFailed, result)
			} else {
				summary.Failed = append(summary.Failed, result)
			}
		case StateSkipped:
			summary.Skipped = append(summary.Skipped, result)
		case StateStopped:
			summary.Unfinished++
		case StateUnselected:
			if result.Attempt == 0 && node.Effect != graph.World {
				summary.Unfinished++
			}
		}
	}
	return summary
}

// rootCauses replaces skipped nodes by what they were skipped for.
func rootCauses(g *graph.Graph, w *walker, causes []string) []string {
	var roots []string
	var visit func(string, int)
	visit = func(address string, depth int) {
		at := g.Position(address)
		if at < 0 || depth > g.Len() {
			return
		}
		result := w.status[at].result
		if result.State == StateSkipped && len(result.Causes) > 0 {
			for _, cause := range result.Causes {
				visit(cause, depth+1)
			}
			return
		}
		if !slices.Contains(roots, address) {
			roots = append(roots, address)
		}
	}
	for _, cause := range causes {
		visit(cause, 0)
	}
	return roots
}
