package report

import (
	"bytes"
	"encoding/json"

	"github.com/grill-plan/grill-plan/steps/compare"
)

// Names of the results document.
const (
	ResultsKind    = "grill-plan-results"
	ResultsVersion = 1
)

type resultsDocument struct {
	Kind        string              `json:"kind"`
	Version     int                 `json:"version"`
	Plan        string              `json:"plan"`
	PlanSHA256  string              `json:"plan_sha256"`
	Verdict     string              `json:"verdict"`
	ExitCode    int                 `json:"exit_code"`
	Experiments []resultsExperiment `json:"experiments"`
	Problems    []Failure           `json:"problems,omitempty"`
}

type resultsExperiment struct {
	Address string   `json:"address"`
	Verdict string   `json:"verdict"`
	Reasons []string `json:"reasons"`
	// RedoneSlots: a complete attempt of these was made again (PLN-43).
	RedoneSlots []string        `json:"redone_slots,omitempty"`
	Slots       []resultsSlot   `json:"slots"`
	Between     []compare.Slot  `json:"between_slots"`
	GateSources []Source        `json:"gate_sources,omitempty"` // in the order of comparison.gates
	Failures    []Failure       `json:"failures,omitempty"`
	Skipped     []string        `json:"skipped,omitempty"`
	Comparison  *compare.Report `json:"comparison"`
}

type resultsSlot struct {
	Slot           string    `json:"slot"`
	Arm            string    `json:"arm"`
	Dir            string    `json:"dir,omitempty"`
	EvidenceSHA256 string    `json:"evidence_sha256,omitempty"`
	Attempts       []Attempt `json:"attempts"`
}

func (r *Run) results() ([]byte, error) {
	document := resultsDocument{
		Kind: ResultsKind, Version: ResultsVersion, Plan: r.Plan, PlanSHA256: r.PlanSHA256,
		Verdict: r.word(), ExitCode: r.ExitCode(), Problems: r.Problems, Experiments: []resultsExperiment{},
	}
	for i := range r.Experiments {
		document.Experiments = append(document.Experiments, r.Experiments[i].result())
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func (e *Experiment) result() resultsExperiment {
	result := resultsExperiment{
		Address: e.Address, Verdict: e.verdict(), Reasons: []string{}, Slots: []resultsSlot{}, Between: []compare.Slot{},
		GateSources: e.Sources, Failures: e.Failures, Skipped: e.Skipped, Comparison: e.Report,
	}
	if e.Lowered != nil {
		result.Reasons = append(result.Reasons, e.Lowered.Reasons...)
		result.Between = append(result.Between, e.Lowered.Slots...)
	}
	for _, slot := range e.redone() {
		result.RedoneSlots = append(result.RedoneSlots, slot.Slot)
	}
	for _, slot := range e.Slots {
		result.Slots = append(result.Slots, resultsSlot{
			Slot: slot.Slot, Arm: slot.Arm, Dir: slot.Dir, EvidenceSHA256: slot.EvidenceSHA256,
			Attempts: append([]Attempt{}, slot.Attempts...),
		})
	}
	return result
}
