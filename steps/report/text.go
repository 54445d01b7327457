package report

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/grill-plan/grill-plan/steps/compare"
	"github.com/grill-plan/grill-plan/steps/gate"
)

// Text is the run for a terminal: each experiment's verdict with the figures
// behind it and where the evidence lies, and last the verdict of the run. dir is
// the run directory as the reader would write it.
func (r *Run) Text(dir string) string {
	var w strings.Builder
	for i := range r.Experiments {
		r.Experiments[i].text(&w, dir)
	}
	for _, failure := range r.Problems {
		fmt.Fprintf(&w, "%s failed with %s: %s\n", oneLine(failure.Address), failure.Code, oneLine(failure.Message))
	}
	fmt.Fprintf(&w, "%s: %s\n", oneLine(r.Plan), r.word())
	return w.String()
}

func (e *Experiment) text(w *strings.Builder, dir string) {
	fmt.Fprintf(w, "%s: %s%s\n", oneLine(e.Address), e.verdict(), strings.ReplaceAll(e.redoneText(), "`", ""))
	if e.Lowered != nil {
		for _, reason := range e.Lowered.Reasons {
			fmt.Fprintf(w, "  %s: %s\n", reason, compare.Explain(reason))
		}
	}
	for _, failure := range e.Failures {
		fmt.Fprintf(w, "  %s failed with %s: %s\n", oneLine(failure.Address), failure.Code, oneLine(failure.Message))
	}
	if len(e.Skipped) > 0 {
		fmt.Fprintf(w, "  left out: %s\n", oneLine(strings.Join(e.Skipped, ", ")))
	}
	if e.Report != nil {
		e.gateText(w)
	}
	for _, slot := range e.Slots {
		if slot.Dir != "" {
			fmt.Fprintf(w, "  %-2s %s  %s (%s)\n", slot.Arm, slot.EvidenceSHA256, oneLine(filepath.Join(dir, filepath.FromSlash(slot.Dir))), attemptsOf(slot))
		}
	}
	fmt.Fprintln(w)
}

func attemptsOf(slot Slot) string {
	if len(slot.Attempts) == 1 {
		return "1 attempt"
	}
	return "attempts: " + attempts(slot.Attempts)
}

func (e *Experiment) gateText(w *strings.Builder) {
	for i, judged := range e.Report.Gates {
		for _, line := range e.Report.GateLines(judged) {
			fmt.Fprintf(w, "  %s\n", line)
		}
		if judged.Outcome != gate.Pass && i < len(e.Sources) {
			source := e.Sources[i]
			fmt.Fprintf(w, "    declared at %s:%d\n", oneLine(source.File), source.Line)
			for _, line := range strings.Split(strings.TrimRight(printable(source.Snippet), "\n"), "\n") {
				fmt.Fprintf(w, "    | %s\n", line)
			}
		}
	}
	for _, advice := range e.Report.Advice() {
		fmt.Fprintf(w, "  %s\n", advice)
	}
}
