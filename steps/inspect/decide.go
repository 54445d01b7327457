package inspect

import (
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/gate"
)

// CanStillDecide says whether any gate of an experiment can still come to PASS
// or REGRESSION, given the captures made so far (PLN-13). A gate no longer can
// when a measured sample of its cell is ineligible or unstarted in one of them, or
// when a pool has too few samples planned (CMP-09). arms are all arms of the
// experiment; the captures' arms are in their receipts.
func CanStillDecide(captures []*Result, workload *document.Workload, arms []string) bool {
	for _, declared := range workload.Gates {
		if planned(workload, declared.Cell, arms) && intact(captures, declared.Cell) {
			return true
		}
	}
	return false
}

func intact(captures []*Result, cell string) bool {
	for _, capture := range captures {
		for _, sample := range capture.Measured(cell) {
			if !sample.Eligible {
				return false
			}
		}
	}
	return true
}

// planned says whether both pools of a cell have enough samples to begin with.
func planned(workload *document.Workload, cell string, arms []string) bool {
	var reference, candidate uint64
	for _, arm := range arms {
		for _, declared := range workload.Cells {
			switch {
			case declared.ID != cell:
			case arm == document.ArmA || arm == document.ArmA2:
				reference += declared.MeasuredRuns
			default:
				candidate += declared.MeasuredRuns
			}
		}
	}
	return reference >= gate.LeastSamples && candidate >= gate.LeastSamples
}
