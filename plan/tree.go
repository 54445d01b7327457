package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/grill-plan/grill-plan/internal/strictjson"
	"github.com/grill-plan/grill-plan/plan/document"
)

// treeBuilder turns the attributes of a block into the tree that package
// document checks, so that a block and a JSON file meet one table (PLN-04).
type treeBuilder struct {
	s      *scope
	ranges []hcl.Range // what the offsets of the tree mean
	// failed are field paths whose values could not be had, which has been
	// said: what document says of them is not.
	failed []string
}

// built is a finished tree and the way from its offsets to places.
type built struct {
	tree   *strictjson.Value
	ranges []hcl.Range
	failed []string
	file   *documentFile // then offsets are bytes of it
}

func (t *treeBuilder) offset(at hcl.Range) int {
	t.ranges = append(t.ranges, at)
	return len(t.ranges) - 1
}

func (t *treeBuilder) fail(path string) { t.failed = append(t.failed, path) }

// object builds an object from a body: its attributes under their names but for
// those that are something else. What the table of the body does not admit was
// taken out of it before.
func (t *treeBuilder) object(b *body, path string, except ...string) *strictjson.Value {
	object := strictjson.NewObject(t.offset(b.where))
	if b.broken {
		t.fail(path)
	}
	for _, a := range b.attrs {
		if !slices.Contains(except, a.name) {
			t.attribute(object, a, path)
		}
	}
	return object
}

// attribute adds one attribute to an object.
func (t *treeBuilder) attribute(object *strictjson.Value, a *attribute, path string) {
	inner := strictjson.JoinName(path, a.name)
	value, ok := t.s.plainValue(a)
	if ok {
		t.add(object, a.name, a.where, t.value(value, a.expr, inner))
		return
	}
	t.fail(inner)
}

// add adds a field unless its value could not be had.
func (t *treeBuilder) add(object *strictjson.Value, name string, at hcl.Range, value *strictjson.Value) {
	if value != nil {
		object.Members = append(object.Members, strictjson.NewMember(t.offset(at), name, value))
	}
}

// text is a field with a text that no attribute gives.
func (t *treeBuilder) text(object *strictjson.Value, name, text string, at hcl.Range) {
	t.add(object, name, at, strictjson.NewString(t.offset(at), text))
}

// value turns an evaluated expression into a tree. It gives nil for what has no
// counterpart in a document, which it reports.
func (t *treeBuilder) value(value cty.Value, expr hclsyntax.Expression, path string) *strictjson.Value {
	at := expr.Range()
	typ := value.Type()
	switch {
	case value.IsNull():
		return &strictjson.Value{Kind: strictjson.Null, Offset: t.offset(at)}
	case typ == cty.String:
		return strictjson.NewString(t.offset(at), value.AsString())
	case typ == cty.Bool:
		return strictjson.NewBool(t.offset(at), value.True())
	case typ == cty.Number:
		return t.number(value, at, path)
	case isSequence(typ):
		return t.list(value, expr, path)
	case typ.IsObjectType() || typ.IsMapType():
		return t.members(value, expr, path)
	case typ.IsSetType():
		t.s.l.diags.errorAt(at, "Wrong type", "A set has no order; write a list here.")
	default:
		t.s.l.diags.errorAt(at, "Wrong type", "A reference to a block cannot stand here; write a value.")
	}
	t.fail(path)
	return nil
}

// maxIntegerBits bounds the numbers written out; what is larger is out of every
// bound, and 1e999 has a thousand digits.
const maxIntegerBits = 128

func (t *treeBuilder) number(value cty.Value, at hcl.Range, path string) *strictjson.Value {
	number := value.AsBigFloat()
	switch {
	case number.IsInf() || !number.IsInt():
		t.s.l.diags.errorAt(at, "Not a whole number", "A whole number belongs here, without a fraction.")
	case number.MantExp(nil) > maxIntegerBits:
		t.s.l.diags.errorAt(at, "Number out of bounds", "The number is larger than any that is admitted here.")
	default:
		exact, _ := number.Int(nil)
		return strictjson.NewNumber(t.offset(at), exact.String())
	}
	t.fail(path)
	return nil
}

func (t *treeBuilder) list(value cty.Value, expr hclsyntax.Expression, path string) *strictjson.Value {
	elements := value.AsValueSlice()
	list := strictjson.NewArray(t.offset(expr.Range()))
	tuple, written := unwrap(expr).(*hclsyntax.TupleConsExpr)
	written = written && len(tuple.Exprs) == len(elements)
	for i, element := range elements {
		inner := expr
		if written {
			inner = tuple.Exprs[i]
		}
		item := t.value(element, inner, strictjson.JoinIndex(path, i))
		if item == nil { // an index would shift: the whole list is not to be judged
			t.fail(path)
			return nil
		}
		list.Items = append(list.Items, item)
	}
	return list
}

func (t *treeBuilder) members(value cty.Value, expr hclsyntax.Expression, path string) *strictjson.Value {
	object := strictjson.NewObject(t.offset(expr.Range()))
	places := t.s.itemRanges(expr)
	for it := value.ElementIterator(); it.Next(); {
		key, element := it.Element()
		name, at := key.AsString(), expr.Range()
		if place, known := places[name]; known {
			at = place[0]
		}
		t.add(object, name, at, t.value(element, expr, strictjson.JoinName(path, name)))
	}
	return object
}

func (t *treeBuilder) finish(tree *strictjson.Value) *built {
	return &built{tree: tree, ranges: t.ranges, failed: t.failed}
}

// place turns the offset of a problem into a range.
func (b *built) place(p document.Problem) hcl.Range {
	offset := p.Offset
	if offset == document.NoOffset {
		offset = document.Locate(b.tree, p.Path)
	}
	if b.file != nil {
		return rangeAt(b.file.display, b.file.data, offset)
	}
	if offset < 0 || offset >= len(b.ranges) {
		return b.ranges[0]
	}
	return b.ranges[offset]
}

// covers says whether a path or something above or below it failed.
func (b *built) covers(path string) bool {
	for _, failed := range b.failed {
		if failed == path || failed == "" || pathBelow(path, failed) || pathBelow(failed, path) && path != "" {
			return true
		}
	}
	return false
}

func pathBelow(path, above string) bool {
	rest, below := strings.CutPrefix(path, above)
	return below && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

// reportProblems turns what package document found into diagnostics. summary is
// fixed per kind of document.
func (l *loader) reportProblems(problems []document.Problem, b *built, summary string) {
	for _, p := range problems {
		if b.covers(p.Path) {
			continue
		}
		l.diags.errorAt(b.place(p), summary, "%s", problemText(p))
	}
}

func problemText(p document.Problem) string {
	text := p.Message
	if p.Path != "" {
		text = p.Path + " " + p.Message
	}
	return fmt.Sprintf("%s (%s).", text, p.Rule)
}
