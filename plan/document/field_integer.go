package document

import (
	"strconv"

	"github.com/grill-plan/grill-plan/internal/strictjson"
)

// bound is an inclusive range of an integer and the rule that states it.
type bound struct {
	rule     string
	min, max uint64
}

// readInteger reads an integer exactly (DOC-07).
func readInteger(at place, v *strictjson.Value, b bound) (uint64, bool) {
	switch v.Kind {
	case strictjson.Number:
	case strictjson.Null:
		reportNull(at, v)
		return 0, false
	default:
		at.report(v.Offset, "DOC-07", "is %s; an integer is required", v.Kind)
		return 0, false
	}
	digits := v.Num
	negative := len(digits) > 1 && digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' || (digits[0] == '0' && (negative || len(digits) > 1)) {
			at.report(v.Offset, "DOC-07", "is not written as a whole number; an integer without fraction, exponent or -0 is required")
			return 0, false
		}
	}
	value, err := strconv.ParseUint(digits, 10, 64)
	if negative || err != nil || value < b.min || value > b.max {
		at.report(v.Offset, b.rule, "is out of bounds; admitted: %s", b.text())
		return 0, false
	}
	return value, true
}

func (b bound) text() string {
	if b.min == b.max {
		return strconv.FormatUint(b.min, 10)
	}
	return strconv.FormatUint(b.min, 10) + " to " + strconv.FormatUint(b.max, 10)
}

func integer[T any](name string, b bound, get func(*T) *uint64) field[T] {
	return field[T]{
		name: name,
		read: func(at place, v *strictjson.Value, into *T) {
			*get(into), _ = readInteger(at, v, b)
		},
		write: func(out []byte, from *T) ([]byte, bool) {
			return strictjson.AppendUint(out, *get(from)), true
		},
	}
}

func optionalInteger[T any](name string, b bound, get func(*T) **uint64) field[T] {
	return field[T]{
		name: name, optional: true,
		read: func(at place, v *strictjson.Value, into *T) {
			if value, ok := readInteger(at, v, b); ok {
				*get(into) = &value
			}
		},
		write: func(out []byte, from *T) ([]byte, bool) {
			value := *get(from)
			if value == nil {
				return out, false
			}
			return strictjson.AppendUint(out, *value), true
		},
	}
}
