package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/grill-plan/grill-plan/executor/digest"
	"github.com/grill-plan/grill-plan/internal/durable"
)

// State is how an attempt ended.
type State string

const (
	Done        State = "done"
	Failed      State = "failed"
	Interrupted State = "interrupted"
)

const (
	recordKind    = "grill-plan-checkpoint"
	recordVersion = 1
	leaseKind     = "grill-plan-lease"
)

// Input is what an attempt was made from. It stands in the lease and in the
// checkpoint, so that a reason can be told later (PLN-15) and an attempt whose
// process died can be closed without the plan of its time (PLN-22).
type Input struct {
	Scheme int             `json:"scheme"`
	Digest string          `json:"digest"`
	Spec   json.RawMessage `json:"spec"`
	Needs  []digest.Entry  `json:"needs"`
}

// Record is a checkpoint: how one attempt of a node ended.
type Record struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
	Address string `json:"address"`
	Attempt int    `json:"attempt"`
	State   State  `json:"state"`
	Input   Input  `json:"input"`
	// Output, Outcome, Stop, Facts and Files are those of a finished attempt.
	Output  string          `json:"output,omitempty"`
	Outcome string          `json:"outcome,omitempty"`
	Stop    string          `json:"stop,omitempty"` // early stop of the group
	Facts   json.RawMessage `json:"facts,omitempty"`
	Files   []File          `json:"files"`
	Error   *Problem        `json:"error,omitempty"`
	// TakenOver: published for a process that died after its work was whole.
	TakenOver bool      `json:"taken_over,omitempty"`
	Token     string    `json:"token,omitempty"` // of the lease
	Started   time.Time `json:"started"`
	Finished  time.Time `json:"finished"`
	// Check is the SHA-256 of this record's bytes with Check empty. It finds
	// damage; it proves nothing about who wrote it.
	Check string `json:"check"`
}

// Problem is why an attempt did not finish.
type Problem struct {
	Code    string `json:"code"` // lower_snake_case
	Message string `json:"message"`
}

// longestMessage bounds what one error may put into a record.
const longestMessage = 4096

// NewProblem bounds a message.
func NewProblem(code, message string) *Problem {
	if len(message) > longestMessage {
		message = message[:longestMessage] + " …"
	}
	return &Problem{Code: valid(code), Message: valid(message)}
}

func (p *Problem) Error() string { return p.Code + ": " + p.Message }

// Publish makes a record the end of its attempt. It never replaces: if somebody
// else published first the error wraps fs.ErrExist and this result is void.
func (r *Run) Publish(record *Record) error {
	record.Kind, record.Version = recordKind, recordVersion
	record.Started, record.Finished = record.Started.UTC(), record.Finished.UTC()
	record.Outcome, record.Stop = valid(record.Outcome), valid(record.Stop)
	if record.Files == nil {
		record.Files = []File{}
	}
	if record.Input.Needs == nil {
		record.Input.Needs = []digest.Entry{}
	}
	data, err := seal(record)
	if err != nil {
		return fmt.Errorf("checkpoint of %s: %w", record.Address, err)
	}
	path := r.AttemptDir(record.Address, record.Attempt) + checkpointSuffix
	if err := durable.Publish(path, data); err != nil {
		return fmt.Errorf("checkpoint of %s: %w", record.Address, err)
	}
	return nil
}

// valid replaces what is not UTF-8, which JSON would write in two spellings.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

func seal(record *Record) ([]byte, error) {
	record.Check = ""
	data, err := encode(record)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	record.Check = hex.EncodeToString(sum[:])
	return encode(record)
}

// parseRecord reads a checkpoint strictly: decoded, checked and written again it
// has to give the same bytes. The error is the reason why it counts as missing.
func parseRecord(data []byte, address string, attempt int) (*Record, error) {
	if len(data) == 0 {
		return nil, errors.New("it is empty")
	}
	var record Record
	if err := json.Unmarshal(data, &record); err != nil {
		return nil, fmt.Errorf("it is torn or damaged: %w", err)
	}
	switch {
	case record.Kind != recordKind:
		return nil, fmt.Errorf("its kind is %q", record.Kind)
	case record.Version > recordVersion:
		return nil, fmt.Errorf("its version %d is newer than this grill-plan", record.Version)
	case record.Address != address:
		return nil, fmt.Errorf("it belongs to node %q", record.Address)
	case record.Attempt != attempt:
		return nil, fmt.Errorf("it belongs to attempt %d", record.Attempt)
	}
	check := record.Check
	again, err := seal(&record)
	if err != nil || record.Check != check || !bytes.Equal(again, data) {
		return nil, errors.New("its bytes do not match its check sum")
	}
	return &record, checkRecord(&record)
}

func checkRecord(record *Record) error {
	switch record.State {
	case Done, Failed, Interrupted:
	default:
		return fmt.Errorf("its state is %q", record.State)
	}
	if record.State == Done && (!digest.Valid(record.Input.Digest) || !digest.Valid(record.Output)) {
		return errors.New("its digests are no SHA-256")
	}
	for _, file := range record.Files {
		if path, err := file.path(); err != nil || !filepath.IsLocal(path) {
			return fmt.Errorf("it names the file %q outside its attempt", file.Path)
		}
	}
	return nil
}
