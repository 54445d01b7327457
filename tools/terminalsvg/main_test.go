package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// The picture is well-formed, whatever was printed, and shows all of it.
func TestDraw(t *testing.T) {
	var out strings.Builder
	const printed = "verdict PASS\n\n  a <b> & \"c\"   \n  ünïcödé │ 1.5 s\n"
	if err := run([]string{"-title", "grill-plan run x"}, strings.NewReader(printed), &out); err != nil {
		t.Fatal(err)
	}
	var shown []string
	decoder := xml.NewDecoder(strings.NewReader(out.String()))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := token.(xml.CharData); ok && strings.TrimSpace(string(data)) != "" {
			shown = append(shown, string(data))
		}
	}
	want := []string{"$ grill-plan run x", "verdict PASS", "  a <b> & \"c\"", "  ünïcödé │ 1.5 s"}
	if strings.Join(shown, "|") != strings.Join(want, "|") {
		t.Errorf("got %q, want %q", shown, want)
	}
}
