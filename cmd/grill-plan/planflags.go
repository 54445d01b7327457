package main

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/internal/view"
	"github.com/grill-plan/grill-plan/steps"
)

// planFlags are the flags of every command that reads a plan (PLN-06).
type planFlags struct {
	vars     []string // NAME=VALUE, in the order given
	varFiles []string
}

func (f *planFlags) add(cmd *cobra.Command) {
	// Arrays, not slices: a comma in a value is part of the value.
	cmd.Flags().StringArrayVar(&f.vars, "var", nil, "set a variable of the plan, as `NAME=VALUE`; may be repeated")
	cmd.Flags().StringArrayVar(&f.varFiles, "var-file", nil, "read variables from `FILE`; may be repeated")
}

// load reads and compiles a plan.
func (a *app) load(ctx context.Context, path string, flags planFlags) (*steps.Loaded, hcl.Diagnostics, error) {
	return steps.Load(ctx, steps.PlanInput{Path: path, Vars: flags.vars, VarFiles: flags.varFiles, Environ: a.environ})
}

// loadValid is load for commands that go on only with a plan without errors: it
// shows all diagnostics and ends with exit 1 when there is an error.
func (a *app) loadValid(ctx context.Context, path string, flags planFlags) (*steps.Loaded, error) {
	loaded, diags, err := a.load(ctx, path, flags)
	if err != nil {
		return nil, err
	}
	a.showDiagnostics(loaded, diags)
	if diags.HasErrors() {
		return nil, exitWith(exitError)
	}
	return loaded, nil
}

// showDiagnostics writes diagnostics with their source and counts them.
func (a *app) showDiagnostics(loaded *steps.Loaded, diags hcl.Diagnostics) {
	if len(diags) == 0 {
		return
	}
	view.Diagnostics(a.err, diags, func(name string) []byte { return loaded.Plan.Sources[name] })
	view.DiagnosticCount(a.err, diags)
}

// completePlan offers plan files and folders to shells.
func completePlan(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return []string{"hcl"}, cobra.ShellCompDirectiveFilterFileExt
}
