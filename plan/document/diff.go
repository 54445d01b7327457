package document

import (
	"bytes"
	"slices"

	"github.com/grill-plan/grill-plan/internal/strictjson"
)

// Diff lists the attribute paths in which two JSON documents differ, in the
// order of the old one and then of the new: args[3], env.HF_HUB_OFFLINE, cwd.
// A text that is not JSON differs as a whole, which is the path "".
func Diff(old, new []byte) []string {
	a, oldErrors := strictjson.Parse(old, maxDepth)
	b, newErrors := strictjson.Parse(new, maxDepth)
	if len(oldErrors) > 0 || len(newErrors) > 0 {
		if bytes.Equal(old, new) {
			return nil
		}
		return []string{""}
	}
	return diffValues(nil, "", a, b)
}

func diffValues(paths []string, path string, a, b *strictjson.Value) []string {
	switch {
	case a == nil || b == nil || a.Kind != b.Kind:
		return append(paths, path)
	case a.Kind == strictjson.Object:
		inA, inB := byName(a), byName(b)
		for i := range a.Members {
			name := a.Members[i].Name
			paths = diffValues(paths, strictjson.JoinName(path, name), a.Members[i].Value, inB[name])
		}
		for i := range b.Members {
			if name := b.Members[i].Name; inA[name] == nil {
				paths = append(paths, strictjson.JoinName(path, name))
			}
		}
	case a.Kind == strictjson.Array:
		for i := range max(len(a.Items), len(b.Items)) {
			at := strictjson.JoinIndex(path, i)
			if i >= len(a.Items) || i >= len(b.Items) {
				paths = append(paths, at)
				continue
			}
			paths = diffValues(paths, at, a.Items[i], b.Items[i])
		}
	case a.Str != b.Str || a.Num != b.Num || a.Bool != b.Bool:
		return append(paths, path)
	}
	return paths
}

func byName(v *strictjson.Value) map[string]*strictjson.Value {
	members := make(map[string]*strictjson.Value, len(v.Members))
	for i := range v.Members {
		members[v.Members[i].Name] = v.Members[i].Value
	}
	return members
}

// DiffRunner lists in what two runners differ, in the words of axis (PLN-12):
// runner.program, runner.args, runner.env.NAME and so on. The id is a name and
// is not compared.
func DiffRunner(a, b *Runner) []string {
	var paths []string
	tableA, tableB := runnerTable(a.Kind), runnerTable(b.Kind)
	names := fieldNames(tableA)
	for _, name := range fieldNames(tableB) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		switch {
		case name == "id" || sameField(tableA, tableB, name, a, b):
		case name == "env":
			paths = append(paths, diffEnv(a.Env, b.Env)...)
		default:
			paths = append(paths, "runner."+name)
		}
	}
	return paths
}

// DiffDeployment lists in what two deployments differ, by name of the field.
func DiffDeployment(a, b *Deployment) []string {
	var paths []string
	table := deploymentTable()
	for _, name := range fieldNames(table) {
		if !sameField(table, table, name, a, b) {
			paths = append(paths, name)
		}
	}
	return paths
}

func sameField[T any](tableA, tableB []field[T], name string, a, b *T) bool {
	textA, presentA := fieldText(tableA, name, a)
	textB, presentB := fieldText(tableB, name, b)
	return presentA == presentB && bytes.Equal(textA, textB)
}

func fieldText[T any](table []field[T], name string, from *T) ([]byte, bool) {
	row := slices.IndexFunc(table, func(f field[T]) bool { return f.name == name })
	if row < 0 {
		return nil, false
	}
	text, present := table[row].write(nil, from)
	if !present {
		return nil, false
	}
	return text, true
}

func diffEnv(a, b []EnvVar) []string {
	values := func(env []EnvVar) map[string]string {
		m := make(map[string]string, len(env))
		for _, e := range env {
			m[e.Name] = e.Value
		}
		return m
	}
	valuesA, valuesB := values(a), values(b)
	var names []string
	for _, e := range slices.Concat(a, b) {
		valueA, inA := valuesA[e.Name]
		valueB, inB := valuesB[e.Name]
		if inA != inB || valueA != valueB {
			names = append(names, strictjson.JoinName("runner.env", e.Name))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
