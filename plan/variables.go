package plan

import (
	"encoding/json"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// variable is one declared variable.
type variable struct {
	name      string
	block     *block
	typ       cty.Type
	typeGiven bool
	defaults  *typeexpr.Defaults
	sensitive bool
	declared  bool      // sensitive was read from the block
	value     cty.Value // unmarked; DynamicVal when it has no usable value
}

// declareVariables reads the variable blocks in order of declaration.
func (l *loader) declareVariables(blocks []*block) []*variable {
	var order []*variable
	for _, b := range blocks {
		name := b.labels[0]
		if first := l.variables[name]; first != nil {
			l.duplicate(b, "var."+name, first.block)
			continue
		}
		v := &variable{name: name, block: b, typ: cty.DynamicPseudoType, value: cty.DynamicVal}
		l.variables[name] = v
		l.checkLabel(b)
		order = append(order, v)
		s := &scope{l: l, ctx: &hcl.EvalContext{Functions: l.functions}}
		if a := b.body.attr("description"); a != nil {
			s.text(a)
		}
		if a := b.body.attr("sensitive"); a != nil {
			// An unreadable declaration counts as sensitive: the other way round
			// it would show a value.
			sensitive, ok := s.flag(a)
			v.sensitive, v.declared = sensitive || !ok, ok
		}
		l.readType(v)
	}
	return order
}

func (l *loader) readType(v *variable) {
	a := v.block.body.attr("type")
	if a == nil || a.broken {
		return
	}
	typ, defaults, found := typeexpr.TypeConstraintWithDefaults(a.expr)
	if found.HasErrors() {
		for _, diag := range found {
			l.diags.add(plain(diag))
		}
		return
	}
	v.typ, v.defaults, v.typeGiven = typ, defaults, true
}

// setVariables finds a value for each variable: --var, then --var-file, then
// GRILL_VAR_name, then the default (PLN-06).
func (l *loader) setVariables(order []*variable, given *givenValues) {
	for _, v := range order {
		preset, hasDefault := l.defaultValue(v)
		value, ok := preset, hasDefault
		if entry, isGiven := given.pick(v.name); isGiven {
			value, ok = l.convertGiven(v, entry, preset, hasDefault)
		} else if v.block.body.attr("default") == nil && !v.block.body.broken {
			l.diags.errorAt(v.block.where, "Missing value of a variable",
				"The variable %q has no default; give it by --var %s=…, in a --var-file, or as GRILL_VAR_%s.", v.name, v.name, v.name)
		}
		if ok {
			v.value = value
		}
		if v.sensitive {
			l.addSecrets(v.name, v.value)
		}
	}
}

func (l *loader) defaultValue(v *variable) (cty.Value, bool) {
	a := v.block.body.attr("default")
	if a == nil {
		return cty.DynamicVal, false
	}
	if v.sensitive && v.declared && literalSecret(a.expr) {
		// At the block's header: the line of the default would show the value.
		l.diags.errorAt(v.block.where, "Literal default of a sensitive variable",
			"A value written in the plan is stored with every run. Leave the default out and give the value by --var, --var-file or GRILL_VAR_%s, or read it from a file.", v.name)
		return cty.DynamicVal, false
	}
	s := &scope{l: l, ctx: &hcl.EvalContext{Functions: l.functions}}
	value, ok := s.value(a)
	if !ok {
		return cty.DynamicVal, false
	}
	converted, err := v.convert(value)
	if err != nil {
		l.diags.errorAt(a.expr.Range(), "Default of the wrong type", "The default of %q does not fit its type: %s.", v.name, v.withhold(err))
		return cty.DynamicVal, false
	}
	return converted, true
}

// withhold keeps the words of a conversion error of a sensitive value back.
func (v *variable) withhold(err error) string {
	if v.sensitive {
		return "the reason is withheld, since the variable is sensitive"
	}
	return err.Error()
}

// literalSecret says whether an expression holds the secret itself: any literal
// outside the arguments of file().
func literalSecret(expr hclsyntax.Expression) bool {
	inFile, found := 0, false
	walker := walkFuncs{
		enter: func(node hclsyntax.Node) {
			switch n := node.(type) {
			case *hclsyntax.FunctionCallExpr:
				if n.Name == "file" {
					inFile++
				}
			case *hclsyntax.LiteralValueExpr:
				found = found || inFile == 0 && !n.Val.IsNull()
			}
		},
		exit: func(node hclsyntax.Node) {
			if n, ok := node.(*hclsyntax.FunctionCallExpr); ok && n.Name == "file" {
				inFile--
			}
		},
	}
	hclsyntax.Walk(expr, walker)
	return found
}

type walkFuncs struct{ enter, exit func(hclsyntax.Node) }

func (w walkFuncs) Enter(node hclsyntax.Node) hcl.Diagnostics {
	w.enter(node)
	return nil
}

func (w walkFuncs) Exit(node hclsyntax.Node) hcl.Diagnostics {
	w.exit(node)
	return nil
}

// addSecrets remembers every text of a sensitive value, to be struck out of
// whatever is printed.
func (l *loader) addSecrets(name string, value cty.Value) {
	l.secrets[name] = leafTexts(nil, value)
}

// leafTexts gives every text, number and key inside a value as text.
func leafTexts(texts []string, value cty.Value) []string {
	switch {
	case !value.IsKnown() || value.IsNull():
	case value.Type() == cty.String:
		texts = append(texts, value.AsString())
	case value.Type() == cty.Number:
		texts = append(texts, value.AsBigFloat().Text('f', -1))
	case value.CanIterateElements():
		for it := value.ElementIterator(); it.Next(); {
			key, element := it.Element()
			if key.Type() == cty.String && value.Type().IsMapType() {
				texts = leafTexts(texts, key)
			}
			texts = leafTexts(texts, element)
		}
	}
	return texts
}

// secretTexts are all texts to be masked, longest first.
func (l *loader) secretTexts() []string {
	var texts []string
	for _, leaves := range l.secrets {
		texts = append(texts, leaves...)
	}
	slices.SortFunc(texts, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		if a < b {
			return -1
		}
		return 1
	})
	return slices.Compact(texts)
}

