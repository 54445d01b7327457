package rules

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Word is one lower_snake_case string of shipped code, where it first stands.
type Word struct {
	Text string
	Path string
	Line int
}

// Words collects the lower_snake_case strings of shipped code that may be reason
// codes, in the order of their text. Left out are struct tags, and the packages
// whose words are the names of the language; those are part of its tables.
func Words(files []*File) []Word {
	snake := regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)+$`)
	language := []string{"plan", "plan/document", "tools/...", "bench/...", "internal/rules", "internal/readme"}
	first := map[string]Word{}
	for _, file := range files {
		if file.Test() || matchesAny(language, file.Package()) {
			continue
		}
		for text, pos := range literals(file) {
			if _, seen := first[text]; !seen && snake.MatchString(text) {
				first[text] = Word{Text: text, Path: file.Path, Line: file.line(pos)}
			}
		}
	}
	words := make([]Word, 0, len(first))
	for _, word := range first {
		words = append(words, word)
	}
	slices.SortFunc(words, func(a, b Word) int { return strings.Compare(a.Text, b.Text) })
	return words
}

// literals gives every string literal of a file but tags, with its first place.
func literals(file *File) map[string]token.Pos {
	found := map[string]token.Pos{}
	tags := map[*ast.BasicLit]bool{}
	ast.Inspect(file.AST, func(node ast.Node) bool {
		if field, ok := node.(*ast.Field); ok && field.Tag != nil {
			tags[field.Tag] = true // visited after the field
		}
		literal, ok := node.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING || tags[literal] {
			return true
		}
		text, err := strconv.Unquote(literal.Value)
		if _, seen := found[text]; err == nil && !seen {
			found[text] = literal.Pos()
		}
		return true
	})
	return found
}

// DocumentedCodes are the words that a page sets in backticks in the first column
// of its tables.
func DocumentedCodes(page string) []string {
	row := regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|")
	code := regexp.MustCompile("`([a-z0-9_]+)`")
	var codes []string
	for _, cell := range row.FindAllStringSubmatch(page, -1) {
		for _, match := range code.FindAllStringSubmatch(cell[1], -1) {
			if !slices.Contains(codes, match[1]) {
				codes = append(codes, match[1])
			}
		}
	}
	return codes
}
