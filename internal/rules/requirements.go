package rules

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Requirement is one numbered line of docs/requirements.md.
type Requirement struct {
	ID   string // e.g. DOC-20
	Text string // its first line
}

// Group is the part of the id that names the group.
func (r Requirement) Group() string { return r.ID[:3] }

// Holder is one place in a test that claims a requirement.
type Holder struct {
	ID   string
	File string
	Line int
	Test string // name of the test function; "" outside one, and in scripts
}

func (h Holder) String() string {
	place := fmt.Sprintf("%s:%d", h.File, h.Line)
	if h.Test == "" {
		return place
	}
	return place + " " + h.Test
}

// Exemption is a requirement of a finished group that a later part of the
// project holds.
type Exemption struct {
	ID     string
	Later  string
	Reason string
}

// HeldGroups are those whose every requirement needs a test, exemptions apart.
func HeldGroups() []string {
	return []string{"PLN", "DOC", "TPL", "PRE", "SET", "CAP", "CMP"}
}

// laterContract is a part of the project that comes later.
const laterContract = "the complete media contract: caches and markers"

// Exemptions lists what the held groups leave to later parts. An exemption whose
// requirement is held after all is a problem: it has to go.
func Exemptions() []Exemption {
	return []Exemption{
		{"SET-07", laterContract, "observes declared caches; a runner with cache paths is refused by name"},
	}
}

// ReadRequirements reads the numbered list, whose entries start a line with
// "- **ID** ".
func ReadRequirements(file string) ([]Requirement, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the requirements: %w", err)
	}
	entry := regexp.MustCompile(`(?m)^- \*\*([A-Z0-9]{3}-[0-9]{2})\*\* (.*)$`)
	var list []Requirement
	for _, match := range entry.FindAllStringSubmatch(string(data), -1) {
		list = append(list, Requirement{ID: match[1], Text: match[2]})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("read the requirements: %s lists none", file)
	}
	return list, nil
}

// FindHolders collects the claims of all tests: ids in comments and strings of
// _test.go files, and anywhere in testscript files. Claims come in the order of
// files and lines. Left out are the tests of the checker itself, which speak of ids
// that they do not hold; what it checks of the module stands in one file.
func FindHolders(root string, files []*File) ([]Holder, error) {
	const own = "internal/rules"
	var holders []Holder
	for _, file := range files {
		if file.Test() && (file.Package() != own || file.Path == own+"/module_test.go") {
			holders = append(holders, goHolders(file)...)
		}
	}
	err := walk(root, func(name string) error {
		if !strings.HasSuffix(name, ".txtar") || strings.HasPrefix(name, own+"/") {
			return nil
		}
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			for _, id := range ids(line) {
				holders = append(holders, Holder{ID: id, File: name, Line: i + 1})
			}
		}
		return nil
	})
	return holders, err
}

// ids finds what looks like requirement ids; UTF-16 does too, and is told apart by
// the list of known groups.
func ids(text string) []string {
	return regexp.MustCompile(`\b[A-Z0-9]{3}-[0-9]{2}\b`).FindAllString(text, -1)
}

func goHolders(file *File) []Holder {
	var holders []Holder
	add := func(line int, text string) {
		for i, part := range strings.Split(text, "\n") {
			for _, id := range ids(part) {
				holders = append(holders, Holder{ID: id, File: file.Path, Line: line + i, Test: enclosing(file, line)})
			}
		}
	}
	for _, group := range file.AST.Comments {
		for _, comment := range group.List {
			add(file.line(comment.Pos()), comment.Text)
		}
	}
	ast.Inspect(file.AST, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok {
			add(file.line(literal.Pos()), literal.Value)
		}
		return true
	})
	slices.SortStableFunc(holders, func(a, b Holder) int { return a.Line - b.Line })
	return holders
}

// enclosing names the function whose comment or body holds the line.
func enclosing(file *File, line int) string {
	for _, declaration := range file.AST.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		from := function.Pos()
		if function.Doc != nil {
			from = function.Doc.Pos()
		}
		if file.line(from) <= line && line <= file.line(function.End()) {
			return function.Name.Name
		}
	}
	return ""
}

// Coverage says, for each requirement, which tests hold it.
type Coverage struct {
	Requirements []Requirement
	Holders      map[string][]Holder
	Unknown      []Holder // claims of ids that do not exist
}

// Cover reads the requirements and all claims below root.
func Cover(root string) (Coverage, error) {
	requirements, err := ReadRequirements(filepath.Join(root, "docs", "requirements.md"))
	if err != nil {
		return Coverage{}, err
	}
	files, err := Load(root)
	if err != nil {
		return Coverage{}, err
	}
	holders, err := FindHolders(root, files)
	if err != nil {
		return Coverage{}, err
	}
	coverage := Coverage{Requirements: requirements, Holders: map[string][]Holder{}}
	groups := map[string]bool{}
	for _, requirement := range requirements {
		coverage.Holders[requirement.ID] = nil
		groups[requirement.Group()] = true
	}
	for _, holder := range holders {
		switch _, known := coverage.Holders[holder.ID]; {
		case known:
			coverage.Holders[holder.ID] = append(coverage.Holders[holder.ID], holder)
		case groups[holder.ID[:3]]:
			coverage.Unknown = append(coverage.Unknown, holder)
		}
	}
	return coverage, nil
}

// CheckCoverage reports each requirement of the held groups that no test claims,
// claims of ids that do not exist, and exemptions that are no longer needed.
func CheckCoverage(coverage Coverage, groups []string, exemptions []Exemption) []Problem {
	var problems []Problem
	for _, holder := range coverage.Unknown {
		problems = append(problems, Problem{Path: holder.File, Line: holder.Line, Message: "no requirement is called " + holder.ID})
	}
	for _, requirement := range coverage.Requirements {
		exempt := slices.ContainsFunc(exemptions, func(e Exemption) bool { return e.ID == requirement.ID })
		held := len(coverage.Holders[requirement.ID]) > 0
		switch {
		case exempt && held:
			problems = append(problems, Problem{Path: coverage.Holders[requirement.ID][0].File, Message: requirement.ID + " is held by a test: remove its exemption"})
		case !exempt && !held && slices.Contains(groups, requirement.Group()):
			problems = append(problems, Problem{Path: "docs/requirements.md", Message: requirement.ID + " is held by no test: " + requirement.Text})
		}
	}
	return problems
}
