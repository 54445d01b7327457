package plan

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/text/unicode/norm"
)

// Bounds on the shape of expressions. hcl parses and evaluates by recursion, so
// an unbounded depth could end the program (a Go stack overflow cannot be
// recovered).
const (
	maxNesting   = 100
	maxOperators = 500
)

// checkText refuses what hcl takes silently and should not reach a document:
// a byte-order mark, NUL, invalid UTF-8, text not in NFC (hcl would change it),
// and carriage returns inside a heredoc. It gives the tokens and whether the
// file may be parsed.
func checkText(file sourceFile, diags *diagnostics) (hclsyntax.Tokens, bool) {
	at := func(offset int) hcl.Range { return rangeAt(file.display, file.data, offset) }
	if bytes.HasPrefix(file.data, []byte("\xef\xbb\xbf")) {
		diags.errorAt(at(0), "Byte-order mark", "The file starts with a byte-order mark; save it as plain UTF-8.")
		return nil, false
	}
	if offset := bytes.IndexByte(file.data, 0); offset >= 0 {
		diags.errorAt(at(offset), "NUL byte", "A plan is text and holds no NUL byte; remove it.")
		return nil, false
	}
	if offset := invalidUTF8(file.data); offset >= 0 {
		diags.errorAt(at(offset), "Invalid UTF-8", "A plan is UTF-8 text, and these bytes are not; save the file as UTF-8.")
		return nil, false
	}
	tokens := lex(file)
	ok := checkShape(tokens, diags)
	checkTokens(tokens, diags)
	return tokens, ok
}

// maxRelexes bounds how often the rest of a file is read again.
const maxRelexes = 100

// lex gives the tokens of a file; their errors are reported by the parser. After
// a quote that is not closed on its line the lexer takes text for code and code
// for text up to the end, so what follows that line is read anew. The line ends
// with a token of type TokenQuotedNewline.
func lex(file sourceFile) hclsyntax.Tokens {
	var tokens hclsyntax.Tokens
	start := hcl.InitialPos
	for range maxRelexes {
		part, _ := hclsyntax.LexConfig(file.data[start.Byte:], file.display, start)
		cut := slices.IndexFunc(part, func(t hclsyntax.Token) bool { return t.Type == hclsyntax.TokenQuotedNewline })
		if cut < 0 {
			return append(tokens, part...)
		}
		tokens = append(tokens, part[:cut+1]...)
		newline := part[cut].Range
		start = hcl.Pos{Line: newline.Start.Line + 1, Column: 1, Byte: newline.End.Byte}
	}
	return tokens
}

func invalidUTF8(data []byte) int {
	for offset := 0; offset < len(data); {
		if data[offset] < utf8.RuneSelf {
			offset++
			continue
		}
		r, size := utf8.DecodeRune(data[offset:])
		if r == utf8.RuneError && size == 1 {
			return offset
		}
		offset += size
	}
	return -1
}

// checkTokens looks at the text of literals and names.
func checkTokens(tokens hclsyntax.Tokens, diags *diagnostics) {
	heredoc := 0
	for _, token := range tokens {
		switch token.Type {
		case hclsyntax.TokenOHeredoc:
			heredoc++
		case hclsyntax.TokenCHeredoc:
			heredoc--
		case hclsyntax.TokenComment:
			continue
		}
		if heredoc > 0 && token.Type == hclsyntax.TokenStringLit && bytes.IndexByte(token.Bytes, '\r') >= 0 {
			diags.errorAt(token.Range, "Carriage return in a heredoc",
				"The lines of this text end in CR LF and the CR would become part of the value; save the file with LF line ends.")
		}
		if !normalText(token) {
			diags.errorAt(token.Range, "Text not in Unicode normal form C",
				"The language would change this text to its composed form, so that it differs from what was written; write it in form NFC, or put it in a JSON document.")
		}
	}
}

// normalText says whether the text of a token, escapes resolved, is in NFC.
func normalText(token hclsyntax.Token) bool {
	text := token.Bytes
	if token.Type == hclsyntax.TokenQuotedLit && (bytes.Contains(text, []byte(`\u`)) || bytes.Contains(text, []byte(`\U`))) {
		text = unescapeUnicode(text)
	}
	return norm.NFC.IsNormal(text)
}

// unescapeUnicode resolves \uXXXX and \UXXXXXXXX and leaves all else.
func unescapeUnicode(text []byte) []byte {
	var out []byte
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 >= len(text) {
			out = append(out, text[i])
			continue
		}
		digits := map[byte]int{'u': 4, 'U': 8}[text[i+1]]
		if digits == 0 || i+2+digits > len(text) {
			out = append(out, text[i], text[i+1])
			i++
			continue
		}
		code, err := strconv.ParseUint(string(text[i+2:i+2+digits]), 16, 32)
		if err != nil {
			return out
		}
		out = utf8.AppendRune(out, rune(code))
		i += 1 + digits
	}
	return out
}

// frame is one open bracket and the operators seen directly inside it.
type frame struct {
	kind      hclsyntax.TokenType
	operators int
}

// checkShape bounds nesting and the number of operators of one expression. A
// line end ends an expression only in a body or object, a comma everywhere.
func checkShape(tokens hclsyntax.Tokens, diags *diagnostics) bool {
	frames := []frame{{kind: hclsyntax.TokenOBrace}}
	for _, token := range tokens {
		top := &frames[len(frames)-1]
		if token.Type == hclsyntax.TokenComma || endsLine(token) && top.kind == hclsyntax.TokenOBrace {
			top.operators = 0
		}
		if deepens(token.Type) {
			top.operators++
		}
		if len(frames) > maxNesting || top.operators > maxOperators {
			diags.errorAt(token.Range, "Expression too deep",
				"At most %d brackets may be open at once, and at most %d operators and steps may stand in one expression; take it apart with locals.", maxNesting, maxOperators)
			return false
		}
		switch {
		case token.Type == hclsyntax.TokenQuotedNewline:
			frames = frames[:1] // an error anyway
		case opens(token.Type) || token.Type == hclsyntax.TokenOQuote:
			frames = append(frames, frame{kind: token.Type})
		case len(frames) > 1 && (closes(token.Type) || token.Type == hclsyntax.TokenCQuote):
			frames = frames[:len(frames)-1]
		}
	}
	return true
}

func deepens(kind hclsyntax.TokenType) bool {
	switch kind {
	case hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPlus, hclsyntax.TokenMinus, hclsyntax.TokenPercent,
		hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq,
		hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq, hclsyntax.TokenAnd, hclsyntax.TokenOr,
		hclsyntax.TokenBang, hclsyntax.TokenDot, hclsyntax.TokenQuestion, hclsyntax.TokenColon,
		hclsyntax.TokenOBrack, hclsyntax.TokenTemplateControl:
		return true
	}
	return false
}

// rangeAt gives the one-character range at a byte offset.
func rangeAt(name string, data []byte, offset int) hcl.Range {
	offset = min(max(offset, 0), len(data))
	line := 1 + bytes.Count(data[:offset], []byte("\n"))
	lineStart := 1 + bytes.LastIndexByte(data[:offset], '\n')
	column := 1 + utf8.RuneCount(data[lineStart:offset])
	start := hcl.Pos{Line: line, Column: column, Byte: offset}
	end := start
	if offset < len(data) {
		_, size := utf8.DecodeRune(data[offset:])
		end = hcl.Pos{Line: line, Column: column + 1, Byte: offset + size}
	}
	return hcl.Range{Filename: name, Start: start, End: end}
}
