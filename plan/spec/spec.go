// Package spec holds the canonical specs of node kinds: what plan/compile
// writes into a node and what the step of that kind reads back.
//
// A spec is everything a node's work depends on beside the nodes it needs.
// Documents enter by the SHA-256 of their bytes; paths stand as written in the
// plan, relative to the plan folder, which is known only when a node runs; a
// sensitive value stands as [Masked] (PLN-07, PLN-39). Where a gate was declared
// explains a result and is no part of a spec. The package
// imports the standard library only. Field order is part of the digest.
package spec

// Masked stands wherever a sensitive value was given.
const Masked = "(sensitive)"

// Side names the half of an experiment a preflight belongs to.
const (
	Reference = "reference" // slots with arms a, a2
	Candidate = "candidate" // slots with arms b, b2
)

// Documents names the three documents of a side by SHA-256 of their bytes;
// they lie in RUN/documents/SHA256.json.
type Documents struct {
	Workload   string `json:"workload"`
	Runner     string `json:"runner"`
	Deployment string `json:"deployment"`
}

// Preflight is the spec of a preflight node.
type Preflight struct {
	Side      string    `json:"side"`
	Documents Documents `json:"documents"`
	// ProgramBytes is true when axis names program_bytes (PLN-12).
	ProgramBytes bool `json:"program_bytes,omitempty"`
}

// Env is one added environment variable of a hook, value Masked if sensitive.
type Env struct {
	Name      string `json:"name"`
	Value     string `json:"value"`
	Sensitive bool   `json:"sensitive,omitempty"`
}

// Hook is a program started beside the measurements: switch, verify, restore.
type Hook struct {
	Program    string   `json:"program"` // as written; may be "self:"
	Args       []string `json:"args"`
	Env        []Env    `json:"env,omitempty"` // sorted by name
	Cwd        *string  `json:"cwd,omitempty"`
	DeadlineMS uint64   `json:"deadline_ms"`
}

// Ready is polled after the switch program has exited 0: exactly one of HTTP
// and Hook is set (PLN-32). Hook.DeadlineMS bounds one try of the program.
type Ready struct {
	HTTP       string `json:"http,omitempty"`
	Hook       *Hook  `json:"hook,omitempty"`
	DeadlineMS uint64 `json:"deadline_ms"`
}

// Verify must print exactly ExpectStdout.
type Verify struct {
	Hook         Hook   `json:"hook"`
	ExpectStdout string `json:"expect_stdout"`
}

// Switch is the spec of a switch node.
type Switch struct {
	Slot         string  `json:"slot"`
	Hook         Hook    `json:"hook"`
	Ready        *Ready  `json:"ready,omitempty"`
	Verify       *Verify `json:"verify,omitempty"`
	OnChangeOnly bool    `json:"on_change_only,omitempty"`
}

// Setup is the spec of a setup node, carried out within its capture (PLN-42).
type Setup struct {
	Slot string `json:"slot"`
}

// Capture is the spec of a capture node.
type Capture struct {
	Slot      string    `json:"slot"` // slot id of the workload
	Arm       string    `json:"arm"`  // a, b, b2, a2
	Documents Documents `json:"documents"`
	Host      string    `json:"host,omitempty"`
	// Collector is the SHA-256 of the grill-plan that captures. The executor
	// lets it stand for older ones of a finished group (PLN-41).
	Collector string `json:"collector"`
}

// Inspect is the spec of an inspect node.
type Inspect struct {
	Slot     string `json:"slot"`
	Arm      string `json:"arm"`
	FailFast bool   `json:"fail_fast"`
}

// Compare is the spec of a compare node.
type Compare struct {
	// Arms in capture order: a, b, [b2,] a2.
	Arms            []string `json:"arms"`
	RequireSameBoot bool     `json:"require_same_boot,omitempty"`
	MaxGapMS        *uint64  `json:"max_gap_ms,omitempty"`
	AllowHostChange bool     `json:"allow_host_change,omitempty"`
}

// Restore is the spec of a restore node.
type Restore struct {
	Hook Hook `json:"hook"`
}

// Report is the spec of the report node.
type Report struct {
	Plan        string   `json:"plan"`
	Experiments []string `json:"experiments"`
}
