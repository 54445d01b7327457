// Package preflight admits a pair of documents on this machine and says exactly
// what a capture of them would do.
//
// It owns the order of the checks, the projected sample plan that receipts and
// reservations repeat, the report of PRE-03 to PRE-14 and the digest of PLN-40.
// The rules themselves belong to plan/document and steps/program. Invariants: no
// side effect of any kind (PRE-02), and equal bytes on an unchanged machine give
// equal reports (PRE-14).
package preflight

import (
	"context"
	"errors"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/program"
)

// SetupDir is the directory of setup in projections.
const SetupDir = evidence.SetupDir

// Input is a pair of documents to admit.
type Input struct {
	WorkloadName, RunnerName string // what messages call them
	Workload, Runner         []byte // their exact bytes
	// Folder is the absolute directory that relative paths belong to.
	Folder string
	// Self is the path of the running executable, for programs named self:.
	Self string
	// Programs remembers hashes across several preflights; nil is admitted.
	Programs *program.Resolver
}

// Counts are the numbers of PRE-09. Files is how many output files all samples
// together have to deliver; setup is not counted.
type Counts struct {
	Cells    int
	Warmup   int
	Measured int
	Samples  int
	Files    uint64
}

// Admitted is an admitted pair.
type Admitted struct {
	WorkloadName, RunnerName string
	Workload                 *document.Workload
	Runner                   *document.Runner
	WorkloadSHA256           string // raw (DOC-14)
	WorkloadTypedSHA256      string // DOC-13
	RunnerSHA256             string
	Program                  evidence.Program  // zero for a server runner
	SetupProgram             *evidence.Program // nil without a setup
	Cwd                      string            // absolute
	Samples                  []evidence.PlannedSample
	Setup                    *evidence.SetupPlan // nil without a setup
	AllowanceMS              uint64              // PRE-10
	Counts                   Counts
}

// Check does the whole preflight: documents and machine. A pair is admitted
// exactly when there are no problems; all of them are found in one go. The error
// is for a context that ended.
func Check(ctx context.Context, in Input) (*Admitted, []document.Problem, error) {
	admitted, problems := Documents(in)
	if admitted == nil {
		return nil, problems, nil
	}
	found, err := admitted.OnMachine(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	if problems = append(problems, found...); len(problems) > 0 {
		return nil, problems, nil
	}
	return admitted, nil, nil
}

// Documents does what needs no machine: the documents, the rules of the pair and
// the sample plan. Programs and Cwd are left empty. The result is also given
// beside problems of the pair, so that the machine can be looked at in the same
// go; its plan is empty then.
func Documents(in Input) (*Admitted, []document.Problem) {
	w, problems := document.ParseWorkload(in.WorkloadName, in.Workload)
	r, found := document.ParseRunner(in.RunnerName, in.Runner)
	problems = append(problems, found...)
	if w == nil || r == nil {
		return nil, problems
	}
	a := &Admitted{
		WorkloadName: in.WorkloadName, RunnerName: in.RunnerName, Workload: w, Runner: r,
		WorkloadSHA256:      document.RawHash(in.Workload),
		WorkloadTypedSHA256: w.TypedHash(),
		RunnerSHA256:        document.RawHash(in.Runner),
	}
	if problems = document.Admit(in.WorkloadName, in.RunnerName, w, r); len(problems) > 0 {
		return a, problems
	}
	if err := a.plan(); err != nil {
		return a, []document.Problem{{Document: in.RunnerName, Rule: "TPL-18", Message: err.Error(), Offset: document.NoOffset}}
	}
	return a, nil
}

func (a *Admitted) plan() error {
	var err error
	if a.Samples, a.Setup, err = Plan(a.Workload, a.Runner); err != nil {
		return err
	}
	if a.AllowanceMS, err = document.AllowanceMS(a.Workload, a.Runner); err != nil {
		return err
	}
	a.Counts = count(a.Workload, a.Runner)
	return nil
}

// Plan is the sample plan of an admitted pair, with argv as projections relative
// to the capture directory (PRE-07, PRE-11). A server runner's samples have no
// argv.
func Plan(w *document.Workload, r *document.Runner) ([]evidence.PlannedSample, *evidence.SetupPlan, error) {
	schedule := document.Schedule(w)
	samples := make([]evidence.PlannedSample, 0, len(schedule))
	for _, s := range schedule {
		argv, err := document.SampleArgv(w, r, s, document.ProjectionPaths(w, document.RunDirName(s.Index)))
		if err != nil {
			return nil, nil, err
		}
		samples = append(samples, evidence.PlannedSample{Index: s.Index, Cell: s.Cell, Phase: s.Phase, Seed: s.Seed, Argv: argv})
	}
	if r.Setup == nil {
		return samples, nil, nil
	}
	argv, err := document.SetupArgv(w, r, document.ProjectionPaths(w, SetupDir))
	if err != nil {
		return nil, nil, err
	}
	return samples, &evidence.SetupPlan{Argv: argv, DeadlineMS: document.SetupDeadlineMS(w, r)}, nil
}

func count(w *document.Workload, r *document.Runner) Counts {
	c := Counts{Cells: len(w.Cells)}
	for i := range w.Cells {
		warmups, runs := w.Cells[i].WarmupRuns, w.Cells[i].MeasuredRuns
		c.Warmup += int(warmups)
		c.Measured += int(runs)
		c.Files += (warmups + runs) * filesPerRun(w, document.EffectiveRequest(w, w.Cells[i].ID))
	}
	c.Samples = c.Warmup + c.Measured
	return c
}

// filesPerRun follows OUT-04: a directory holds images_per_run images, or one
// file of another modality.
func filesPerRun(w *document.Workload, request *document.Request) uint64 {
	var files uint64
	for i := range w.Outputs {
		if w.Outputs[i].Placeholder == "output_dir" && request.ImagesPerRun != nil {
			files += *request.ImagesPerRun
		} else {
			files++
		}
	}
	return files
}

// OnMachine resolves what the runner names on this machine and fills Program,
// SetupProgram and Cwd. Problems name what is missing here; they leave the rest
// of the result usable, so that a plan can be reviewed anywhere (PLN-14).
func (a *Admitted) OnMachine(ctx context.Context, in Input) ([]document.Problem, error) {
	if a.Runner.Kind != document.CLIRunnerKind {
		return nil, nil
	}
	programs := in.Programs
	if programs == nil {
		programs = new(program.Resolver)
	}
	var problems []document.Problem
	var err error
	report := func(path string, err error) error {
		var refused *program.Error
		if err == nil || !errors.As(err, &refused) {
			return err
		}
		problems = append(problems, document.Problem{
			Document: a.RunnerName, Path: path, Rule: refused.Rule, Message: refused.Error(), Offset: document.NoOffset,
		})
		return nil
	}
	a.Program, err = programs.Resolve(ctx, in.Folder, a.Runner.Program, in.Self)
	if err := report("program", err); err != nil {
		return nil, err
	}
	if setup := a.Runner.Setup; setup != nil && setup.Program != nil {
		found, err := programs.Resolve(ctx, in.Folder, *setup.Program, in.Self)
		if err := report("setup.program", err); err != nil {
			return nil, err
		}
		a.SetupProgram = &found
	} else if setup != nil {
		same := a.Program // DOC-48
		a.SetupProgram = &same
	}
	a.Cwd, err = program.ResolveCwd(in.Folder, a.Runner.Cwd)
	return problems, report("cwd", err)
}
