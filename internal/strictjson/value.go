// Package strictjson reads JSON the way the documents and records of this
// program demand it, and appends the canonical form that is hashed.
//
// It owns the tree of values with positions, the refusal of everything
// encoding/json lets pass (repeated and escaped-equal names, trailing data, a
// byte-order mark, invalid UTF-8, lone surrogates, unbounded depth) and the
// canonical spelling of strings and integers. It knows no schema. A tree may
// also be built by hand from another syntax; Offset then means whatever the
// builder says. Invariant: no input makes it panic or recurse past its bound,
// and numbers stay text, so that no digit is lost (DOC-07).
package strictjson

// Kind is the kind of a value.
type Kind uint8

// Kinds of values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String names a kind as a person would.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "a boolean"
	case Number:
		return "a number"
	case String:
		return "a string"
	case Array:
		return "an array"
	case Object:
		return "an object"
	default:
		return "an unknown kind of value"
	}
}

// Value is one node of a tree. Only the fields of its kind are set.
type Value struct {
	Kind    Kind
	Offset  int      // of its first byte, or an index of the builder's own
	Str     string   // String: unescaped
	Num     string   // Number: as written
	Bool    bool     // Bool
	Members []Member // Object: in the order written
	Items   []*Value // Array
}

// Member is one field of an object.
type Member struct {
	Name       string // unescaped
	NameOffset int    // as Value.Offset
	Value      *Value
}

// Lookup gives the first member of that name, byte for byte, and nil when there
// is none or v is no object.
func (v *Value) Lookup(name string) *Value {
	if v == nil || v.Kind != Object {
		return nil
	}
	for i := range v.Members {
		if v.Members[i].Name == name {
			return v.Members[i].Value
		}
	}
	return nil
}

// NewString builds a string value.
func NewString(offset int, text string) *Value {
	return &Value{Kind: String, Offset: offset, Str: text}
}

// NewNumber builds a number value from its decimal text.
func NewNumber(offset int, text string) *Value {
	return &Value{Kind: Number, Offset: offset, Num: text}
}

// NewBool builds a boolean value.
func NewBool(offset int, value bool) *Value {
	return &Value{Kind: Bool, Offset: offset, Bool: value}
}

// NewArray builds an array value.
func NewArray(offset int, items ...*Value) *Value {
	return &Value{Kind: Array, Offset: offset, Items: items}
}

// NewObject builds an object value.
func NewObject(offset int, members ...Member) *Value {
	return &Value{Kind: Object, Offset: offset, Members: members}
}

// NewMember builds one field of an object.
func NewMember(nameOffset int, name string, value *Value) Member {
	return Member{Name: name, NameOffset: nameOffset, Value: value}
}
