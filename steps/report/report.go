// Package report turns what the evidence of a run shows into what people and
// programs read: results.json, summary.md and junit.xml.
//
// It reads no evidence itself and knows no clock: the same run gives the same
// bytes (PLN-36). It judges nothing; verdicts come from steps/compare. Texts from
// outside (messages, addresses, snippets) are escaped wherever they are put.
package report

import (
	"fmt"
	"path/filepath"

	"github.com/grill-plan/grill-plan/internal/durable"
	"github.com/grill-plan/grill-plan/steps/compare"
	"github.com/grill-plan/grill-plan/steps/gate"
)

// Names of the files.
const (
	ResultsFile = "results.json"
	SummaryFile = "summary.md"
	JUnitFile   = "junit.xml"
)

// Run is a run as its evidence shows it.
type Run struct {
	Plan        string       // name of the plan
	PlanSHA256  string       // as in the manifest
	Experiments []Experiment // in the order of the plan
	// Problems are failures that belong to no experiment, and failed restores,
	// which change no verdict (PLN-34).
	Problems []Failure
}

// Experiment is one experiment and what became of it.
type Experiment struct {
	Address string
	// Report is compare's, nil when compare gave none.
	Report *compare.Report
	// Lowered is the verdict (PLN-29), nil while the experiment is unfinished.
	Lowered *compare.Lowered
	Slots   []Slot
	// Sources say where each gate of the report was declared, in the report's
	// order; fewer when unknown (PLN-35).
	Sources []Source
	// Failures are the failed nodes, root causes first (PLN-17); Skipped the
	// addresses left out because of them or of an early stop.
	Failures []Failure
	Skipped  []string
}

// Slot is one slot with the attempts behind it (PLN-43).
type Slot struct {
	Slot string // id
	Arm  string
	// Dir is the capture directory relative to the run directory, slash
	// separated; "" without a capture.
	Dir string
	// EvidenceSHA256 is the digest to keep elsewhere: evidence proves
	// consistency and not authorship.
	EvidenceSHA256 string
	Attempts       []Attempt // oldest first; the last one stands
}

// AttemptComplete is how an attempt ended whose capture is whole.
const AttemptComplete = "complete"

// Attempt is one try of a slot.
type Attempt struct {
	Number int    `json:"number"`
	Ended  string `json:"ended"`         // complete, interrupted, failed, …
	Why    string `json:"why,omitempty"` // of a later attempt: why it was made
}

// Source is where the gate's bound stands in the plan.
type Source struct {
	File    string `json:"file"` // as named by the plan, relative to its folder
	Line    int    `json:"line"` // from 1
	Snippet string `json:"snippet"`
}

// Failure is a node that failed.
type Failure struct {
	Address string `json:"address"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Unfinished is what stands in place of a verdict that is not there yet.
const Unfinished = "UNFINISHED"

// verdict is the word for an experiment.
func (e *Experiment) verdict() string {
	if e.Lowered == nil {
		return Unfinished
	}
	return string(e.Lowered.Verdict)
}

// redone are the slots of which a complete attempt was made again; an experiment
// with such a slot says so in its first line (PLN-43).
func (e *Experiment) redone() []Slot {
	var found []Slot
	for _, slot := range e.Slots {
		for i, attempt := range slot.Attempts {
			if i < len(slot.Attempts)-1 && attempt.Ended == AttemptComplete {
				found = append(found, slot)
				break
			}
		}
	}
	return found
}

// Finished says whether every experiment has its verdict.
func (r *Run) Finished() bool {
	for i := range r.Experiments {
		if r.Experiments[i].Lowered == nil {
			return false
		}
	}
	return true
}

// Verdict is that of the worst experiment which has one, and ERROR when none has
// (CMP-18).
func (r *Run) Verdict() gate.Verdict {
	var verdicts []gate.Verdict
	for _, experiment := range r.Experiments {
		if experiment.Lowered != nil {
			verdicts = append(verdicts, experiment.Lowered.Verdict)
		}
	}
	return gate.Worst(verdicts...)
}

// word is the verdict of the whole run in a headline.
func (r *Run) word() string {
	if !r.Finished() {
		return Unfinished
	}
	return string(r.Verdict())
}

// UnfinishedExit is the exit status of what stopped before the end; it goes
// before a verdict that is not complete.
const UnfinishedExit = 4

// ExitCode is 0 PASS, 1 ERROR, 2 INCONCLUSIVE, 3 REGRESSION by the worst
// experiment (PLN-29, CMP-23), or 4 while one is unfinished.
func (r *Run) ExitCode() int {
	if !r.Finished() {
		return UnfinishedExit
	}
	return r.Verdict().ExitCode()
}

// File is one file of the report.
type File struct {
	Name string
	Data []byte
}

// Files renders the report.
func (r *Run) Files() ([]File, error) {
	results, err := r.results()
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", ResultsFile, err)
	}
	junit, err := r.junit()
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", JUnitFile, err)
	}
	return []File{{ResultsFile, results}, {SummaryFile, r.summary()}, {JUnitFile, junit}}, nil
}

// Write replaces the report's files in a directory that exists.
func (r *Run) Write(dir string) error {
	files, err := r.Files()
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := durable.Replace(filepath.Join(dir, file.Name), file.Data); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	return nil
}
