package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/internal/view"
	"github.com/grill-plan/grill-plan/steps"
)

func (a *app) newNode() *cobra.Command {
	return &cobra.Command{
		Use:    "node RUN ADDRESS",
		Short:  "Does one node's work",
		Hidden: true,
		Long: `Does the work of one node in a process of its own. Backends call it; whoever placed
the node holds the host.`,
		Args: exactArgs("RUN", "ADDRESS"),
		RunE: work(func(ctx context.Context, args []string) error {
			return a.node(ctx, args[0], args[1])
		}),
	}
}

func (a *app) node(ctx context.Context, runDir, address string) error {
	ctx, release := a.interruptible(ctx, exitError, func(text string) { view.Note(a.err, text) })
	defer release()
	record, err := steps.Node(ctx, runDir, address)
	if err != nil {
		return err
	}
	if record.Error != nil {
		return fmt.Errorf("%s: %w", address, record.Error)
	}
	a.out.Printf("%s %s: %s\n", view.Line(address), record.State, view.Line(record.Outcome))
	return nil
}
