package plan

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"golang.org/x/text/unicode/norm"
)

// envPrefix starts the names of environment variables that give values.
const envPrefix = "GRILL_VAR_"

// givenValue is a value from outside the plan.
type givenValue struct {
	source string     // how a person names it: --var steps, tuning.vars:3
	text   *string    // from --var and the environment
	value  cty.Value  // from a file
	at     *hcl.Range // in a file
}

// givenValues holds what each source gives, by variable.
type givenValues struct {
	flags, files, environ map[string]givenValue
}

func (g *givenValues) pick(name string) (givenValue, bool) {
	for _, source := range []map[string]givenValue{g.flags, g.files, g.environ} {
		if entry, ok := source[name]; ok {
			return entry, true
		}
	}
	return givenValue{}, false
}

// collectGiven reads all sources and reports names that are not declared. Of
// several values from one source the last counts.
func (l *loader) collectGiven(options Options) *givenValues {
	g := &givenValues{flags: map[string]givenValue{}, files: map[string]givenValue{}, environ: map[string]givenValue{}}
	for _, flag := range options.Vars {
		name, text, found := strings.Cut(flag, "=")
		if !found || !validLabel(name) {
			l.diags.errorNowhere("Invalid --var", "A --var is NAME=VALUE, and NAME is that of a variable of the plan.")
			continue
		}
		g.flags[name] = givenValue{source: "--var " + name, text: &text}
		l.knownVariable(name, "--var "+name, nil)
	}
	for _, path := range options.VarFiles {
		l.readVarFile(path, g.files)
	}
	environ := slices.Clone(options.Environ)
	slices.Sort(environ)
	for _, entry := range environ {
		name, text, found := strings.Cut(entry, "=")
		if name, isOurs := strings.CutPrefix(name, envPrefix); found && isOurs {
			g.environ[name] = givenValue{source: envPrefix + name, text: &text}
			l.knownVariable(name, "the environment variable "+envPrefix+name, nil)
		}
	}
	return g
}

func (l *loader) knownVariable(name, source string, at *hcl.Range) bool {
	if l.variables[name] != nil || l.plan.Files == nil {
		return true
	}
	names := l.namesOf("var")
	detail := fmt.Sprintf("The plan has no variable %q, which %s gives.%s", name, source, suggestion(name, names))
	if len(names) == 0 {
		detail = fmt.Sprintf("The plan has no variables, and %s gives one named %q.", source, name)
	}
	l.diags.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unknown variable", Detail: detail, Subject: at})
	return false
}

// readVarFile reads a file of NAME = VALUE lines. Its bytes are no source of
// diagnostics: a line may hold a sensitive value.
func (l *loader) readVarFile(path string, into map[string]givenValue) {
	data, err := readRegular(path, maxFileBytes)
	if err != nil {
		l.diags.errorNowhere("Variable file not readable", "The variable file %s %s.", path, sentenceOf(err))
		return
	}
	file := sourceFile{name: filepath.Base(path), display: path, data: data}
	if _, ok := checkText(file, l.diags); !ok {
		return
	}
	parsed, found := hclsyntax.ParseConfig(data, path, hcl.InitialPos)
	if found.HasErrors() {
		l.diags.errorAt(*found[0].Subject, "Variable file not understood",
			"A variable file holds lines NAME = VALUE, and this line is not one (%s). Texts stand in double quotes.", strings.ToLower(found[0].Summary))
		return
	}
	b := fromSyntax(parsed.Body.(*hclsyntax.Body), hcl.Range{Filename: path}, false)
	for _, inner := range b.blocks {
		l.diags.errorAt(inner.where, "Block in a variable file", "A variable file holds lines NAME = VALUE and no blocks.")
	}
	for _, a := range b.attrs {
		at := a.where
		if !l.knownVariable(a.name, "this line", &at) {
			continue
		}
		if value, ok := l.constant(a); ok {
			into[a.name] = givenValue{source: shortPlace(at), value: value, at: &at}
		} else {
			into[a.name] = givenValue{source: shortPlace(at), value: cty.DynamicVal, at: &at}
		}
	}
}

// constant evaluates a line of a variable file, which uses no functions and no
// references. What hcl says may quote the line and is not shown.
func (l *loader) constant(a *attribute) (cty.Value, bool) {
	s := &scope{l: l, ctx: nil}
	if len(hclsyntax.Variables(a.expr)) > 0 {
		l.diags.errorAt(a.where, "Value is not a constant", "The value of %q is not a constant; texts stand in double quotes.", a.name)
		return cty.DynamicVal, false
	}
	value, found := a.expr.Value(nil)
	if found.HasErrors() || !value.IsWhollyKnown() {
		l.diags.errorAt(a.where, "Value is not a constant", "The value of %q has to be a constant without functions.", a.name)
		return cty.DynamicVal, false
	}
	ok := true
	hclsyntax.VisitAll(a.expr, func(node hclsyntax.Node) hcl.Diagnostics {
		if object, isObject := node.(*hclsyntax.ObjectConsExpr); isObject && !s.uniqueKeys(object) {
			ok = false
		}
		return nil
	})
	return value, ok
}

