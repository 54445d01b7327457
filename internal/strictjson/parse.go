package strictjson

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Codes of errors; each stands for one rule of the document group.
const (
	CodeSyntax    = "syntax"          // not JSON
	CodeTrailing  = "trailing_data"   // something after the one value
	CodeBOM       = "byte_order_mark" // before the value
	CodeDuplicate = "duplicate_name"  // the same name twice in one object
	CodeEncoding  = "encoding"        // invalid UTF-8 or a lone surrogate
	CodeDepth     = "depth"           // nested too deeply
	CodeTooMany   = "too_many_errors" // the rest was not listed
)

// maxErrors bounds what is listed of one text, so that a hostile text cannot
// make the list larger than itself.
const maxErrors = 1000

// Error is one reason why a text is refused.
type Error struct {
	Code    string
	Offset  int    // byte offset into the text
	Path    string // field path of the value concerned, "" for the whole
	Message string // without any value of the text but names
}

// Error implements error.
func (e Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("byte %d: %s", e.Offset, e.Message)
	}
	return fmt.Sprintf("%s: byte %d: %s", e.Path, e.Offset, e.Message)
}

// Parse reads exactly one JSON value nested at most maxDepth arrays and objects
// deep. With errors that leave the structure readable (repeated names, bad
// encoding, a byte-order mark) the tree is given beside them, so that a caller
// can report the violations of its schema in the same go; it is nil after a
// syntax error. The text is accepted only when no error is given.
func Parse(data []byte, maxDepth int) (*Value, []Error) {
	p := &parser{data: data, maxDepth: maxDepth}
	const mark = "\xef\xbb\xbf"
	if strings.HasPrefix(string(data[:min(len(data), len(mark))]), mark) {
		p.fail(0, CodeBOM, "starts with a byte-order mark; plain UTF-8 without it is required")
		p.pos = len(mark)
	}
	p.space()
	tree := p.value(0)
	if p.stopped {
		return nil, p.errors
	}
	p.space()
	if p.pos < len(p.data) {
		p.fail(p.pos, CodeTrailing, "holds something after the JSON value; exactly one value is required")
	}
	return tree, p.errors
}

type parser struct {
	data     []byte
	pos      int
	maxDepth int
	path     []step
	errors   []Error
	stopped  bool // the structure can no longer be followed
}

// step is one part of a path: a name, or an index when name is not set.
type step struct {
	name  string
	named bool
	index int
}

func (p *parser) fail(offset int, code, format string, args ...any) {
	switch {
	case len(p.errors) < maxErrors:
		p.errors = append(p.errors, Error{Code: code, Offset: offset, Path: p.pathText(), Message: fmt.Sprintf(format, args...)})
	case len(p.errors) == maxErrors:
		p.errors = append(p.errors, Error{Code: CodeTooMany, Offset: offset, Message: "has more errors than are listed"})
	}
}

// stop reports an error after which nothing can be read any more.
func (p *parser) stop(offset int, code, format string, args ...any) *Value {
	if !p.stopped {
		p.fail(offset, code, format, args...)
	}
	p.stopped = true
	return nil
}

func (p *parser) pathText() string {
	var path string
	for _, s := range p.path {
		if s.named {
			path = JoinName(path, s.name)
		} else {
			path = JoinIndex(path, s.index)
		}
	}
	return path
}

func (p *parser) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *parser) peek() byte {
	if p.pos < len(p.data) {
		return p.data[p.pos]
	}
	return 0
}

func (p *parser) value(depth int) *Value {
	if p.pos >= len(p.data) {
		return p.stop(p.pos, CodeSyntax, "ends where a JSON value is required")
	}
	switch c := p.data[p.pos]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		start := p.pos
		text, ok := p.text()
		if !ok {
			return nil
		}
		return NewString(start, text)
	case c == '-' || isDigit(c):
		return p.number()
	default:
		return p.literal()
	}
}

