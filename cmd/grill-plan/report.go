package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/internal/view"
	"github.com/grill-plan/grill-plan/steps"
	"github.com/grill-plan/grill-plan/steps/report"
)

type reportFlags struct {
	out    string
	redact bool
	json   bool
}

func (a *app) newReport() *cobra.Command {
	var flags reportFlags
	cmd := &cobra.Command{
		Use:   "report RUN [--out DIR]",
		Short: "Writes the report again, from evidence alone",
		Long: `Verifies the evidence of a run and writes its report again: the same evidence gives
the same bytes. RUN is a run directory or the plan whose default run directory is
meant.`,
		Annotations: map[string]string{verdictCommand: ""},
		Example:     "  grill-plan run examples/plans/quickstart.hcl\n  grill-plan report examples/plans/quickstart.hcl",
		Args:        exactArgs("RUN"),
		RunE: work(func(ctx context.Context, args []string) error {
			if flags.redact {
				return notInThisVersion("--redact", "Leave it out, and look the report over before you pass it on: it holds prompts and paths.")
			}
			return a.report(ctx, args[0], flags)
		}),
	}
	cmd.Flags().StringVar(&flags.out, "out", "", "write to `DIR` (default RUN/report)")
	cmd.Flags().BoolVar(&flags.redact, "redact", false, "leave out prompts and paths; not in this version")
	cmd.Flags().BoolVar(&flags.json, "json", false, "print one JSON document")
	return cmd
}

func (a *app) report(ctx context.Context, path string, flags reportFlags) error {
	run, err := a.openRun(ctx, path)
	if err != nil {
		return err
	}
	collected, err := steps.Collect(ctx, run.Dir)
	if err != nil {
		return err
	}
	dir := flags.out
	if dir == "" {
		dir = filepath.Join(run.Dir, steps.ReportDir)
	}
	if err := steps.WriteReport(collected, dir); err != nil {
		return err
	}
	if flags.json {
		if err := a.printResults(collected); err != nil {
			return err
		}
	} else {
		a.out.Printf("%s", view.Block(collected.Text(shortest(run.Dir))))
		a.out.Printf("report: %s\n", view.Line(shortest(dir)))
	}
	return exitWith(collected.ExitCode())
}

// printResults prints results.json, as it is in the report.
func (a *app) printResults(collected *report.Run) error {
	files, err := collected.Files()
	if err != nil {
		return err
	}
	for _, file := range files {
		if file.Name == report.ResultsFile {
			_, _ = a.out.Write(file.Data) // a write error is found by conclude
		}
	}
	return nil
}
