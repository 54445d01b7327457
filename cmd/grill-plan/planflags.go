package main

import (
	"github.com/spf13/cobra"
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

// completePlan offers plan files and folders to shells.
func completePlan(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return []string{"hcl"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeRun offers folders to shells.
func completeRun(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}
