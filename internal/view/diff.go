package view

import "strings"

// Diff writes a unified diff. Elsewhere than on a terminal the bytes stay as
// they are, so that patch(1) takes them.
func Diff(out *Output, diff []byte) {
	if !out.Live() {
		_, _ = out.Write(diff) // the error sticks in out
		return
	}
	for line := range strings.Lines(string(diff)) {
		text := Line(strings.TrimSuffix(strings.ReplaceAll(line, "\t", "    "), "\n"))
		switch {
		case strings.HasPrefix(line, "@@"):
			text = out.paint(cyan, text)
		case strings.HasPrefix(line, "+"):
			text = out.paint(green, text)
		case strings.HasPrefix(line, "-"):
			text = out.paint(red, text)
		}
		out.Printf("%s\n", text)
	}
}
