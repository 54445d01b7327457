package plan

import (
	"math/big"
	"net/url"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Reading of attributes by type. Nothing is converted: hcl would take 3 for a
// text and "1" for a number.

func (s *scope) wrongType(at hcl.Range, want string, value cty.Value) {
	is := "null"
	if !value.IsNull() {
		is = "a value of type " + value.Type().FriendlyName()
	}
	s.l.diags.errorAt(at, "Wrong type", "%s belongs here, and this is %s.", want, is)
}

func (s *scope) text(a *attribute) (string, bool) {
	value, ok := s.plainValue(a)
	if !ok {
		return "", false
	}
	return s.textOf(value, a.expr.Range())
}

func (s *scope) textOf(value cty.Value, at hcl.Range) (string, bool) {
	if value.IsNull() || value.Type() != cty.String {
		s.wrongType(at, "A string", value)
		return "", false
	}
	return value.AsString(), true
}

func (s *scope) flag(a *attribute) (value, ok bool) {
	v, ok := s.plainValue(a)
	if !ok {
		return false, false
	}
	if v.IsNull() || v.Type() != cty.Bool {
		s.wrongType(a.expr.Range(), "true or false", v)
		return false, false
	}
	return v.True(), true
}

// flagOr reads an optional flag.
func (s *scope) flagOr(b *body, name string, absent bool) bool {
	a := b.attr(name)
	if a == nil {
		return absent
	}
	if value, ok := s.flag(a); ok {
		return value
	}
	return absent
}

// whole reads a whole number from min to max exactly (PLN-03).
func (s *scope) whole(a *attribute, min, max uint64) (uint64, bool) {
	value, ok := s.plainValue(a)
	if !ok {
		return 0, false
	}
	at := a.expr.Range()
	if value.IsNull() || value.Type() != cty.Number {
		s.wrongType(at, "A whole number", value)
		return 0, false
	}
	number := value.AsBigFloat()
	switch {
	case number.IsInf() || !number.IsInt():
		s.l.diags.errorAt(at, "Not a whole number", "A whole number belongs here, without a fraction.")
		return 0, false
	case number.Sign() < 0 || number.Cmp(new(big.Float).SetUint64(min)) < 0 || number.Cmp(new(big.Float).SetUint64(max)) > 0:
		s.l.diags.errorAt(at, "Number out of bounds", "The number has to be from %d to %d.", min, max)
		return 0, false
	}
	exact, _ := number.Int(nil)
	return exact.Uint64(), true
}

// texts reads a list of strings with the place of each.
func (s *scope) texts(a *attribute) ([]string, []hcl.Range, bool) {
	value, ok := s.plainValue(a)
	if !ok {
		return nil, nil, false
	}
	return s.textsOf(value, a.expr)
}

func (s *scope) textsOf(value cty.Value, expr hclsyntax.Expression) ([]string, []hcl.Range, bool) {
	if value.IsNull() || !isSequence(value.Type()) {
		s.wrongType(expr.Range(), "A list of strings", value)
		return nil, nil, false
	}
	elements := value.AsValueSlice()
	ranges := elementRanges(expr, len(elements))
	texts, ok := make([]string, 0, len(elements)), true
	for i, element := range elements {
		text, isText := s.textOf(element, ranges[i])
		texts, ok = append(texts, text), ok && isText
	}
	return texts, ranges, ok
}

// isSequence says whether a type has an order of elements that was written. A
// set has none.
func isSequence(t cty.Type) bool { return t.IsTupleType() || t.IsListType() }

// envEntry is one entry of an env attribute.
type envEntry struct {
	name   string
	nameAt hcl.Range
	at     hcl.Range
	value  string
	secret bool
}

// env reads an env attribute, the only place where sensitive values may stand
// (PLN-07). Entries are sorted by name.
func (s *scope) env(a *attribute) ([]envEntry, bool) {
	value, ok := s.value(a)
	if !ok {
		return nil, false
	}
	at := a.expr.Range()
	if value.IsMarked() {
		s.refuseSecret(value, at)
		return nil, false
	}
	if value.IsNull() || !value.Type().IsObjectType() && !value.Type().IsMapType() {
		s.wrongType(at, "A map of strings", value)
		return nil, false
	}
	items := s.itemRanges(a.expr)
	var entries []envEntry
	for it := value.ElementIterator(); it.Next(); {
		key, element := it.Element()
		entry := envEntry{name: key.AsString(), nameAt: at, at: at}
		if place, known := items[entry.name]; known {
			entry.nameAt, entry.at = place[0], place[1]
		}
		if !s.envValue(&entry, element) {
			ok = false
		}
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, func(x, y envEntry) int { return strings.Compare(x.name, y.name) })
	return entries, ok
}

func (s *scope) envValue(entry *envEntry, element cty.Value) bool {
	plain, marks := element.Unmark()
	if plain.IsNull() || plain.Type() != cty.String {
		s.wrongType(entry.at, "A string", plain)
		return false
	}
	entry.value = plain.AsString()
	if len(marks) == 0 {
		return true
	}
	entry.secret = true
	if entry.value == "" || s.l.wholeSecret(entry.value, marks) {
		return true
	}
	s.l.diags.errorAt(entry.at, "Sensitive value not admitted here",
		"A sensitive value may stand only as the whole value of an env entry, and here it is part of one or changed; pass it whole, or make the whole text a sensitive variable.")
	return false
}

// wholeSecret says whether a text is a sensitive value and not made from one.
func (l *loader) wholeSecret(text string, marks cty.ValueMarks) bool {
	for mark := range marks {
		if secret, ours := mark.(secretMark); ours && slices.Contains(l.secrets[secret.variable], text) {
			return true
		}
	}
	return false
}

// itemRanges gives the places of key and value of the items of an object that
// is written out.
func (s *scope) itemRanges(expr hclsyntax.Expression) map[string][2]hcl.Range {
	object, written := unwrap(expr).(*hclsyntax.ObjectConsExpr)
	if !written {
		return nil
	}
	places := make(map[string][2]hcl.Range, len(object.Items))
	for _, item := range object.Items {
		key, found := item.KeyExpr.Value(s.ctx)
		if found.HasErrors() || key.IsMarked() || !key.IsKnown() || key.IsNull() || key.Type() != cty.String {
			continue
		}
		places[key.AsString()] = [2]hcl.Range{item.KeyExpr.Range(), item.ValueExpr.Range()}
	}
	return places
}

// httpURL checks the address that ready polls.
func (s *scope) httpURL(a *attribute) (string, bool) {
	text, ok := s.text(a)
	if !ok {
		return "", false
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" || parsed.User != nil {
		s.l.diags.errorAt(a.expr.Range(), "Invalid address", "An address like http://127.0.0.1:8188/path belongs here, with http or https and without a user.")
		return "", false
	}
	return text, true
}