// variableValues is the value of the word var, sensitive values marked.
func (l *loader) variableValues() cty.Value {
	values := map[string]cty.Value{}
	for name, v := range l.variables {
		values[name] = v.value
		if v.sensitive {
			values[name] = v.value.Mark(secretMark{name})
		}
	}
	return cty.ObjectVal(values)
}

// storeVariables puts the values used into the plan, sensitive ones by name
// only (PLN-06, PLN-07).
func (l *loader) storeVariables() {
	l.plan.Variables = map[string]json.RawMessage{}
	for name, v := range l.variables {
		if v.sensitive {
			l.plan.Sensitive = append(l.plan.Sensitive, name)
			continue
		}
		text := []byte("null")
		if v.value.IsWhollyKnown() && !v.value.IsNull() {
			var err error
			if text, err = ctyjson.Marshal(v.value, v.value.Type()); err != nil {
				l.diags.errorAt(v.block.where, "Value that cannot be stored", "The value of %q cannot be stored with a run: %s.", name, err)
				continue
			}
		}
		l.plan.Variables[name] = text
	}
	slices.Sort(l.plan.Sensitive)
}

// validate evaluates the validation blocks of all variables, when all have
// their values: a condition may look at several.
func (l *loader) validate(order []*variable) {
	s := &scope{l: l, ctx: &hcl.EvalContext{Variables: map[string]cty.Value{"var": l.variableValues()}, Functions: l.functions}, roots: []string{"var"}}
	for _, v := range order {
		for _, rule := range v.block.body.blocksOf("validation") {
			s.validateRule(v, rule)
		}
	}
}

func (s *scope) validateRule(v *variable, rule *block) {
	condition, message := rule.body.attr("condition"), rule.body.attr("error_message")
	text := "the value is not admitted"
	if message != nil {
		given, ok := s.text(message)
		if !ok {
			return
		}
		text = given
	}
	if condition == nil {
		return
	}
	value, ok := s.value(condition)
	if !ok {
		return
	}
	value, _ = value.Unmark() // the verdict shows, which any refusal does
	if value.IsNull() || value.Type() != cty.Bool {
		s.l.diags.errorAt(condition.expr.Range(), "Condition is not a boolean", "A condition is true or false; write a comparison.")
		return
	}
	if value.False() {
		s.l.diags.errorAt(condition.expr.Range(), "Variable not admitted", "The value of %q fails a validation: %s The condition is: %s",
			v.name, sentence(text), s.l.source(condition.expr.Range()))
	}
}

// sentence ends a text with a full stop.
func sentence(text string) string {
	if text == "" {
		return text
	}
	switch text[len(text)-1] {
	case '.', '!', '?':
		return text
	}
	return text + "."
}

// source gives the text of a range of a plan file.
func (l *loader) source(at hcl.Range) string {
	data := l.plan.Sources[at.Filename]
	if at.Start.Byte < 0 || at.End.Byte > len(data) || at.Start.Byte > at.End.Byte {
		return ""
	}
	return string(data[at.Start.Byte:at.End.Byte])
}

// checkLabel refuses labels that no reference could name.
func (l *loader) checkLabel(b *block) {
	if label := b.labels[0]; label != "" && !validLabel(label) {
		l.diags.errorAt(b.labelAt[0], "Invalid name",
			"The name of a %s block is a letter or _ and then letters, digits, - and _, 64 at most, so that references can name it.", b.kind)
	}
}

// duplicate reports a block whose address is taken; both places are named
// (PLN-01).
func (l *loader) duplicate(b *block, address string, first *block) {
	l.diags.errorAt(b.where, "Duplicate name", "%s was already declared at %s, and again here at %s; rename or remove one.",
		address, shortPlace(first.where), shortPlace(b.where))
}

func typeName(t cty.Type) string {
	if t == cty.DynamicPseudoType {
		return "any"
	}
	return typeexpr.TypeString(t)
}
