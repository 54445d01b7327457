// Command requirements lists which test holds which requirement of
// docs/requirements.md. Run it in the module's folder:
//
//	go run ./tools/requirements            every requirement and its tests
//	go run ./tools/requirements DOC PLN-20 only these groups and ids
//	go run ./tools/requirements -missing   those of the finished groups that no test holds
//
// It exits 1 when a requirement of a finished group is held by no test.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/grill-plan/grill-plan/internal/rules"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("requirements", flag.ContinueOnError)
	flags.SetOutput(stderr)
	missing := flags.Bool("missing", false, "list only what is missing")
	if err := flags.Parse(args); err != nil {
		return 1
	}
	coverage, err := rules.Cover(".")
	if err != nil {
		fmt.Fprintln(stderr, "requirements:", err)
		return 1
	}
	if !*missing {
		list(stdout, coverage, flags.Args())
	}
	problems := rules.CheckCoverage(coverage, rules.HeldGroups(), rules.Exemptions())
	for _, problem := range problems {
		fmt.Fprintln(stderr, problem)
	}
	if len(problems) > 0 {
		return 1
	}
	return 0
}

// list prints one line for each claim, and one for each requirement without any.
func list(out io.Writer, coverage rules.Coverage, only []string) {
	for _, requirement := range coverage.Requirements {
		if len(only) > 0 && !slices.Contains(only, requirement.Group()) && !slices.Contains(only, requirement.ID) {
			continue
		}
		holders := coverage.Holders[requirement.ID]
		if len(holders) == 0 {
			fmt.Fprintf(out, "%s  %s\n", requirement.ID, absent(requirement))
		}
		for _, holder := range holders {
			fmt.Fprintf(out, "%s  %s\n", requirement.ID, holder)
		}
	}
}

// absent says why nothing holds the requirement.
func absent(requirement rules.Requirement) string {
	for _, exemption := range rules.Exemptions() {
		if exemption.ID == requirement.ID {
			return "later, " + exemption.Later + ": " + exemption.Reason
		}
	}
	if !slices.Contains(rules.HeldGroups(), requirement.Group()) {
		return "later, its group is not finished"
	}
	return "missing"
}
