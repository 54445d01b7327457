package strictjson

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxPathName bounds how much of a name is shown in a path.
const maxPathName = 80

// JoinName extends a field path by a name: request, then request.seeds. A name
// that is not plain is quoted: env["A B"].
func JoinName(path, name string) string {
	if plainName(name) {
		if path == "" {
			return name
		}
		return path + "." + name
	}
	if len(name) > maxPathName {
		cut := maxPathName
		for cut > 0 && !utf8.RuneStart(name[cut]) {
			cut--
		}
		name = name[:cut] + "…"
	}
	return path + "[" + strconv.Quote(name) + "]"
}

// JoinIndex extends a field path by an index: seeds, then seeds[3].
func JoinIndex(path string, index int) string {
	return path + "[" + strconv.Itoa(index) + "]"
}

func plainName(name string) bool {
	if name == "" || len(name) > maxPathName {
		return false
	}
	for _, c := range []byte(name) {
		if c != '_' && c != '-' && !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// Locate follows a field path as far as the tree goes and gives the deepest
// value on it; found says whether that is the end of the path.
func Locate(tree *Value, path string) (value *Value, found bool) {
	for path != "" && tree != nil {
		var next *Value
		next, path = follow(tree, path)
		if next == nil {
			return tree, false
		}
		tree = next
	}
	return tree, tree != nil
}

func follow(tree *Value, path string) (*Value, string) {
	if !strings.HasPrefix(path, "[") {
		path = strings.TrimPrefix(path, ".")
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		return tree.Lookup(path[:end]), path[end:]
	}
	if strings.HasPrefix(path, `["`) {
		quoted, err := strconv.QuotedPrefix(path[1:])
		if err != nil || !strings.HasPrefix(path[1+len(quoted):], "]") {
			return nil, ""
		}
		name, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, ""
		}
		return tree.Lookup(name), path[2+len(quoted):]
	}
	digits, rest, ok := strings.Cut(path[1:], "]")
	index, err := strconv.Atoi(digits)
	if !ok || err != nil || tree.Kind != Array || index < 0 || index >= len(tree.Items) {
		return nil, ""
	}
	return tree.Items[index], rest
}
