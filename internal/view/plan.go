package view

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/grill-plan/grill-plan/steps"
)

// Plan writes a dry run for people: nodes in order with all they would start,
// then what a reviewer has to know of each experiment, then totals, and last
// what only this machine can say (PLN-14, PLN-15).
func Plan(out *Output, dry *steps.DryRun) {
	out.Printf("%s\n\n", out.paint(bold, fmt.Sprintf("Plan %s: %s in %s", Line(dry.Plan),
		Count(len(dry.Nodes), "node"), Count(len(dry.Experiments), "experiment"))))
	for i, node := range dry.Nodes {
		writeNode(out, i+1, node)
	}
	for _, experiment := range dry.Experiments {
		writeExperiment(out, experiment)
	}
	writeHeldBack(out, dry.HeldBack)
	out.Printf("\n%s\n", out.paint(bold, "In total"))
	fact(out, "allowance", milliseconds(dry.AllowanceMS)+"; stalls of disks and schedulers can exceed it")
	fact(out, "evidence", "at most "+dry.EvidenceMax+" bytes")
	writeComparison(out, dry.RunDir)
	writeMachine(out, dry.Machine)
}

func writeNode(out *Output, number int, node steps.DryNode) {
	notes := []string{node.Kind, node.Effect}
	if node.Claim != "" {
		notes = append(notes, node.Claim+" on "+hostName(node.Host))
	}
	if node.AllowanceMS != "" {
		notes = append(notes, "at most "+milliseconds(node.AllowanceMS))
	}
	decision := ""
	if node.Decision != "" {
		decision = out.paint(decisionStyle(node.Decision), pad(node.Decision, 5)) + "  "
	}
	out.Printf("%4d  %s%s  %s\n", number, decision, out.paint(bold, Line(node.Address)), out.paint(faint, Line(strings.Join(notes, ", "))))
	for _, reason := range node.Reasons {
		out.Printf("        because %s\n", Line(reason))
	}
	for _, command := range node.Commands {
		writeCommand(out, command)
	}
}

func hostName(host string) string {
	if host == "" {
		return "this machine"
	}
	return "host " + host
}

func decisionStyle(decision string) string {
	switch decision {
	case "reuse":
		return green
	case "redo":
		return yellow
	}
	return cyan
}

func writeCommand(out *Output, command steps.DryCommand) {
	notes := []string{command.What}
	if command.Cell != "" {
		notes = append(notes, command.Cell, command.Phase, "seed "+command.Seed)
	}
	notes = append(notes, fmt.Sprintf("deadline %d ms", command.DeadlineMS))
	if command.PauseMS > 0 {
		notes = append(notes, fmt.Sprintf("then a pause of %d ms", command.PauseMS))
	}
	out.Printf("        %s\n", Line(strings.Join(notes, ", ")))
	if command.HTTP != "" {
		out.Printf("          GET %s\n", Line(command.HTTP))
	}
	if len(command.Argv) > 0 {
		out.Printf("          %s\n", Argv(command.Argv))
	}
}

func writeExperiment(out *Output, experiment steps.DryExperiment) {
	out.Printf("\n%s\n", out.paint(bold, Line(experiment.Address)))
	differences := "nothing: this compares a thing with itself"
	if len(experiment.Differences) > 0 {
		differences = Line(strings.Join(experiment.Differences, ", "))
	}
	fact(out, "sides differ in", differences)
	fact(out, "allowance", milliseconds(experiment.AllowanceMS))
	fact(out, "evidence", "at most "+experiment.EvidenceMax+" bytes")
	for _, advice := range experiment.Advice {
		about := ""
		switch {
		case advice.Gate >= 0:
			about = fmt.Sprintf("gate %d (cell %s): ", advice.Gate+1, advice.Cell)
		case advice.Cell != "":
			about = "cell " + advice.Cell + ": "
		}
		for i, line := range wrap(Line(advice.Code+": "+about+advice.Text), max(40, out.Width()-4)) {
			indent := "  "
			if i > 0 {
				indent = "    "
			}
			out.Printf("%s%s\n", indent, line)
		}
	}
}

func writeHeldBack(out *Output, held []string) {
	if len(held) == 0 {
		return
	}
	out.Printf("\n%s\n", out.paint(yellow, "Not in this version: run refuses this plan because of"))
	for _, what := range held {
		out.Printf("  %s\n", Line(what))
	}
}

func writeComparison(out *Output, against *steps.RunDirComparison) {
	if against == nil {
		return
	}
	out.Printf("\n%s\n", out.paint(bold, "Against "+Line(against.Path)))
	fact(out, "nodes", fmt.Sprintf("%d reused, %d to run, %d to redo", against.Reuse, against.Run, against.Redo))
	if len(against.Discards) == 0 {
		return
	}
	out.Printf("  %s\n", out.paint(yellow, "finished measurements that run redoes only with --replan:"))
	for _, address := range against.Discards {
		out.Printf("    %s\n", Line(address))
	}
}

func writeMachine(out *Output, machine *steps.Machine) {
	if machine == nil {
		return
	}
	out.Printf("\n%s\n", out.paint(bold, "On this machine"))
	fact(out, "grill-plan", machine.Collector)
	for _, program := range machine.Programs {
		fact(out, "program", Line(program.Declared))
		fact(out, "  is", Line(program.Resolved))
		fact(out, "  sha256", program.SHA256)
	}
	for _, missing := range machine.Missing {
		out.Printf("  %s %s\n", out.paint(yellow, pad("missing", factColumn)), Line(missing))
	}
}

// milliseconds shows a decimal number of milliseconds, whole, and as hours,
// minutes and seconds where that helps.
func milliseconds(text string) string {
	value, ok := new(big.Int).SetString(text, 10)
	if !ok || !value.IsInt64() || value.Int64() > int64(time.Duration(1<<62)/time.Millisecond) || value.Sign() < 0 {
		return Line(text) + " ms"
	}
	if value.Int64() < 1000 {
		return text + " ms"
	}
	return fmt.Sprintf("%s ms (%s)", text, time.Duration(value.Int64())*time.Millisecond)
}
