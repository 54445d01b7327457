package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/internal/view"
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/compare"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

type compareFlags struct{ a, b, a2, b2 string }

func (a *app) newCompare() *cobra.Command {
	var flags compareFlags
	cmd := &cobra.Command{
		Use:   "compare --a DIR --b DIR --a2 DIR [--b2 DIR]",
		Short: "Judges captures: gates and verdict",
		Long: `Verifies every capture, checks that they belong together and were made in order, and
judges the workload's gates. It prints a JSON report. Output quality is not
compared, and nothing is said about significance or cause.

--b2 is given exactly when the workload declares arm b2.`,
		Annotations: map[string]string{verdictCommand: ""},
		Example: "  grill-plan run examples/plans/quickstart.hcl\n" +
			"  grill-plan media compare --a " + quickstartNodes + ".capture.a/attempt-1 \\\n" +
			"    --b " + quickstartNodes + ".capture.b/attempt-1 --a2 " + quickstartNodes + ".capture.a2/attempt-1",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := requireFlags(cmd, "a", "b", "a2"); err != nil {
				return err
			}
			return a.compare(cmd.Context(), flags)
		},
	}
	cmd.Flags().StringVar(&flags.a, "a", "", "capture `DIR` of arm a, the reference")
	cmd.Flags().StringVar(&flags.b, "b", "", "capture `DIR` of arm b, the candidate")
	cmd.Flags().StringVar(&flags.a2, "a2", "", "capture `DIR` of arm a2, the reference again")
	cmd.Flags().StringVar(&flags.b2, "b2", "", "capture `DIR` of arm b2, the candidate again")
	return cmd
}

// compare verifies every capture completely before it judges any (CMP-02), so that
// one run names all that do not verify.
func (a *app) compare(ctx context.Context, flags compareFlags) error {
	captures, failed := map[string]*inspect.Result{}, false
	for _, given := range flags.dirs() {
		result, err := inspectCapture(ctx, given.dir)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			view.Error(a.err, fmt.Errorf("arm %s: %w", given.arm, err))
			failed = true
		}
		captures[given.arm] = result
	}
	if failed {
		return exitWith(exitError)
	}
	report, err := compare.Compare(captures)
	if err != nil {
		return err
	}
	document, err := report.JSON()
	if err != nil {
		return err
	}
	_, _ = a.out.Write(document) // a write error is found by conclude
	if a.err.Live() {
		a.err.Printf("%s", view.Block(report.Text()))
	}
	return exitWith(report.Verdict.ExitCode())
}

type armDir struct{ arm, dir string }

// dirs are the directories given, in capture order.
func (f compareFlags) dirs() []armDir {
	given := []armDir{{document.ArmA, f.a}, {document.ArmB, f.b}}
	if f.b2 != "" {
		given = append(given, armDir{document.ArmB2, f.b2})
	}
	return append(given, armDir{document.ArmA2, f.a2})
}
