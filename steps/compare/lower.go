package compare

import (
	"github.com/grill-plan/grill-plan/steps/gate"
)

// Reasons with which a plan lowers a verdict, in the order of PLN-29. Those that
// come from decoding, server caches and distances join this list when there are
// steps that find them.
const (
	HostChanged      = "host_changed"
	HostSuspended    = "host_suspended"
	SlotsTooFarApart = "slots_too_far_apart"
	// Skipped stands alone: the experiment was not carried out because another
	// failed.
	Skipped = "skipped"
)

// suspensionUS is the longest sleep of the machine within a measured sample that
// is overlooked (PLN-46).
const suspensionUS = 1_000_000

// Facts are what a plan knows of an experiment beside its captures.
type Facts struct {
	RequireSameBoot bool
	MaxGapMS        *uint64 // nil for no bound
	AllowHostChange bool
	// Failed: a node of the experiment other than report and restore failed.
	Failed bool
	// Skipped: the experiment was not carried out because another failed.
	Skipped bool
}

// Lowered is the verdict of an experiment of a plan. The report's gates stay as
// compare gave them.
type Lowered struct {
	Verdict gate.Verdict `json:"verdict"`
	Reasons []string     `json:"reasons"` // compare's own first
	Slots   []Slot       `json:"slots"`
}

// Slot holds facts between a slot and the one before it (PLN-37). Gaps are
// differences of wall clocks, since no other clock spans two captures.
type Slot struct {
	Arm            string `json:"arm"`
	GapMS          int64  `json:"gap_ms"`
	MachineChanged bool   `json:"machine_changed"`
	BootChanged    bool   `json:"boot_changed"`
	KernelChanged  bool   `json:"kernel_changed"`
}

// Lower gives an experiment's verdict: compare's, lowered and never raised
// (PLN-29). A nil report means that compare gave none, which is an ERROR.
func Lower(report *Report, facts Facts) Lowered {
	lowered := Lowered{Verdict: gate.Error, Reasons: []string{}, Slots: []Slot{}}
	if report != nil {
		lowered.Verdict = report.Verdict
		lowered.Slots = slotFacts(report.Captures)
		lowered.Reasons = append(lowered.Reasons, report.Reasons...)
		reasons := facts.reasons(report.Captures, lowered.Slots)
		lowered.Reasons = append(lowered.Reasons, reasons...)
		if len(reasons) > 0 && report.Verdict != gate.Error {
			lowered.Verdict = gate.Inconclusive
		}
	}
	if facts.Failed || facts.Skipped {
		lowered.Verdict = gate.Error
	}
	if facts.Skipped {
		lowered.Reasons = append(lowered.Reasons, Skipped)
	}
	return lowered
}

// slotFacts compares each capture with the one before it. Two identities differ
// only where both are known.
func slotFacts(captures []Capture) []Slot {
	slots := []Slot{}
	for i := 1; i < len(captures); i++ {
		before, after := captures[i-1], captures[i]
		slots = append(slots, Slot{
			Arm:            after.Arm,
			GapMS:          after.StartedUnixMS - before.FinishedUnixMS,
			MachineChanged: changed(before.Host.MachineID, after.Host.MachineID),
			BootChanged:    changed(before.Host.BootID, after.Host.BootID),
			KernelChanged:  changed(before.Host.Kernel, after.Host.Kernel),
		})
	}
	return slots
}

func changed(before, after string) bool { return before != "" && after != "" && before != after }

func (f Facts) reasons(captures []Capture, slots []Slot) []string {
	var reasons []string
	if f.hostChanged(captures, slots) {
		reasons = append(reasons, HostChanged)
	}
	for _, capture := range captures {
		if capture.SampleSuspendedUS > suspensionUS {
			reasons = append(reasons, HostSuspended)
			break
		}
	}
	for _, slot := range slots {
		if f.MaxGapMS != nil && slot.GapMS > 0 && uint64(slot.GapMS) > *f.MaxGapMS {
			reasons = append(reasons, SlotsTooFarApart)
			break
		}
	}
	return reasons
}

// hostChanged is PLN-37. With require_same_boot an unknown boot id counts as
// another one: what was asked for is not shown.
func (f Facts) hostChanged(captures []Capture, slots []Slot) bool {
	for _, slot := range slots {
		if slot.MachineChanged && !f.AllowHostChange ||
			f.RequireSameBoot && (slot.MachineChanged || slot.BootChanged || slot.KernelChanged) {
			return true
		}
	}
	for _, capture := range captures {
		if f.RequireSameBoot && capture.Host.BootID == "" {
			return true
		}
	}
	return false
}
