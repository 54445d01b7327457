package view

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Argv shows an argument vector so that its elements can be told apart and, for
// plain ones, pasted into a POSIX shell. An element with control characters or
// invalid UTF-8 is quoted the Go way instead: it must be seen, not sent to a
// terminal.
func Argv(argv []string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		words[i] = quoteWord(arg)
	}
	return strings.Join(words, " ")
}

func quoteWord(arg string) string {
	if Line(arg) != arg || !utf8.ValidString(arg) {
		return strconv.QuoteToASCII(arg)
	}
	plain := arg != ""
	for _, r := range arg {
		if !plainInShell(r) {
			plain = false
		}
	}
	if plain {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

func plainInShell(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return true
	}
	return strings.ContainsRune("-_./:=+,@%", r)
}
