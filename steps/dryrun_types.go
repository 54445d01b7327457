package steps

import "github.com/grill-plan/grill-plan/plan/sight"

// DryRun is what `plan` shows: every node in order, what it would run, and,
// against a run directory, what is reused, what is redone and why (PLN-14,
// PLN-15). Its JSON form is the output of `plan --json`.
type DryRun struct {
	Format      int               `json:"format"` // 1
	Plan        string            `json:"plan"`
	Nodes       []DryNode         `json:"nodes"`
	Experiments []DryExperiment   `json:"experiments"`
	AllowanceMS string            `json:"allowance_ms"` // decimal; may exceed 2^53
	EvidenceMax string            `json:"evidence_max_bytes"`
	HeldBack    []string          `json:"not_in_this_version,omitempty"`
	Machine     *Machine          `json:"machine,omitempty"` // left out with --portable
	RunDir      *RunDirComparison `json:"run_directory,omitempty"`
}

// DryNode is one node of the graph as it would be carried out.
type DryNode struct {
	Address string   `json:"address"`
	Kind    string   `json:"kind"`
	Effect  string   `json:"effect"`
	Host    string   `json:"host,omitempty"`
	Claim   string   `json:"claim,omitempty"`
	Needs   []string `json:"needs,omitempty"`
	// Commands are the programs the node would start, argv as projected.
	Commands []DryCommand `json:"commands,omitempty"`
	// AllowanceMS bounds the node's wall-clock time; "" where nothing is
	// started.
	AllowanceMS string `json:"allowance_ms,omitempty"`
	// Decision is reuse, run or redo; "" without a run directory.
	Decision string   `json:"decision,omitempty"`
	Reasons  []string `json:"reasons,omitempty"`
}

// DryCommand is one process that would be started, or one address polled.
type DryCommand struct {
	What       string   `json:"what"` // setup, sample, switch, ready, verify, restore
	Cell       string   `json:"cell,omitempty"`
	Phase      string   `json:"phase,omitempty"`
	Seed       string   `json:"seed,omitempty"` // decimal; may exceed 2^53
	Argv       []string `json:"argv,omitempty"`
	HTTP       string   `json:"http,omitempty"`
	DeadlineMS uint64   `json:"deadline_ms"`
	PauseMS    uint64   `json:"pause_ms,omitempty"`
}

// DryExperiment is what a reviewer has to know of one experiment.
type DryExperiment struct {
	Address     string         `json:"address"`
	Differences []string       `json:"differences"` // axis vocabulary, PLN-12
	Advice      []sight.Advice `json:"advice"`      // PLN-47
	AllowanceMS string         `json:"allowance_ms"`
	EvidenceMax string         `json:"evidence_max_bytes"`
}

// Machine is what only this machine can say (PLN-14).
type Machine struct {
	Collector string           `json:"collector_sha256"`
	Programs  []MachineProgram `json:"programs"`
	Missing   []string         `json:"missing,omitempty"`
}

// MachineProgram is one program of the plan as it is here.
type MachineProgram struct {
	Declared string `json:"declared"`
	Resolved string `json:"resolved"`
	SHA256   string `json:"sha256"`
}

// RunDirComparison says how the plan stands against a run directory.
type RunDirComparison struct {
	Path     string   `json:"path"`
	Reuse    int      `json:"reuse"`
	Run      int      `json:"run"`
	Redo     int      `json:"redo"`
	Discards []string `json:"discards,omitempty"` // finished measurements that --replan would redo
}
