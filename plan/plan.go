package plan

import (
	"encoding/json"

	"github.com/hashicorp/hcl/v2"

	"github.com/grill-plan/grill-plan/plan/document"
)

// Plan is a loaded plan. It is read-only.
type Plan struct {
	// Name is the plan's own name; a run directory belongs to one plan and is
	// known by it.
	Name string
	// Folder is the absolute folder of the plan files; relative paths of the
	// plan and of its documents are relative to it (PLN-39). It is no part of
	// any document or graph.
	Folder string
	// Files holds the bytes of each plan file by its name inside Folder, as
	// they are stored with a run.
	Files map[string][]byte
	// Sources holds the bytes of every file a diagnostic may point into, by
	// the file name of its ranges: plan files and documents, but no variable
	// files, whose lines may hold sensitive values.
	Sources map[string][]byte
	// Variables holds the values used, sensitive ones left out, as compact
	// JSON by name (stored with a run).
	Variables map[string]json.RawMessage
	// Sensitive names the sensitive variables, sorted.
	Sensitive []string
	// Hosts names the declared hosts, sorted.
	Hosts []string
	// Experiments in order of declaration: files by name, then line, then the
	// for_each key in byte order (PLN-45).
	Experiments []*Experiment
}

// Experiment is one instance of an experiment block.
type Experiment struct {
	// Name is the label of the block, Key its for_each key; HasKey tells an
	// empty key from none.
	Name   string
	Key    string
	HasKey bool
	// Address is unique, e.g. experiment.chunking["480p"].
	Address string
	Range   hcl.Range // the block's header

	Workload  *WorkloadUse
	Reference *Side
	Candidate *Side
	// Arms in capture order: a, b, a2 or a, b, b2, a2 (PLN-11).
	Arms []string
	Host string // "" is the single implicit host

	// Axis is nil unless the block has one (PLN-12).
	Axis *Axis

	FailFast        bool
	Decode          bool
	RequireSameBoot bool
	MaxGapMS        *uint64
	AllowHostChange bool

	Restore  *Hook     // nil: none declared
	Distance *Distance // nil: none declared
	// DependsOn holds addresses of other experiments, sorted by declaration.
	DependsOn []string
}

// WorkloadUse is a workload as one experiment uses it.
type WorkloadUse struct {
	Address  string // of the block, e.g. workload.clip["480p"]
	Range    hcl.Range
	Document *document.Workload
	// Bytes are the document: the typed serialization, or a file's own bytes.
	Bytes  []byte
	SHA256 string // of Bytes, lowercase hexadecimal
	// Gates tells where each gate of the document was declared (PLN-35).
	Gates []GateSource
}

// GateSource is the place of one declared gate.
type GateSource struct {
	Range   hcl.Range
	File    string // inside the plan folder, as stored with a run
	Snippet string // the lines of the declaration, without a final line feed
}

// Side is the reference or the candidate of an experiment.
type Side struct {
	Range      hcl.Range
	Runner     *RunnerUse
	Deployment *DeploymentUse
}

// RunnerUse is a runner as one side uses it.
type RunnerUse struct {
	Address  string
	Range    hcl.Range
	Document *document.Runner
	Bytes    []byte
	SHA256   string
	// Secrets are the sensitive env entries, sorted by name; Document lists
	// their names in EnvSecret (PLN-07).
	Secrets []SecretEnv
}

// DeploymentUse is a deployment as one side uses it.
type DeploymentUse struct {
	Address  string
	Range    hcl.Range
	Document *document.Deployment
	Bytes    []byte
	SHA256   string
	Switch   *Switch // nil: none declared
}

// Hook is a program started beside the measurements.
type Hook struct {
	Program    string
	Args       []string
	Env        []HookEnv // sorted by name
	Cwd        *string
	DeadlineMS uint64
	Range      hcl.Range
}

// HookEnv is one added environment variable. With Secret set, Value is empty.
type HookEnv struct {
	Name   string
	Value  string
	Secret *Secret
}

// Switch puts a deployment in place and proves it (PLN-30 to PLN-33).
type Switch struct {
	Hook         Hook
	OnChangeOnly bool
	Ready        *Ready
	Verify       *Verify
}

// Ready is polled after the switch program: exactly one of HTTP and Hook.
type Ready struct {
	HTTP       string
	Hook       *Hook
	DeadlineMS uint64
}

// Verify must print exactly ExpectStdout.
type Verify struct {
	Hook         Hook
	ExpectStdout string
}

// Axis is what the two sides may differ in.
type Axis struct {
	Range   hcl.Range
	Entries []AxisEntry
}

// AxisEntry is one named difference: a deployment field, a runner attribute
// such as runner.args, or program_bytes.
type AxisEntry struct {
	Name  string
	Range hcl.Range
}

// Distance asks how far the outputs of the sides are apart.
type Distance struct {
	Cells  []string // ids of cells; nil: all
	Expect string   // "" or "equal"
	SSIM   bool     // MED-24
	Range  hcl.Range
}

// SecretEnv is one sensitive entry of an env.
type SecretEnv struct {
	Name  string
	Value Secret
}
