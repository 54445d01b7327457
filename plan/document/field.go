package document

import (
	"slices"

	"github.com/grill-plan/grill-plan/internal/strictjson"
)

// field is one row of the table of an object kind: how the field is read and
// checked, and how it stands in the typed serialization. The order of rows is
// the order of the serialization (DOC-13).
type field[T any] struct {
	name     string
	optional bool
	read     func(at place, v *strictjson.Value, into *T)
	// write appends the value; false means that the field is absent.
	write func(out []byte, from *T) ([]byte, bool)
}

// readObject reads an object by its table and reports every violation.
func readObject[T any](at place, v *strictjson.Value, table []field[T], into *T) {
	if !isObject(at, v) {
		return
	}
	read := make([]bool, len(table))
	for i := range v.Members {
		member := &v.Members[i]
		row := slices.IndexFunc(table, func(f field[T]) bool { return f.name == member.Name })
		switch {
		case row < 0 && at.c.full():
			// Not listed any more, so not worth a suggestion.
			at.c.add(Problem{Rule: "DOC-02", Offset: member.NameOffset})
		case row < 0:
			at.member(member.Name).report(member.NameOffset, "DOC-02", "is not a field here; admitted: %s%s",
				quoteList(fieldNames(table)), suggestion(member.Name, fieldNames(table)))
		case read[row]:
			at.member(member.Name).report(member.NameOffset, "DOC-03", "stands more than once in one object")
		default:
			read[row] = true
			table[row].read(at.member(member.Name), member.Value, into)
		}
	}
	for row := range table {
		if !read[row] && !table[row].optional {
			at.member(table[row].name).report(v.Offset, "DOC-06", "is required and missing")
		}
	}
}

func fieldNames[T any](table []field[T]) []string {
	names := make([]string, len(table))
	for i := range table {
		names[i] = table[i].name
	}
	return names
}

func isObject(at place, v *strictjson.Value) bool {
	rule := "DOC-04"
	if at.path == "" {
		rule = "DOC-01"
	}
	switch {
	case v.Kind == strictjson.Object:
		return true
	case v.Kind == strictjson.Null && at.path != "":
		reportNull(at, v)
	default:
		at.report(v.Offset, rule, "is %s; an object with named fields is required", v.Kind)
	}
	return false
}

func reportNull(at place, v *strictjson.Value) {
	at.report(v.Offset, "DOC-05", "is null; leave a field that is not used out")
}

// appendObject appends the typed serialization of an object.
func appendObject[T any](out []byte, table []field[T], from *T) []byte {
	out = append(out, '{')
	for i := range table {
		before := len(out)
		if before > 0 && out[before-1] != '{' {
			out = append(out, ',')
		}
		out = strictjson.AppendString(out, table[i].name)
		out = append(out, ':')
		after, present := table[i].write(out, from)
		if present {
			out = after
		} else {
			out = out[:before]
		}
	}
	return append(out, '}')
}

// check tests a string and reports what is wrong with it.
type check func(at place, v *strictjson.Value)

func isString(at place, v *strictjson.Value, rule string) bool {
	switch v.Kind {
	case strictjson.String:
		return true
	case strictjson.Null:
		reportNull(at, v)
	default:
		at.report(v.Offset, rule, "is %s; a string is required", v.Kind)
	}
	return false
}

func text[T any](name, rule string, test check, get func(*T) *string) field[T] {
	return field[T]{
		name: name,
		read: func(at place, v *strictjson.Value, into *T) {
			if isString(at, v, rule) {
				test(at, v)
				*get(into) = v.Str
			}
		},
		write: func(out []byte, from *T) ([]byte, bool) {
			return strictjson.AppendString(out, *get(from)), true
		},
	}
}

func optionalText[T any](name, rule string, test check, get func(*T) **string) field[T] {
	return field[T]{
		name: name, optional: true,
		read: func(at place, v *strictjson.Value, into *T) {
			if isString(at, v, rule) {
				test(at, v)
				*get(into) = &v.Str
			}
		},
		write: func(out []byte, from *T) ([]byte, bool) {
			value := *get(from)
			if value == nil {
				return out, false
			}
			return strictjson.AppendString(out, *value), true
		},
	}
}

// requiredText is a required string held by a pointer, for structs shared by
// several kinds.
func requiredText[T any](name, rule string, test check, get func(*T) **string) field[T] {
	row := optionalText(name, rule, test, get)
	row.optional = false
	return row
}

// constant is a field with one admitted string.
func constant[T any](name, rule, want string) field[T] {
	return field[T]{
		name: name,
		read: func(at place, v *strictjson.Value, _ *T) {
			if isString(at, v, rule) && v.Str != want {
				at.report(v.Offset, rule, "is %s; admitted: %s", shown(v.Str), want)
			}
		},
		write: func(out []byte, _ *T) ([]byte, bool) {
			return strictjson.AppendString(out, want), true
		},
	}
}

// version is the field version with the integer 1 (DOC-11).
func version[T any]() field[T] {
	return field[T]{
		name: "version",
		read: func(at place, v *strictjson.Value, _ *T) {
			readInteger(at, v, bound{"DOC-11", 1, 1})
		},
		write: func(out []byte, _ *T) ([]byte, bool) { return append(out, '1'), true },
	}
}

func readBool(at place, v *strictjson.Value, rule string) (value, ok bool) {
	switch v.Kind {
	case strictjson.Bool:
		return v.Bool, true
	case strictjson.Null:
		reportNull(at, v)
	default:
		at.report(v.Offset, rule, "is %s; true or false is required", v.Kind)
	}
	return false, false
}

func boolean[T any](name, rule string, get func(*T) *bool) field[T] {
	return field[T]{
		name: name,
		read: func(at place, v *strictjson.Value, into *T) {
			*get(into), _ = readBool(at, v, rule)
		},
		write: func(out []byte, from *T) ([]byte, bool) {
			return strictjson.AppendBool(out, *get(from)), true
		},
	}
}

func optionalBoolean[T any](name, rule string, get func(*T) **bool) field[T] {
	return field[T]{
		name: name, optional: true,
		read: func(at place, v *strictjson.Value, into *T) {
			if value, ok := readBool(at, v, rule); ok {
				*get(into) = &value
			}
		},
		write: func(out []byte, from *T) ([]byte, bool) {
			value := *get(from)
			if value == nil {
				return out, false
			}
			return strictjson.AppendBool(out, *value), true
		},
	}
}

// object is a required nested object with a table of its own.
func object[T, E any](name string, table []field[E], get func(*T) *E) field[T] {
	return field[T]{
		name: name,
		read: func(at place, v *strictjson.Value, into *T) {
			readObject(at, v, table, get(into))
		},
		write: func(out []byte, from *T) ([]byte, bool) {
			return appendObject(out, table, get(from)), true
		},
	}
}

func optionalObject[T, E any](name string, table []field[E], get func(*T) **E) field[T] {
	return field[T]{
		name: name, optional: true,
		read: func(at place, v *strictjson.Value, into *T) {
			value := new(E)
			readObject(at, v, table, value)
			*get(into) = value
		},
		write: func(out []byte, from *T) ([]byte, bool) {
			value := *get(from)
			if value == nil {
				return out, false
			}
			return appendObject(out, table, value), true
		},
	}
}
