package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

// Codes of Invalid.
const (
	CodeMissingArm       = "missing_arm"
	CodeSuperfluousArm   = "superfluous_arm"
	CodeNotComplete      = "capture_not_complete"
	CodeWrongArm         = "wrong_arm"
	CodeWorkloadDiffers  = "workload_differs"
	CodeCollectorDiffers = "collector_differs"
	CodePlatformDiffers  = "platform_differs"
	CodeSideDiffers      = "side_differs"
	CodeSidesEqual       = "sides_equal"
	CodeOrder            = "captures_out_of_order"
)

// Invalid says why captures cannot be compared; there is no gate outcome then
// (CMP-07).
type Invalid struct {
	Code    string
	Arm     string // the arm at fault, or the later of two
	Message string
}

func (i *Invalid) Error() string { return "captures cannot be compared: " + i.Message }

// arms in capture order.
func arms() []string { return []string{document.ArmA, document.ArmB, document.ArmB2, document.ArmA2} }

// admit checks CMP-01 to CMP-06 and gives the captures in capture order, those
// of the reference and those of the candidate.
func admit(captures map[string]*inspect.Result) ([]*inspect.Result, error) {
	if err := checkArms(captures); err != nil {
		return nil, err
	}
	return inOrder(captures)
}

// admitFirst checks the first captures of an experiment that stopped early.
func admitFirst(captures map[string]*inspect.Result) ([]*inspect.Result, error) {
	if captures[document.ArmA] == nil || captures[document.ArmB] == nil && len(captures) > 1 {
		return nil, &Invalid{CodeMissingArm, document.ArmA, "an experiment that stopped early has its first captures; arm a or b is missing"}
	}
	for arm, capture := range captures {
		if err := checkArm(arm, capture); err != nil {
			return nil, err
		}
	}
	return inOrder(captures)
}

// inOrder gives the captures in capture order, once they fit together.
func inOrder(captures map[string]*inspect.Result) ([]*inspect.Result, error) {
	var ordered []*inspect.Result
	for _, arm := range arms() {
		if capture := captures[arm]; capture != nil {
			ordered = append(ordered, capture)
		}
	}
	for _, check := range []func([]*inspect.Result) error{checkOrigin, checkSides, checkOrder} {
		if err := check(ordered); err != nil {
			return nil, err
		}
	}
	return ordered, nil
}

