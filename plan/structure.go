package plan

import (
	"regexp"

	"github.com/hashicorp/hcl/v2"
)

// checkStructure holds a body against its table: unknown, repeated and missing
// attributes and blocks, and labels. What is not in the table is taken out of
// the body, so that it is reported once.
func checkStructure(b *body, schema *bodySchema, what string, diags *diagnostics) {
	kept := b.attrs[:0]
	for _, a := range b.attrs {
		if schema.attr(a.name) == nil && !unknownAttribute(a, b, schema, what, diags) {
			continue
		}
		kept = append(kept, a)
	}
	b.attrs = kept
	checkBlocks(b, schema, what, diags)
	if b.broken {
		return
	}
	for _, a := range schema.attrs {
		if a.required && b.attr(a.name) == nil {
			diags.errorAt(b.where, "Missing attribute", "%s needs the attribute %q.", what, a.name)
		}
	}
	for _, inner := range schema.blocks {
		if inner.needed && b.block(inner.kind) == nil {
			diags.errorAt(b.where, "Missing block", "%s needs a block %q.", what, inner.kind)
		}
	}
}

// unknownAttribute reports an attribute that is not in the table. One that is
// misspelt is taken for what was meant, so that the one mistake is not reported
// as a missing attribute too; it gives whether the attribute is kept.
func unknownAttribute(a *attribute, b *body, schema *bodySchema, what string, diags *diagnostics) bool {
	if schema.block(a.name) != nil {
		diags.errorAt(a.where, "Block expected", "%q is a block here: write %s { … } without an equals sign.", a.name, a.name)
		return false
	}
	names := append(schema.attrNames(), schema.blockNames()...)
	diags.errorAt(a.where, "Unknown attribute", "%s has no attribute %q.%s", what, a.name, suggestion(a.name, names))
	meant := nearest(a.name, names)
	if schema.attr(meant) == nil || b.attr(meant) != nil {
		return false
	}
	a.name = meant
	return true
}

func checkBlocks(b *body, schema *bodySchema, what string, diags *diagnostics) {
	kept := b.blocks[:0]
	firsts := map[string]*block{}
	for _, inner := range b.blocks {
		row := schema.block(inner.kind)
		switch {
		case row == nil && schema.attr(inner.kind) != nil:
			diags.errorAt(inner.where, "Attribute expected", "%q is an attribute here: write %s = … with an equals sign.", inner.kind, inner.kind)
			continue
		case row == nil:
			names := append(schema.blockNames(), schema.attrNames()...)
			diags.errorAt(inner.where, "Unknown block", "%s has no block %q.%s", what, inner.kind, suggestion(inner.kind, names))
			if row = schema.block(nearest(inner.kind, names)); row == nil || row.single && b.block(row.kind) != nil {
				continue
			}
			inner.kind = row.kind // as with attributes
		case row.single && firsts[inner.kind] != nil:
			diags.errorAt(inner.where, "Block given twice", "%s takes one block %q, and the first is at %s; remove one of the two.",
				what, inner.kind, shortPlace(firsts[inner.kind].where))
		}
		if firsts[inner.kind] == nil {
			firsts[inner.kind] = inner
		}
		checkLabels(inner, row, diags)
		if row.body != nil {
			checkStructure(inner.body, row.body, "A "+inner.kind+" block", diags)
		}
		kept = append(kept, inner)
	}
	b.blocks = kept
}

// checkLabels reports a wrong number of labels and fills missing ones in with
// an empty text, which no reference can reach.
func checkLabels(b *block, row *blockSchema, diags *diagnostics) {
	for i, label := range row.labels {
		if i >= len(b.labels) {
			diags.errorAt(b.where, "Missing label", "%s block needs its %s in quotes: %s \"…\" { … }.", aThing(b.kind), label, b.kind)
			b.labels = append(b.labels, "")
			b.labelAt = append(b.labelAt, b.where)
		}
	}
	if extra := len(row.labels); len(b.labels) > extra {
		at := hcl.RangeBetween(b.labelAt[extra], b.labelAt[len(b.labelAt)-1])
		diags.errorAt(at, "Too many labels", "%s block takes %d of them; remove the rest.", aThing(b.kind), extra)
		b.labels, b.labelAt = b.labels[:extra], b.labelAt[:extra]
	}
}

// validLabel says whether a label can be named by a reference: a letter or
// underscore, then letters, digits, - and _, 64 bytes at most.
func validLabel(label string) bool { return labelForm.MatchString(label) }

var labelForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
