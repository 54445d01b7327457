package main

// nearest gives the known name closest to what was written, or "" when none is
// within a third of its length: a wrong guess is worse than none.
func nearest(written string, known []string) string {
	best, bestDistance := "", len(written)/3+1
	for _, name := range known {
		if d := distance(written, name); d < bestDistance {
			best, bestDistance = name, d
		}
	}
	return best
}

// distance counts the insertions, deletions and replacements of bytes that turn a
// into b; a swap of neighbours counts as one.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		earlier := before
		before, row = row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(before[j]+1, row[j-1]+1, before[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], earlier[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
