package document

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/grill-plan/grill-plan/internal/strictjson"
)

// maxDepth is more than any document needs.
const maxDepth = 32

// ParseWorkload reads a workload document. The name stands in its problems. A
// document is admitted exactly when there are none, and only then is the first
// result given; all problems are found in one go, sorted by position (DOC-15).
func ParseWorkload(name string, data []byte) (*Workload, []Problem) {
	return parse(name, data, DecodeWorkload)
}

// ParseRunner reads a runner document of any kind, like ParseWorkload.
func ParseRunner(name string, data []byte) (*Runner, []Problem) {
	return parse(name, data, DecodeRunner)
}

// ParseDeployment reads a deployment document, like ParseWorkload.
func ParseDeployment(name string, data []byte) (*Deployment, []Problem) {
	return parse(name, data, DecodeDeployment)
}

// DecodeWorkload reads a workload from a tree, whatever syntax that came from.
// Offsets of problems are those of the tree. The result is nil when there are
// problems.
func DecodeWorkload(name string, tree *strictjson.Value) (*Workload, []Problem) {
	return decode(name, tree, func(root place, w *Workload) {
		readObject(root, tree, workloadTable(shapeOf(tree)), w)
		checkGateCells(root, tree, w)
	})
}

// DecodeRunner reads a runner from a tree, like DecodeWorkload.
func DecodeRunner(name string, tree *strictjson.Value) (*Runner, []Problem) {
	return decode(name, tree, func(root place, r *Runner) {
		if isObject(root, tree) {
			readRunner(root, tree, r)
		}
	})
}

// DecodeDeployment reads a deployment from a tree, like DecodeWorkload.
func DecodeDeployment(name string, tree *strictjson.Value) (*Deployment, []Problem) {
	return decode(name, tree, func(root place, d *Deployment) {
		readObject(root, tree, deploymentTable(), d)
	})
}

func decode[T any](name string, tree *strictjson.Value, read func(root place, into *T)) (*T, []Problem) {
	c := &collector{document: name}
	into := new(T)
	read(place{c: c}, into)
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	return into, nil
}

func parse[T any](name string, data []byte, decode func(string, *strictjson.Value) (*T, []Problem)) (*T, []Problem) {
	if len(data) > MaxBytes {
		message := fmt.Sprintf("is %d bytes long; at most %d are admitted", len(data), MaxBytes)
		return nil, []Problem{{Document: name, Rule: "DOC-09", Message: message}}
	}
	tree, errors := strictjson.Parse(data, maxDepth)
	problems := make([]Problem, 0, len(errors))
	for _, e := range errors {
		problems = append(problems, Problem{Document: name, Path: e.Path, Rule: ruleOf(e.Code), Message: e.Message, Offset: e.Offset})
	}
	if tree == nil {
		return nil, problems
	}
	result, found := decode(name, tree)
	for _, p := range found {
		// The reader has reported repeated names already, also where no table looks.
		if p.Rule != "DOC-03" {
			problems = append(problems, p)
		}
	}
	if len(problems) > 0 {
		slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Offset, b.Offset) })
		return nil, problems
	}
	return result, nil
}

func ruleOf(code string) string {
	switch code {
	case strictjson.CodeDuplicate:
		return "DOC-03"
	case strictjson.CodeEncoding:
		return "DOC-08"
	default:
		return "DOC-01"
	}
}

// Typed is the typed serialization (DOC-13): compact JSON, fields in the order
// of the requirements, optional fields only where present.
func (w *Workload) Typed() []byte { return appendObject(nil, workloadTable(workloadShape{}), w) }

// Typed is the typed serialization, as of a workload; env is sorted by name.
func (r *Runner) Typed() []byte { return appendObject(nil, runnerTable(r.Kind), r) }

// Typed is the typed serialization, as of a workload.
func (d *Deployment) Typed() []byte { return appendObject(nil, deploymentTable(), d) }

// TypedHash is the typed workload hash in lowercase hexadecimal (DOC-13).
func (w *Workload) TypedHash() string { return RawHash(w.Typed()) }

// RawHash is the raw hash of a document's bytes (DOC-14).
func RawHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
