package plan

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// parseFile parses one file completely. hcl's parser reports the first syntax
// error and is silent about later ones, so after an error the file is cut into
// its items, each is parsed on its own, and items with errors are cut again
// inside their braces (PLN-02).
func parseFile(file sourceFile, diags *diagnostics) *body {
	whole := hcl.Range{Filename: file.display, Start: hcl.InitialPos, End: hcl.InitialPos}
	tokens, ok := checkText(file, diags)
	if !ok {
		return &body{where: whole, broken: true}
	}
	parsed, found := hclsyntax.ParseConfig(file.data, file.display, hcl.InitialPos)
	if !found.HasErrors() {
		return fromSyntax(parsed.Body.(*hclsyntax.Body), whole, false)
	}
	p := &pieceParser{src: file.data, name: file.display, diags: diags}
	b := &body{where: whole}
	before := diags.count()
	p.parseItems(tokens, b, true)
	if diags.count() == before { // no piece shows it: show what the whole shows
		diags.addSyntax(found)
		b.broken = true
	}
	return b
}

// pieceParser parses the items of a body one by one.
type pieceParser struct {
	src   []byte
	name  string
	diags *diagnostics
}

// parseItems adds the items of a token run to b. outer says that the run is a
// whole file.
func (p *pieceParser) parseItems(tokens hclsyntax.Tokens, b *body, outer bool) {
	for _, piece := range cutItems(tokens, outer) {
		p.parseItem(piece, b)
	}
}

func (p *pieceParser) parseItem(piece hclsyntax.Tokens, b *body) {
	syntax, found := p.parse(piece[0].Range.Start, piece[len(piece)-1].Range.End.Byte, "")
	if !found.HasErrors() {
		p.merge(b, fromSyntax(syntax, b.where, false))
		return
	}
	if p.parseBlock(piece, b, found) {
		return
	}
	p.diags.addSyntax(found[:1])
	part := fromSyntax(syntax, b.where, true)
	if len(part.attrs)+len(part.blocks) == 0 {
		p.placeholder(piece, b)
	}
	p.merge(b, part)
}

// placeholder keeps the name of an item of which nothing could be parsed, so
// that it is not reported as missing too.
func (p *pieceParser) placeholder(piece hclsyntax.Tokens, b *body) {
	if len(piece) > 1 && piece[0].Type == hclsyntax.TokenIdent && piece[1].Type == hclsyntax.TokenEqual {
		expr := &hclsyntax.LiteralValueExpr{SrcRange: piece[0].Range}
		b.attrs = append(b.attrs, &attribute{name: string(piece[0].Bytes), expr: expr, where: piece[0].Range, broken: true})
		return
	}
	b.broken = true
}

// parseBlock parses a block over several lines by its own items. It gives false
// when the piece is no such block.
func (p *pieceParser) parseBlock(piece hclsyntax.Tokens, b *body, found hcl.Diagnostics) bool {
	open := headerEnd(piece)
	if open < 0 || open+1 >= len(piece) || !endsLine(piece[open+1]) {
		return false
	}
	header, headerDiags := p.parse(piece[0].Range.Start, piece[open].Range.End.Byte, "}")
	if headerDiags.HasErrors() || len(header.Blocks) != 1 {
		return false
	}
	closing, closed := closingBrace(piece, open)
	outerBlock := blockFromSyntax(header.Blocks[0], false)
	before := p.diags.count()
	p.parseItems(piece[open+1:closing], outerBlock.body, false)
	if p.diags.count() == before || !closed { // the error is in the braces
		p.diags.addSyntax(found[:1])
		outerBlock.body.broken = true
	}
	outerBlock.whole.End = piece[len(piece)-1].Range.End
	b.blocks = append(b.blocks, outerBlock)
	return true
}

// parse parses the source from a position to a byte offset, with an ending that
// closes what was cut open.
func (p *pieceParser) parse(start hcl.Pos, end int, ending string) (*hclsyntax.Body, hcl.Diagnostics) {
	src := p.src[start.Byte:p.lineEnd(end)]
	if ending != "" {
		src = append(bytes.Clone(p.src[start.Byte:end]), ending...)
	}
	file, found := hclsyntax.ParseConfig(src, p.name, start)
	return file.Body.(*hclsyntax.Body), found
}

// lineEnd takes the rest of a line with its line feed along when nothing but a
// comment stands there, so that the parser speaks of the end of a line and not of
// the file.
func (p *pieceParser) lineEnd(end int) int {
	line, _, found := bytes.Cut(p.src[end:], []byte("\n"))
	rest := bytes.TrimSpace(line)
	if found && (len(rest) == 0 || rest[0] == '#' || bytes.HasPrefix(rest, []byte("//"))) {
		return end + len(line) + 1
	}
	return end
}

