package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/steps/preflight"
)

type preflightFlags struct {
	workload string
	runner   string
}

func (a *app) newPreflight() *cobra.Command {
	var flags preflightFlags
	cmd := &cobra.Command{
		Use:   "preflight --workload FILE --runner FILE",
		Short: "Admits a workload and a runner and prints what would run",
		Long: `Checks a workload and a runner document and prints, as JSON, their hashes, every
planned sample with its argv, program identities and the wall-clock allowance. It
starts no process and creates no file.

The report holds prompts and paths: look it over before you pass it on.`,
		Example: "  grill-plan run examples/plans/quickstart.hcl\n" +
			"  grill-plan media preflight --workload " + quickstartNodes + ".capture.a/attempt-1/workload.json \\\n" +
			"    --runner " + quickstartNodes + ".capture.a/attempt-1/runner.json",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := requireFlags(cmd, "workload", "runner"); err != nil {
				return err
			}
			return a.preflight(cmd.Context(), flags)
		},
	}
	cmd.Flags().StringVar(&flags.workload, "workload", "", "workload document `FILE`")
	cmd.Flags().StringVar(&flags.runner, "runner", "", "runner document `FILE`")
	return cmd
}

func (a *app) preflight(ctx context.Context, flags preflightFlags) error {
	documents, err := a.readDocuments(flags.workload, flags.runner)
	if err != nil {
		return err
	}
	folder, self, err := here()
	if err != nil {
		return err
	}
	admitted, problems, err := preflight.Check(ctx, preflight.Input{
		WorkloadName: flags.workload, RunnerName: flags.runner,
		Workload: documents[0], Runner: documents[1],
		Folder: folder, Self: self,
	})
	if err != nil {
		return err
	}
	if admitted == nil {
		return a.reject(problems)
	}
	_, _ = a.out.Write(admitted.Report()) // a write error is found by conclude
	return nil
}
