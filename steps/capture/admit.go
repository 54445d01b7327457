package capture

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/preflight"
	"github.com/grill-plan/grill-plan/steps/program"
)

// admitted is what a capture works from.
type admitted struct {
	workload    *document.Workload
	runner      *document.Runner
	samples     []document.Sample
	receipt     evidence.Receipt // as far as the documents and the machine say it
	executable  string           // of samples
	setup       string           // executable of setup
	cwd         string
	environment []document.EnvVar
}

// admit repeats every preflight check and adds those of a capture, before
// anything is created (CAP-04). All problems are found in one go.
func admit(ctx context.Context, request Request) (*admitted, error) {
	found, problems, err := preflight.Check(ctx, preflight.Input{
		WorkloadName: request.Names.Workload, RunnerName: request.Names.Runner,
		Workload: request.Workload, Runner: request.Runner,
		Folder: request.Folder, Self: request.Self,
	})
	if err != nil {
		return nil, err
	}
	_, more := document.ParseDeployment(request.Names.Deployment, request.Deployment)
	problems = append(problems, more...)
	if found == nil {
		return nil, &Rejected{problems}
	}
	arm, more := slotArm(request, found.Workload)
	problems = append(problems, more...)
	problems = append(problems, missingSecrets(request, found.Runner)...)
	problems = append(problems, document.HeldBack(request.Names.Workload, request.Names.Runner, found.Workload, found.Runner)...)
	if len(problems) > 0 {
		return nil, &Rejected{problems}
	}
	if err := errors.Join(expected(request, found), writable(request)); err != nil {
		return nil, err
	}
	plan := &admitted{
		workload: found.Workload, runner: found.Runner,
		samples:    document.Schedule(found.Workload),
		executable: program.Executable(found.Program),
		cwd:        found.Cwd,
		receipt: evidence.Receipt{
			WorkloadSHA256: found.WorkloadSHA256, WorkloadTypedSHA256: found.WorkloadTypedSHA256,
			RunnerSHA256: found.RunnerSHA256, DeploymentSHA256: document.RawHash(request.Deployment),
			Program: found.Program, SetupProgram: found.SetupProgram,
			Slot: request.Slot, Arm: arm, Execution: found.Runner.Execution,
			Setup: found.Setup, Samples: found.Samples,
		},
		environment: environment(found.Runner, request.Secrets),
	}
	if found.SetupProgram != nil {
		plan.setup = program.Executable(*found.SetupProgram)
	}
	return plan, nil
}

// writable: paths stand in records, which hold text.
func writable(request Request) error {
	for _, path := range []string{request.Dir, request.Folder} {
		if !utf8.ValidString(path) {
			return fmt.Errorf("the path %q is not UTF-8, and evidence could not hold it: use another folder", path)
		}
	}
	return nil
}

// slotArm finds the arm of the slot (CAP-02).
func slotArm(request Request, w *document.Workload) (string, []document.Problem) {
	at := slices.IndexFunc(w.Slots, func(slot document.Slot) bool { return slot.ID == request.Slot })
	if at >= 0 {
		return w.Slots[at].Arm, nil
	}
	declared := make([]string, 0, len(w.Slots))
	for _, slot := range w.Slots {
		declared = append(declared, slot.ID)
	}
	return "", []document.Problem{{Document: request.Names.Workload, Path: "slots", Rule: "CAP-02", Offset: document.NoOffset,
		Message: fmt.Sprintf("declares no slot with the id %q asked for; there are %q", request.Slot, declared)}}
}

// missingSecrets demands a value for each name that the runner leaves out of its
// document (PLN-07).
func missingSecrets(request Request, runner *document.Runner) []document.Problem {
	var problems []document.Problem
	for i, name := range runner.EnvSecret {
		if _, ok := request.Secrets[name]; !ok {
			problems = append(problems, document.Problem{Document: request.Names.Runner, Path: fmt.Sprintf("env_secret[%d]", i), Rule: "PLN-07",
				Offset: document.NoOffset, Message: fmt.Sprintf("the variable %s has no value here; set it", name)})
		}
	}
	return problems
}

// expected compares the programs with those a preflight found (PLN-40).
func expected(request Request, found *preflight.Admitted) error {
	if request.Expect == nil {
		return nil
	}
	if found.Program.ResolvedSHA256 != request.Expect.Program {
		return changed(found.Program, request.Expect.Program)
	}
	if found.SetupProgram != nil && found.SetupProgram.ResolvedSHA256 != request.Expect.Setup {
		return changed(*found.SetupProgram, request.Expect.Setup)
	}
	return nil
}

func changed(found evidence.Program, expected string) error {
	return &Error{ProgramChanged, fmt.Errorf("%s is not the program that preflight saw: its SHA-256 is %s and was %s; run again to plan with it",
		found.DeclaredPath, found.ResolvedSHA256, expected)}
}

// sampleArgs renders the arguments of a sample with paths of this machine
// (CAP-27).
func (a *admitted) sampleArgs(sample document.Sample, root string) ([]string, error) {
	paths := document.ProjectionPaths(a.workload, document.RunDirName(sample.Index)).Under(root)
	return document.SampleArgv(a.workload, a.runner, sample, paths)
}

func (a *admitted) setupArgs(root string) ([]string, error) {
	paths := document.ProjectionPaths(a.workload, evidence.SetupDir).Under(root)
	return document.SetupArgv(a.workload, a.runner, paths)
}
