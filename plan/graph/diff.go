package graph

import (
	"encoding/json"
	"slices"
	"strconv"
)

// DiffSpec gives the attribute paths in which two specs differ, such as
// hook.args[2], sorted as the fields stand; a value on one side only is named
// by its own path (PLN-15). A spec that is not JSON differs as a whole: ".".
func DiffSpec(old, new json.RawMessage) []string {
	var a, b any
	if json.Unmarshal(old, &a) != nil || json.Unmarshal(new, &b) != nil {
		return []string{"."}
	}
	var paths []string
	diffValue("", a, b, &paths)
	return paths
}

func diffValue(path string, a, b any, paths *[]string) {
	switch left := a.(type) {
	case map[string]any:
		if right, ok := b.(map[string]any); ok {
			diffObject(path, left, right, paths)
			return
		}
	case []any:
		if right, ok := b.([]any); ok {
			diffArray(path, left, right, paths)
			return
		}
	}
	if !equalScalar(a, b) {
		if path == "" {
			path = "."
		}
		*paths = append(*paths, path)
	}
}

func diffObject(path string, a, b map[string]any, paths *[]string) {
	var names []string
	for name := range a {
		names = append(names, name)
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		child := name
		if path != "" {
			child = path + "." + name
		}
		left, inLeft := a[name]
		right, inRight := b[name]
		if inLeft != inRight {
			*paths = append(*paths, child)
			continue
		}
		diffValue(child, left, right, paths)
	}
}

func diffArray(path string, a, b []any, paths *[]string) {
	for i := range max(len(a), len(b)) {
		child := path + "[" + strconv.Itoa(i) + "]"
		if i >= len(a) || i >= len(b) {
			*paths = append(*paths, child)
			continue
		}
		diffValue(child, a[i], b[i], paths)
	}
}

// equalScalar compares decoded scalars; containers of unlike kind differ.
func equalScalar(a, b any) bool {
	switch a.(type) {
	case map[string]any, []any:
		return false
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}
