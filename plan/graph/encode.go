package graph

import (
	"encoding/json"
	"strconv"
)

// Encode gives the canonical bytes of the graph: nodes in the order of their
// declaration, one a line, fields in the order of [Node]. Equal graphs have
// equal bytes (PLN-08). It writes what encoding/json would without escaping for
// HTML, ten times as fast, since every run compares the graph with the stored.
func (g *Graph) Encode() ([]byte, error) {
	out := make([]byte, 0, 64+512*len(g.declared))
	out = append(out, `{"format":`...)
	out = strconv.AppendInt(out, FormatVersion, 10)
	out = append(out, `,"nodes":[`...)
	for i, node := range g.declared {
		if i > 0 {
			out = append(out, ',')
		}
		out = node.append(append(out, '\n'))
	}
	return append(out, "\n]}\n"...), nil
}

func (n *Node) append(out []byte) []byte {
	out = appendText(append(out, `{"address":`...), n.Address)
	out = appendText(append(out, `,"kind":`...), string(n.Kind))
	out = appendText(append(out, `,"effect":`...), string(n.Effect))
	out = appendField(out, `,"host":`, n.Host)
	out = appendField(out, `,"claim":`, string(n.Claim))
	out = appendField(out, `,"group":`, n.Group)
	out = appendList(out, `,"needs":[`, n.Needs)
	out = appendList(out, `,"after":[`, n.After)
	out = appendFlag(out, `,"always":true`, n.Always)
	out = appendField(out, `,"within":`, n.Within)
	out = appendFlag(out, `,"stops":true`, n.Stops)
	out = appendFlag(out, `,"tolerates":true`, n.Tolerates)
	out = appendFlag(out, `,"finally":true`, n.Finally)
	out = append(append(out, `,"spec":`...), n.Spec...)
	return append(out, '}')
}

func appendField(out []byte, label, value string) []byte {
	if value == "" {
		return out
	}
	return appendText(append(out, label...), value)
}

func appendFlag(out []byte, label string, set bool) []byte {
	if !set {
		return out
	}
	return append(out, label...)
}

func appendList(out []byte, label string, values []string) []byte {
	if len(values) == 0 {
		return out
	}
	out = append(out, label...)
	for i, value := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendText(out, value)
	}
	return append(out, ']')
}

// appendText writes a JSON string; what needs care is left to encoding/json.
func appendText(out []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			return append(appendEscaped(append(out, '"'), text), '"')
		case c < ' ' || c >= 0x7f:
			encoded, err := json.Marshal(text)
			if err != nil {
				return append(out, `""`...) // strings always encode
			}
			return append(out, encoded...)
		}
	}
	return append(append(append(out, '"'), text...), '"')
}

// appendEscaped serves the common case: keys of for_each in addresses.
func appendEscaped(out []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c < ' ' || c >= 0x7f {
			encoded, err := json.Marshal(text[i:])
			if err != nil || len(encoded) < 2 {
				return out
			}
			return append(out, encoded[1:len(encoded)-1]...)
		}
		if c == '"' || c == '\\' {
			out = append(out, '\\')
		}
		out = append(out, c)
	}
	return out
}
