// Package capture carries out one slot: it admits the documents, opens a capture
// directory, runs setup and every sample in plan order, and closes the directory
// with a completion record.
//
// It owns the order of things and the ledger of evidence files. How a program is
// run is the business of steps/process, what it delivered that of steps/output.
// Invariants: at most one program is alive at any time (CAP-18); every record is
// durable before the next program starts; what fails in a sample is data and
// stops nothing (CAP-24), what fails in storing evidence stops the capture
// without a completion record (CAP-08, CAP-34).
package capture

import (
	"fmt"
	"time"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/process"
)

// Request is one capture to make.
type Request struct {
	Names Names // of the documents, for messages
	// The exact bytes admitted (CAP-05).
	Workload   []byte
	Runner     []byte
	Deployment []byte
	Slot       string
	// Dir is the capture directory. With CreateDir it must not exist and its
	// parent must (CAP-03); without, it exists and is empty.
	Dir       string
	CreateDir bool
	// Folder is what relative paths of the documents resolve against and where
	// children without a cwd run (PLN-39).
	Folder string
	// Self is the path of the running executable, for programs named self:.
	Self      string
	Collector evidence.Collector
	// Secrets holds the values of env_secret by name. They reach the children
	// and nothing else (PLN-07).
	Secrets map[string]string
	// Expect holds what a preflight found the programs to be; other bytes fail
	// the capture before anything is started (PLN-40).
	Expect *Programs
	// SetupEnded is told how the setup ended, once, if one is declared.
	SetupEnded func(error)
	// Progress is told of each step, with no prompt and no value of an
	// environment variable (PRV-05).
	Progress func(done, total int, text string)
	// Clock is replaced by tests; the zero value is this machine's.
	Clock Clock
}

// Names are what messages call the documents.
type Names struct{ Workload, Runner, Deployment string }

// Programs are SHA-256 of resolved programs; Setup is empty without a setup.
type Programs struct{ Program, Setup string }

// Outcome is what a capture came to.
type Outcome struct {
	Status        string           `json:"status"` // complete, setup_failed, cancelled
	ReceiptSHA256 string           `json:"receipt_sha256"`
	CompletionSHA string           `json:"completion_sha256"`
	Setup         []string         `json:"setup_reasons,omitempty"` // why setup failed
	Samples       Counts           `json:"samples"`
	Failed        []FailedSample   `json:"failed,omitempty"`
	Host          evidence.Host    `json:"-"`
	Program       evidence.Program `json:"-"`
}

// Counts sums samples up. Planned is Eligible, Ineligible and Unstarted together.
type Counts struct {
	Planned    int `json:"planned"`
	Eligible   int `json:"eligible"`
	Ineligible int `json:"ineligible"`
	Unstarted  int `json:"unstarted"`
}

// FailedSample is a sample that is not eligible, and why (CAP-33).
type FailedSample struct {
	Index   int      `json:"index"`
	Cell    string   `json:"cell"`
	Phase   string   `json:"phase"`
	Reasons []string `json:"reasons"`
}

func (o *Outcome) count(run evidence.Run) {
	if run.Eligible {
		o.Samples.Eligible++
		return
	}
	o.Samples.Ineligible++
	o.Failed = append(o.Failed, FailedSample{run.Sample.Index, run.Sample.Cell, run.Sample.Phase, run.Reasons})
}

// Clock is where a capture reads time from. Nil members mean this machine's.
type Clock struct {
	Wall      func() time.Time
	Monotonic func() time.Duration
	Suspended func() time.Duration
}

func (c Clock) orMachine() Clock {
	if c.Wall == nil {
		c.Wall = time.Now
	}
	if c.Monotonic == nil {
		start := time.Now()
		c.Monotonic = func() time.Duration { return time.Since(start) }
	}
	if c.Suspended == nil {
		c.Suspended = process.Suspended
	}
	return c
}

// Error is a failure with a stable reason code.
type Error struct {
	Code string
	Err  error
}

func (e *Error) Error() string { return e.Code + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Codes of failures before anything is started. What is wrong with documents is
// a Rejected.
const (
	ProgramChanged   = "program_changed"     // PLN-40
	DirectoryExists  = "directory_exists"    // CAP-03
	NotInThisVersion = "not_in_this_version" // what later versions carry out
	EvidenceFailed   = "evidence_failed"     // CAP-08
)

// Rejected says which rules the documents violate; nothing was created or
// started (DOC-15).
type Rejected struct{ Problems []document.Problem }

func (r *Rejected) Error() string {
	if len(r.Problems) == 1 {
		return r.Problems[0].Document + ": " + r.Problems[0].Path + ": " + r.Problems[0].Message
	}
	return fmt.Sprintf("%d violations of document rules", len(r.Problems))
}
