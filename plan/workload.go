package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/grill-plan/grill-plan/internal/strictjson"
	"github.com/grill-plan/grill-plan/plan/document"
)

// defaultArms are the slots of an experiment that names none.
func defaultArms() []string { return []string{document.ArmA, document.ArmB, document.ArmA2} }

// orderedArms says whether arms are in an order that compiles (PLN-11).
func orderedArms(arms []string) bool {
	full := []string{document.ArmA, document.ArmB, document.ArmB2, document.ArmA2}
	return slices.Equal(arms, defaultArms()) || slices.Equal(arms, full)
}

// workload gives the document of one workload instance with the slots of one
// use; nil when it could not be made. Uses with equal slots share it.
func (l *loader) workload(in *instance, arms []string) *WorkloadUse {
	id := strings.Join(arms, ",")
	if in.of.block.body.attr("document") != nil {
		id = "" // a file brings its own slots
	}
	if use, known := in.workloads[id]; known {
		return use
	}
	if in.workloads == nil {
		in.workloads = map[string]*WorkloadUse{}
	}
	var use *WorkloadUse
	l.speakFor(in, func() { use = l.makeWorkload(in, arms) })
	in.workloads[id] = use
	return use
}

func (l *loader) makeWorkload(in *instance, arms []string) *WorkloadUse {
	b := in.of.block.body
	s := in.scope(&scope{l: l, ctx: l.base, roots: []string{"var", "local"}})
	if a := b.attr("document"); a != nil {
		return l.workloadFile(in, s, a)
	}
	t := &treeBuilder{s: s}
	tree := t.workloadTree(in, arms)
	made := t.finish(tree)
	doc, problems := document.DecodeWorkload(in.address, tree)
	l.reportProblems(problems, made, "Invalid workload")
	if doc == nil || len(made.failed) > 0 {
		return nil
	}
	use := &WorkloadUse{Address: in.address, Range: in.of.block.where, Document: doc, Bytes: doc.Typed()}
	use.SHA256 = document.RawHash(use.Bytes)
	for _, gate := range b.blocksOf("gate") {
		use.Gates = append(use.Gates, l.gateSource(gate.whole))
	}
	l.built[use] = made
	return use
}

// workloadTree builds the tree of an inline workload by the table of the
// plan-language page.
func (t *treeBuilder) workloadTree(in *instance, arms []string) *strictjson.Value {
	b := in.of.block.body
	root := t.object(b, "", "for_each", "name")
	t.text(root, "kind", document.WorkloadKind, b.where)
	t.add(root, "version", b.where, strictjson.NewNumber(t.offset(b.where), "1"))
	t.name(root, in, "name")
	if request := b.block("request"); request != nil {
		t.add(root, "request", request.where, t.object(request.body, "request"))
	}
	t.outputs(root, b)
	t.cells(root, b)
	slots := strictjson.NewArray(t.offset(b.where))
	for _, arm := range arms {
		slot := strictjson.NewObject(t.offset(b.where))
		t.text(slot, "id", arm, b.where)
		t.text(slot, "arm", arm, b.where)
		slots.Items = append(slots.Items, slot)
	}
	t.add(root, "slots", b.where, slots)
	if limits := b.block("limits"); limits != nil {
		t.add(root, "limits", limits.where, t.object(limits.body, "limits"))
	}
	t.blockList(root, b, "gate", "gates")
	return root
}

// name is the name or id of a document: the label, with the key behind it, or
// what the block says.
func (t *treeBuilder) name(root *strictjson.Value, in *instance, field string) {
	b := in.of.block
	if a := b.body.attr(field); a != nil {
		t.attribute(root, a, "")
		return
	}
	name := in.of.name
	if in.of.each {
		name += "-" + in.key
	}
	switch {
	case in.unknown || in.of.name == "":
		t.fail(field)
	case !document.ValidName(name):
		t.s.l.diags.errorAt(b.where, "Name that documents do not admit",
			"The document made of this block would have the name %q, and a name is 1 to 64 of A-Z a-z 0-9 . _ - (DOC-12); give the block an attribute %s.", name, field)
		t.fail(field)
	default:
		t.text(root, field, name, b.where)
	}
}

func (t *treeBuilder) outputs(root *strictjson.Value, b *body) {
	list := strictjson.NewArray(t.offset(b.where))
	for i, output := range b.blocksOf("output") {
		path := strictjson.JoinIndex("outputs", i)
		object := t.object(output.body, path)
		t.text(object, "placeholder", output.labels[0], output.labelAt[0])
		if expect := output.body.block("expect"); expect != nil {
			t.add(object, "expect", expect.where, t.object(expect.body, strictjson.JoinName(path, "expect")))
		}
		list.Items = append(list.Items, object)
	}
	t.add(root, "outputs", b.where, list)
}

func (t *treeBuilder) cells(root *strictjson.Value, b *body) {
	list := strictjson.NewArray(t.offset(b.where))
	for i, cell := range b.blocksOf("cell") {
		path := strictjson.JoinIndex("cells", i)
		object := t.object(cell.body, path)
		t.text(object, "id", cell.labels[0], cell.labelAt[0])
		if request := cell.body.block("request"); request != nil {
			t.add(object, "request", request.where, t.object(request.body, strictjson.JoinName(path, "request")))
		}
		list.Items = append(list.Items, object)
	}
	t.add(root, "cells", b.where, list)
}

// blockList adds an array of the blocks of one type whose attributes are the
// fields.
func (t *treeBuilder) blockList(root *strictjson.Value, b *body, kind, field string) {
	list := strictjson.NewArray(t.offset(b.where))
	for i, inner := range b.blocksOf(kind) {
		list.Items = append(list.Items, t.object(inner.body, strictjson.JoinIndex(field, i)))
	}
	t.add(root, field, b.where, list)
}

// workloadFile admits a document file byte for byte (PLN-05).
func (l *loader) workloadFile(in *instance, s *scope, a *attribute) *WorkloadUse {
	file := s.documentFile(in, a, "workload")
	if file == nil {
		return nil
	}
	use := &WorkloadUse{Address: in.address, Range: in.of.block.where, Document: file.workload, Bytes: file.data, SHA256: document.RawHash(file.data)}
	for range file.workload.Gates {
		use.Gates = append(use.Gates, l.gateSource(hcl.RangeBetween(a.where, a.expr.Range())))
	}
	l.built[use] = file.located()
	return use
}

func (l *loader) gateSource(at hcl.Range) GateSource {
	return GateSource{Range: at, File: filepath.Base(at.Filename), Snippet: l.lines(at)}
}

// lines gives the whole lines of a range, without the indentation of the first
// and without the final line feed.
func (l *loader) lines(at hcl.Range) string {
	text := l.source(at)
	indent := strings.Repeat(" ", max(0, at.Start.Column-1))
	return strings.ReplaceAll(text, "\n"+indent, "\n")
}
