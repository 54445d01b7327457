package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/plan"
)

// withSteps uses a variable for the steps of the workload.
func withSteps(t testing.TB, declaration string) string {
	return edit(t, base(t), "steps          = 4", "steps          = var.steps") + "\n" + declaration
}

// TestVariableSources holds the order of PLN-06.
func TestVariableSources(t *testing.T) {
	text := withSteps(t, "variable \"steps\" {\n  type    = number\n  default = 1\n}\n")
	file := filepath.Join(t.TempDir(), "tuning.vars")
	if err := os.WriteFile(file, []byte("steps = 3 # a comment\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.vars")
	if err := os.WriteFile(other, []byte("steps = \"4\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"PATH=/bin", "GRILL_VAR_steps=2"}
	cases := []struct {
		name    string
		options plan.Options
		want    uint64
	}{
		{"default", plan.Options{Environ: []string{"steps=9", "GRILL_VAR=9"}}, 1},
		{"environment", plan.Options{Environ: environ}, 2},
		{"file before environment", plan.Options{Environ: environ, VarFiles: []string{file}}, 3},
		{"last file", plan.Options{Environ: environ, VarFiles: []string{file, other}}, 4},
		{"flag before all", plan.Options{Environ: environ, VarFiles: []string{file}, Vars: []string{"steps=5"}}, 5},
		{"last flag", plan.Options{Vars: []string{"steps=5", "steps=6"}}, 6},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			loaded := mustLoad(t, text, c.options)
			if got := *loaded.Experiments[0].Workload.Document.Request.Steps; got != c.want {
				t.Errorf("steps %d, want %d", got, c.want)
			}
		})
	}
}

// TestVariableMistakes holds the errors of PLN-06.
func TestVariableMistakes(t *testing.T) {
	number := "variable \"steps\" {\n  type    = number\n  default = 1\n}\n"
	cases := []struct {
		name, declaration string
		vars              []string
		summary, part     string
	}{
		{"missing", "variable \"steps\" {\n  type = number\n}\n", nil, "Missing value of a variable", "--var steps=… , "},
		{"unknown", number, []string{"stesp=1"}, "Unknown variable", `no variable "stesp", which --var stesp gives. Did you mean "steps"?`},
		{"no value", number, []string{"steps"}, "Invalid --var", "NAME=VALUE"},
		{"text", number, []string{"steps=four"}, "Value of the wrong type", "plain decimal"},
		{"plus", number, []string{"steps=+5"}, "Value of the wrong type", "plain decimal"},
		{"leading zero", number, []string{"steps=007"}, "Value of the wrong type", "plain decimal"},
		{"binary exponent", number, []string{"steps=1p10"}, "Value of the wrong type", "plain decimal"},
		{"infinity", number, []string{"steps=Inf"}, "Value of the wrong type", "plain decimal"},
		{"hexadecimal", number, []string{"steps=0x10"}, "Value of the wrong type", "plain decimal"},
		{"not composed", "variable \"steps\" {\n  type = string\n}\n", []string{"steps=e\u0301"}, "Value of the wrong type", "normal form C"},
		{"no expression", "variable \"steps\" {\n  type = list(number)\n}\n", []string{"steps=[1,"}, "Value of the wrong type", "no expression"},
		{"reference", "variable \"steps\" {\n  type = list(number)\n}\n", []string{"steps=[x]"}, "Value of the wrong type", "not a constant"},
		{"list of texts", "variable \"steps\" {\n  type = list(number)\n}\n", []string{`steps=["007"]`}, "Value of the wrong type", "plain decimal"},
		{
			"validation", "variable \"steps\" {\n  type    = number\n  default = 1\n  validation {\n    condition     = var.steps > 2 && var.steps < 4\n    error_message = \"Take ${1 + 2} steps.\"\n  }\n}\n", nil,
			"Variable not admitted", "Take 3 steps. The condition is: var.steps > 2 && var.steps < 4",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, found := loadText(t, withSteps(t, c.declaration), plan.Options{Vars: c.vars})
			wantError(t, found, c.summary, strings.ReplaceAll(c.part, "… , ", "…"))
		})
	}
	_, found := loadText(t, withSteps(t, number), plan.Options{Environ: []string{"GRILL_VAR_stesp=1"}})
	wantError(t, found, "Unknown variable", "GRILL_VAR_stesp")
}

func TestVariableFiles(t *testing.T) { // PLN-06
	text := withSteps(t, "variable \"steps\" {\n  type    = number\n  default = 1\n}\n")
	cases := map[string][2]string{
		"other = 3\n":             {"Unknown variable", `no variable "other"`},
		"steps = three\n":         {"Value is not a constant", "double quotes"},
		"steps = max(1, 2)\n":     {"Value is not a constant", "without functions"},
		"steps = \n":              {"Variable file not understood", "NAME = VALUE"},
		"steps {\n}\n":            {"Block in a variable file", "no blocks"},
		"steps = { a = 1 }\n":     {"Value of the wrong type", "number"},
		"\xef\xbb\xbfsteps = 3\n": {"Byte-order mark", ""},
	}
	for content, want := range cases {
		file := filepath.Join(t.TempDir(), "x.vars")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, found := loadText(t, text, plan.Options{VarFiles: []string{file}})
		wantError(t, found, want[0], want[1])
		if _, shown := loaded.Sources[file]; shown {
			t.Error("a variable file is a source of snippets")
		}
	}
	_, found := loadText(t, text, plan.Options{VarFiles: []string{filepath.Join(t.TempDir(), "absent")}})
	wantError(t, found, "Variable file not readable", "no such file")
}

