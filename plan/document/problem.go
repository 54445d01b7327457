package document

import (
	"fmt"
	"strings"

	"github.com/grill-plan/grill-plan/internal/strictjson"
)

// NoOffset is the Offset of a problem found between documents, where no source
// tree is at hand; Locate turns its Path into a position.
const NoOffset = -1

// maxProblems bounds what is listed of one document.
const maxProblems = 1000

// String gives one diagnostic line (DOC-15, PRE-04).
func (p Problem) String() string {
	if p.Path == "" {
		return fmt.Sprintf("%s: %s (%s)", p.Document, p.Message, p.Rule)
	}
	return fmt.Sprintf("%s: %s: %s (%s)", p.Document, p.Path, p.Message, p.Rule)
}

// Locate gives the offset of the node that a field path names in a tree, or of
// the nearest one above it.
func Locate(tree *strictjson.Value, path string) int {
	node, _ := strictjson.Locate(tree, path)
	if node == nil {
		return NoOffset
	}
	return node.Offset
}

// collector gathers the problems of one document.
type collector struct {
	document string
	problems []Problem
}

func (c *collector) add(p Problem) {
	p.Document = c.document
	switch {
	case len(c.problems) < maxProblems:
		c.problems = append(c.problems, p)
	case len(c.problems) == maxProblems:
		p.Path, p.Message = "", "has more problems than are listed"
		c.problems = append(c.problems, p)
	}
}

func (c *collector) full() bool { return len(c.problems) > maxProblems }

// place is where in a document something is read.
type place struct {
	c    *collector
	path string
}

func (at place) member(name string) place {
	return place{at.c, strictjson.JoinName(at.path, name)}
}

func (at place) item(index int) place {
	return place{at.c, strictjson.JoinIndex(at.path, index)}
}

func (at place) report(offset int, rule, format string, args ...any) {
	at.c.add(Problem{Path: at.path, Rule: rule, Message: fmt.Sprintf(format, args...), Offset: offset})
}

// quoteList writes alternatives for a message.
func quoteList(words []string) string {
	return strings.Join(words, ", ")
}

// shown bounds a found word for a message.
func shown(text string) string {
	const most = 60
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return fmt.Sprintf("%q", text)
}

// suggestion gives `; did you mean "seeds"?` for a misspelt name, or nothing. A
// name counts as misspelt up to a third of its length.
func suggestion(name string, known []string) string {
	const longest = 64 // no name of ours is longer; keeps the distance cheap
	if len(name) > longest {
		return ""
	}
	best, bestDistance := "", len(name)/3+1
	for _, candidate := range known {
		if d := distance(strings.ToLower(name), candidate); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is how many bytes have to be put in, taken out, replaced or swapped
// with their neighbour to get from a to b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
