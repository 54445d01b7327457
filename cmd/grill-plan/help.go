package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// verdictCommand marks, as an annotation, commands whose exit code is a verdict.
const verdictCommand = "verdict"

// helpText says what a command does, how it is called, with an example that
// works as pasted, its commands or flags, and its exit codes. It is written here
// because cobra's template functions are package state.
func helpText(cmd *cobra.Command) string {
	var out strings.Builder
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	fmt.Fprintf(&out, "%s\n\nUsage:\n  %s\n", about, useLine(cmd))
	if cmd.Example != "" {
		fmt.Fprintf(&out, "\nExample:\n%s\n", cmd.Example)
	}
	writeColumns(&out, "Commands", commandRows(cmd))
	writeColumns(&out, "Flags", flagRows(cmd))
	_, verdict := cmd.Annotations[verdictCommand]
	switch {
	case verdict || !cmd.HasParent():
		fmt.Fprintf(&out, "\n%s", exitTable)
	case !cmd.HasSubCommands():
		fmt.Fprintf(&out, "\n%s", exitLine)
	}
	return out.String()
}

func useLine(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() {
		return cmd.CommandPath() + " COMMAND [flags] [arguments]"
	}
	return cmd.UseLine()
}

type helpRow struct{ name, about string }

func commandRows(cmd *cobra.Command) []helpRow {
	var rows []helpRow
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			rows = append(rows, helpRow{sub.Name(), sub.Short})
		}
	}
	return rows
}

func flagRows(cmd *cobra.Command) []helpRow {
	var rows []helpRow
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden || flag.Name == "help" {
			return
		}
		value, about := pflag.UnquoteUsage(flag)
		name := "--" + flag.Name
		if value != "" {
			name += " " + value
		}
		if flag.DefValue != "" && flag.DefValue != "false" && flag.DefValue != "[]" && flag.DefValue != "0" && flag.DefValue != "0s" {
			about += " (default " + flag.DefValue + ")"
		}
		rows = append(rows, helpRow{name, about})
	})
	return rows
}

func writeColumns(out *strings.Builder, title string, rows []helpRow) {
	if len(rows) == 0 {
		return
	}
	width := 0
	for _, row := range rows {
		width = max(width, utf8.RuneCountInString(row.name))
	}
	fmt.Fprintf(out, "\n%s:\n", title)
	for _, row := range rows {
		fmt.Fprintf(out, "  %-*s  %s\n", width, row.name, row.about)
	}
}

// newHelp replaces cobra's help command, which exits 0 for an unknown topic.
func (a *app) newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Shows what a command does",
		RunE: func(_ *cobra.Command, args []string) error {
			topic := root
			for _, name := range args {
				next, _, err := topic.Find([]string{name})
				if err != nil || next == topic {
					return unknownCommand(topic, name)
				}
				topic = next
			}
			return topic.Help()
		},
	}
}
