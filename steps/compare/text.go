package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/grill-plan/grill-plan/steps/gate"
)

// JSON is the report, indented, with one line feed at the end (CMP-29).
func (r *Report) JSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("write the report of a comparison: %w", err)
	}
	return out.Bytes(), nil
}

// Text is the report for people: the verdict, each gate with its ranges, bounds
// and reason and the figures beside it, and what it does not say (CMP-30).
func (r *Report) Text() string {
	var out strings.Builder
	fmt.Fprintln(&out, headline(r.Verdict, r.Reasons))
	if r.StoppedEarly {
		fmt.Fprintln(&out, "Stopped early: after the last slot captured no gate could be decided any more.")
	}
	for _, judged := range r.Gates {
		fmt.Fprintln(&out)
		for _, line := range r.GateLines(judged) {
			fmt.Fprintln(&out, line)
		}
	}
	for _, advice := range r.Advice() {
		fmt.Fprintf(&out, "\n%s\n", advice)
	}
	fmt.Fprintln(&out)
	for _, statement := range r.Statements {
		fmt.Fprintln(&out, statement)
	}
	return out.String()
}

func headline(verdict gate.Verdict, reasons []string) string {
	if len(reasons) == 0 {
		return string(verdict)
	}
	var explained []string
	for _, reason := range reasons {
		explained = append(explained, reason+" ("+Explain(reason)+")")
	}
	return string(verdict) + ": " + strings.Join(explained, ", ")
}

// Explain says in words what a reason of a verdict or of a gate means.
func Explain(reason string) string {
	switch reason {
	case ChangedModelAxis:
		return "the sides declare different models, so speed alone decides nothing"
	case ModelIdentityMissing:
		return "a deployment declares no model_revision"
	case ReferenceDeploymentIncomplete:
		return "the reference deployment leaves a field undeclared"
	case HostChanged:
		return "the slots were not captured on one and the same host as asked"
	case HostSuspended:
		return "the machine slept for more than a second within a measured sample"
	case SlotsTooFarApart:
		return "a gap between slots is longer than max_gap_ms"
	case Skipped:
		return "not carried out because another experiment failed"
	case gate.InsufficientSamples:
		return "a pool has fewer than three eligible samples, or a measured sample is ineligible or unstarted"
	case gate.MarkersUnavailable:
		return "a run lacks a marker that the metric needs"
	case gate.NonpositiveReference:
		return "the least reference value is zero"
	case gate.ReferenceSpreadExceeded:
		return "the reference samples are further apart than max_reference_spread_bps"
	case gate.EnvelopeStraddlesTolerance:
		return "the candidate samples lie on both sides of what the tolerance and the reference's own range allow"
	}
	return "see the list of reason codes"
}

// ArmNames says which arms stand in each pool.
func (r *Report) ArmNames() map[string]string {
	names := map[string]string{}
	for _, capture := range r.Captures {
		side := CandidatePool
		if isReference(capture.Arm) {
			side = ReferencePool
		}
		if names[side] != "" {
			names[side] += ", "
		}
		names[side] += capture.Arm
	}
	return names
}

// GateLines describe one gate, outcome first, with why samples do not count.
func (r *Report) GateLines(judged Gate) []string {
	arms := r.ArmNames()
	lines := []string{fmt.Sprintf("gate %s %s: %s", judged.Cell, judged.Metric, judged.Outcome)}
	if judged.Reason != nil {
		lines = append(lines, fmt.Sprintf("  %s: %s", *judged.Reason, Explain(*judged.Reason)))
	}
	lines = append(lines,
		rangeLine(ReferencePool, judged.ReferenceRange, judged.ReferenceSamples, arms, judged.Metric),
		rangeLine(CandidatePool, judged.CandidateRange, judged.CandidateSamples, arms, judged.Metric),
		fmt.Sprintf("  bounds     max_adverse_bps %d, max_reference_spread_bps %d", judged.MaxAdverseBPS, judged.MaxReferenceSpreadBPS))
	if judged.IneligibleSamples > 0 {
		lines = append(lines, fmt.Sprintf("  %d measured samples of this cell are ineligible or unstarted", judged.IneligibleSamples))
		lines = append(lines, r.ineligibleLines(judged.Cell)...)
	}
	if judged.Figures != nil {
		lines = append(lines, figureLines(judged.Figures)...)
	}
	return lines
}

func rangeLine(side string, r *gate.Range, samples int, arms map[string]string, metric string) string {
	line := fmt.Sprintf("  %-10s ", side)
	if r == nil {
		return line + "no eligible sample"
	}
	unit := ""
	if strings.HasSuffix(metric, "_us") {
		unit = " us"
	}
	return line + fmt.Sprintf("%s to %s%s, %s (%s)", plain(r.Least), plain(r.Greatest), unit, plural(samples, "sample"), arms[side])
}

