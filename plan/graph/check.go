package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// checkNode checks what can be seen without other nodes, and brings the spec
// into its compact form, on which digests rest.
func checkNode(node *Node, read bool) error {
	if node.Address == "" {
		return fmt.Errorf("node of kind %s has no address", node.Kind)
	}
	if strings.ContainsAny(node.Address, "\x00\n\r") || !utf8.ValidString(node.Address) {
		return fmt.Errorf("node %q: an address is UTF-8 without control characters", node.Address)
	}
	switch node.Kind {
	case Preflight, Switch, Setup, Capture, Inspect, Decode, Compare, Distance, Restore, Report, Toy:
	default:
		return fmt.Errorf("node %s: kind %q is none of ours", node.Address, node.Kind)
	}
	switch node.Effect {
	case Pure, Measurement, World:
	default:
		return fmt.Errorf("node %s: effect %q is none of pure, measurement, world", node.Address, node.Effect)
	}
	switch node.Claim {
	case NoClaim, Shared, Exclusive:
	default:
		return fmt.Errorf("node %s: claim %q is none of shared, exclusive", node.Address, node.Claim)
	}
	if err := checkMarks(node); err != nil {
		return err
	}
	return compactSpec(node, read)
}

func checkMarks(node *Node) error {
	switch {
	case node.Always && node.Effect != Pure:
		return fmt.Errorf("node %s: only a pure node may be done anew by every run", node.Address)
	case node.Finally && node.Effect != World:
		return fmt.Errorf("node %s: only a world node may run before the host is given up", node.Address)
	case (node.Finally || node.Stops) && node.Group == "":
		return fmt.Errorf("node %s: only a node of a group may stop it or end it", node.Address)
	}
	return nil
}

func checkEdges(node *Node, declared map[string]*Node) error {
	for _, to := range edges(node) {
		if declared[to] == nil {
			return fmt.Errorf("%s refers to %s, which is no node", node.Address, to)
		}
	}
	if node.Within == "" {
		return nil
	}
	owner := declared[node.Within]
	if owner == nil || node.Effect != World || owner.Effect != Measurement {
		return fmt.Errorf("%s is carried out within %s: it has to be a world node within a measurement of the graph",
			node.Address, node.Within)
	}
	if !slices.Contains(owner.Needs, node.Address) {
		return fmt.Errorf("%s is carried out within %s, which does not need it", node.Address, node.Within)
	}
	return nil
}

func compactSpec(node *Node, read bool) error {
	if len(node.Spec) == 0 {
		node.Spec = json.RawMessage("{}")
		return nil
	}
	if !read && !json.Valid(node.Spec) {
		return fmt.Errorf("node %s: %w", node.Address, errSpec)
	}
	if isCompact(node.Spec) {
		return nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, node.Spec); err != nil {
		return fmt.Errorf("node %s: spec: %w", node.Address, err)
	}
	node.Spec = compact.Bytes()
	return nil
}

var errSpec = errors.New("its spec is not JSON")

// isCompact spares valid JSON the copy that Compact makes.
func isCompact(spec []byte) bool {
	quoted := false
	for i := 0; i < len(spec); i++ {
		switch c := spec[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			return false
		}
	}
	return true
}
