package strictjson

import (
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string at the opening quote. Bad encoding is reported and read
// as U+FFFD, so that the rest of the text is still checked.
func (p *parser) text() (string, bool) {
	start := p.pos
	p.pos++
	var out []byte
	for p.pos < len(p.data) {
		c := p.data[p.pos]
		switch {
		case c == '"':
			p.pos++
			return string(out), true
		case c == '\\':
			var ok bool
			if out, ok = p.escape(out); !ok {
				return "", false
			}
		case c < 0x20:
			p.stop(p.pos, CodeSyntax, "is not JSON: a control character in a string has to be escaped")
			return "", false
		default:
			r, size := utf8.DecodeRune(p.data[p.pos:])
			if r == utf8.RuneError && size == 1 {
				p.fail(p.pos, CodeEncoding, "holds bytes that are not UTF-8")
			}
			out = utf8.AppendRune(out, r)
			p.pos += size
		}
	}
	p.stop(start, CodeSyntax, "is not JSON: a string has no closing quote")
	return "", false
}

func (p *parser) escape(out []byte) ([]byte, bool) {
	start := p.pos
	p.pos++
	c := p.peek()
	p.pos++
	switch c {
	case '"', '\\', '/':
		return append(out, c), true
	case 'b':
		return append(out, '\b'), true
	case 'f':
		return append(out, '\f'), true
	case 'n':
		return append(out, '\n'), true
	case 'r':
		return append(out, '\r'), true
	case 't':
		return append(out, '\t'), true
	case 'u':
		return p.unicodeEscape(out, start)
	}
	p.stop(start, CodeSyntax, "is not JSON: unknown escape in a string")
	return nil, false
}

func (p *parser) unicodeEscape(out []byte, start int) ([]byte, bool) {
	first, ok := p.hex4()
	if !ok {
		p.stop(start, CodeSyntax, "is not JSON: \\u needs four hexadecimal digits")
		return nil, false
	}
	if !utf16.IsSurrogate(first) {
		return utf8.AppendRune(out, first), true
	}
	// A low surrogate must follow; if not, the second escape is read on its own.
	if p.peek() == '\\' && p.pos+1 < len(p.data) && p.data[p.pos+1] == 'u' {
		before := p.pos
		p.pos += 2
		second, ok := p.hex4()
		if ok {
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				return utf8.AppendRune(out, r), true
			}
		}
		p.pos = before
	}
	p.fail(start, CodeEncoding, "holds a surrogate escape without its partner")
	return utf8.AppendRune(out, utf8.RuneError), true
}

func (p *parser) hex4() (rune, bool) {
	if p.pos+4 > len(p.data) {
		return 0, false
	}
	var r rune
	for _, c := range p.data[p.pos : p.pos+4] {
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	p.pos += 4
	return r, true
}
