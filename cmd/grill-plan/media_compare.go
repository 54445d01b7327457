package main

import (
	"context"

	"github.com/spf13/cobra"
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
			"  grill-plan media compare --a " + quickstartNodes + "/capture.a/attempt-1 \\\n" +
			"    --b " + quickstartNodes + "/capture.b/attempt-1 --a2 " + quickstartNodes + "/capture.a2/attempt-1",
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

func (a *app) compare(ctx context.Context, flags compareFlags) error {
	return errNotWired
}
