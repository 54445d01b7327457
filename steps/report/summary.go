package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/grill-plan/grill-plan/steps/compare"
	"github.com/grill-plan/grill-plan/steps/gate"
)

// summary is the run in Markdown: verdict first, then each experiment with its
// gates, what a failed gate's source says, its captures with their digests, and
// what went wrong.
func (r *Run) summary() []byte {
	w := &bytes.Buffer{}
	fmt.Fprintf(w, "# %s: %s\n", code(r.Plan), r.word())
	for i := range r.Experiments {
		r.Experiments[i].summarize(w)
	}
	if len(r.Problems) > 0 {
		fmt.Fprint(w, "\n## Beside the experiments\n\n")
		failures(w, r.Problems)
	}
	if said := r.statements(); len(said) > 0 {
		fmt.Fprint(w, "\n## What this does not say\n\n")
		for _, statement := range said {
			fmt.Fprintf(w, "- %s\n", statement)
		}
	}
	if r.hasCaptures() {
		fmt.Fprint(w, "- Evidence proves consistency, not authorship: keep the digests above elsewhere.\n")
	}
	return w.Bytes()
}

// statements are those of the comparisons, each once.
func (r *Run) statements() []string {
	for _, experiment := range r.Experiments {
		if experiment.Report != nil {
			return append([]string{experiment.Report.Timing}, experiment.Report.Statements...)
		}
	}
	return nil
}

func (r *Run) hasCaptures() bool {
	for _, experiment := range r.Experiments {
		if experiment.Report != nil && len(experiment.Slots) > 0 {
			return true
		}
	}
	return false
}

func (e *Experiment) summarize(w *bytes.Buffer) {
	fmt.Fprintf(w, "\n## %s: %s%s\n\n", code(e.Address), e.verdict(), e.redoneText())
	if e.Lowered != nil {
		for _, reason := range e.Lowered.Reasons {
			fmt.Fprintf(w, "- %s: %s\n", code(reason), compare.Explain(reason))
		}
	}
	failures(w, e.Failures)
	if len(e.Skipped) > 0 {
		fmt.Fprintf(w, "- left out: %s\n", codes(e.Skipped))
	}
	if e.Report == nil && e.Lowered == nil && len(e.Failures) == 0 {
		fmt.Fprint(w, "Not finished: run the plan again to go on.\n")
	}
	if e.Report != nil {
		e.gates(w)
	}
	e.slots(w)
}

// redoneText is part of an experiment's first line (PLN-43).
func (e *Experiment) redoneText() string {
	var parts []string
	for _, slot := range e.redone() {
		parts = append(parts, fmt.Sprintf("slot %s was complete and was captured again (%d attempts)", code(slot.Slot), len(slot.Attempts)))
	}
	if len(parts) == 0 {
		return ""
	}
	return " — " + strings.Join(parts, "; ")
}

func (e *Experiment) gates(w *bytes.Buffer) {
	if e.Report.StoppedEarly {
		fmt.Fprint(w, "\nStopped early: after the last slot captured no gate could be decided any more.\n")
	}
	for i, judged := range e.Report.Gates {
		fmt.Fprintf(w, "\n%s\n", fence(strings.Join(e.Report.GateLines(judged), "\n"), "text"))
		if judged.Outcome == gate.Pass || i >= len(e.Sources) {
			continue
		}
		source := e.Sources[i]
		fmt.Fprintf(w, "\nThe bound is declared at %s:\n\n%s\n", code(fmt.Sprintf("%s:%d", source.File, source.Line)), fence(source.Snippet, "hcl"))
	}
	for _, advice := range e.Report.Advice() {
		fmt.Fprintf(w, "\n%s\n", advice)
	}
}

// slots lists the captures with what stands behind each (PLN-43).
func (e *Experiment) slots(w *bytes.Buffer) {
	if len(e.Slots) == 0 {
		return
	}
	fmt.Fprint(w, "\n| slot | arm | attempts | capture | evidence SHA-256 |\n| --- | --- | --- | --- | --- |\n")
	for _, slot := range e.Slots {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", cell(slot.Slot), cell(slot.Arm), cell(attempts(slot.Attempts)), cell(slot.Dir), cell(slot.EvidenceSHA256))
	}
	if e.Lowered == nil {
		return
	}
	for _, between := range e.Lowered.Slots {
		fmt.Fprintf(w, "\n- before %s: %s since the slot before it ended%s", code(between.Arm), seconds(between.GapMS), changes(between))
	}
	if len(e.Lowered.Slots) > 0 {
		fmt.Fprintln(w)
	}
}

func changes(between compare.Slot) string {
	var found []string
	for _, change := range []struct {
		happened bool
		what     string
	}{
		{between.MachineChanged, "another machine"},
		{between.BootChanged, "the machine was started anew"},
		{between.KernelChanged, "another kernel"},
	} {
		if change.happened {
			found = append(found, change.what)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return "; " + strings.Join(found, ", ")
}

// attempts says how many there were and how the earlier ones ended.
func attempts(all []Attempt) string {
	if len(all) == 0 {
		return "0"
	}
	text := fmt.Sprint(len(all))
	for _, attempt := range all[:len(all)-1] {
		text += fmt.Sprintf("; %d %s", attempt.Number, attempt.Ended)
	}
	if why := all[len(all)-1].Why; why != "" {
		text += "; made again: " + why
	}
	return text
}

func failures(w *bytes.Buffer, all []Failure) {
	for _, failure := range all {
		fmt.Fprintf(w, "- %s failed with %s: %s\n", code(failure.Address), code(failure.Code), code(failure.Message))
	}
}

func codes(texts []string) string {
	var out []string
	for _, text := range texts {
		out = append(out, code(text))
	}
	return strings.Join(out, ", ")
}

// seconds prints milliseconds as seconds with a dot.
func seconds(ms int64) string {
	sign := ""
	if ms < 0 {
		sign, ms = "-", -ms
	}
	return fmt.Sprintf("%s%d.%03d s", sign, ms/1000, ms%1000)
}
