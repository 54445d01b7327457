package graph

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// DiffSpec gives the attribute paths in which two specs differ, such as
// hook.args[2], sorted by name within each object; a value on one side only is
// named by its own path (PLN-15). A difference as a whole, and a spec that is
// not JSON, is called "spec".
func DiffSpec(old, new json.RawMessage) []string {
	if bytes.Equal(old, new) {
		return nil
	}
	a, errA := decodeValue(old)
	b, errB := decodeValue(new)
	if errA != nil || errB != nil {
		return []string{whole}
	}
	var paths []string
	diffValue("", a, b, &paths)
	if len(paths) == 0 {
		return []string{whole} // another spelling of equal values
	}
	return paths
}

const whole = "spec"

func decodeValue(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // 2^64 - 1 and 2^64 - 2 are different seeds
	var value any
	err := decoder.Decode(&value)
	return value, err
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
			path = whole
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
		child := attributePath(path, name)
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

// attributePath joins as HCL would write it: a name that is no identifier
// stands in brackets.
func attributePath(path, name string) string {
	if !plainName(name) {
		return path + "[" + strconv.Quote(name) + "]"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

func plainName(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-') {
			return false
		}
	}
	return name != ""
}
