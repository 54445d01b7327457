// Command terminalsvg draws what a command printed as a picture for README.md:
//
//	grill-plan run examples/plans/quickstart.hcl --out r 2>&1 |
//		go run ./tools/terminalsvg -title 'grill-plan run examples/plans/quickstart.hcl' > docs/report.svg
//
// The picture is text, so that it stays sharp and can be searched, in colours that
// suit light and dark pages.
package main

import (
	"bufio"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// Sizes in pixels of a monospaced font of 14 pixels.
const (
	charWidth  = 8.43
	lineHeight = 20
	margin     = 18
	titleBar   = 36
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "terminalsvg:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("terminalsvg", flag.ContinueOnError)
	title := flags.String("title", "", "the command, shown above its output")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var lines []string
	scanner := bufio.NewScanner(in)
	for scanner.Scan() {
		lines = append(lines, strings.TrimRight(scanner.Text(), " \r"))
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	_, err := io.WriteString(out, draw("$ "+*title, lines))
	return err
}

func draw(title string, lines []string) string {
	longest := utf8.RuneCountInString(title)
	for _, line := range lines {
		longest = max(longest, utf8.RuneCountInString(line))
	}
	width := int(float64(longest)*charWidth) + 2*margin
	height := titleBar + len(lines)*lineHeight + margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n",
		width, height, width, height, escape(title))
	b.WriteString(`<rect width="100%" height="100%" rx="8" fill="#161b22"/>` + "\n")
	b.WriteString(`<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">` + "\n")
	text(&b, titleBar-12, "#8b949e", title)
	for i, line := range lines {
		if line != "" {
			text(&b, titleBar+(i+1)*lineHeight-4, colour(line), line)
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

func text(b *strings.Builder, y int, fill, line string) {
	fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", margin, y, fill, escape(line))
}

// colour sets the line with the verdict apart.
func colour(line string) string {
	switch {
	case strings.Contains(line, "PASS"):
		return "#3fb950"
	case strings.Contains(line, "REGRESSION"):
		return "#f85149"
	case strings.Contains(line, "INCONCLUSIVE"):
		return "#d29922"
	}
	return "#e6edf3"
}

func escape(line string) string {
	var b strings.Builder
	// A strings.Builder accepts everything.
	_ = xml.EscapeText(&b, []byte(line))
	return b.String()
}
