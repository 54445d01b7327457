package plan_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/plan"
	"github.com/grill-plan/grill-plan/plan/compile"
)

func sha256Hex(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

const (
	hidden  = "hunter2-\"quoted\""
	hidden2 = "correct horse"
)

// secretPlan uses a sensitive variable in every place that admits it.
func secretPlan(t testing.TB) string {
	return edit(t, base(t),
		`execution = "in-process"`, "execution = \"in-process\"\n  env = { TOKEN = var.token, PLAIN = \"p\", LATER = local.alias }",
		`settings = "one"`, "settings = \"one\"\n  switch {\n    program = \"./s\"\n    env = { A = \"b\", TOKEN = var.creds.token }\n    deadline_ms = 1000\n"+
			"    ready {\n      program = \"./r\"\n      env = { R = var.token }\n      deadline_ms = 1\n    }\n"+
			"    verify {\n      program = \"./v\"\n      env = { V = var.token }\n      expect_stdout = \"\"\n      deadline_ms = 1\n    }\n  }",
		`axis = ["settings"]`, "axis = [\"settings\"]\n  restore {\n    program = \"./s\"\n    env = { TOKEN = var.token }\n    deadline_ms = 1000\n  }",
	) + `
variable "token" {
  sensitive = true
}
variable "creds" {
  type      = object({ token = string, user = string })
  sensitive = true
}
locals {
  alias = var.creds.user
}
`
}

func secretOptions(token, password string) plan.Options {
	return plan.Options{Vars: []string{"token=" + token}, Environ: []string{fmt.Sprintf("GRILL_VAR_creds={ token = %q, user = \"someone-else\" }", password)}}
}

// TestSecretsStandNowhere holds PLN-07: the values reach the env of their
// programs and no document, graph, text or printed form, and other values give
// the same bytes.
func TestSecretsStandNowhere(t *testing.T) {
	var outputs [2]string
	for i, values := range [2][2]string{{hidden, hidden2}, {"other-value", "more"}} {
		loaded := mustLoad(t, secretPlan(t), secretOptions(values[0], values[1]))
		compiled, found := compile.Compile(loaded, compile.Options{Collector: "c"})
		mustBeClean(t, found)
		stored, shown := printed(t, loaded, compiled)
		for _, value := range []string{values[0], values[1], "someone-else", strings.Trim(fmt.Sprintf("%q", values[0]), `"`)} {
			if strings.Contains(stored+shown, value) {
				t.Errorf("%q stands in what is printed", value)
			}
		}
		outputs[i] = stored
		checkEnv(t, compiled, values[0], values[1])
	}
	if outputs[0] != outputs[1] {
		t.Error("another sensitive value changed what is stored")
	}
}

// printed gives everything that is stored of a plan, and what could be printed
// beside it.
func printed(t *testing.T, loaded *plan.Plan, compiled *compile.Compiled) (stored, shown string) {
	t.Helper()
	var out, other strings.Builder
	encoded, err := compiled.Graph.Encode()
	if err != nil {
		t.Fatal(err)
	}
	out.Write(encoded)
	names := make([]string, 0, len(compiled.Documents))
	for name := range compiled.Documents {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		out.Write(compiled.Documents[name])
	}
	text, err := json.Marshal(loaded.Variables)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(text)
	for _, e := range loaded.Experiments {
		for _, value := range []any{e.Reference.Runner.Secrets, e.Reference.Deployment.Switch.Hook.Env, e.Restore, e.Reference.Runner.Document} {
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&other, "%s %v %+v %#v %s %q %x\n", text, value, value, value, value, value, value)
		}
	}
	fmt.Fprintf(&other, "%v %+v %#v", compiled.Secrets, compiled.Secrets, compiled.Secrets)
	return out.String(), other.String()
}

func checkEnv(t *testing.T, compiled *compile.Compiled, token, password string) {
	t.Helper()
	want := map[[2]string]string{
		{"experiment.x.capture.a", "runner"}:  "LATER=someone-else TOKEN=" + token,
		{"experiment.x.capture.b", "runner"}:  "LATER=someone-else TOKEN=" + token,
		{"experiment.x.switch.a", "switch"}:   "TOKEN=" + password,
		{"experiment.x.switch.a2", "ready"}:   "R=" + token,
		{"experiment.x.switch.a2", "verify"}:  "V=" + token,
		{"experiment.x.restore", "restore"}:   "TOKEN=" + token,
		{"experiment.x.switch.a", "runner"}:   "",
		{"experiment.x.capture.zz", "runner"}: "",
	}
	for at, text := range want {
		var entries []string
		for _, entry := range compiled.Secrets.Env(at[0], compile.Part(at[1])) {
			entries = append(entries, entry.Name+"="+entry.Value.Reveal())
		}
		if got := strings.Join(entries, " "); got != text {
			t.Errorf("%v: env %q, want %q", at, got, text)
		}
	}
	node, _ := compiled.Graph.Lookup("experiment.x.switch.a")
	if !strings.Contains(string(node.Spec), `{"name":"TOKEN","value":"(sensitive)","sensitive":true}`) {
		t.Errorf("spec %s", node.Spec)
	}
}

