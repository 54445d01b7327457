// Package evidence holds the records of a capture directory: their types, their
// canonical bytes, their strict reading and the digests that bind them together.
//
// A record is one JSON object in canonical form: compact, fields in the order of
// its type, integers in plain decimal, one line feed at the end of the file. A
// reader decodes, serializes again and demands equal bytes, so unknown,
// repeated, differently-cased and null fields, and any other spelling of the
// same facts, are refused (INS-06). Fields added later are optional and left
// out when unused.
package evidence

import "github.com/grill-plan/grill-plan/media"

// Names of evidence files (CAP-06), relative to the capture directory or, from
// ReservationFile on, to a run directory.
const (
	WorkloadFile   = "workload.json"
	RunnerFile     = "runner.json"
	DeploymentFile = "deployment.json"
	ReceiptFile    = "receipt.json"
	CompletionFile = "completion.json"
	SetupDir       = "setup"

	ReservationFile = "reservation.json"
	ProcessFile     = "process.json"
	RunFile         = "run.json"
	StdoutFile      = "stdout.bin"
	StderrFile      = "stderr.bin"
	OutputDir       = "output_dir" // {output_dir}; {output} is "output." + container
)

// Statuses of a capture (CAP-32).
const (
	Complete    = "complete"
	SetupFailed = "setup_failed"
	Cancelled   = "cancelled"
)

// Phases of a sample (PRE-07).
const (
	Warmup   = "warmup"
	Measured = "measured"
)

// Reasons for ineligibility, in the fixed order in which a sample lists them
// (CAP-29).
const (
	SpawnFailed         = "spawn_failed"
	ExitNonzero         = "exit_nonzero"
	Signalled           = "signalled"
	DeadlineExceeded    = "deadline_exceeded"
	SampleCancelled     = "cancelled"
	Unstarted           = "unstarted"
	OutputMissing       = "output_missing"
	OutputOversized     = "output_oversized"
	OutputCount         = "output_count"
	OutputEntryType     = "output_entry_type"
	OutputName          = "output_name"
	OutputInvalid       = "output_invalid"
	ExpectationMismatch = "expectation_mismatch"
	CacheMutated        = "cache_mutated"
	CacheUnknown        = "cache_unknown"
)

// Reasons is the closed list in its order (CAP-29).
func Reasons() []string {
	return []string{
		SpawnFailed, ExitNonzero, Signalled, DeadlineExceeded, SampleCancelled, Unstarted,
		OutputMissing, OutputOversized, OutputCount, OutputEntryType, OutputName,
		OutputInvalid, ExpectationMismatch, CacheMutated, CacheUnknown,
	}
}

// Program is the identity of a program (DOC-47).
type Program struct {
	DeclaredPath   string `json:"declared_path"`
	ResolvedPath   string `json:"resolved_path"`
	ResolvedSHA256 string `json:"resolved_sha256"`
}

