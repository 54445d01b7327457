package main

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/internal/view"
	"github.com/grill-plan/grill-plan/plan/sight"
	"github.com/grill-plan/grill-plan/steps"
)

type validateFlags struct {
	planFlags
	json bool
}

func (a *app) newValidate() *cobra.Command {
	var flags validateFlags
	cmd := &cobra.Command{
		Use:   "validate PLAN",
		Short: "Reads and checks a plan; starts nothing",
		Long: `Reads a plan, a file or a folder of .hcl files, and checks all of it. Every error
is shown, each with its place in the file. Nothing is started or written.

Warnings do not change the exit code: 0 when there is no error, 1 otherwise.`,
		Example:           "  grill-plan validate examples/plans/quickstart.hcl",
		Args:              exactArgs("PLAN"),
		ValidArgsFunction: completePlan,
		RunE: work(func(ctx context.Context, args []string) error {
			return a.validate(ctx, args[0], flags)
		}),
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&flags.json, "json", false, "print one JSON document")
	return cmd
}

// validation is the document of --json.
type validation struct {
	Kind        string                `json:"kind"` // plan-validation
	Version     int                   `json:"version"`
	Valid       bool                  `json:"valid"`
	Errors      int                   `json:"error_count"`
	Warnings    int                   `json:"warning_count"`
	Diagnostics []view.DiagnosticJSON `json:"diagnostics"`
}

func (a *app) validate(ctx context.Context, path string, flags validateFlags) error {
	loaded, diags, err := a.load(ctx, path, flags.planFlags)
	if err != nil {
		return err
	}
	code := exitOK
	if diags.HasErrors() {
		code = exitError
	} else {
		diags = append(diags, designWarnings(loaded)...)
	}
	if flags.json {
		errors, warnings := view.CountDiagnostics(diags)
		err := a.printJSON(validation{Kind: "plan-validation", Version: 1, Valid: errors == 0,
			Errors: errors, Warnings: warnings, Diagnostics: view.DiagnosticsJSON(diags)})
		if err != nil {
			return err
		}
		return exitWith(code)
	}
	a.showDiagnostics(loaded, diags)
	if code == exitOK {
		a.out.Printf("%s is valid: plan %s, %s\n", view.Line(path), view.Line(loaded.Plan.Name),
			view.Count(len(loaded.Plan.Experiments), "experiment"))
	}
	return exitWith(code)
}

// designWarnings are what a plan without errors should know of its design, each at
// the gate or experiment it is about (PLN-47). What a gate can see is no warning;
// "plan" shows it.
func designWarnings(loaded *steps.Loaded) hcl.Diagnostics {
	var warnings hcl.Diagnostics
	for _, experiment := range loaded.Plan.Experiments {
		for _, advice := range loaded.Advice(experiment) {
			if advice.Code == sight.GateSight {
				continue
			}
			place := experiment.Range
			if gates := experiment.Workload.Gates; advice.Gate >= 0 && advice.Gate < len(gates) {
				place = gates[advice.Gate].Range
			}
			warnings = append(warnings, &hcl.Diagnostic{
				Severity: hcl.DiagWarning, Summary: advice.Code, Subject: &place,
				Detail: experiment.Address + ": " + advice.Text,
			})
		}
	}
	return warnings
}
