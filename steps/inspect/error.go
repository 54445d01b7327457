package inspect

import (
	"errors"
	"fmt"
)

// Codes of Error.
const (
	CodeIncomplete        = "evidence_incomplete"  // no completion record (CAP-34, INS-08)
	CodeMissing           = "evidence_missing"     // a file that has to be there is not
	CodeUnexpected        = "evidence_unexpected"  // a file that has no place in a capture
	CodeUnreadable        = "evidence_unreadable"  // not a regular file, or the system refuses it
	CodeRecordInvalid     = "record_invalid"       // not a record in canonical form
	CodeDocumentInvalid   = "document_invalid"     // a document that breaks its rules
	CodeDigestMismatch    = "digest_mismatch"      // bytes other than those recorded
	CodeForeignRecord     = "foreign_record"       // bound to another capture's receipt
	CodePlanMismatch      = "plan_mismatch"        // not what the documents compile to
	CodeInvocation        = "invocation_mismatch"  // an impossible or inconsistent outcome
	CodeOutputMismatch    = "output_mismatch"      // outputs judged anew differ
	CodeReasonsMismatch   = "reasons_mismatch"     // reasons or eligibility derived anew differ
	CodeStatusMismatch    = "status_mismatch"      // status or unstarted samples do not follow from the runs
	CodeClockInconsistent = "clock_inconsistent"   // INS-09 to INS-12
	CodeNotADirectory     = "capture_not_readable" // the directory itself
)

// Error says what of the evidence does not verify. File is slash separated and
// relative to the capture directory; it is the file that is wrong, as far as one
// file can be told from what binds it.
type Error struct {
	File string
	Code string
	Err  error
}

func (e *Error) Error() string {
	if e.File == "" {
		return fmt.Sprintf("capture does not verify: %s: %v", e.Code, e.Err)
	}
	return fmt.Sprintf("capture does not verify: %s: %s: %v", e.File, e.Code, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

func wrong(file, code, format string, args ...any) error {
	return &Error{file, code, fmt.Errorf(format, args...)}
}

// AsError gives the Error in err's chain.
func AsError(err error) (*Error, bool) {
	var found *Error
	ok := errors.As(err, &found)
	return found, ok
}