func TestVariableTypes(t *testing.T) { // PLN-06
	text := base(t) + `
variable "untyped" { default = 3 }
variable "text"    { default = "x" }
variable "flags"   { type = list(bool) }
variable "tuned" {
  type = object({ steps = optional(number, 7), name = string })
}
`
	loaded := mustLoad(t, text, plan.Options{Vars: []string{"untyped=5", "text=007", `flags=[true, false]`, `tuned={ name = "n" }`}})
	want := map[string]string{"untyped": "5", "text": `"007"`, "flags": "[true,false]", "tuned": `{"name":"n","steps":7}`}
	for name, json := range want {
		if got := string(loaded.Variables[name]); got != json {
			t.Errorf("%s is stored as %s, want %s", name, got, json)
		}
	}
}

func TestFunctions(t *testing.T) {
	dir := write(t, map[string]string{"lines.txt": "one\ntwo\n", "bad.txt": "\xff", "nul.txt": "a\x00", "form.txt": "e\u0301", "mark.txt": "\ufeffa"})
	cases := map[string]string{
		`chomp(file("lines.txt"))`:                  `"one\ntwo"`,
		`filesha256("lines.txt")`:                   `"1a3d9a2b40e1ff0f7a8e7fac4e0d6d3f6ba8ad3ff7dc1c7c7f5d5b1c3f1fd7a5"`,
		`sha256("")`:                                `"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`,
		`basename("a/b.c")`:                         `"b.c"`,
		`dirname("a/b.c")`:                          `"a"`,
		`duration_ms("1h1m1.5s")`:                   `3661500`,
		`duration_ms("250ms")`:                      `250`,
		`bytes("512MiB")`:                           `536870912`,
		`bytes("1.5kB")`:                            `1500`,
		`bytes("16777216 TiB")`:                     `18446744073709551616`,
		`self()`:                                    `"self:"`,
		`tostring(18446744073709551615)`:            `"18446744073709551615"`,
		`tonumber("18446744073709551615")`:          `18446744073709551615`,
		`toset(["b", "a", "b"])`:                    `["a","b"]`,
		`jsondecode("{\"a\":[1,{\"a\":null}]}")`:    `{"a":[1,{"a":null}]}`,
		`format("%03d-%s", 7, join(",", range(3)))`: `"007-0,1,2"`,
		`max(18446744073709551615, 1)`:              `18446744073709551615`,
		`[for k, v in {b = 1, a = 2} : k]`:          `["a","b"]`,
	}
	digest := sha256Hex("one\ntwo\n")
	cases[`filesha256("lines.txt")`] = `"` + digest + `"`
	for expression, want := range cases {
		text := base(t) + "\nvariable \"v\" {\n  default = " + expression + "\n}\n"
		if err := os.WriteFile(filepath.Join(dir, "plan.hcl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, found := plan.Load(dir, plan.Options{})
		if len(found) > 0 || string(loaded.Variables["v"]) != want {
			t.Errorf("%s = %s, want %s (%v)", expression, loaded.Variables["v"], want, found)
		}
	}
	for expression, part := range map[string]string{
		`file("bad.txt")`: "not UTF-8", `file("nul.txt")`: "NUL", `file("form.txt")`: "normal form C", `file("mark.txt")`: "byte-order mark",
		`file(".")`: "not a regular file", `file("")`: "not empty", `filesha256("absent")`: "no such file",
		`duration_ms("5")`: "written like", `duration_ms("-5s")`: "written like", `duration_ms("1us")`: "written like", `duration_ms("9999999999h")`: "written like",
		`bytes("1.5B")`: "whole number of bytes", `bytes("5 XB")`: "written like", `tonumber("1p4")`: "plain decimal",
	} {
		text := base(t) + "\nvariable \"v\" {\n  default = " + expression + "\n}\n"
		if err := os.WriteFile(filepath.Join(dir, "plan.hcl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, found := plan.Load(dir, plan.Options{})
		wantError(t, found, "Invalid function argument", part)
	}
}

// TestNoImpureFunctions holds PLN-08.
func TestNoImpureFunctions(t *testing.T) {
	for _, call := range []string{"timestamp()", "uuid()", "env(\"HOME\")", "abspath(\".\")", "pathexpand(\"~\")", "bcrypt(\"x\")", "templatefile(\"a\", {})"} {
		_, found := loadText(t, base(t)+"\nlocals {\n  v = "+call+"\n}\n", plan.Options{})
		wantError(t, found, "Call to unknown function", "")
	}
}
