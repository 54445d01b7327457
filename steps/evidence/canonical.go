package evidence

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxRecordBytes bounds a record in both directions, so that what is written
// can be read again and a hostile record is refused before it is parsed.
const MaxRecordBytes = 256 << 20

// Marshal gives the canonical bytes of a record: compact JSON, fields in the
// order of its type, integers in plain decimal, no HTML escaping, one line feed
// at the end. It is written here rather than taken from encoding/json because
// digests rest on these bytes and must not change with a Go release.
//
// Errors: text that is not valid UTF-8, a type that no record has, a record
// beyond MaxRecordBytes.
func Marshal(record any) ([]byte, error) {
	serialized, err := serialize(record)
	if err != nil {
		return nil, err
	}
	return append(serialized, '\n'), nil
}

// serialize gives the typed serialization, without the line feed (DOC-13).
func serialize(record any) ([]byte, error) {
	out, err := appendValue(nil, reflect.ValueOf(record))
	if err != nil {
		return nil, fmt.Errorf("serialize record %T: %w", record, err)
	}
	if len(out) >= MaxRecordBytes {
		return nil, fmt.Errorf("serialize record %T: %d bytes are more than the %d a record may have", record, len(out), MaxRecordBytes)
	}
	return out, nil
}

func appendValue(out []byte, value reflect.Value) ([]byte, error) {
	switch value.Kind() {
	case reflect.String:
		return appendString(out, value.String())
	case reflect.Bool:
		return strconv.AppendBool(out, value.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(out, value.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(out, value.Uint(), 10), nil
	case reflect.Pointer:
		if value.IsNil() {
			return nil, errors.New("a required field is not set")
		}
		return appendValue(out, value.Elem())
	case reflect.Slice:
		return appendList(out, value)
	case reflect.Struct:
		return appendStruct(out, value)
	}
	return nil, fmt.Errorf("no record holds a %s", value.Kind())
}

func appendList(out []byte, list reflect.Value) ([]byte, error) {
	out = append(out, '[')
	for i := range list.Len() {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendValue(out, list.Index(i)); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func appendStruct(out []byte, record reflect.Value) ([]byte, error) {
	out = append(out, '{')
	first := true
	for i := range record.NumField() {
		name, options, _ := strings.Cut(record.Type().Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" {
			return nil, fmt.Errorf("field %s of %s has no name", record.Type().Field(i).Name, record.Type())
		}
		field := record.Field(i)
		if options == "omitempty" && (field.IsZero() || field.Kind() == reflect.Slice && field.Len() == 0) {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(append(append(out, '"'), name...), '"', ':')
		var err error
		if out, err = appendValue(out, field); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return append(out, '}'), nil
}

// appendString escapes what JSON demands and nothing else.
func appendString(out []byte, text string) ([]byte, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("text is not valid UTF-8")
	}
	const hex = "0123456789abcdef"
	out = append(out, '"')
	for i := range len(text) {
		switch b := text[i]; {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case b == '\n':
			out = append(out, '\\', 'n')
		case b == '\r':
			out = append(out, '\\', 'r')
		case b == '\t':
			out = append(out, '\\', 't')
		case b < 0x20:
			out = append(out, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
		default:
			out = append(out, b)
		}
	}
	return append(out, '"'), nil
}
