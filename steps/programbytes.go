package steps

import (
	"context"
	"fmt"

	"github.com/grill-plan/grill-plan/plan"
)

// checkProgramBytes refuses an experiment whose axis names program_bytes while
// both sides' programs hold the same bytes here (PLN-12): its compare could only
// say that the sides are equal, after all the slots were measured.
func (r *Runner) checkProgramBytes(ctx context.Context, read *plan.Plan) error {
	for _, experiment := range read.Experiments {
		if !namesProgramBytes(experiment) {
			continue
		}
		reference, candidate := experiment.Reference.Runner.Document, experiment.Candidate.Runner.Document
		if reference.Server != nil || candidate.Server != nil {
			continue
		}
		a, err := r.programs.Resolve(ctx, r.Folder, reference.Program, r.Self)
		if err != nil {
			continue // the preflight says so, better
		}
		b, err := r.programs.Resolve(ctx, r.Folder, candidate.Program, r.Self)
		if err != nil {
			continue
		}
		if a.ResolvedSHA256 == b.ResolvedSHA256 {
			return fmt.Errorf("%s: axis names program_bytes, and the programs of both sides hold the same bytes (SHA-256 %s): "+
				"put the other build in place, or remove it from axis", experiment.Address, a.ResolvedSHA256)
		}
	}
	return nil
}

func namesProgramBytes(experiment *plan.Experiment) bool {
	if experiment.Axis == nil {
		return false
	}
	for _, entry := range experiment.Axis.Entries {
		if entry.Name == plan.ProgramBytes {
			return true
		}
	}
	return false
}
