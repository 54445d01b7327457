package inspect

import (
	"path"
	"reflect"
	"slices"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/preflight"
)

func (v *verifier) readReceipt() error {
	receipt, digest, err := record[evidence.Receipt](v, evidence.ReceiptFile)
	if err != nil {
		return err
	}
	v.result.Receipt, v.result.ReceiptSHA256 = receipt, digest
	return v.bound(evidence.CompletionFile, v.result.Completion.ReceiptSHA256)
}

// bound checks that a record belongs to this capture's receipt (INS-03).
func (v *verifier) bound(file, receipt string) error {
	if receipt != v.result.ReceiptSHA256 {
		return wrong(file, CodeForeignRecord, "it carries the digest of another capture's receipt (INS-03)")
	}
	return nil
}

// checkReceipt compares the receipt with the documents: hashes, slot, execution
// declaration, admission of the pair, sample plan and projected argv (INS-02).
func (v *verifier) checkReceipt() error {
	receipt, workload, runner := v.result.Receipt, v.result.Workload, v.result.Runner
	mismatch := func(what string) error {
		return wrong(evidence.ReceiptFile, CodePlanMismatch, "%s is not what the documents give (INS-02)", what)
	}
	for _, hash := range []struct{ what, recorded, found string }{
		{"workload_sha256", receipt.WorkloadSHA256, v.listed[evidence.WorkloadFile].SHA256},
		{"runner_sha256", receipt.RunnerSHA256, v.listed[evidence.RunnerFile].SHA256},
		{"deployment_sha256", receipt.DeploymentSHA256, v.listed[evidence.DeploymentFile].SHA256},
		{"workload_typed_sha256", receipt.WorkloadTypedSHA256, workload.TypedHash()},
		{"execution", receipt.Execution, runner.Execution},
	} {
		if hash.recorded != hash.found {
			return mismatch(hash.what)
		}
	}
	if problems := document.Admit(evidence.WorkloadFile, evidence.RunnerFile, workload, runner); len(problems) > 0 {
		return wrong(problems[0].Document, CodeDocumentInvalid, "%s", describe(problems))
	}
	if !slices.Contains(workload.Slots, document.Slot{ID: receipt.Slot, Arm: receipt.Arm}) {
		return mismatch("slot with its arm")
	}
	if err := checkIdentities(receipt, runner); err != nil {
		return err
	}
	samples, setup, err := preflight.Plan(workload, runner)
	if err != nil {
		return wrong(evidence.ReceiptFile, CodePlanMismatch, "%w", err)
	}
	if !reflect.DeepEqual(setup, receipt.Setup) {
		return mismatch("setup")
	}
	if len(samples) != len(receipt.Samples) {
		return mismatch("the number of samples")
	}
	for i := range samples {
		if !reflect.DeepEqual(samples[i], receipt.Samples[i]) {
			return wrong(evidence.ReceiptFile, CodePlanMismatch, "samples[%d] is not what the documents give (INS-02)", i)
		}
	}
	return nil
}

// checkIdentities checks the form of what cannot be recomputed without the
// machine that captured: programs and collector.
func checkIdentities(receipt evidence.Receipt, runner *document.Runner) error {
	mismatch := func(what string) error {
		return wrong(evidence.ReceiptFile, CodePlanMismatch, "%s is missing, misplaced or no identity", what)
	}
	switch {
	case !isProgram(receipt.Program):
		return mismatch("program")
	case (receipt.SetupProgram != nil) != (runner.Setup != nil):
		return mismatch("setup_program")
	case receipt.SetupProgram != nil && !isProgram(*receipt.SetupProgram):
		return mismatch("setup_program")
	case !isSHA256(receipt.Collector.SHA256) || receipt.Collector.OS == "" || receipt.Collector.Arch == "":
		return mismatch("collector")
	}
	return nil
}

func isProgram(program evidence.Program) bool {
	return program.DeclaredPath != "" && program.ResolvedPath != "" && isSHA256(program.ResolvedSHA256)
}

func isSHA256(text string) bool {
	if len(text) != 64 {
		return false
	}
	for _, c := range text {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// within joins a directory of the capture and a file in it.
func within(dir, file string) string { return path.Join(dir, file) }
