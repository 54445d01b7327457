package plan

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// scope is where an expression is evaluated: the values it may use and the
// first words of the references admitted there.
type scope struct {
	l     *loader
	ctx   *hcl.EvalContext
	roots []string
}

// secretMark is the cty mark of a sensitive variable.
type secretMark struct{ variable string }

// staticFacts is what is known of an expression before it is evaluated; an
// expression in a for_each block is evaluated once per key and looked at once.
type staticFacts struct {
	variables []hcl.Traversal
	indexes   []*hclsyntax.IndexExpr
	objects   []*hclsyntax.ObjectConsExpr
	invalid   bool // a reference leads nowhere, or the syntax is broken
}

// facts gives the static facts of an expression and reports, the first time,
// references to what does not exist.
func (s *scope) facts(expr hclsyntax.Expression) *staticFacts {
	if known := s.l.static[expr]; known != nil {
		return known
	}
	f := &staticFacts{variables: hclsyntax.Variables(expr)}
	hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		switch n := node.(type) {
		case *hclsyntax.IndexExpr:
			f.indexes = append(f.indexes, n)
		case *hclsyntax.ObjectConsExpr:
			f.objects = append(f.objects, n)
		case *hclsyntax.ExprSyntaxError:
			f.invalid = true
		}
		return nil
	})
	count(expr)
	for _, traversal := range f.variables {
		if !s.checkReference(traversal) {
			f.invalid = true
		}
	}
	s.l.static[expr] = f
	return f
}

// value evaluates an attribute. ok is false when it has no usable value, which
// has been reported here or where the value it depends on was computed.
func (s *scope) value(a *attribute) (value cty.Value, ok bool) {
	if a.broken {
		return cty.DynamicVal, false
	}
	return s.expression(a.expr)
}

func (s *scope) expression(expr hclsyntax.Expression) (cty.Value, bool) {
	f := s.facts(expr)
	if f.invalid || !s.checkKeys(expr, f) {
		return cty.DynamicVal, false
	}
	if s.l.budget.exceeded {
		return cty.DynamicVal, false // said where it was exceeded
	}
	value, found := expr.Value(s.ctx)
	if s.l.budget.exceeded || !s.l.budget.takeValue(value) {
		s.l.diags.errorAt(expr.Range(), "Value too large",
			"This expression gives a larger value, or takes more work together with what was computed before it, than a plan may ask for; no further expression was looked at.")
		return cty.DynamicVal, false
	}
	if found.HasErrors() {
		s.addFound(found, f)
		return cty.DynamicVal, false
	}
	unmarked, _ := value.UnmarkDeep()
	if !unmarked.IsWhollyKnown() {
		return cty.DynamicVal, false
	}
	return value, true
}

// plainValue evaluates an attribute that no sensitive value may stand in.
func (s *scope) plainValue(a *attribute) (cty.Value, bool) {
	value, ok := s.value(a)
	if !ok || !s.refuseSecret(value, a.expr.Range()) {
		return cty.DynamicVal, false
	}
	return value, true
}

// refuseSecret reports a sensitive value outside an env entry (PLN-07).
func (s *scope) refuseSecret(value cty.Value, at hcl.Range) bool {
	if !value.ContainsMarked() {
		return true
	}
	s.l.diags.errorAt(at, "Sensitive value not admitted here",
		"A sensitive value may stand only as the whole value of an env entry of a runner or hook, so that it reaches no document, digest or report.")
	return false
}

// addFound reports what hcl found, without the details of an error in which a
// sensitive value takes part: library errors quote their arguments.
func (s *scope) addFound(found hcl.Diagnostics, f *staticFacts) {
	secret := s.usesSecret(f.variables)
	for _, diag := range found {
		diag = plain(diag)
		if secret {
			diag.Detail = "This expression has no value. The reason is withheld, since a sensitive value takes part."
		}
		s.l.diags.add(diag)
	}
}

func (s *scope) usesSecret(variables []hcl.Traversal) bool {
	for _, traversal := range variables {
		value, found := traversal.TraverseAbs(s.ctx)
		if found.HasErrors() { // of a local scope, or itself at fault: assume the worst of its root
			if root := s.lookup(traversal.RootName()); root.ContainsMarked() {
				return true
			}
			continue
		}
		if value.ContainsMarked() {
			return true
		}
	}
	return false
}

// lookup gives the value of a first word, null when there is none.
func (s *scope) lookup(name string) cty.Value {
	for ctx := s.ctx; ctx != nil; ctx = ctx.Parent() {
		if value, exists := ctx.Variables[name]; exists {
			return value
		}
	}
	return cty.NullVal(cty.DynamicPseudoType)
}

// checkKeys refuses what hcl lets pass: an index by a sensitive key, whose
// result would carry no mark, and a key given twice in an object, of which hcl
// keeps the last silently.
func (s *scope) checkKeys(expr hclsyntax.Expression, f *staticFacts) bool {
	ok := true
	for _, index := range f.indexes {
		if s.secretKey(index.Key, f) {
			s.l.diags.errorAt(index.Key.Range(), "Sensitive value not admitted here",
				"A sensitive value cannot be the key of an index, since the result would show it.")
			ok = false
		}
	}
	for _, object := range f.objects {
		if !s.uniqueKeys(object) {
			ok = false
		}
	}
	return ok
}

// secretKey says whether a sensitive value can reach the key. A key that uses
// the variable of a for expression is judged by all the expression uses.
func (s *scope) secretKey(key hclsyntax.Expression, f *staticFacts) bool {
	variables := hclsyntax.Variables(key)
	for _, traversal := range variables {
		if s.lookup(traversal.RootName()).RawEquals(cty.NullVal(cty.DynamicPseudoType)) {
			return s.usesSecret(f.variables)
		}
	}
	return len(variables) > 0 && s.usesSecret(variables)
}

func (s *scope) uniqueKeys(object *hclsyntax.ObjectConsExpr) bool {
	seen := make(map[string]hcl.Range, len(object.Items))
	ok := true
	for _, item := range object.Items {
		key, found := item.KeyExpr.Value(s.ctx)
		if found.HasErrors() || key.IsMarked() || !key.IsKnown() || key.IsNull() || key.Type() != cty.String {
			continue // hcl says what is wrong, or a for expression gives the value
		}
		if first, twice := seen[key.AsString()]; twice {
			s.l.diags.errorAt(item.KeyExpr.Range(), "Key given twice",
				"This key was given already at %s; only one of the values could be kept, so remove one.", shortPlace(first))
			ok = false
			continue
		}
		seen[key.AsString()] = item.KeyExpr.Range()
	}
	return ok
}
