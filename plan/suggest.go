package plan

import (
	"fmt"
	"slices"
	"strings"
)

// nearest gives the name with the smallest edit distance to the one given, if
// that is at most a third of its length; ties go to the first in byte order. hcl
// takes the first within distance two, which need not be the nearest, and knows
// nothing of references (PLN-02).
func nearest(given string, names []string) string {
	best, bestDistance := "", max(1, len(given)/3)+1
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	for _, name := range sorted {
		if name == given {
			continue
		}
		if abs(len(name)-len(given)) >= bestDistance {
			continue
		}
		if d := editDistance(given, name); d < bestDistance {
			best, bestDistance = name, d
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

// suggestion ends a sentence about an unknown name: the nearest one, or all
// when they are few.
func suggestion(given string, names []string) string {
	if name := nearest(given, names); name != "" {
		return fmt.Sprintf(" Did you mean %q?", name)
	}
	if len(names) == 0 {
		return ""
	}
	const few = 12
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	if len(sorted) > few {
		return fmt.Sprintf(" There are %d names; the first are %s.", len(sorted), strings.Join(sorted[:few], ", "))
	}
	return fmt.Sprintf(" Known here: %s.", strings.Join(sorted, ", "))
}

// editDistance counts insertions, deletions, substitutions and swaps of
// neighbours (optimal string alignment) in bytes.
func editDistance(a, b string) int {
	before, previous, current := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous, current = previous, current, before
	}
	return previous[len(b)]
}
