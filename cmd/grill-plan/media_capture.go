package main

import (
	"context"

	"github.com/spf13/cobra"
)

type captureFlags struct {
	workload   string
	runner     string
	deployment string
	slot       string
	out        string
}

func (a *app) newCapture() *cobra.Command {
	var flags captureFlags
	cmd := &cobra.Command{
		Use:   "capture --workload FILE --runner FILE --deployment FILE --slot SLOT --out DIR",
		Short: "Captures one slot into a new directory",
		Long: `Runs the samples of one slot and keeps what happened as evidence. DIR must not exist
yet. It waits while another grill-plan measures on this machine.

Child processes are no sandbox: a program that leaves its process group is out of
reach. A complete capture exits 0, also with failed samples, which are shown.`,
		Example: "  grill-plan run examples/plans/quickstart.hcl\n" +
			"  grill-plan media capture --workload " + quickstartNodes + "/capture.a/attempt-1/workload.json \\\n" +
			"    --runner " + quickstartNodes + "/capture.a/attempt-1/runner.json \\\n" +
			"    --deployment " + quickstartNodes + "/capture.a/attempt-1/deployment.json --slot a --out capture-a",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := requireFlags(cmd, "workload", "runner", "deployment", "slot", "out"); err != nil {
				return err
			}
			return a.capture(cmd.Context(), flags)
		},
	}
	cmd.Flags().StringVar(&flags.workload, "workload", "", "workload document `FILE`")
	cmd.Flags().StringVar(&flags.runner, "runner", "", "runner document `FILE`")
	cmd.Flags().StringVar(&flags.deployment, "deployment", "", "deployment document `FILE`; {} declares nothing")
	cmd.Flags().StringVar(&flags.slot, "slot", "", "id of the workload's `SLOT` to capture")
	cmd.Flags().StringVar(&flags.out, "out", "", "new directory `DIR` for the evidence")
	return cmd
}

func (a *app) capture(ctx context.Context, flags captureFlags) error {
	return errNotWired
}
