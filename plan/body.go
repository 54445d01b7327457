package plan

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// body is a parsed body in source order. It is our own because a body may be
// put together from pieces that were parsed one by one (syntax.go), and because
// hclsyntax keeps attributes in a map.
type body struct {
	attrs  []*attribute
	blocks []*block
	where  hcl.Range // the header of its block, for what is missing in it
	// broken bodies hold a syntax error somewhere that could not be put down
	// to one item; what seems to be missing may be behind it.
	broken bool
}

// attribute is one `name = expression`.
type attribute struct {
	name   string
	expr   hclsyntax.Expression
	where  hcl.Range // of the name
	broken bool      // its expression holds a syntax error
}

// block is one nested or outer block.
type block struct {
	kind    string
	labels  []string
	labelAt []hcl.Range
	where   hcl.Range // from the type to the last label
	whole   hcl.Range
	body    *body
}

// attr gives the attribute of that name, nil when there is none. Bodies are
// small, so a scan is cheaper than a map.
func (b *body) attr(name string) *attribute {
	for _, a := range b.attrs {
		if a.name == name {
			return a
		}
	}
	return nil
}

// block gives the first block of that type, nil when there is none.
func (b *body) block(kind string) *block {
	for _, inner := range b.blocks {
		if inner.kind == kind {
			return inner
		}
	}
	return nil
}

// blocksOf gives the blocks of that type in source order.
func (b *body) blocksOf(kind string) []*block {
	var found []*block
	for _, inner := range b.blocks {
		if inner.kind == kind {
			found = append(found, inner)
		}
	}
	return found
}

// fromSyntax converts a parsed body. With broken set every attribute of it is
// marked: the parser leaves placeholders for what it did not understand.
func fromSyntax(syntax *hclsyntax.Body, where hcl.Range, broken bool) *body {
	b := &body{where: where, broken: broken}
	for _, a := range syntax.Attributes {
		b.attrs = append(b.attrs, &attribute{name: a.Name, expr: a.Expr, where: a.NameRange, broken: broken})
	}
	slices.SortFunc(b.attrs, func(x, y *attribute) int { return x.where.Start.Byte - y.where.Start.Byte })
	for _, inner := range syntax.Blocks {
		b.blocks = append(b.blocks, blockFromSyntax(inner, broken))
	}
	return b
}

func blockFromSyntax(syntax *hclsyntax.Block, broken bool) *block {
	header := syntax.TypeRange
	if n := len(syntax.LabelRanges); n > 0 {
		header = hcl.RangeBetween(header, syntax.LabelRanges[n-1])
	}
	return &block{
		kind:    syntax.Type,
		labels:  syntax.Labels,
		labelAt: syntax.LabelRanges,
		where:   header,
		whole:   hcl.RangeBetween(syntax.TypeRange, syntax.CloseBraceRange),
		body:    fromSyntax(syntax.Body, header, broken),
	}
}
