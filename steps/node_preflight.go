package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/grill-plan/grill-plan/executor"
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/plan/graph"
	"github.com/grill-plan/grill-plan/plan/spec"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/preflight"
)

// preflightFile holds the report of a preflight node, programsFile what its
// captures check the programs against (PLN-40).
const (
	preflightFile = "preflight.json"
	programsFile  = "programs.json"
)

// observedPrograms are the identities that a preflight saw.
type observedPrograms struct {
	Program evidence.Program  `json:"program"`
	Setup   *evidence.Program `json:"setup,omitempty"`
}

// Problems is an error of several violated rules, one a line.
type Problems []document.Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n  ")
}

// Observe does the preflight of a side anew (PLN-40). It has no side effect.
func (r *Runner) Observe(ctx context.Context, node *graph.Node) (executor.Observation, error) {
	admitted, err := r.preflight(ctx, node)
	if err != nil {
		return executor.Observation{}, err
	}
	programs, err := json.Marshal(observedPrograms{Program: admitted.Program, Setup: admitted.SetupProgram})
	if err != nil {
		return executor.Observation{}, fmt.Errorf("preflight: %w", err)
	}
	return executor.Observation{
		Digest: admitted.Digest(),
		Files:  map[string][]byte{preflightFile: admitted.Report(), programsFile: programs},
	}, nil
}

func (r *Runner) preflight(ctx context.Context, node *graph.Node) (*preflight.Admitted, error) {
	wanted, err := readSpec[spec.Preflight](node)
	if err != nil {
		return nil, err
	}
	input, err := r.preflightInput(node, wanted.Documents)
	if err != nil {
		return nil, err
	}
	admitted, problems, err := preflight.Check(ctx, input)
	if err != nil {
		return nil, err
	}
	if len(problems) == 0 {
		problems = document.HeldBack(input.WorkloadName, input.RunnerName, admitted.Workload, admitted.Runner)
	}
	if len(problems) > 0 {
		return nil, &executor.Failure{Code: PreflightRejected, Err: Problems(problems)}
	}
	return admitted, nil
}

func (r *Runner) preflightInput(node *graph.Node, documents spec.Documents) (preflight.Input, error) {
	workload, err := r.Document(documents.Workload)
	if err != nil {
		return preflight.Input{}, err
	}
	runner, err := r.Document(documents.Runner)
	if err != nil {
		return preflight.Input{}, err
	}
	return preflight.Input{
		WorkloadName: "workload of " + node.Group, RunnerName: "runner of " + node.Group,
		Workload: workload, Runner: runner,
		Folder: r.Folder, Self: r.Self, Programs: &r.programs,
	}, nil
}
