package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/grill-plan/grill-plan/internal/durable"
)

// Kinds of records, and the version of them that this program writes. A newer
// version is refused by name; older ones are read.
const (
	ReceiptKind     = "media-receipt"
	ReservationKind = "media-reservation"
	ProcessKind     = "media-process"
	RunKind         = "media-run"
	CompletionKind  = "media-completion"

	Version = 1
)

// Record is any record of a capture directory.
type Record interface {
	Receipt | Reservation | Process | Run | Completion
}

func kindOf[T Record]() string {
	var record T
	switch any(record).(type) {
	case Receipt:
		return ReceiptKind
	case Reservation:
		return ReservationKind
	case Process:
		return ProcessKind
	case Run:
		return RunKind
	}
	return CompletionKind
}

// Digest is the lowercase hexadecimal SHA-256 of bytes (DOC-14).
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Publish makes a record durable under a name that must not exist (CAP-07) and
// gives the digest of the file's bytes. An existing name gives an error that
// wraps fs.ErrExist.
func Publish[T Record](path string, record T) (string, error) {
	data, err := Marshal(record)
	if err != nil {
		return "", fmt.Errorf("publish %s: %w", path, err)
	}
	if err := durable.Publish(path, data); err != nil {
		return "", err
	}
	return Digest(data), nil
}

// Read decodes a record and demands that it is spelt exactly as Marshal spells
// it: unknown, repeated, differently cased, missing and null fields and trailing
// bytes all differ from that and are refused (INS-06).
func Read[T Record](data []byte) (T, error) {
	var record, none T
	if len(data) > MaxRecordBytes {
		return none, fmt.Errorf("record has %d bytes, more than the %d admitted", len(data), MaxRecordBytes)
	}
	if err := checkHeader(data, kindOf[T]()); err != nil {
		return none, err
	}
	if err := json.Unmarshal(data, &record); err != nil {
		return none, fmt.Errorf("record %s: %w", kindOf[T](), err)
	}
	again, err := Marshal(record)
	if err != nil {
		return none, err
	}
	if !bytes.Equal(again, data) {
		return none, fmt.Errorf("record %s is not in canonical form: it differs from what its fields serialize to at byte %d",
			kindOf[T](), firstDifference(again, data))
	}
	return record, nil
}

// checkHeader looks at kind and version before anything else, because a record
// of a newer version may hold fields that this one does not know.
func checkHeader(data []byte, kind string) error {
	var header struct {
		Kind    string `json:"kind"`
		Version int64  `json:"version"`
	}
	if err := json.Unmarshal(data, &header); err != nil {
		return fmt.Errorf("record %s: %w", kind, err)
	}
	switch {
	case header.Kind != kind:
		return fmt.Errorf("record is of kind %.64q, not %q", header.Kind, kind)
	case header.Version > Version:
		return fmt.Errorf("record %s has version %d; this grill-plan reads up to version %d: use a newer one", kind, header.Version, Version)
	case header.Version < 1:
		return fmt.Errorf("record %s has version %d; the first version is 1", kind, header.Version)
	}
	return nil
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// ReadFile reads a record from a regular file, not following a link, and gives
// the digest of its bytes.
func ReadFile[T Record](path string) (record T, digest string, err error) {
	data, err := ReadBytes(path, MaxRecordBytes)
	if err != nil {
		return record, "", err
	}
	if record, err = Read[T](data); err != nil {
		return record, "", fmt.Errorf("read %s: %w", path, err)
	}
	return record, Digest(data), nil
}

// ReadBytes reads a regular file of at most limit bytes without following a
// link and without blocking on what is not a file.
func ReadBytes(path string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("read evidence: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read evidence: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("read %s: more than %d bytes", path, limit)
	}
	return data, nil
}

// Seal computes the evidence digest of a completion: SHA-256 over its typed
// serialization without that field (CAP-32, INS-05).
func Seal(completion Completion) (string, error) {
	completion.EvidenceSHA256 = ""
	data, err := serialize(completion)
	if err != nil {
		return "", err
	}
	return Digest(data), nil
}

// CheckSeal recomputes the evidence digest and compares.
func CheckSeal(completion Completion) error {
	if completion.EvidenceSHA256 == "" {
		return errors.New("completion has no evidence digest")
	}
	digest, err := Seal(completion)
	if err != nil {
		return err
	}
	if digest != completion.EvidenceSHA256 {
		return errors.New("completion does not match its evidence digest: the record was changed")
	}
	return nil
}
