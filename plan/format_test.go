package plan_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/grill-plan/grill-plan/plan"
)

func hclSummaries(found hcl.Diagnostics) []string {
	var summaries []string
	for _, diag := range found {
		summaries = append(summaries, diag.Summary)
	}
	return summaries
}

func TestFormat(t *testing.T) {
	messy := "plan {\nname=\"x\"\n   version   = 1\n}\nrunner \"r\" {\n args=[1,\n2]   # kept\n}\n"
	want := "plan {\n  name    = \"x\"\n  version = 1\n}\nrunner \"r\" {\n  args = [1,\n  2] # kept\n}\n"
	once, found := plan.Format("x.hcl", []byte(messy))
	mustBeClean(t, found)
	if string(once) != want {
		t.Errorf("formatted\n%s\nwant\n%s", once, want)
	}
	twice, _ := plan.Format("x.hcl", once)
	if string(twice) != string(once) {
		t.Errorf("formatting again changes\n%s", twice)
	}
	if out, found := plan.Format("x.hcl", []byte("plan {\n  name = \n}\nhost {\n")); out != nil || len(found) != 2 {
		t.Errorf("broken text: %q %v", out, found)
	}
}

// TestDeepTextIsRefused holds that no plan can exhaust the stack.
func TestDeepTextIsRefused(t *testing.T) {
	const n = 200_000
	for name, text := range map[string]string{
		"parentheses": "locals {\n  a = " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) + "\n}\n",
		"blocks":      strings.Repeat("a {\n", n),
		"unary":       "locals {\n  a = " + strings.Repeat("-", n) + "1\n}\n",
		"binary":      "locals {\n  a = (1" + strings.Repeat("\n+1", n) + ")\n}\n",
		"conditions":  "locals {\n  a = " + strings.Repeat("true?1:", n/10) + "1\n}\n",
		"steps":       "locals {\n  a = local" + strings.Repeat(".a", n) + "\n}\n",
		"splats":      "locals {\n  a = local.a" + strings.Repeat("[*]", n) + "\n}\n",
		"templates":   "locals {\n  a = " + strings.Repeat("\"${", n/2) + "\n}\n",
		"directives":  "locals {\n  a = \"" + strings.Repeat("%{if true}", n/20) + "\"\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, found := loadText(t, text, plan.Options{})
			if len(found) == 0 || found[0].Summary != "Expression too deep" {
				t.Errorf("found %v", hclSummaries(found))
			}
		})
	}
}

func TestTextThatIsNone(t *testing.T) {
	for text, summary := range map[string]string{
		"\xef\xbb\xbfplan {\n}\n": "Byte-order mark", "plan {\n}\n# \x00\n": "NUL byte", "# \xff\nplan {\n}\n": "Invalid UTF-8",
	} {
		_, found := loadText(t, text, plan.Options{})
		wantError(t, found, summary, "")
	}
	text := strings.ReplaceAll(edit(t, base(t), `settings = "one"`, "settings = <<EOT\none\nEOT"), "\n", "\r\n")
	_, found := loadText(t, text, plan.Options{})
	if !strings.Contains(strings.Join(hclSummaries(found), ","), "Carriage return in a heredoc") {
		t.Errorf("found %v", found)
	}
	mustLoad(t, strings.ReplaceAll(base(t), "\n", "\r\n"), plan.Options{}) // elsewhere CR LF ends a line
}

func FuzzLoad(f *testing.F) {
	f.Add(base(f))
	f.Add("plan {\n  name = \"x\n}\nhost \"a\" {")
	f.Add("locals {\n  a = \"%{ for x in [1] }${x}%{ endfor }\"\n  b = <<E\n\r\nE\n}\n")
	f.Add("variable \"v\" {\n  type = object({ a = optional(number, \"1\") })\n  default = { a = 1e9999999999 }\n}\n")
	f.Add("experiment \"e\" {\n  for_each = toset([\"a\"])\n  workload = workload.w[each.key]\n  depends_on = experiment\n}\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "setproduct") || strings.Contains(text, "format") || len(text) > 20_000 {
			t.Skip() // trusted input can ask for much memory
		}
		first, found := loadText(t, text, plan.Options{Vars: []string{"token=x"}})
		for _, diag := range found {
			if diag.Summary == "" || diag.Detail == "" {
				t.Errorf("diagnostic without text: %v", diag)
			}
		}
		second, again := loadText(t, text, plan.Options{Vars: []string{"token=x"}})
		if len(found) != len(again) || len(first.Experiments) != len(second.Experiments) {
			t.Errorf("two loads differ: %v and %v", found, again)
		}
		if out, broken := plan.Format("x.hcl", []byte(text)); !broken.HasErrors() {
			if twice, _ := plan.Format("x.hcl", out); string(twice) != string(out) {
				t.Errorf("formatting again changes %q into %q", out, twice)
			}
		}
	})
}
