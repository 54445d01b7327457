// Package rules checks the project against its own rules: which package may
// import which, what a source file has to look like, and which test holds which
// requirement.
//
// It owns the tables of these rules, each entry with its reason, and the code
// that reads Go files as text; it imports none of the project's packages, so that
// a broken package cannot hide from it. Files of every operating system are read,
// not only those of the machine that runs the tests. Its tests run the rules over
// the whole module.
package rules

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Module is the path that all own import paths start with.
const Module = "github.com/grill-plan/grill-plan"

// Problem is one broken rule.
type Problem struct {
	Path    string // of a file or folder, relative to the module root
	Line    int    // 0 for the whole
	Message string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.Path, p.Message)
	}
	return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Message)
}

// File is one parsed Go file that some supported system compiles.
type File struct {
	Path  string // relative to the module root, with slashes
	Lines int
	Fset  *token.FileSet
	AST   *ast.File
}

// Test says whether the file belongs to tests.
func (f *File) Test() bool { return strings.HasSuffix(f.Path, "_test.go") }

// Package is the folder of the file, "" for the module root.
func (f *File) Package() string {
	if dir := path.Dir(f.Path); dir != "." {
		return dir
	}
	return ""
}

func (f *File) line(pos token.Pos) int { return f.Fset.Position(pos).Line }

// Load parses every Go file below root, in the order of their paths, except
// those below testdata and those that neither linux nor darwin compiles.
func Load(root string) ([]*File, error) {
	var files []*File
	err := walk(root, func(name string) error {
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := load(root, name)
		if err != nil {
			return err
		}
		if file.supported() {
			files = append(files, file)
		}
		return nil
	})
	return files, err
}

// walk calls visit with every file below root that is part of the project.
func walk(root string, visit func(name string) error) error {
	return filepath.WalkDir(root, func(full string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("read the module: %w", err)
		}
		if entry.IsDir() {
			if full != root && skippedFolder(entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(root, full)
		if err != nil {
			return fmt.Errorf("name %s: %w", full, err)
		}
		return visit(filepath.ToSlash(name))
	})
}

// skippedFolder names what the go tool ignores too, and what is built or run.
func skippedFolder(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
		name == "bin" || name == "grill-runs"
}

func load(root, name string) (*File, error) {
	source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, name, source, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", name, err)
	}
	return &File{Path: name, Lines: strings.Count(string(source), "\n"), Fset: fset, AST: tree}, nil
}

// supported evaluates the build constraint for the two systems of PRE-15, with
// and without the race detector. The file name's own constraint is not asked:
// every _linux.go and _darwin.go file counts.
func (f *File) supported() bool {
	if slices.Contains(strings.Split(f.Path, "/"), "testdata") {
		return false
	}
	for _, group := range f.AST.Comments {
		if group.Pos() > f.AST.Package {
			break
		}
		for _, comment := range group.List {
			expr, err := constraint.Parse(comment.Text)
			if err == nil && !compiledSomewhere(expr) {
				return false
			}
		}
	}
	return true
}

func compiledSomewhere(expr constraint.Expr) bool {
	for _, system := range []string{"linux", "darwin"} {
		for _, race := range []bool{false, true} {
			if expr.Eval(func(tag string) bool {
				return tag == system || tag == "unix" || race && tag == "race"
			}) {
				return true
			}
		}
	}
	return false
}
