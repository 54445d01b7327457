package main

import (
	"context"

	"github.com/spf13/cobra"
)

func (a *app) newCompletion(root *cobra.Command) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "Prints the completion script of a shell",
		Long:      "Prints a script that completes commands, flags, plans and run directories in a shell.",
		Example:   "  source <(grill-plan completion bash)",
		Args:      exactArgs("SHELL"),
		ValidArgs: shells,
		RunE: work(func(_ context.Context, args []string) error {
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.out, true)
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.out)
			}
			return usageError("Give bash, zsh, fish or powershell.", "no completion script for the shell %q", args[0])
		}),
	}
}
