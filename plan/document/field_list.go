package document

import "github.com/grill-plan/grill-plan/internal/strictjson"

// items says how the elements of an array are read and written. Lengths are
// inclusive.
type items[E any] struct {
	rule     string
	min, max int
	read     func(at place, v *strictjson.Value) E
	write    func(out []byte, e *E) []byte
	// after looks at all elements together; item i was read from v.Items[i].
	after func(at place, v *strictjson.Value, elements []E)
}

func readItems[E any](at place, v *strictjson.Value, of items[E]) []E {
	switch v.Kind {
	case strictjson.Array:
	case strictjson.Null:
		reportNull(at, v)
		return nil
	default:
		at.report(v.Offset, of.rule, "is %s; an array is required", v.Kind)
		return nil
	}
	if n := len(v.Items); n < of.min || n > of.max {
		b := bound{min: uint64(of.min), max: uint64(of.max)}
		at.report(v.Offset, of.rule, "has %d elements; admitted: %s", n, b.text())
	}
	elements := make([]E, 0, len(v.Items))
	for i, item := range v.Items {
		elements = append(elements, of.read(at.item(i), item))
	}
	if of.after != nil {
		of.after(at, v, elements)
	}
	return elements
}

func writeItems[E any](out []byte, of items[E], elements []E) []byte {
	out = append(out, '[')
	for i := range elements {
		if i > 0 {
			out = append(out, ',')
		}
		out = of.write(out, &elements[i])
	}
	return append(out, ']')
}

func list[T, E any](name string, of items[E], get func(*T) *[]E) field[T] {
	return field[T]{
		name: name,
		read: func(at place, v *strictjson.Value, into *T) {
			*get(into) = readItems(at, v, of)
		},
		write: func(out []byte, from *T) ([]byte, bool) {
			return writeItems(out, of, *get(from)), true
		},
	}
}

// optionalList is absent when the slice is nil; an array that is present and
// empty gives an empty slice (DOC-13).
func optionalList[T, E any](name string, of items[E], get func(*T) *[]E) field[T] {
	row := list(name, of, get)
	row.optional = true
	write := row.write
	row.write = func(out []byte, from *T) ([]byte, bool) {
		if *get(from) == nil {
			return out, false
		}
		return write(out, from)
	}
	return row
}

func objects[E any](rule string, min, max int, table []field[E], after func(place, *strictjson.Value, []E)) items[E] {
	return items[E]{
		rule: rule, min: min, max: max, after: after,
		read: func(at place, v *strictjson.Value) E {
			var element E
			readObject(at, v, table, &element)
			return element
		},
		write: func(out []byte, e *E) []byte { return appendObject(out, table, e) },
	}
}

func texts(rule string, min, max int, test check) items[string] {
	return items[string]{
		rule: rule, min: min, max: max,
		read: func(at place, v *strictjson.Value) string {
			if !isString(at, v, rule) {
				return ""
			}
			test(at, v)
			return v.Str
		},
		write: func(out []byte, e *string) []byte { return strictjson.AppendString(out, *e) },
	}
}

func integers(rule string, min, max int, b bound) items[uint64] {
	return items[uint64]{
		rule: rule, min: min, max: max,
		read: func(at place, v *strictjson.Value) uint64 {
			value, _ := readInteger(at, v, b)
			return value
		},
		write: func(out []byte, e *uint64) []byte { return strictjson.AppendUint(out, *e) },
	}
}

// unique reports elements whose key was met before; an element without a
// usable key gives "".
func unique(at place, v *strictjson.Value, rule, what string, key func(i int) string) {
	seen := map[string]bool{}
	for i := range v.Items {
		k := key(i)
		if k != "" && seen[k] {
			at.item(i).report(v.Items[i].Offset, rule, "repeats %s; each may occur once", what)
		}
		seen[k] = true
	}
}
