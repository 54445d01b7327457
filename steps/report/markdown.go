package report

import (
	"strings"
	"unicode"
)

// code puts text from outside into a code span: on one line, without control
// characters, between more backticks than it holds, so that it can neither end
// the span nor be taken for markup.
func code(text string) string {
	text = oneLine(text)
	if text == "" {
		return ""
	}
	ticks := strings.Repeat("`", longestRun(text, '`')+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

// cell is code in a table, where a bar would end the cell even within a span.
func cell(text string) string { return strings.ReplaceAll(code(text), "|", "\\|") }

// fence puts text on lines of its own, within a fence longer than any in it.
func fence(text, language string) string {
	marks := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	return marks + language + "\n" + strings.TrimRight(printable(text), "\n") + "\n" + marks
}

func oneLine(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd")))
}

// printable keeps lines and tabs and drops other control characters, which a
// terminal would obey.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}

func longestRun(text string, of rune) int {
	longest, run := 0, 0
	for _, r := range text {
		if r != of {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