// checkArms is CMP-01 to CMP-03.
func checkArms(captures map[string]*inspect.Result) error {
	for arm := range captures {
		if !slices.Contains(arms(), arm) {
			return &Invalid{CodeSuperfluousArm, arm, fmt.Sprintf("there is no arm %q", arm)}
		}
	}
	for _, arm := range []string{document.ArmA, document.ArmB, document.ArmA2} {
		if captures[arm] == nil {
			return &Invalid{CodeMissingArm, arm, fmt.Sprintf("the capture of arm %s is missing", arm)}
		}
	}
	declared := slices.ContainsFunc(captures[document.ArmA].Workload.Slots, func(slot document.Slot) bool { return slot.Arm == document.ArmB2 })
	switch given := captures[document.ArmB2] != nil; {
	case declared && !given:
		return &Invalid{CodeMissingArm, document.ArmB2, "the workload declares arm b2, whose capture is missing"}
	case given && !declared:
		return &Invalid{CodeSuperfluousArm, document.ArmB2, "a capture of arm b2 was given, which the workload does not declare"}
	}
	for _, arm := range arms() {
		if capture := captures[arm]; capture != nil {
			if err := checkArm(arm, capture); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkArm is CMP-02 and CMP-03 for one capture.
func checkArm(arm string, capture *inspect.Result) error {
	if status := capture.Completion.Status; status != evidence.Complete {
		return &Invalid{CodeNotComplete, arm, fmt.Sprintf("the capture of arm %s is %s, not complete", arm, status)}
	}
	if capture.Receipt.Arm != arm {
		return &Invalid{CodeWrongArm, arm, fmt.Sprintf("the capture given for arm %s is of slot %s, arm %s", arm, capture.Receipt.Slot, capture.Receipt.Arm)}
	}
	return nil
}

// checkOrigin is CMP-04.
func checkOrigin(ordered []*inspect.Result) error {
	first := ordered[0].Receipt
	for _, capture := range ordered[1:] {
		receipt := capture.Receipt
		switch {
		case receipt.WorkloadSHA256 != first.WorkloadSHA256:
			return &Invalid{CodeWorkloadDiffers, receipt.Arm, fmt.Sprintf("the workloads of arms a and %s are not the same bytes", receipt.Arm)}
		case receipt.Collector.SHA256 != first.Collector.SHA256:
			return &Invalid{CodeCollectorDiffers, receipt.Arm, fmt.Sprintf("arms a and %s were captured by different grill-plan binaries: capture all arms with one", receipt.Arm)}
		case receipt.Collector.OS != first.Collector.OS || receipt.Collector.Arch != first.Collector.Arch:
			return &Invalid{CodePlatformDiffers, receipt.Arm, fmt.Sprintf("arm a was captured on %s/%s and arm %s on %s/%s",
				first.Collector.OS, first.Collector.Arch, receipt.Arm, receipt.Collector.OS, receipt.Collector.Arch)}
		}
	}
	return nil
}

// checkSides is CMP-05.
func checkSides(ordered []*inspect.Result) error {
	if len(ordered) < 2 {
		return nil
	}
	a, b := ordered[0], ordered[1]
	for _, capture := range ordered[1:] {
		arm, same := capture.Receipt.Arm, a
		switch arm {
		case document.ArmB:
			continue
		case document.ArmB2:
			same = b
		}
		if differing := differences(same, capture); len(differing) > 0 {
			return &Invalid{CodeSideDiffers, arm, fmt.Sprintf("arms %s and %s are one side and differ in %s",
				same.Receipt.Arm, arm, strings.Join(differing, ", "))}
		}
	}
	if len(differences(a, b)) == 0 {
		return &Invalid{CodeSidesEqual, document.ArmB, "arms a and b do not differ in runner, program, setup program or deployment: there is nothing to compare"}
	}
	return nil
}

// differences names what of CMP-05 differs. resolved_path alone does not count.
func differences(x, y *inspect.Result) []string {
	var found []string
	if x.Receipt.RunnerSHA256 != y.Receipt.RunnerSHA256 {
		found = append(found, "runner bytes")
	}
	if !samePrograms(&x.Receipt.Program, &y.Receipt.Program) {
		found = append(found, "program")
	}
	if !samePrograms(x.Receipt.SetupProgram, y.Receipt.SetupProgram) {
		found = append(found, "setup program")
	}
	if !sameDeployments(*x.Deployment, *y.Deployment) {
		found = append(found, "deployment")
	}
	return found
}

func samePrograms(x, y *evidence.Program) bool {
	if x == nil || y == nil {
		return x == y
	}
	return x.DeclaredPath == y.DeclaredPath && x.ResolvedSHA256 == y.ResolvedSHA256
}

// sameDeployments compares parsed fields, so that reformatting a file is no
// change (CMP-05).
func sameDeployments(x, y document.Deployment) bool {
	return sameText(x.ModelRevision, y.ModelRevision) && sameText(x.Runtime, y.Runtime) &&
		sameText(x.Hardware, y.Hardware) && sameText(x.Settings, y.Settings)
}

func sameText(x, y *string) bool {
	if x == nil || y == nil {
		return x == y
	}
	return *x == *y
}

// checkOrder is CMP-06: by wall-clock milliseconds, equality admitted.
func checkOrder(ordered []*inspect.Result) error {
	for i, next := range ordered[1:] {
		before := ordered[i]
		if before.Completion.FinishedUnixMS > next.Receipt.StartedUnixMS {
			return &Invalid{CodeOrder, next.Receipt.Arm, fmt.Sprintf("arm %s started before arm %s had finished, by the wall clock",
				next.Receipt.Arm, before.Receipt.Arm)}
		}
	}
	return nil
}

// AsInvalid gives the Invalid in err's chain.
func AsInvalid(err error) (*Invalid, bool) {
	var invalid *Invalid
	ok := errors.As(err, &invalid)
	return invalid, ok
}
