package main

import (
	"context"

	"github.com/spf13/cobra"
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
	return errNotWired
}
