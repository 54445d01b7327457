package plan

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// local is one local value.
type local struct {
	name  string
	attr  *attribute
	state localState
	value cty.Value // DynamicVal when it has no usable value
}

type localState uint8

const (
	unvisited localState = iota
	visiting
	done
)

// declareLocals reads the locals blocks, whose attributes are all admitted.
func (l *loader) declareLocals(blocks []*block) []*local {
	var order []*local
	for _, b := range blocks {
		for _, inner := range b.body.blocks {
			l.diags.errorAt(inner.where, "Unknown block", "A locals block holds only attributes, name = value.")
		}
		for _, a := range b.body.attrs {
			if first := l.locals[a.name]; first != nil {
				l.diags.errorAt(a.where, "Duplicate name", "local.%s was already declared at %s, and again here at %s; rename or remove one.",
					a.name, shortPlace(first.attr.where), shortPlace(a.where))
				continue
			}
			value := &local{name: a.name, attr: a, value: cty.DynamicVal}
			l.locals[a.name] = value
			order = append(order, value)
		}
	}
	return order
}

// setLocals evaluates the locals, each after those it uses.
func (l *loader) setLocals(order []*local, variables cty.Value) {
	for _, value := range order {
		l.setLocal(value, variables, nil)
	}
}

// setLocal evaluates one local. path holds those that led here; it is as deep
// as the longest chain of locals, which the size of a file bounds.
func (l *loader) setLocal(value *local, variables cty.Value, path []*local) {
	switch value.state {
	case done:
		return
	case visiting:
		l.reportCycle(value, path)
		return
	}
	value.state = visiting
	path = append(path, value)
	used := map[string]cty.Value{}
	for _, name := range l.localsUsed(value.attr.expr) {
		needed := l.locals[name]
		l.setLocal(needed, variables, path)
		used[name] = needed.value
	}
	value.state = done
	s := &scope{
		l:     l,
		ctx:   &hcl.EvalContext{Variables: map[string]cty.Value{"var": variables, "local": cty.ObjectVal(used)}, Functions: l.functions},
		roots: []string{"var", "local"},
	}
	if computed, ok := s.value(value.attr); ok {
		value.value = computed
	}
}

// localsUsed names the existing locals an expression uses, sorted. The word
// local alone uses all.
func (l *loader) localsUsed(expr hclsyntax.Expression) []string {
	var names []string
	for _, traversal := range hclsyntax.Variables(expr) {
		if traversal.RootName() != "local" {
			continue
		}
		name, ok := "", false
		if len(traversal) > 1 {
			name, ok = stepName(traversal[1])
		}
		if !ok {
			names = append(names, l.namesOf("local")...)
		} else if l.locals[name] != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// reportCycle shows the cycle as a path, beginning where it was entered
// (PLN-10).
func (l *loader) reportCycle(value *local, path []*local) {
	start := slices.Index(path, value)
	var steps []string
	for _, step := range path[start:] {
		steps = append(steps, "local."+step.name)
	}
	steps = append(steps, "local."+value.name)
	l.diags.errorAt(value.attr.where, "Cycle of local values", "These local values need each other: %s. Take one of them out of the circle.",
		strings.Join(steps, " -> "))
}

// localValues is the value of the word local.
func (l *loader) localValues() cty.Value {
	values := map[string]cty.Value{}
	for name, value := range l.locals {
		values[name] = value.value
	}
	return cty.ObjectVal(values)
}