// merge adds the items of part; across pieces the parser cannot see repeated
// attributes.
func (p *pieceParser) merge(b *body, part *body) {
	for _, a := range part.attrs {
		if first := b.attr(a.name); first != nil {
			p.diags.errorAt(a.where, "Attribute set twice",
				"The attribute %q was already set at %s; remove one of the two.", a.name, shortPlace(first.where))
			continue
		}
		b.attrs = append(b.attrs, a)
	}
	b.blocks = append(b.blocks, part.blocks...)
}

// cutItems cuts tokens at line ends outside all brackets. In a whole file a
// known block type at the start of a line begins a new item even when a bracket
// is open, so that one missing brace does not hide the rest of the file.
func cutItems(tokens hclsyntax.Tokens, outer bool) []hclsyntax.Tokens {
	var pieces []hclsyntax.Tokens
	var nest nesting
	start := 0
	flush := func(end int) {
		if piece := trimLines(tokens[start:end]); len(piece) > 0 {
			pieces = append(pieces, piece)
		}
		start = end
	}
	for i, token := range tokens {
		if token.Type == hclsyntax.TokenEOF {
			flush(i)
			return pieces
		}
		if outer && nest.depth > 0 && startsBlock(tokens, i) {
			nest = nesting{}
			flush(i)
		}
		if nest.step(token); endsLine(token) && nest.depth == 0 {
			flush(i + 1)
		}
	}
	flush(len(tokens))
	return pieces
}

// nesting counts open brackets. A line with an unclosed quote leaves as many open
// as were before it.
type nesting struct{ depth, lineStart int }

func (n *nesting) step(token hclsyntax.Token) {
	switch {
	case token.Type == hclsyntax.TokenQuotedNewline:
		n.depth = n.lineStart
	case endsLine(token):
		n.lineStart = n.depth
	case opens(token.Type):
		n.depth++
	case closes(token.Type):
		n.depth = max(0, n.depth-1)
	}
}

// startsBlock says whether token i is the type of an outer block at the very
// start of a line, with a label or a brace behind it.
func startsBlock(tokens hclsyntax.Tokens, i int) bool {
	token := tokens[i]
	if token.Type != hclsyntax.TokenIdent || token.Range.Start.Column != 1 || i+1 >= len(tokens) {
		return false
	}
	next := tokens[i+1].Type
	return (next == hclsyntax.TokenOQuote || next == hclsyntax.TokenOBrace) && planSchema().block(string(token.Bytes)) != nil
}

func trimLines(tokens hclsyntax.Tokens) hclsyntax.Tokens {
	for len(tokens) > 0 && blank(tokens[0]) {
		tokens = tokens[1:]
	}
	for len(tokens) > 0 && blank(tokens[len(tokens)-1]) {
		tokens = tokens[:len(tokens)-1]
	}
	return tokens
}

func blank(token hclsyntax.Token) bool {
	return token.Type == hclsyntax.TokenNewline || token.Type == hclsyntax.TokenComment || token.Type == hclsyntax.TokenQuotedNewline
}

// endsLine is true for line ends and for comments that swallow theirs.
func endsLine(token hclsyntax.Token) bool {
	return token.Type == hclsyntax.TokenNewline || token.Type == hclsyntax.TokenQuotedNewline ||
		token.Type == hclsyntax.TokenComment && bytes.HasSuffix(token.Bytes, []byte("\n"))
}

func opens(kind hclsyntax.TokenType) bool {
	switch kind {
	case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOHeredoc,
		hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		return true
	}
	return false
}

func closes(kind hclsyntax.TokenType) bool {
	switch kind {
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCHeredoc,
		hclsyntax.TokenTemplateSeqEnd:
		return true
	}
	return false
}

// headerEnd gives the index of the opening brace of a block header, -1 when the
// piece does not start with one.
func headerEnd(piece hclsyntax.Tokens) int {
	for i, token := range piece {
		switch token.Type {
		case hclsyntax.TokenOBrace:
			return i
		case hclsyntax.TokenIdent, hclsyntax.TokenOQuote, hclsyntax.TokenQuotedLit, hclsyntax.TokenCQuote:
		default:
			return -1
		}
	}
	return -1
}

// closingBrace gives the index of the brace that closes the one at open. When it
// is missing, the index is the end of the piece; what stands behind it makes the
// piece an error and belongs to no item.
func closingBrace(piece hclsyntax.Tokens, open int) (int, bool) {
	var nest nesting
	for i := open; i < len(piece); i++ {
		if nest.step(piece[i]); nest.depth == 0 {
			return i, i == len(piece)-1
		}
	}
	return len(piece), false
}
