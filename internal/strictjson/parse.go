package strictjson

import (
	"fmt"
	"strings"
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
