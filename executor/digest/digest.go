// Package digest computes what a node's result is keyed on.
//
// It owns the input digest of nodes and the digest of a list of files; it reads
// no file and knows no run directory. Its invariant: equal nodes with equal
// needs give equal digests on every machine, and nothing that is no input
// (clock, absolute path, attempt number, secret) can enter, since none is taken.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"

	"github.com/grill-plan/grill-plan/plan/graph"
)

// Scheme is the version of the digest scheme that new runs begin with. A run
// goes on under the scheme that its manifest names.
const Scheme = 1

// Entry is what one other node contributes to an input digest. Exactly one of
// Output, Spec, Left and Ended is set.
type Entry struct {
	Address string `json:"address"`
	// Output is the output digest of a pure or measurement node.
	Output string `json:"output,omitempty"`
	// Spec is the spec of a world node: doing it again makes nothing stale,
	// doing something else does.
	Spec json.RawMessage `json:"spec,omitempty"`
	// Left is the reason for which an early stop left the node out.
	Left string `json:"left,omitempty"`
	// Ended tells how a node ended that is only waited for (graph.Node.After).
	Ended string `json:"ended,omitempty"`
}

// Ending is how a node that is needed or waited for ended.
type Ending struct {
	Output string
	Left   string
	// Ended is a word of state with what tells one such end from another.
	Ended string
}

// Entries collects, sorted by address, what enters the digest of a node: the
// endings of the pure and measurement nodes it needs, and of each world node it
// needs the spec and in turn that node's entries. Thus a changed switch, and a
// changed result that a switch is built on, make the slot's capture stale, and
// a switch done again makes nothing stale (PLN-21).
//
// A pure node is also keyed on how the pure and measurement nodes ended that it
// only comes after, or a report would not be written again for a later failure.
func Entries(g *graph.Graph, node *graph.Node, ending func(*graph.Node) Ending) []Entry {
	entries := make([]Entry, 0, len(node.Needs)+len(node.After))
	var worlds map[string]bool
	var collect func(*graph.Node)
	collect = func(of *graph.Node) {
		for _, address := range of.Needs {
			need, known := g.Lookup(address)
			if !known || !IsInput(of, need) {
				continue // Build refuses a graph with unknown ones
			}
			if need.Effect != graph.World {
				end := ending(need)
				entries = append(entries, Entry{Address: address, Output: end.Output, Left: end.Left})
				continue
			}
			if worlds[address] {
				continue
			}
			if worlds == nil {
				worlds = map[string]bool{}
			}
			worlds[address] = true
			entries = append(entries, Entry{Address: address, Spec: need.Spec})
			collect(need)
		}
	}
	collect(node)
	if node.Effect == graph.Pure {
		for _, address := range node.After {
			if other, known := g.Lookup(address); known && other.Effect != graph.World {
				entries = append(entries, Entry{Address: address, Ended: ending(other).Ended})
			}
		}
	}
	return tidy(entries)
}

// IsInput says whether a needed node is an input of the one that needs it.
// Between groups an edge is a matter of order only (an experiment waits for
// another whose verdict it does not read): what is done again in one group makes
// nothing stale in another.
func IsInput(node, need *graph.Node) bool {
	return node.Group == "" || need.Group == "" || node.Group == need.Group
}

// tidy sorts and drops repetitions, which diamonds of world nodes make.
func tidy(entries []Entry) []Entry {
	if len(entries) < 2 {
		return entries
	}
	sort.SliceStable(entries, func(i, j int) bool {
		if entries[i].Address != entries[j].Address {
			return entries[i].Address < entries[j].Address
		}
		return entries[i].Ended < entries[j].Ended
	})
	kept := entries[:1]
	for _, entry := range entries[1:] {
		last := kept[len(kept)-1]
		if entry.Address != last.Address || (entry.Ended == "") != (last.Ended == "") {
			kept = append(kept, entry)
		}
	}
	return kept
}

// Text is what the input digest is taken over, for people who look for the
// reason of a difference: labelled lines under a format version. A label's
// value is JSON without line feeds, so that no value can pose as another line.
func Text(scheme int, node *graph.Node, spec json.RawMessage, entries []Entry) ([]byte, error) {
	if scheme != Scheme {
		return nil, fmt.Errorf("digest scheme %d is not known here (this is scheme %d): go on with the grill-plan that began the run", scheme, Scheme)
	}
	text := make([]byte, 0, 256+len(spec)+len(entries)*128)
	text = append(text, "grill-plan node "...)
	text = strconv.AppendInt(text, int64(scheme), 10)
	text = line(text, "\naddress ", node.Address)
	text = line(text, "kind ", string(node.Kind))
	text = append(append(append(text, "spec "...), spec...), '\n')
	for _, entry := range entries {
		label, value := "need ", entry.Output
		switch {
		case entry.Spec != nil:
			label, value = "world ", string(entry.Spec)
		case entry.Left != "":
			label, value = "left ", entry.Left
		case entry.Ended != "":
			label, value = "after ", entry.Ended
		}
		text = quote(append(text, label...), entry.Address)
		text = line(append(text, ' '), "", value)
	}
	return text, nil
}

func line(text []byte, label, value string) []byte {
	return append(quote(append(text, label...), value), '\n')
}

// quote is strconv.AppendQuote, faster for texts with nothing to escape.
func quote(text []byte, value string) []byte {
	for i := 0; i < len(value); i++ {
		if c := value[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return strconv.AppendQuote(text, value)
		}
	}
	return append(append(append(text, '"'), value...), '"')
}

// Input is the input digest of a node, lowercase hexadecimal SHA-256 of Text.
func Input(scheme int, node *graph.Node, spec json.RawMessage, entries []Entry) (string, error) {
	text, err := Text(scheme, node, spec, entries)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// File is one line of a list of files.
type File struct {
	Path   string
	Type   string // "" for a regular file
	Size   int64
	SHA256 string
}

// Files is the digest of a list of files, which have to be sorted by path.
func Files(files []File) string {
	text := []byte("grill-plan files 1\n")
	for _, file := range files {
		text = strconv.AppendQuote(append(text, "file "...), file.Path)
		text = strconv.AppendQuote(append(text, ' '), file.Type)
		text = strconv.AppendInt(append(text, ' '), file.Size, 10)
		text = line(append(text, ' '), "", file.SHA256)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Valid reports whether text is a lowercase hexadecimal SHA-256.
func Valid(text string) bool {
	if len(text) != 2*sha256.Size {
		return false
	}
	for i := 0; i < len(text); i++ {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
