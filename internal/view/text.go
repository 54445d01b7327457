package view

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes text from elsewhere safe to show within one line: control
// characters, line and paragraph separators, bidirectional controls and invalid
// UTF-8 become visible escapes. What is plain stays as it is.
func Line(text string) string { return escape(text, false) }

// Block is Line for text of several lines: line feeds and tabs stay.
func Block(text string) string { return escape(text, true) }

func escape(text string, lines bool) string {
	if isPlain(text) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case lines && (r == '\n' || r == '\t'):
			out.WriteRune(r)
		case hostile(r):
			quoted := strconv.QuoteRuneToASCII(r)
			out.WriteString(quoted[1 : len(quoted)-1])
		default:
			out.WriteString(text[i : i+size])
		}
		i += size
	}
	return out.String()
}

// isPlain finds the common case of nothing but printable ASCII.
func isPlain(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// hostile runes act on the terminal or on the order of what is read, or cannot
// be seen. Cf holds the bidirectional controls and zero-width marks.
func hostile(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
}

// cut shortens a safe line to a number of columns; the last one is an ellipsis
// when something is left out. Width is counted in characters, since the figures
// of East Asian width differ between terminals.
func cut(text string, width int) string {
	if width < 1 || utf8.RuneCountInString(text) <= width {
		return text
	}
	runes := []rune(text)
	return string(runes[:width-1]) + "…"
}

// pad fills a safe line with spaces up to a number of columns.
func pad(text string, width int) string {
	if missing := width - utf8.RuneCountInString(text); missing > 0 {
		return text + strings.Repeat(" ", missing)
	}
	return text
}

// wrap breaks own text at spaces into lines of at most width columns. A word
// longer than that stays whole: paths must stay copyable. A percent sign stays
// with its number.
func wrap(text string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := ""
		for word := range strings.FieldsSeq(paragraph) {
			if line != "" && word[0] != '%' && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
				lines, line = append(lines, line), ""
			}
			if line != "" {
				line += " "
			}
			line += word
		}
		lines = append(lines, line)
	}
	return lines
}

// Count is "1 error", "2 errors".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