// plain leaves the divisor of a whole value out.
func plain(value gate.Value) string { return strings.TrimSuffix(value.String(), "/1") }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// figureLines print the figures of the verdicts page that are not withheld.
func figureLines(f *gate.Figures) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, "  "+fmt.Sprintf(format, args...)) }
	if f.PassFromBPS != nil {
		up := "none"
		if f.RegressUpToBPS != nil {
			up = f.RegressUpToBPS.String()
		}
		add("would pass from max_adverse_bps %s; would regress up to %s; spread bound needed %s", f.PassFromBPS, up, f.SpreadNeededBPS)
	}
	if ratio := f.RatioOfMedians.Rat(); ratio != nil {
		corrected := ""
		if r := f.DriftCorrectedRatio.Rat(); r != nil {
			corrected = fmt.Sprintf(", with linear drift removed %s", r.FloatString(4))
		}
		add("ratio of medians %s%s", ratio.FloatString(4), corrected)
	}
	if gap := f.ReferenceGap.Rat(); gap != nil {
		other := ""
		if r := f.CandidateGap.Rat(); r != nil {
			other = fmt.Sprintf(", b2 from b by %s", percent(r))
		}
		add("a2 is off a by %s%s", percent(gap), other)
	}
	if f.Multiple != nil && f.Difference != nil {
		add("difference %s, %s times what unchanged slots differ by; chance of that without any effect %s",
			signed(f.Difference.Rat()), decimals(*f.Multiple, 1), chance(*f.MultipleChance))
		add("between-slot range %s to %s", roundedPercent(*f.RangeLow, 1), roundedPercent(*f.RangeHigh, 1))
	}
	if f.SmallestDetectable != nil {
		add("this run could not have called less than %s (noise %s within and %s between slots, the latter from few slots)",
			roundedPercent(*f.SmallestDetectable, 1), roundedPercent(*f.Within, 2), roundedPercent(*f.Between, 2))
	}
	if f.FirstSlowest != nil && *f.FirstSlowest {
		add("the first sample of every slot is its slowest (chance %s): more warmups may be needed", roundedPercent(*f.FirstSlowestChance, 1))
	}
	return lines
}

func percent(r *big.Rat) string {
	return new(big.Rat).Mul(r, big.NewRat(100, 1)).FloatString(2) + " %"
}

func signed(r *big.Rat) string {
	if r.Sign() >= 0 {
		return "+" + percent(r)
	}
	return percent(r)
}

func decimals(r gate.Rounded, places int) string { return fmt.Sprintf("%.*f", places, float64(r)) }

func roundedPercent(r gate.Rounded, places int) string { return decimals(r*100, places) + " %" }

// Advice is what to do next, from the verdicts page; it repeats nothing that the
// verdict does not already say.
func (r *Report) Advice() []string {
	for _, judged := range r.Gates {
		f := judged.Figures
		switch {
		case judged.Outcome == gate.Regression && f != nil && f.Multiple != nil && *f.Multiple < 10:
			return []string{"Run it once more, whole; two independent runs that agree square the false rate (at 1 % between slots and 100 bps, 5.7 % to 0.3 %)."}
		case judged.Outcome == gate.Inconclusive && judged.Reason != nil &&
			(*judged.Reason == gate.ReferenceSpreadExceeded || *judged.Reason == gate.EnvelopeStraddlesTolerance):
			return []string{"Repeat after lowering the noise, not until a verdict appears: at 1 % between slots and 100 bps, 1 in 10 verdicts so gained on an unchanged candidate is REGRESSION (with b2: 1 in 27)."}
		}
	}
	return nil
}

// chance prints a probability in whole per cent, and never as none at all.
func chance(p gate.Rounded) string {
	if p < 0.01 {
		return "under 1 %"
	}
	return roundedPercent(p, 0)
}

// ineligibleLines say, slot by slot, for which reasons measured samples of a cell
// do not count (INS-14); what was found instead is in each sample's run.json.
func (r *Report) ineligibleLines(cell string) []string {
	var lines []string
	for _, capture := range r.Captures {
		for _, described := range capture.Cells {
			if described.ID != cell || described.Ineligible == 0 {
				continue
			}
			var reasons []string
			for _, counted := range described.Reasons {
				reasons = append(reasons, fmt.Sprintf("%s %d times", counted.Reason, counted.Count))
			}
			lines = append(lines, fmt.Sprintf("    in %s: %s", capture.Arm, strings.Join(reasons, ", ")))
		}
	}
	return lines
}
