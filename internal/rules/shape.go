package rules

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Lines that a file may have at most. Long files are where nobody looks; tests
// are longer for their tables.
const (
	maxLines     = 500
	maxTestLines = 700
)

// bannedNames say nothing about what a package or file owns.
func bannedNames() []string {
	return []string{"util", "utils", "helper", "helpers", "common", "manager", "misc", "stuff"}
}

// CheckShape reports files that are too long, names that say nothing, packages
// without a package comment, work in init, package state, unfinished work, and
// exits from the middle of the program.
func CheckShape(files []*File) []Problem {
	var problems []Problem
	for _, file := range files {
		problems = append(problems, checkLength(file)...)
		problems = append(problems, checkNames(file)...)
		problems = append(problems, checkUnfinished(file)...)
		if !file.Test() {
			problems = append(problems, checkDeclarations(file)...)
			problems = append(problems, checkExits(file)...)
		}
	}
	return append(problems, checkPackageComments(files)...)
}

func checkLength(file *File) []Problem {
	limit := maxLines
	if file.Test() {
		limit = maxTestLines
	}
	if file.Lines <= limit {
		return nil
	}
	return []Problem{{Path: file.Path, Message: fmt.Sprintf("%d lines: split it, the bound is %d", file.Lines, limit)}}
}

func checkNames(file *File) []Problem {
	base := strings.TrimSuffix(strings.TrimSuffix(path.Base(file.Path), ".go"), "_test")
	names := append(strings.Split(file.Package(), "/"), strings.Split(base, "_")...)
	var problems []Problem
	for _, name := range names {
		if slices.Contains(bannedNames(), name) {
			problems = append(problems, Problem{Path: file.Path, Message: fmt.Sprintf("a name with %q does not say what is owned", name)})
		}
	}
	return problems
}

// checkUnfinished refuses notes to oneself: what is missing is filed or done.
func checkUnfinished(file *File) []Problem {
	note := regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)
	var problems []Problem
	for _, group := range file.AST.Comments {
		for _, comment := range group.List {
			if word := note.FindString(comment.Text); word != "" {
				problems = append(problems, Problem{Path: file.Path, Line: file.line(comment.Pos()), Message: "unfinished work is not committed: " + word})
			}
		}
	}
	return problems
}

// checkDeclarations refuses func init and package variables that hold state.
// Values that are set once where they are declared (errors, expressions, tables)
// pass: nothing but review can tell that a table is never written to.
func checkDeclarations(file *File) []Problem {
	var problems []Problem
	for _, declaration := range file.AST.Decls {
		switch decl := declaration.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil && decl.Name.Name == "init" {
				problems = append(problems, Problem{Path: file.Path, Line: file.line(decl.Pos()), Message: "no work in init: call it where it is needed"})
			}
		case *ast.GenDecl:
			if decl.Tok == token.VAR {
				problems = append(problems, checkVariables(file, decl)...)
			}
		}
	}
	return problems
}

func checkVariables(file *File, decl *ast.GenDecl) []Problem {
	var problems []Problem
	for _, spec := range decl.Specs {
		value, ok := spec.(*ast.ValueSpec)
		if !ok || len(value.Values) > 0 || embedded(decl.Doc) || embedded(value.Doc) {
			continue
		}
		problems = append(problems, Problem{
			Path: file.Path, Line: file.line(value.Pos()),
			Message: fmt.Sprintf("package variable %s has no value, so somebody writes it later: pass it instead", value.Names[0].Name),
		})
	}
	return problems
}

func embedded(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(comment *ast.Comment) bool {
		return strings.HasPrefix(comment.Text, "//go:embed ")
	})
}

// checkExits keeps the end of the process in package main, where deferred work is
// known to be done.
func checkExits(file *File) []Problem {
	if file.AST.Name.Name == "main" {
		return nil
	}
	var problems []Problem
	ast.Inspect(file.AST, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		receiver, ok := selector.X.(*ast.Ident)
		if ok && exits(receiver.Name, selector.Sel.Name) {
			problems = append(problems, Problem{
				Path: file.Path, Line: file.line(call.Pos()),
				Message: fmt.Sprintf("%s.%s outside main: return an error", receiver.Name, selector.Sel.Name),
			})
		}
		return true
	})
	return problems
}

func exits(pkg, name string) bool {
	return pkg == "os" && name == "Exit" || pkg == "log" && (strings.HasPrefix(name, "Fatal") || strings.HasPrefix(name, "Panic"))
}

// checkPackageComments wants exactly one, in the form godoc reads, for every
// package that has shipped files.
func checkPackageComments(files []*File) []Problem {
	var folders []string
	comments := map[string][]*File{}
	for _, file := range files {
		if file.Test() {
			continue
		}
		folder := file.Package()
		if !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
		if file.AST.Doc != nil {
			comments[folder] = append(comments[folder], file)
		}
	}
	var problems []Problem
	for _, folder := range folders {
		switch found := comments[folder]; {
		case len(found) == 0:
			problems = append(problems, Problem{Path: folder, Message: "no package comment: say what it owns, what not, and which invariant it keeps"})
		case len(found) > 1:
			problems = append(problems, Problem{Path: found[1].Path, Message: "a second package comment, the first is in " + found[0].Path})
		case !wellFormed(found[0]):
			problems = append(problems, Problem{Path: found[0].Path, Message: "the package comment does not start with Package NAME or Command NAME"})
		}
	}
	return problems
}

func wellFormed(file *File) bool {
	text := file.AST.Doc.Text()
	if file.AST.Name.Name == "main" {
		return strings.HasPrefix(text, "Command ")
	}
	return strings.HasPrefix(text, "Package "+file.AST.Name.Name+" ")
}
