package strictjson

import (
	"strconv"
	"unicode/utf8"
)

// AppendString appends text as a canonical JSON string: only the quote, the
// backslash and the control characters below U+0020 are escaped, the common ones
// by their letter. HTML characters, U+2028, U+2029 and all else stand as they
// are. Bytes that are not UTF-8 become U+FFFD; the documents and records hold
// none.
func AppendString(out []byte, text string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\b':
			out = append(out, '\\', 'b')
		case r == '\f':
			out = append(out, '\\', 'f')
		case r == '\n':
			out = append(out, '\\', 'n')
		case r == '\r':
			out = append(out, '\\', 'r')
		case r == '\t':
			out = append(out, '\\', 't')
		case r < 0x20:
			out = append(out, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}

// AppendUint appends an unsigned integer in plain decimal.
func AppendUint(out []byte, value uint64) []byte {
	return strconv.AppendUint(out, value, 10)
}

// AppendInt appends a signed integer in plain decimal.
func AppendInt(out []byte, value int64) []byte {
	return strconv.AppendInt(out, value, 10)
}

// AppendBool appends true or false.
func AppendBool(out []byte, value bool) []byte {
	return strconv.AppendBool(out, value)
}

// AppendName appends a field name and its colon, after a comma when it is not
// the first field of the object that out ends with.
func AppendName(out []byte, name string) []byte {
	if len(out) > 0 && out[len(out)-1] != '{' {
		out = append(out, ',')
	}
	return append(AppendString(out, name), ':')
}
