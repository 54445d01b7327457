package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/grill-plan/grill-plan/internal/strictjson"
	"github.com/grill-plan/grill-plan/plan"
	"github.com/grill-plan/grill-plan/plan/document"
)

// checkAxis lists what the sides of an experiment differ in and holds it against
// axis: each undeclared difference and each named one that does not differ is
// an error at its place (PLN-12). Hooks and the runner's id are not compared.
func (c *compiler) checkAxis(e *plan.Experiment) []string {
	differences := differences(e.Reference, e.Candidate)
	if e.Axis == nil {
		if len(differences) == 0 {
			c.errorAt(e.Range, "The sides do not differ",
				"Runner and deployment documents of reference and candidate are equal, so there is nothing to compare. Declare what differs; if it is the program's bytes under one path, say axis = [\"program_bytes\"].")
		}
		return differences
	}
	named := map[string]bool{}
	for _, entry := range e.Axis.Entries {
		named[entry.Name] = true
		if entry.Name != plan.ProgramBytes && !slices.Contains(differences, entry.Name) {
			c.errorAt(entry.Range, "Axis names what does not differ",
				"The sides of %s do not differ in %s; remove it from axis, or make them differ.%s", e.Address, entry.Name, listed(differences))
		}
	}
	for _, difference := range differences {
		if !named[difference] {
			c.errorAt(differencePlace(e, difference), "Difference that axis does not name",
				"The sides of %s differ in %s, which axis does not name; add it to axis, or make the sides equal.", e.Address, difference)
		}
	}
	if len(e.Axis.Entries) == 0 && len(differences) == 0 {
		c.errorAt(e.Axis.Range, "The sides do not differ", "axis is empty and the sides are equal, so there is nothing to compare.")
	}
	return differences
}

func listed(differences []string) string {
	if len(differences) == 0 {
		return " Their runner and deployment documents are equal."
	}
	return fmt.Sprintf(" They differ in: %s.", strings.Join(differences, ", "))
}

func differences(a, b *plan.Side) []string {
	var paths []string
	if a.Deployment.SHA256 != b.Deployment.SHA256 {
		paths = append(paths, document.DiffDeployment(a.Deployment.Document, b.Deployment.Document)...)
	}
	if a.Runner.SHA256 == b.Runner.SHA256 {
		return paths
	}
	for _, path := range document.DiffRunner(a.Runner.Document, b.Runner.Document) {
		if path != "runner.env_secret" {
			paths = append(paths, path)
			continue
		}
		for _, name := range unshared(a.Runner.Document.EnvSecret, b.Runner.Document.EnvSecret) {
			if entry := strictjson.JoinName("runner.env", name); !slices.Contains(paths, entry) {
				paths = append(paths, entry)
			}
		}
	}
	return paths
}

// unshared gives the names that one list has and the other has not, sorted.
func unshared(a, b []string) []string {
	var names []string
	for _, name := range slices.Concat(a, b) {
		if slices.Contains(a, name) != slices.Contains(b, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// differencePlace is the candidate block, where the reader sees which runner
// and deployment were chosen.
func differencePlace(e *plan.Experiment, _ string) hcl.Range { return e.Candidate.Range }

func (c *compiler) errorAt(at hcl.Range, summary, format string, args ...any) {
	c.diags = append(c.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &at,
	})
}
