package main

import (
	"fmt"
	"os"

	"github.com/grill-plan/grill-plan/internal/view"
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/program"
)

// quickstartNodes is where the example plan leaves its captures; examples
// in help use what it left.
const quickstartNodes = "examples/plans/grill-runs/quickstart/nodes/experiment.speed"

// readDocuments reads every document, so that all unreadable ones are named in
// one go, one line each (PRE-04).
func (a *app) readDocuments(paths ...string) ([][]byte, error) {
	documents := make([][]byte, len(paths))
	failed := false
	for i, path := range paths {
		data, err := program.ReadDocument(path)
		if err != nil {
			a.err.Printf("%s\n", view.Line(err.Error()))
			failed = true
		}
		documents[i] = data
	}
	if failed {
		return nil, exitWith(exitError)
	}
	return documents, nil
}

// reject writes one line for each violated rule (PRE-04, DOC-15).
func (a *app) reject(problems []document.Problem) error {
	for _, problem := range problems {
		a.err.Printf("%s\n", view.Line(problem.String()))
	}
	return exitWith(exitError)
}

// here is what relative paths and self: stand for without a plan: the invoking
// directory and the running program.
func here() (folder, self string, err error) {
	if folder, err = os.Getwd(); err != nil {
		return "", "", fmt.Errorf("find the current directory: %w", err)
	}
	if self, err = os.Executable(); err != nil {
		return "", "", fmt.Errorf("find the running program: %w", err)
	}
	return folder, self, nil
}