// Collector is who captured (CAP-09).
type Collector struct {
	SHA256  string `json:"sha256"`
	Version string `json:"version"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// Host holds facts of the machine; what is not known is left out (PLN-37).
type Host struct {
	MachineID string `json:"machine_id,omitempty"`
	BootID    string `json:"boot_id,omitempty"`
	Kernel    string `json:"kernel,omitempty"`
}

// PlannedSample is one sample as preflight shows it; argv is a projection with
// capture-relative paths (PRE-07, PRE-11).
type PlannedSample struct {
	Index int      `json:"index"`
	Cell  string   `json:"cell"`
	Phase string   `json:"phase"`
	Seed  uint64   `json:"seed"`
	Argv  []string `json:"argv"`
}

// Receipt is published before any work (CAP-05). Its SHA-256, over the file's
// bytes, is the receipt digest that every later record carries (INS-03).
type Receipt struct {
	Kind                string          `json:"kind"` // media-receipt
	Version             int             `json:"version"`
	WorkloadSHA256      string          `json:"workload_sha256"`
	WorkloadTypedSHA256 string          `json:"workload_typed_sha256"`
	RunnerSHA256        string          `json:"runner_sha256"`
	DeploymentSHA256    string          `json:"deployment_sha256"`
	Program             Program         `json:"program"`
	SetupProgram        *Program        `json:"setup_program,omitempty"`
	Slot                string          `json:"slot"`
	Arm                 string          `json:"arm"`
	Execution           string          `json:"execution"`
	Collector           Collector       `json:"collector"`
	StartedUnixMS       int64           `json:"started_unix_ms"`
	Root                string          `json:"root"`   // absolute capture directory at capture time
	Folder              string          `json:"folder"` // directory relative paths resolved against
	Setup               *SetupPlan      `json:"setup,omitempty"`
	Samples             []PlannedSample `json:"samples"`
	Host                Host            `json:"host"`
}

// SetupPlan is the setup that a receipt announces.
type SetupPlan struct {
	Argv       []string `json:"argv"` // projection
	DeadlineMS uint64   `json:"deadline_ms"`
}

// Reservation is published before a process starts (CAP-26, PLN-26).
type Reservation struct {
	Kind          string         `json:"kind"` // media-reservation
	Version       int            `json:"version"`
	ReceiptSHA256 string         `json:"receipt_sha256,omitempty"` // absent for a hook of a plan, which belongs to no capture
	Sample        *PlannedSample `json:"sample,omitempty"`         // absent for setup
	Setup         *SetupPlan     `json:"setup,omitempty"`
	BootID        string         `json:"boot_id,omitempty"`
	PIDNamespace  string         `json:"pid_namespace,omitempty"`
	Token         string         `json:"token"` // GRILL_PLAN_TOKEN in the child's environment
}

// Process is published right after the start (PLN-26).
type Process struct {
	Kind          string `json:"kind"` // media-process
	Version       int    `json:"version"`
	ReceiptSHA256 string `json:"receipt_sha256,omitempty"` // as in Reservation
	PID           int    `json:"pid"`
	Group         int    `json:"group"`
	StartTime     string `json:"start_time,omitempty"` // field 22 of /proc/PID/stat
}

// Stream is a bounded prefix of what a child printed (CAP-25).
type Stream struct {
	Bytes     uint64 `json:"bytes"`    // read altogether
	Retained  uint64 `json:"retained"` // in the file
	SHA256    string `json:"sha256"`   // of the file
	Truncated bool   `json:"truncated"`
	// Incomplete: a descendant held the pipe open past the drain (CAP-17).
	Incomplete bool `json:"incomplete,omitempty"`
}

// Output states (CAP-28): whether anything stands where the output belongs.
const (
	OutputPresent = "present"
	OutputAbsent  = "absent"
)

// Types of what is not a regular file (OUT-05).
const (
	TypeSymlink   = "symlink"
	TypeDirectory = "directory"
	TypeFIFO      = "fifo"
	TypeSocket    = "socket"
	TypeDevice    = "device"
	TypeOther     = "other"
)

// File is one collected output file.
type File struct {
	Name string `json:"name"` // within the run directory, slash separated; hex:… when not UTF-8
	// Type says what it is instead of a regular file; absent for one. Such an
	// entry has no size: a copy of the evidence could not keep it.
	Type   string       `json:"type,omitempty"`
	Bytes  uint64       `json:"bytes"`
	SHA256 string       `json:"sha256,omitempty"` // absent when oversized or not regular
	Facts  *media.Facts `json:"facts,omitempty"`
	// Problem says why the container check refused it.
	Problem *Problem `json:"problem,omitempty"`
	// Mismatches are expectations that the facts do not equal.
	Mismatches []Mismatch `json:"mismatches,omitempty"`
}

// Problem is a refusal of a container check.
type Problem struct {
	Kind    string `json:"kind"` // truncated, malformed, unsupported; unreadable when not even opened
	Code    string `json:"code"`
	Offset  int64  `json:"offset"`
	Message string `json:"message"`
}

// Mismatch is one expectation and what was found instead, both as text.
type Mismatch struct {
	Field    string `json:"field"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// Output is what was delivered for one declared placeholder.
type Output struct {
	Placeholder string   `json:"placeholder"`
	State       string   `json:"state"`             // present, absent
	Reasons     []string `json:"reasons,omitempty"` // in the order of Reasons
	Files       []File   `json:"files"`
}

// Usage is what the kernel reports of a finished child, descendants included
// where it waited for them. MaxRSSKiB is left out when it could be the parent's
// own peak.
type Usage struct {
	UserUS    uint64 `json:"user_us"`
	SystemUS  uint64 `json:"system_us"`
	MaxRSSKiB uint64 `json:"max_rss_kib,omitempty"`
}

// Invocation is one process as it went, of a sample or of setup.
type Invocation struct {
	// StartedUnixMS is the wall clock just before the start; shown, never
	// subtracted.
	StartedUnixMS int64 `json:"started_unix_ms"`
	// EndToEndUS is CAP-20; absent when nothing was started.
	EndToEndUS *uint64 `json:"end_to_end_us,omitempty"`
	ExitCode   *int    `json:"exit_code,omitempty"`
	Signal     string  `json:"signal,omitempty"`
	SpawnError string  `json:"spawn_error,omitempty"`
	Deadline   bool    `json:"deadline_exceeded,omitempty"`
	Cancelled  bool    `json:"cancelled,omitempty"`
	// SuspendedUS is boot-time less monotonic time across it (PLN-46).
	SuspendedUS uint64 `json:"suspended_us,omitempty"`
	Usage       *Usage `json:"usage,omitempty"`
	Stdout      Stream `json:"stdout"`
	Stderr      Stream `json:"stderr"`
}

// Run is run.json: one sample as it went (CAP-28). Setup's record, setup/run.json,
// has neither Sample nor eligibility.
type Run struct {
	Kind              string         `json:"kind"` // media-run
	Version           int            `json:"version"`
	ReceiptSHA256     string         `json:"receipt_sha256"`
	ReservationSHA256 string         `json:"reservation_sha256"`
	Sample            *PlannedSample `json:"sample,omitempty"`
	Invocation        Invocation     `json:"invocation"`
	Outputs           []Output       `json:"outputs"`
	Reasons           []string       `json:"reasons"` // in the order of Reasons; empty when eligible
	Eligible          bool           `json:"eligible"`
}

// EvidenceFile is one file that a completion lists.
type EvidenceFile struct {
	Path   string `json:"path"` // slash separated, relative to the capture directory
	Bytes  uint64 `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Completion closes a capture (CAP-32). EvidenceSHA256 is over the typed
// serialization without that field.
type Completion struct {
	Kind           string         `json:"kind"` // media-completion
	Version        int            `json:"version"`
	ReceiptSHA256  string         `json:"receipt_sha256"`
	Status         string         `json:"status"`
	FinishedUnixMS int64          `json:"finished_unix_ms"`
	ElapsedMS      uint64         `json:"elapsed_ms"` // rounded up
	SuspendedUS    uint64         `json:"suspended_us,omitempty"`
	Unstarted      []int          `json:"unstarted"` // sample indices without a run directory
	Files          []EvidenceFile `json:"files"`     // sorted by path, the completion itself left out
	EvidenceSHA256 string         `json:"evidence_sha256,omitempty"`
}
