package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/internal/view"
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