func (p *parser) literal() *Value {
	start := p.pos
	rest := p.data[start:]
	for _, word := range []string{"true", "false", "null"} {
		if len(rest) < len(word) || string(rest[:len(word)]) != word {
			continue
		}
		p.pos += len(word)
		switch word {
		case "null":
			return &Value{Kind: Null, Offset: start}
		default:
			return NewBool(start, word == "true")
		}
	}
	return p.stop(start, CodeSyntax, "is not JSON: a value is required here")
}

// number keeps the text as written; its grammar is that of JSON, and what of it
// is admitted is the schema's business.
func (p *parser) number() *Value {
	start := p.pos
	if p.peek() == '-' {
		p.pos++
	}
	switch {
	case p.peek() == '0':
		p.pos++
	case isDigit(p.peek()):
		p.digits()
	default:
		return p.stop(start, CodeSyntax, "is not JSON: a number needs a digit")
	}
	if p.peek() == '.' {
		p.pos++
		if !p.digits() {
			return p.stop(start, CodeSyntax, "is not JSON: a number needs a digit after the point")
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		if !p.digits() {
			return p.stop(start, CodeSyntax, "is not JSON: a number needs a digit in its exponent")
		}
	}
	return NewNumber(start, string(p.data[start:p.pos]))
}

func (p *parser) digits() bool {
	start := p.pos
	for isDigit(p.peek()) {
		p.pos++
	}
	return p.pos > start
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (p *parser) array(depth int) *Value {
	v := &Value{Kind: Array, Offset: p.pos}
	if depth >= p.maxDepth {
		return p.stop(p.pos, CodeDepth, "is nested more than %d deep", p.maxDepth)
	}
	p.pos++
	p.space()
	if p.peek() == ']' {
		p.pos++
		return v
	}
	for {
		p.space()
		p.path = append(p.path, step{index: len(v.Items)})
		item := p.value(depth + 1)
		p.path = p.path[:len(p.path)-1]
		if p.stopped {
			return nil
		}
		v.Items = append(v.Items, item)
		p.space()
		switch p.peek() {
		case ',':
			p.pos++
		case ']':
			p.pos++
			return v
		default:
			return p.stop(p.pos, CodeSyntax, "is not JSON: a comma or ] is required here")
		}
	}
}

func (p *parser) object(depth int) *Value {
	v := &Value{Kind: Object, Offset: p.pos}
	if depth >= p.maxDepth {
		return p.stop(p.pos, CodeDepth, "is nested more than %d deep", p.maxDepth)
	}
	p.pos++
	p.space()
	if p.peek() == '}' {
		p.pos++
		return v
	}
	seen := map[string]bool{}
	for {
		p.space()
		if !p.member(v, seen, depth) {
			return nil
		}
		p.space()
		switch p.peek() {
		case ',':
			p.pos++
		case '}':
			p.pos++
			return v
		default:
			return p.stop(p.pos, CodeSyntax, "is not JSON: a comma or } is required here")
		}
	}
}

func (p *parser) member(v *Value, seen map[string]bool, depth int) bool {
	start := p.pos
	if p.peek() != '"' {
		p.stop(p.pos, CodeSyntax, "is not JSON: a field name in double quotes is required here")
		return false
	}
	name, ok := p.text()
	if !ok {
		return false
	}
	p.path = append(p.path, step{name: name, named: true})
	defer func() { p.path = p.path[:len(p.path)-1] }()
	if seen[name] {
		p.fail(start, CodeDuplicate, "stands more than once in one object; names are compared after unescaping")
	}
	seen[name] = true
	p.space()
	if p.peek() != ':' {
		p.stop(p.pos, CodeSyntax, "is not JSON: a colon is required after a field name")
		return false
	}
	p.pos++
	p.space()
	value := p.value(depth + 1)
	if p.stopped {
		return false
	}
	v.Members = append(v.Members, NewMember(start, name, value))
	return true
}

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
