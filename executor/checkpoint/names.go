package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/grill-plan/grill-plan/plan/graph"
)

// Names in a run directory.
const (
	ManifestFile = "manifest.json"
	PlanDir      = "plan"
	GraphFile    = "graph.json" // within PlanDir
	DocumentsDir = "documents"
	LockFile     = "lock"
	EventsFile   = "events.ndjson"
	NodesDir     = "nodes"
	IndexFile    = "index"
	RequestsDir  = "requests"

	attemptPrefix    = "attempt-"
	leaseSuffix      = ".lease"
	checkpointSuffix = ".json"
	supersededSuffix = ".superseded"
)

const (
	longestName = 100 // bytes of a folder name before it is cut
	keptOfName  = 60
	hashOfName  = 16 // hexadecimal digits
)

// Folder is the folder of a node below NodesDir, slash separated: one folder
// name for each part of the address, where a key is a part of its own (PLN-44).
func Folder(address string) string {
	parts := splitAddress(address)
	for i, part := range parts {
		parts[i] = folderName(part)
	}
	return strings.Join(parts, "/")
}

// splitAddress cuts experiment.x["a key"].capture.a into experiment.x, a key
// and capture.a. The key stays as it is written between the quotes, which is as
// unique as the address. What does not look like a key stays where it is.
func splitAddress(address string) []string {
	var parts []string
	rest := address
	for {
		start := strings.Index(rest, `["`)
		end := -1
		if start >= 0 {
			end = endOfKey(rest[start+2:])
		}
		if end < 0 {
			break
		}
		if start > 0 {
			parts = append(parts, rest[:start])
		}
		parts = append(parts, rest[start+2:start+2+end])
		rest = strings.TrimPrefix(rest[start+2+end+2:], ".")
	}
	if rest != "" || len(parts) == 0 {
		parts = append(parts, rest)
	}
	return parts
}

// endOfKey is the offset of the closing "], or -1.
func endOfKey(text string) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case strings.HasPrefix(text[i:], `"]`):
			return i
		}
	}
	return -1
}

func folderName(part string) string {
	var name strings.Builder
	for i := 0; i < len(part); i++ {
		c := part[i]
		plain := c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' && i > 0
		if plain {
			name.WriteByte(c)
		} else {
			fmt.Fprintf(&name, "%%%02X", c)
		}
	}
	if part == "" {
		return "%" // an empty key; every other % is followed by two digits
	}
	if name.Len() <= longestName {
		return name.String()
	}
	sum := sha256.Sum256([]byte(part))
	return name.String()[:keptOfName] + "~" + hex.EncodeToString(sum[:])[:hashOfName]
}

// CheckFolders refuses a graph of which two nodes would share a folder or one
// would stand inside the other. Addresses of plans never do; this guards graphs
// made otherwise.
func CheckFolders(g *graph.Graph) error {
	owner := make(map[string]string, g.Len())
	for _, node := range g.Nodes() {
		folder := Folder(node.Address)
		if other, taken := owner[folder]; taken {
			return fmt.Errorf("nodes %s and %s would share the folder %s: rename one", other, node.Address, folder)
		}
		owner[folder] = node.Address
	}
	for folder, address := range owner {
		for at := strings.LastIndexByte(folder, '/'); at > 0; at = strings.LastIndexByte(folder[:at], '/') {
			if other, taken := owner[folder[:at]]; taken {
				return fmt.Errorf("the folder of node %s would stand inside that of %s: rename one", address, other)
			}
		}
	}
	return nil
}

// NodeDir is the folder of a node.
func (r *Run) NodeDir(address string) string {
	return r.Dir + "/" + NodesDir + "/" + Folder(address)
}

// AttemptDir is the folder of an attempt.
func (r *Run) AttemptDir(address string, attempt int) string {
	return filepath.Join(r.NodeDir(address), attemptName(attempt))
}

func attemptName(attempt int) string { return attemptPrefix + strconv.Itoa(attempt) }

// parseAttempt takes apart attempt-N, attempt-N.lease, attempt-N.json and
// attempt-N.superseded. Other spellings of N (a zero in front) are not ours.
func parseAttempt(name string) (attempt int, suffix string, ok bool) {
	rest, ok := strings.CutPrefix(name, attemptPrefix)
	if !ok {
		return 0, "", false
	}
	digits, _, dotted := strings.Cut(rest, ".")
	if dotted {
		suffix = rest[len(digits):]
	}
	attempt, err := strconv.Atoi(digits)
	if err != nil || attempt < 1 || strconv.Itoa(attempt) != digits {
		return 0, "", false
	}
	switch suffix {
	case "", leaseSuffix, checkpointSuffix, supersededSuffix:
		return attempt, suffix, true
	}
	return 0, "", false
}
