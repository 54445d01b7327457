package compare

import (
	"slices"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/gate"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

// IdentityAxis is CMP-19 with CMP-20 and CMP-22: same-checkpoint, changed-model,
// or nil when a revision is missing and pins do not prove a change.
func IdentityAxis(a, b *string, pinsA, pinsB []document.Pin) *string {
	axis := SameCheckpoint
	switch {
	case a != nil && b != nil && *a != *b, pinsDiffer(pinsA, pinsB):
		axis = ChangedModel
	case a == nil || b == nil:
		return nil
	}
	return &axis
}

// pinsDiffer compares sets of hashes; if one side declares none they are not
// compared (CMP-20).
func pinsDiffer(x, y []document.Pin) bool {
	return len(x) > 0 && len(y) > 0 && !slices.Equal(pinSet(x), pinSet(y))
}

func pinSet(pins []document.Pin) []string {
	var hashes []string
	for _, pin := range pins {
		hashes = append(hashes, pin.SHA256)
	}
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

// identityReasons are all reasons of CMP-21 and CMP-22 that apply, in order.
func identityReasons(axis *string, ordered []*inspect.Result) []string {
	var reasons []string
	if axis != nil && *axis == ChangedModel {
		reasons = append(reasons, ChangedModelAxis)
	}
	var missing, incomplete bool
	for _, capture := range ordered {
		deployment := capture.Deployment
		missing = missing || deployment.ModelRevision == nil
		if isReference(capture.Receipt.Arm) {
			incomplete = incomplete || deployment.ModelRevision == nil || deployment.Runtime == nil ||
				deployment.Hardware == nil || deployment.Settings == nil
		}
	}
	if missing {
		reasons = append(reasons, ModelIdentityMissing)
	}
	if incomplete {
		reasons = append(reasons, ReferenceDeploymentIncomplete)
	}
	return reasons
}

// overall caps the worst gate by the reasons that hold: PASS and REGRESSION
// become INCONCLUSIVE, ERROR stays (CMP-18, CMP-21).
func overall(worst gate.Verdict, reasons []string) gate.Verdict {
	if len(reasons) == 0 || worst == gate.Error {
		return worst
	}
	return gate.Inconclusive
}

func isReference(arm string) bool { return arm == document.ArmA || arm == document.ArmA2 }
