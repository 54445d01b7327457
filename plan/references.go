package plan

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// checkReference reports a reference to what does not exist, with the nearest
// existing name; hcl has none for values (PLN-02, PLN-10).
func (s *scope) checkReference(traversal hcl.Traversal) bool {
	root := traversal.RootName()
	at := traversal[0].SourceRange()
	if !slices.Contains(s.roots, root) {
		s.unknownRoot(root, at)
		return false
	}
	if root == "each" || len(traversal) < 2 {
		return true
	}
	name, ok := stepName(traversal[1])
	if !ok {
		return true // hcl reports a number or an unknown kind of step
	}
	if !s.l.defines(root, name) {
		names := s.l.namesOf(root)
		s.l.diags.errorAt(hcl.RangeBetween(at, traversal[1].SourceRange()), "Unknown reference",
			"There is no %s named %q.%s", nounOf(root), name, suggestion(name, names))
		return false
	}
	return s.checkKeyStep(root, name, traversal)
}

// aThing begins a sentence about one block: A workload, An experiment.
func aThing(kind string) string {
	if strings.ContainsAny(kind[:1], "aeiou") {
		return "An " + kind
	}
	return "A " + kind
}

// nounOf names what a first word stands for.
func nounOf(root string) string {
	switch root {
	case "var":
		return "variable"
	case "local":
		return "local value"
	}
	return root
}

func (s *scope) unknownRoot(root string, at hcl.Range) {
	switch {
	case root == "each":
		s.l.diags.errorAt(at, "Unknown reference", "each.key and each.value exist only inside a block that has for_each.")
	case slices.Contains(blockRoots(), root):
		s.l.diags.errorAt(at, "Reference not admitted here",
			"%s can be named only by an experiment; here only %s are known.", aThing(root), strings.Join(s.roots, ", "))
	default:
		s.l.diags.errorAt(at, "Unknown reference", "There is nothing named %q; a reference starts with one of: %s.%s",
			root, strings.Join(s.roots, ", "), suggestNearest(root, s.roots))
	}
}

func suggestNearest(name string, names []string) string {
	if near := nearest(name, names); near != "" {
		return ` Did you mean "` + near + `"?`
	}
	return ""
}

// blockRoots are the first words of references to blocks.
func blockRoots() []string {
	return []string{"workload", "runner", "deployment", "host", "experiment"}
}

// stepName gives the name of an attribute step or of an index by a literal text.
func stepName(step hcl.Traverser) (string, bool) {
	switch s := step.(type) {
	case hcl.TraverseAttr:
		return s.Name, true
	case hcl.TraverseIndex:
		if s.Key.Type() == cty.String && s.Key.IsKnown() && !s.Key.IsNull() {
			return s.Key.AsString(), true
		}
	}
	return "", false
}

// checkKeyStep looks at the key of a reference to a block, when it is written
// out.
func (s *scope) checkKeyStep(root, name string, traversal hcl.Traversal) bool {
	d := s.l.definition(root, name)
	if d == nil || d.invalid || len(traversal) < 3 {
		return true
	}
	at := traversal.SourceRange()
	if !d.each {
		s.l.diags.errorAt(at, "Reference goes too deep",
			"%s.%s has no for_each and no attributes that could be read; write %s.%s alone.", root, name, root, name)
		return false
	}
	key, ok := stepName(traversal[2])
	if ok && d.byKey[key] == nil {
		s.l.diags.errorAt(traversal[2].SourceRange(), "Unknown reference",
			"%s.%s has no key %q.%s", root, name, key, suggestion(key, d.keys()))
		return false
	}
	return true
}

// defines says whether there is a block of a name, without listing them all.
func (l *loader) defines(root, name string) bool {
	switch root {
	case "var":
		return l.variables[name] != nil
	case "local":
		return l.locals[name] != nil
	}
	set := l.definitions[root]
	return set != nil && set.byName[name] != nil
}

func (l *loader) namesOf(root string) []string {
	var names []string
	switch root {
	case "var":
		for name := range l.variables {
			names = append(names, name)
		}
	case "local":
		for name := range l.locals {
			names = append(names, name)
		}
	default:
		for _, d := range l.definitions[root].list {
			names = append(names, d.name)
		}
	}
	return names
}

func (l *loader) definition(kind, name string) *definition {
	if set := l.definitions[kind]; set != nil {
		return set.byName[name]
	}
	return nil
}

func (d *definition) keys() []string {
	keys := make([]string, len(d.instances))
	for i, in := range d.instances {
		keys[i] = in.key
	}
	return keys
}

// referenceValues makes the values that references lead to: per kind an object
// by name, whose attributes are capsules, or objects of capsules by key. A
// capsule has one type per kind, so that a workload where a runner belongs is a
// type mismatch that hcl and we can see.
func (l *loader) referenceValues() map[string]cty.Value {
	values := map[string]cty.Value{}
	for _, kind := range blockRoots() {
		byName := map[string]cty.Value{}
		for _, d := range l.definitions[kind].list {
			byName[d.name] = l.definitionValue(d)
		}
		values[kind] = cty.ObjectVal(byName)
	}
	return values
}

func (l *loader) definitionValue(d *definition) cty.Value {
	switch {
	case d.invalid:
		return cty.DynamicVal
	case !d.each:
		return cty.CapsuleVal(l.types[d.kind], d.instances[0])
	}
	byKey := make(map[string]cty.Value, len(d.instances))
	for _, in := range d.instances {
		byKey[in.key] = cty.CapsuleVal(l.types[d.kind], in)
	}
	return cty.ObjectVal(byKey)
}

// resolve gives the block that an attribute names.
func (s *scope) resolve(a *attribute, kind string) *instance {
	value, ok := s.plainValue(a)
	if !ok {
		return nil
	}
	if in := s.l.instanceOf(value, kind); in != nil {
		return in
	}
	s.wrongReference(a.expr, value, kind)
	return nil
}

func (l *loader) instanceOf(value cty.Value, kind string) *instance {
	if value.IsNull() || !value.Type().Equals(l.types[kind]) {
		return nil
	}
	in, _ := value.EncapsulatedValue().(*instance)
	return in
}

func (s *scope) wrongReference(expr hclsyntax.Expression, value cty.Value, kind string) {
	what := "a value of type " + value.Type().FriendlyName()
	for _, other := range blockRoots() {
		if in := s.l.instanceOf(value, other); in != nil {
			what = "the " + other + " " + in.address
		}
	}
	advice := "write " + kind + ".NAME."
	switch names := s.l.namesOf(kind); {
	case value.IsNull():
		what = "null"
	case value.Type().IsObjectType() && s.isKeyed(value, kind):
		what = "a " + kind + " block with for_each as a whole"
		advice = "name one of its keys, for example with [each.key]."
	case len(names) > 0:
		advice = "write " + kind + ".NAME, where NAME is one of: " + strings.Join(names, ", ") + "."
	}
	s.l.diags.errorAt(expr.Range(), "Wrong kind of reference", "%s belongs here, and this is %s; %s", aThing(kind), what, advice)
}

// isKeyed says whether a value is all instances of one block with for_each.
func (s *scope) isKeyed(value cty.Value, kind string) bool {
	for name := range value.Type().AttributeTypes() {
		return s.l.instanceOf(value.GetAttr(name), kind) != nil
	}
	return false
}
