// Package compare judges the captures of one experiment: admission, order,
// gates, identity and the overall outcome.
//
// It judges by inspected captures and nothing else, so that a copied capture
// gets the verdict of the original; what a plan adds lowers the verdict in one
// place, [Lower]. It never says anything of output quality, significance, cause
// or a winner (CMP-30). The same captures give the same report bytes (CMP-29).
package compare

import (
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/gate"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

// ReportKind and ReportVersion name the JSON report.
const (
	ReportKind    = "media-comparison"
	ReportVersion = 1
)

// Reasons of the overall outcome, in the order in which they are listed.
const (
	ChangedModelAxis              = "changed_model_axis"
	ModelIdentityMissing          = "model_identity_missing"
	ReferenceDeploymentIncomplete = "reference_deployment_incomplete"
)

// Identity axes (CMP-19).
const (
	SameCheckpoint = "same-checkpoint"
	ChangedModel   = "changed-model"
)

// Report is what compare says (CMP-17, CMP-24).
type Report struct {
	Kind         string       `json:"kind"`
	Version      int          `json:"version"`
	Verdict      gate.Verdict `json:"verdict"`
	Reasons      []string     `json:"reasons"`
	GateVerdict  gate.Verdict `json:"gate_verdict"` // the worst gate (CMP-18)
	IdentityAxis *string      `json:"identity_axis"`
	Workload     Workload     `json:"workload"`
	Gates        []Gate       `json:"gates"`
	Cells        []Cell       `json:"cells"`
	Captures     []Capture    `json:"captures"` // in capture order
	// StoppedEarly: no gate could be decided any more, so that later slots were
	// not captured (PLN-13).
	StoppedEarly bool     `json:"stopped_early,omitempty"`
	Timing       string   `json:"timing"`
	Statements   []string `json:"statements"`
}

// Workload names what all captures asked for.
type Workload struct {
	Name        string `json:"name"`
	Modality    string `json:"modality"`
	SHA256      string `json:"sha256"`
	TypedSHA256 string `json:"typed_sha256"`
}

// Gate is one gate as judged. Ranges are exact fractions, null for an empty
// pool. Figures are printed beside the outcome and decide nothing.
type Gate struct {
	Cell                  string        `json:"cell"`
	Metric                string        `json:"metric"`
	MaxAdverseBPS         uint64        `json:"max_adverse_bps"`
	MaxReferenceSpreadBPS uint64        `json:"max_reference_spread_bps"`
	Outcome               gate.Verdict  `json:"outcome"`
	Reason                *string       `json:"reason"`
	ReferenceSamples      int           `json:"reference_samples"`
	CandidateSamples      int           `json:"candidate_samples"`
	IneligibleSamples     int           `json:"ineligible_samples"`
	ReferenceRange        *gate.Range   `json:"reference_range"`
	CandidateRange        *gate.Range   `json:"candidate_range"`
	Figures               *gate.Figures `json:"figures,omitempty"`
}

// Pool names: reference is A with A2, candidate B with B2 (CMP-08).
const (
	ReferencePool = "reference"
	CandidatePool = "candidate"
)

// Cell describes one cell.
type Cell struct {
	ID       string     `json:"id"`
	Pools    []Pool     `json:"pools"` // reference, candidate
	CrossArm []CrossArm `json:"cross_arm_bytes"`
}

// Pool describes the measured samples of one cell over the arms of one side.
type Pool struct {
	Pool string   `json:"pool"`
	Arms []string `json:"arms"`
	inspect.Summary
	DurationRatioBPS *RatioBPS `json:"duration_ratio_bps,omitempty"`
}

// RatioBPS is floor(10,000 × ratio) of four statistics (CMP-27); null without a
// sample.
type RatioBPS struct {
	Min    *int64 `json:"min"`
	Median *int64 `json:"median"`
	Mean   *int64 `json:"mean"`
	Max    *int64 `json:"max"`
}

// CrossArm is CMP-28 for one seed.
type CrossArm struct {
	Seed     uint64        `json:"seed"`
	Equality gate.Equality `json:"bytes"`
}

// Capture says which capture stood for an arm (CMP-24).
type Capture struct {
	Arm              string             `json:"arm"`
	Slot             string             `json:"slot"`
	Execution        string             `json:"execution"`
	ReceiptSHA256    string             `json:"receipt_sha256"`
	EvidenceSHA256   string             `json:"evidence_sha256"`
	WorkloadSHA256   string             `json:"workload_sha256"`
	RunnerSHA256     string             `json:"runner_sha256"`
	DeploymentSHA256 string             `json:"deployment_sha256"`
	Program          evidence.Program   `json:"program"`
	SetupProgram     *evidence.Program  `json:"setup_program,omitempty"`
	Collector        evidence.Collector `json:"collector"`
	Host             evidence.Host      `json:"host"`
	StartedUnixMS    int64              `json:"started_unix_ms"`
	FinishedUnixMS   int64              `json:"finished_unix_ms"`
	// SampleSuspendedUS is the longest time the machine slept within one measured
	// sample, SuspendedUS within the whole capture (PLN-46).
	SampleSuspendedUS uint64        `json:"sample_suspended_us"`
	SuspendedUS       uint64        `json:"suspended_us"`
	CacheState        string        `json:"cache_declared_state"`
	Cells             []CaptureCell `json:"cells"`
}

// CaptureCell describes one cell of one capture; warmups are counted apart and
// withhold nothing (CMP-09).
type CaptureCell struct {
	ID                string `json:"id"`
	IneligibleWarmups int    `json:"ineligible_warmups"`
	inspect.Summary
}
