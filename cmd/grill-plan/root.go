package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newRoot builds the tree of commands.
func (a *app) newRoot() *cobra.Command {
	root := a.newGroup("grill-plan", "Plans, captures, verifies and compares media generation runs",
		`grill-plan turns a plan file into an experiment A, B, A2 (or A, B, B2, A2): it
captures each slot, checks what was delivered, survives interruption, and says
whether the candidate is slower than the reference.

What is printed for a plan or a preflight holds prompts and paths: look it over
before you pass it on.`)
	root.Example = "  grill-plan run examples/plans/quickstart.hcl"
	root.SilenceErrors, root.SilenceUsage = true, true
	root.DisableAutoGenTag = true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { a.out.Printf("%s", helpText(cmd)) })
	root.SetHelpCommand(a.newHelp(root))
	root.SetFlagErrorFunc(flagError)
	version := buildVersion()
	root.Version = version.Version // makes --version a flag
	root.SetVersionTemplate(strings.ReplaceAll(version.String(), "{{", ""))
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetIn(a.stdin)
	root.AddCommand(
		a.newValidate(), a.newFmt(), a.newPlan(), a.newRun(), a.newStatus(), a.newStop(), a.newCancel(),
		a.newRestore(), a.newReport(), a.newMedia(), a.newNode(), a.newCompletion(root), a.newVersion(),
	)
	return root
}

// newGroup is a command that only holds others. Called without one, or with one
// it does not know, it says so and exits 1; cobra would print help and exit 0.
func (a *app) newGroup(name, short, long string) *cobra.Command {
	group := &cobra.Command{Use: name, Short: short, Long: long, Args: cobra.ArbitraryArgs}
	group.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError(seeHelp(cmd), "%sa command is needed", prefix(cmd))
		}
		return unknownCommand(cmd, args[0])
	}
	return group
}

func unknownCommand(cmd *cobra.Command, name string) error {
	do := seeHelp(cmd)
	if near := nearest(name, commandNames(cmd)); near != "" {
		do = fmt.Sprintf("Did you mean %q? Run \"%s --help\" for all commands.", cmd.CommandPath()+" "+near, cmd.CommandPath())
	}
	return usageError(do, "%sthere is no command %q", prefix(cmd), name)
}

// prefix begins a usage error: the command it is about, without the program's
// name, which begins every error line.
func prefix(cmd *cobra.Command) string {
	_, below, _ := strings.Cut(cmd.CommandPath(), " ")
	if below == "" {
		return ""
	}
	return below + ": "
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

func seeHelp(cmd *cobra.Command) string {
	return fmt.Sprintf("Run \"%s --help\" to see what it takes.", cmd.CommandPath())
}

// flagError says what to do about a flag that cannot be parsed. pflag's own code
// for usage errors is 2, which means INCONCLUSIVE here.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		if near := nearest(unknown.GetSpecifiedName(), flagNames(cmd)); near != "" {
			return usageError(fmt.Sprintf("Did you mean --%s? Run \"%s --help\" for all flags.", near, cmd.CommandPath()),
				"%sthere is no flag --%s", prefix(cmd), unknown.GetSpecifiedName())
		}
	}
	return usageError(seeHelp(cmd), "%s%w", prefix(cmd), err)
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			names = append(names, flag.Name)
		}
	})
	return names
}

// exactArgs demands arguments by name, so that the message can say which is
// missing.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usageError(seeHelp(cmd), "%sneeds %s", prefix(cmd), strings.Join(names[len(args):], " and "))
		case len(args) > len(names):
			return usageError(seeHelp(cmd), "%stakes %s; %q is too many", prefix(cmd), expected(names), args[len(names)])
		}
		return nil
	}
}

func expected(names []string) string {
	if len(names) == 0 {
		return "no arguments"
	}
	return strings.Join(names, " and ") + " only"
}

// atLeastOne demands one argument or more.
func atLeastOne(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError(seeHelp(cmd), "%sneeds %s", prefix(cmd), name)
		}
		return nil
	}
}

// requireFlags names every required flag that is missing at once.
func requireFlags(cmd *cobra.Command, names ...string) error {
	var missing []string
	for _, name := range names {
		if !cmd.Flags().Changed(name) {
			missing = append(missing, "--"+name)
		}
	}
	if len(missing) > 0 {
		return usageError(seeHelp(cmd), "%sneeds %s", prefix(cmd), strings.Join(missing, ", "))
	}
	return nil
}
