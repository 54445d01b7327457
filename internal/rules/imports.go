package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ImportRule says what one package, or a family of them, may import beside the
// standard library. The first rule whose pattern matches applies.
type ImportRule struct {
	// Package is a folder, or ends in /... for all folders below it.
	Package string
	// Own are packages of the module, External prefixes of other modules.
	Own      []string
	External []string
	// Never are standard packages that shipped files may not use.
	Never  []string
	Reason string
}

const (
	cobra  = "github.com/spf13/cobra"
	pflag  = "github.com/spf13/pflag"
	hcl    = "github.com/hashicorp/hcl/v2"
	cty    = "github.com/zclconf/go-cty"
	goMP4  = "github.com/abema/go-mp4"
	goWAV  = "github.com/go-audio"
	xSys   = "golang.org/x/sys"
	xTerm  = "golang.org/x/term"
	xText  = "golang.org/x/text"
	xSync  = "golang.org/x/sync"
	rapid  = "pgregory.net/rapid"
	script = "github.com/rogpeppe/go-internal/testscript"
	diff   = "github.com/rogpeppe/go-internal/diff"
)

// ImportRules is the table. A package without a rule is a problem: whoever adds
// one decides here what it may know.
func ImportRules() []ImportRule {
	return []ImportRule{
		{
			Package: "cmd/grill-plan/...",
			Own:     []string{"cmd/grill-plan/...", "plan/...", "executor/...", "steps/...", "media/...", "internal/..."},
			External: []string{
				cobra, pflag, hcl, diff, xSys, xTerm,
			},
			Reason: "flags, wiring and rendering see everything and are seen by nothing",
		},
		{
			Package: "plan/graph",
			Reason:  "the compiled form is what every backend reads: nothing but the standard library",
		},
		{
			Package: "plan/spec",
			Reason:  "specs are the bytes of node digests: nothing that may change them from outside",
		},
		{
			Package:  "plan/document",
			Own:      []string{"internal/strictjson"},
			External: []string{xText},
			Reason:   "documents are admitted the same way with and without a plan, so they know no HCL",
		},
		{
			Package: "plan/sight",
			Own:     []string{"plan/document"},
			Reason:  "what a design can see is arithmetic over documents, used by plan and by reports",
		},
		{
			Package:  "plan/compile",
			Own:      []string{"plan", "plan/graph", "plan/spec", "plan/document", "plan/sight", "internal/strictjson"},
			External: []string{hcl},
			Reason:   "compilation is a pure function of a typed plan; it names places, and executes nothing",
		},
		{
			Package:  "plan",
			Own:      []string{"plan/document", "internal/strictjson"},
			External: []string{hcl, cty, xText},
			Never:    []string{"os/exec", "net", "net/http"},
			Reason:   "reading a plan has no side effect and never reaches executor or steps (PLN-08, PLN-14)",
		},
		{
			Package: "executor/digest",
			Own:     []string{"plan/graph"},
			Reason:  "the digest scheme depends on nodes alone",
		},
		{
			Package:  "executor/checkpoint",
			Own:      []string{"executor/digest", "plan/graph", "internal/durable", "internal/strictjson"},
			External: []string{xSys},
			Reason:   "records and their publication serve any graph",
		},
		{
			Package:  "executor/...",
			Own:      []string{"executor/...", "plan/graph", "internal/durable", "internal/strictjson"},
			External: []string{xSys, xSync},
			Reason:   "the executor runs any graph: it never learns of HCL, documents, steps or media",
		},
		{
			Package:  "steps/stepstest",
			Own:      []string{"executor", "plan/...", "steps/...", "media/...", "internal/..."},
			External: []string{xSys, rapid},
			Reason:   "the conformance suite that every Runner passes stands between executor and steps",
		},
		{
			Package:  "steps",
			Own:      []string{"plan", "plan/...", "executor/...", "steps/...", "media/...", "internal/durable", "internal/strictjson"},
			External: []string{hcl, xSys, xSync},
			Reason:   "the one place that turns a plan into a graph and a spec into work; HCL only as the type of diagnostics that pass through",
		},
		{
			Package:  "steps/...",
			Own:      []string{"steps/...", "media/...", "plan/document", "plan/spec", "plan/sight", "internal/durable", "internal/strictjson"},
			External: []string{xSys, xSync, xText},
			Reason:   "one concern each, usable without a plan by the media commands: no HCL, no executor",
		},
		{
			Package: "media/binread",
			Never:   []string{"os/exec", "os", "net"},
			Reason:  "the bounded reader everything hostile goes through: standard library only",
		},
		{
			Package:  "media/mp4",
			Own:      []string{"media", "media/binread"},
			External: []string{goMP4},
			Never:    []string{"os/exec", "os", "net"},
			Reason:   "go-mp4 is a second reader in tests; boxes, tables and judgement are our own",
		},
		{
			Package:  "media/wav",
			Own:      []string{"media", "media/binread"},
			External: []string{goWAV},
			Never:    []string{"os/exec", "os", "net"},
			Reason:   "the check is our own; the library only reads integer PCM back",
		},
		{
			Package:  "media/synth",
			Own:      []string{"media", "media/binread"},
			External: []string{goWAV},
			Never:    []string{"os/exec", "net"},
			Reason:   "the generator writes through the same libraries that others read with",
		},
		{
			Package: "media/...",
			Own:     []string{"media", "media/..."},
			Never:   []string{"os/exec", "net"},
			Reason:  "media judges bytes: it knows nothing of plans, starts nothing and contacts nobody",
		},
		{
			Package:  "internal/durable",
			External: []string{xSys},
			Reason:   "files that survive a crash, used from both sides of the executor",
		},
		{
			Package: "internal/strictjson",
			Reason:  "the strict reader of documents and records: standard library only",
		},
		{
			Package:  "internal/view",
			Own:      []string{"plan/...", "executor/...", "steps/...", "media", "internal/strictjson"},
			External: []string{hcl, xTerm},
			Reason:   "rendering: it shows what others found and finds nothing itself",
		},
		{
			Package: "internal/rules",
			Reason:  "rules read the project as text and import none of it",
		},
		{
			Package: "internal/readme",
			Own:     []string{"internal/rules"},
			Reason:  "runs what the documentation shows",
		},
		{
			Package: "internal/acceptance",
			Reason:  "tests that use the built program from outside",
		},
		{
			Package: "examples",
			Reason:  "plans, and the tests that run them",
		},
		{
			Package: "tools/...",
			Own:     []string{"internal/rules"},
			Reason:  "tools of the project's own upkeep are no part of the program",
		},
		{
			Package:  "bench/...",
			Own:      []string{"executor/...", "plan/...", "steps/...", "media/...", "internal/..."},
			External: []string{xSys, xSync, hcl, cty},
			Reason:   "benches measure any part, and nothing imports them",
		},
	}
}