// convertGiven makes a given value into one of the variable's type.
func (l *loader) convertGiven(v *variable, given givenValue, preset cty.Value, hasDefault bool) (cty.Value, bool) {
	value, err := given.value, error(nil)
	if given.text != nil {
		if !v.typeGiven && hasDefault && preset.Type().IsPrimitiveType() {
			v.typ = preset.Type() // an untyped variable is of the type of its default
		}
		value, err = valueOfText(*given.text, v.typ)
	} else if !value.IsKnown() {
		return cty.DynamicVal, false
	}
	if err == nil {
		value, err = v.convert(value)
	}
	if err == nil {
		return value, true
	}
	at := v.block.where
	if given.at != nil {
		at = *given.at
	}
	l.diags.errorAt(at, "Value of the wrong type", "The value that %s gives to %q does not fit its type, %s: %s.",
		given.source, v.name, typeName(v.typ), v.withhold(err))
	return cty.DynamicVal, false
}

// valueOfText reads the text of --var or of the environment by the type wanted:
// the text itself for a string, an expression for collections.
func valueOfText(text string, typ cty.Type) (cty.Value, error) {
	switch {
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return cty.DynamicVal, errors.New("it is not UTF-8 text without NUL")
	case !norm.NFC.IsNormalString(text):
		return cty.DynamicVal, errors.New("it is not in Unicode normal form C")
	case typ.IsPrimitiveType() || typ == cty.DynamicPseudoType:
		return cty.StringVal(text), nil
	}
	tokens, _ := hclsyntax.LexExpression([]byte(text), "", hcl.InitialPos)
	if !checkShape(tokens, newDiagnostics()) {
		return cty.DynamicVal, errors.New("it is nested too deeply")
	}
	expr, found := hclsyntax.ParseExpression([]byte(text), "", hcl.InitialPos)
	if found.HasErrors() {
		return cty.DynamicVal, errors.New("it is no expression of the plan language")
	}
	value, found := expr.Value(nil)
	if found.HasErrors() || !value.IsWhollyKnown() {
		return cty.DynamicVal, errors.New("it is not a constant")
	}
	return value, nil
}

// convert makes value fit the variable's type. cty would read `007`, `1p10` and
// `Inf` as numbers, so texts are looked at first.
func (v *variable) convert(value cty.Value) (cty.Value, error) {
	if v.defaults != nil && !value.IsNull() {
		value = v.defaults.Apply(value)
	}
	if err := checkTexts(value, v.typ); err != nil {
		return cty.DynamicVal, err
	}
	converted, err := convert.Convert(value, v.typ)
	if err != nil {
		return cty.DynamicVal, err
	}
	return converted, nil
}

// checkTexts refuses texts that cty would turn into numbers or booleans in ways
// that surprise.
func checkTexts(value cty.Value, typ cty.Type) error {
	if value.IsNull() || !value.IsKnown() {
		return nil
	}
	if value.Type() == cty.String {
		switch text := value.AsString(); {
		case typ == cty.Number && !decimalForm.MatchString(text):
			return errors.New("a number is required, in plain decimal")
		case typ == cty.Bool && text != "true" && text != "false":
			return errors.New("true or false is required")
		}
		return nil
	}
	if !value.CanIterateElements() {
		return nil
	}
	for it := value.ElementIterator(); it.Next(); {
		key, element := it.Element()
		if err := checkTexts(element, elementType(typ, key)); err != nil {
			return err
		}
	}
	return nil
}

func elementType(typ cty.Type, key cty.Value) cty.Type {
	switch {
	case typ.IsCollectionType():
		return typ.ElementType()
	case typ.IsObjectType() && key.Type() == cty.String && typ.HasAttribute(key.AsString()):
		return typ.AttributeType(key.AsString())
	case typ.IsTupleType() && key.Type() == cty.Number:
		index, _ := key.AsBigFloat().Int64()
		if types := typ.TupleElementTypes(); index >= 0 && index < int64(len(types)) {
			return types[index]
		}
	}
	return cty.DynamicPseudoType
}

var decimalForm = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,99})(\.[0-9]{1,99})?([eE][+-]?[0-9]{1,3})?$`)

// sentenceOf puts an error after the name of what it is about.
func sentenceOf(err error) string {
	text := err.Error()
	if strings.HasPrefix(text, "is ") || strings.HasPrefix(text, "cannot ") || strings.HasPrefix(text, "holds ") {
		return text
	}
	return "cannot be opened: " + text
}
