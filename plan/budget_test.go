package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/plan"
)

// doubling gives locals a0 to aN of which each holds the one before it ten
// times, written by a format with %s for what is repeated.
func doubling(levels int, first, each string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "locals {\n  a0 = %s\n", first)
	for level := 1; level <= levels; level++ {
		fmt.Fprintf(&text, "  a%d = %s\n", level, strings.ReplaceAll(each, "@", fmt.Sprintf("local.a%d", level-1)))
	}
	return text.String() + "}\n"
}

// TestTooLarge: a few lines that describe more than a machine holds end in one
// error at their place, and soon.
func TestTooLarge(t *testing.T) {
	cases := map[string]string{
		"lists of lists":      doubling(12, `["x"]`, "[@, @, @, @, @, @, @, @, @, @]"),
		"texts of texts":      doubling(40, `"0123456789"`, `"${@}${@}${@}${@}"`),
		"format":              doubling(60, `"0123456789"`, `format("%s%s", @, @)`),
		"concat":              doubling(60, `["x"]`, `concat(@, @)`),
		"replace":             doubling(20, `"aaaaaaaaaa"`, `replace(@, "a", @)`),
		"jsonencode":          doubling(90, `"\"\\"`, `jsonencode(@)`),
		"setproduct":          "locals {\n  a = setproduct(range(1000), range(1000), range(1000))\n}\n",
		"setproduct overflow": "locals {\n  a = setproduct(range(1000), range(1000), range(1000), range(1000), range(1000), range(1000), range(1000))\n}\n",
		"loops":               "locals {\n  a = [for x in range(1000) : [for y in range(1000) : range(1000)]]\n}\n",
		"loops of nothing":    "locals {\n  a = [for x in range(1000) : [for y in range(1000) : [for z in range(1000) : 1 if false]]]\n}\n",
		"loops of sums":       "locals {\n  a = [for x in range(1000) : [for y in range(1000) : [for z in range(1000) : x + y + z][0]][0]]\n}\n",
		"loops of objects":    "locals {\n  a = { for x in range(1000) : x => { for y in range(1000) : y => range(1000) } }\n}\n",
		"written number":      "locals {\n  a = format(\"%d\", 1e99999999)\n}\n",
		"number in a text":    "locals {\n  a = \"x${1e99999999}\"\n}\n",
		"number to text":      "locals {\n  a = tostring(1e99999999)\n}\n",
		"indent":              "locals {\n  a = indent(2000000000, \"a\\nb\")\n}\n",
		"join":                doubling(17, `"0123456789"`, `"${@}${@}"`) + "locals {\n  b = join(local.a17, range(1000))\n}\n",
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			_, found := loadText(t, text, plan.Options{})
			count := 0
			for _, diag := range found {
				if diag.Summary == "Value too large" {
					count++
				}
			}
			if count != 1 {
				t.Errorf("%d errors of a value that is too large, not one: %v", count, found)
			}
		})
	}
}

// TestLargeEnough: what people write stays far below the bounds, and a number
// that is only carried along has any size.
func TestLargeEnough(t *testing.T) {
	cases := map[string]string{
		"a table of ten thousand cells": "locals {\n  a = { for x in range(100) : \"k${x}\" => [for y in range(100) : x * y] }\n  b = length(keys(local.a))\n}\n",
		"a number carried along":        "locals {\n  a = 1e9999\n  b = local.a > 1\n}\n",
		"a text of a mebibyte":          doubling(20, `"x"`, `"${@}${@}"`),
		"pairs":                         "locals {\n  a = [for p in setproduct(range(50), range(50)) : \"${p[0]}-${p[1]}\"]\n}\n",
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			_, found := loadText(t, text, plan.Options{})
			for _, diag := range found {
				if diag.Summary != "Missing block" {
					t.Errorf("%s: %s", diag.Summary, diag.Detail)
				}
			}
		})
	}
}