func TestSecretNamesStandInTheDocument(t *testing.T) { // PLN-07, DOC-55
	loaded := mustLoad(t, secretPlan(t), secretOptions(hidden, hidden2))
	text := string(loaded.Experiments[0].Reference.Runner.Bytes)
	if !strings.Contains(text, `"env":{"PLAIN":"p"}`) || !strings.Contains(text, `"env_secret":["LATER","TOKEN"]`) {
		t.Errorf("runner %s", text)
	}
	if !slices.Equal(loaded.Sensitive, []string{"creds", "token"}) || len(loaded.Variables) != 0 {
		t.Errorf("variables %v, sensitive %v", loaded.Variables, loaded.Sensitive)
	}
}

// TestSecretsElsewhereAreErrors holds PLN-07: any other use is an error at its
// place, and no text of it shows the value.
func TestSecretsElsewhereAreErrors(t *testing.T) {
	const tail = "\nvariable \"token\" {\n  sensitive = true\n}\n"
	refused := "Sensitive value not admitted here"
	cases := []struct {
		name, old, new, summary string
	}{
		{"argument", `"{seed}", `, `"{seed}", var.token, `, refused},
		{"part of an argument", `"{seed}", `, `"{seed}", "--token=${var.token}", `, refused},
		{"program", `program   = self()`, `program   = var.token`, refused},
		{"prompt", `"a harbour"`, `upper(var.token)`, refused},
		{"hashed", `"a harbour"`, `sha256(var.token)`, refused},
		{"condition", `"a harbour"`, `var.token == "x" ? "a" : "b"`, refused},
		{"part of an env value", `args `, "env = { T = \"x${var.token}\" }\n  args ", refused},
		{"changed env value", `args `, "env = { T = upper(var.token) }\n  args ", refused},
		{"env name", `args `, "env = { (var.token) = \"x\" }\n  args ", refused},
		{"whole env", `args `, "env = jsondecode(var.token)\n  args ", "Error in function call"},
		{"index", `"a harbour"`, `{ "hunter2" = "x" }[var.token]`, refused},
		{"index in for", `"a harbour"`, `[for k in [var.token] : { "hunter2" = "x" }[k]][0]`, refused},
		{"number", `steps          = 4`, `steps          = tonumber(var.token)`, "Invalid function argument"},
		{"for_each", `runner "r" {`, "runner \"r\" {\n  for_each = toset([var.token])", refused},
		{"file", `"a harbour"`, `file(var.token)`, "Invalid function argument"},
		{"reference", `host     = host.h`, `host     = var.token`, refused},
		{"axis", `axis = ["settings"]`, `axis = ["settings", var.token]`, refused},
		{"deployment", `settings = "one"`, `settings = var.token`, refused},
		{"expected output", `settings = "one"`, "settings = \"one\"\n  switch {\n    program = \"./s\"\n    deadline_ms = 1\n    verify {\n      program = \"./s\"\n      expect_stdout = var.token\n      deadline_ms = 1\n    }\n  }", refused},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, found := loadText(t, edit(t, base(t), c.old, c.new)+tail, plan.Options{Vars: []string{"token=hunter2"}})
			if len(found) == 0 {
				t.Fatal("admitted")
			}
			for _, diag := range found {
				if strings.Contains(diag.Detail, "hunter2") || strings.Contains(diag.Summary, "hunter2") {
					t.Errorf("shows the value: %s: %s", diag.Summary, diag.Detail)
				}
			}
			if !slices.ContainsFunc(hclSummaries(found), func(s string) bool { return s == c.summary }) {
				t.Errorf("want %q, found %v", c.summary, found)
			}
		})
	}
}

func TestSecretVariableMistakes(t *testing.T) { // PLN-07
	cases := []struct{ declaration, given, summary string }{
		{"type = number\n sensitive = true", "token=hunter2", "Value of the wrong type"},
		{"type = list(string)\n sensitive = true", "token=hunter2 hunter2", "Value of the wrong type"},
		{"sensitive = true\n default = \"hunter2\"", "", "Literal default of a sensitive variable"},
		{"sensitive = true\n default = chomp(\"hunter2\")", "", "Literal default of a sensitive variable"},
		{"sensitive = true\n validation {\n condition = length(var.token) > 20\n error_message = \"got ${var.token}\"\n }", "token=hunter2", "Sensitive value not admitted here"},
		{"sensitive = true\n validation {\n condition = var.token != \"h\"\n error_message = \"This is too short.\"\n }", "token=h", "Variable not admitted"},
	}
	for _, c := range cases {
		var vars []string
		if c.given != "" {
			vars = []string{c.given}
		}
		_, found := loadText(t, base(t)+"\nvariable \"token\" {\n "+c.declaration+"\n}\n", plan.Options{Vars: vars})
		if len(found) != 1 || found[0].Summary != c.summary || strings.Contains(found[0].Detail, "hunter2") || strings.Contains(found[0].Detail, "T"+plan.Masked) {
			t.Errorf("%s: %v", c.declaration, found)
		}
	}
	dir := write(t, map[string]string{
		"plan.hcl":  edit(t, base(t), `args `, "env = { T = var.token }\n  args ") + "\nvariable \"token\" {\n  sensitive = true\n  default = chomp(file(\"token.txt\"))\n}\n",
		"token.txt": "from-a-file\n",
	})
	loaded, found := plan.Load(dir, plan.Options{})
	mustBeClean(t, found)
	if got := loaded.Experiments[0].Reference.Runner.Secrets; len(got) != 1 || got[0].Value.Reveal() != "from-a-file" {
		t.Errorf("%v", got)
	}
}