// testOnly are modules that shipped files may not import at all.
func testOnly() []string { return []string{rapid, script, "testing"} }

// CheckImports reports each import that the table does not allow. Tests may use
// any module, and any own package that does not turn an arrow round.
func CheckImports(files []*File) []Problem {
	rules := ImportRules()
	var problems []Problem
	for _, file := range files {
		index := slices.IndexFunc(rules, func(rule ImportRule) bool { return matches(rule.Package, file.Package()) })
		if index < 0 {
			problems = append(problems, Problem{Path: file.Path, Message: "the folder has no import rule: add one to ImportRules with its reason"})
			continue
		}
		problems = append(problems, checkFile(file, rules[index])...)
	}
	return problems
}

func checkFile(file *File, rule ImportRule) []Problem {
	var problems []Problem
	for _, spec := range file.AST.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser admits only string literals
		}
		if message := refusal(file, rule, name); message != "" {
			problems = append(problems, Problem{
				Path: file.Path, Line: file.line(spec.Pos()),
				Message: fmt.Sprintf("%s: %s", message, rule.Reason),
			})
		}
	}
	return problems
}

// refusal says why a file may not import name, "" if it may.
func refusal(file *File, rule ImportRule, name string) string {
	support := file.Test() || strings.HasSuffix(file.Package(), "test")
	own, isOwn := strings.CutPrefix(name, Module+"/")
	switch {
	case isOwn && own == file.Package():
		return "" // an external test of the package
	case isOwn && support:
		return backwards(file.Package(), own)
	case isOwn && !matchesAny(rule.Own, own):
		return fmt.Sprintf("%s may not import %s", file.Package(), own)
	case isOwn || support:
		return ""
	case slices.ContainsFunc(testOnly(), func(module string) bool { return below(module, name) }):
		return fmt.Sprintf("shipped files may not import %s", name)
	case slices.Contains(rule.Never, name):
		return fmt.Sprintf("%s may not import %s", file.Package(), name)
	case standard(name):
		return ""
	case !slices.ContainsFunc(rule.External, func(module string) bool { return below(module, name) }):
		return fmt.Sprintf("%s may not import %s", file.Package(), name)
	}
	return ""
}

// backwards holds for tests as well: what lies below never learns of what lies
// above, or the lower part could not be tested without the upper.
func backwards(from, to string) string {
	layers := []struct{ below, above []string }{
		{[]string{"media/..."}, []string{"plan/...", "executor/...", "steps/...", "cmd/..."}},
		{[]string{"plan/..."}, []string{"executor/...", "steps/...", "cmd/..."}},
		{[]string{"executor/..."}, []string{"plan", "plan/compile", "plan/document", "plan/spec", "steps/...", "media/...", "cmd/..."}},
	}
	for _, layer := range layers {
		if matchesAny(layer.below, from) && matchesAny(layer.above, to) {
			return fmt.Sprintf("%s may not import %s, not even in tests", from, to)
		}
	}
	return ""
}

// standard packages have no dot in their first element.
func standard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".")
}

func matchesAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, pkg) })
}

// matches is true for the folder itself and, with /..., for all below it.
func matches(pattern, pkg string) bool {
	parent, family := strings.CutSuffix(pattern, "/...")
	return pkg == parent || family && below(parent, pkg)
}

func below(prefix, name string) bool {
	return name == prefix || strings.HasPrefix(name, prefix+"/")
}
