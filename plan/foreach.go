package plan

import (
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// maxInstances bounds the instances of one block.
const maxInstances = 100_000

// declare collects the blocks of one kind and their instances.
func (l *loader) declare(kind string, blocks []*block) {
	set := &definitions{byName: map[string]*definition{}}
	l.definitions[kind] = set
	for _, b := range blocks {
		l.checkLabel(b)
		name := b.labels[0]
		d := &definition{kind: kind, name: name, block: b, byKey: map[string]*instance{}}
		if first := set.byName[name]; first != nil && name != "" {
			l.duplicate(b, kind+"."+name, first.block)
		} else {
			set.byName[name] = d
			set.list = append(set.list, d)
		}
		l.expand(d)
	}
}

// expand makes the instances of a definition (PLN-09).
func (l *loader) expand(d *definition) {
	a := d.block.body.attr("for_each")
	if a == nil {
		d.instances = []*instance{{of: d, address: d.kind + "." + d.name}}
		if d.block.body.broken { // a for_each may be behind the syntax error
			d.probe()
		}
		return
	}
	d.each = true
	s := &scope{l: l, ctx: l.base, roots: []string{"var", "local"}}
	value, ok := s.plainValue(a)
	if !ok || !s.iterable(a, value) {
		d.probe()
		return
	}
	for it := value.ElementIterator(); it.Next(); {
		key, element := it.Element()
		if value.Type().IsSetType() {
			key = element
		}
		if key.IsNull() {
			l.diags.errorAt(a.expr.Range(), "Invalid for_each", "The set holds null, which is no key.")
			d.probe()
			return
		}
		in := &instance{of: d, key: key.AsString(), value: element}
		in.address = d.kind + "." + d.name + "[" + strconv.Quote(in.key) + "]"
		d.instances = append(d.instances, in)
		d.byKey[in.key] = in
	}
	slices.SortFunc(d.instances, func(x, y *instance) int {
		if x.key < y.key {
			return -1
		}
		return 1
	})
}

// probe gives a definition whose instances are not known one that stands for
// all of them, so that mistakes in the block are found all the same. Its key is
// unknown, and nothing that is made of it reaches the plan.
func (d *definition) probe() {
	d.invalid = true
	d.instances = []*instance{{of: d, unknown: true, value: cty.DynamicVal, address: d.kind + "." + d.name}}
	d.byKey = map[string]*instance{}
}

// iterable says whether a value can be that of for_each, and what to do if not.
func (s *scope) iterable(a *attribute, value cty.Value) bool {
	typ := value.Type()
	fail := func(format string, args ...any) bool {
		s.l.diags.errorAt(a.expr.Range(), "Invalid for_each", format, args...)
		return false
	}
	switch {
	case value.IsNull():
		return fail("for_each is null; a map, an object or a set of strings is required.")
	case typ.IsSetType() && typ.ElementType() == cty.String, typ.IsMapType(), typ.IsObjectType():
	case typ.IsSetType():
		return fail("for_each takes a set of strings, and this is a set of %s; make its elements strings with tostring.", typ.ElementType().FriendlyName())
	case typ.IsTupleType() || typ.IsListType():
		return fail("for_each takes a map, an object or a set of strings and no list, whose elements have no names; write toset([…]) for a list of strings.")
	default:
		return fail("for_each takes a map, an object or a set of strings, and this is a value of type %s.", typ.FriendlyName())
	}
	if value.LengthInt() > maxInstances {
		return fail("for_each has %d elements; at most %d are admitted.", value.LengthInt(), maxInstances)
	}
	return true
}

// scope gives the scope of the attributes of one instance.
func (in *instance) scope(parent *scope) *scope {
	if !in.of.each && !in.unknown {
		return parent
	}
	key := cty.StringVal(in.key)
	if in.unknown {
		key = cty.UnknownVal(cty.String)
	}
	ctx := parent.ctx.NewChild()
	ctx.Variables = map[string]cty.Value{
		"each": cty.ObjectVal(map[string]cty.Value{"key": key, "value": in.value}),
	}
	return &scope{l: parent.l, ctx: ctx, roots: append(slices.Clone(parent.roots), "each")}
}

// eachInstance calls work for every instance of a kind whose instances are
// known, telling the diagnostics which one speaks.
func (l *loader) eachInstance(kind string, work func(in *instance)) {
	for _, d := range l.definitions[kind].list {
		for _, in := range d.instances {
			l.speakFor(in, func() { work(in) })
		}
	}
}

func (l *loader) speakFor(in *instance, work func()) {
	before := l.diags.instance
	l.diags.instance = ""
	if in.of.each && !in.unknown {
		l.diags.instance = in.address
	}
	work()
	l.diags.instance = before
}

// elementRanges gives the place of each element of a list that is written out,
// and the whole for others.
func elementRanges(expr hclsyntax.Expression, n int) []hcl.Range {
	ranges := make([]hcl.Range, n)
	tuple, written := unwrap(expr).(*hclsyntax.TupleConsExpr)
	for i := range ranges {
		ranges[i] = expr.Range()
		if written && len(tuple.Exprs) == n {
			ranges[i] = tuple.Exprs[i].Range()
		}
	}
	return ranges
}

func unwrap(expr hclsyntax.Expression) hclsyntax.Expression {
	for {
		inner, wrapped := expr.(*hclsyntax.ParenthesesExpr)
		if !wrapped {
			return expr
		}
		expr = inner.Expression
	}
}
