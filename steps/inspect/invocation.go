package inspect

import (
	"errors"
	"fmt"

	"github.com/grill-plan/grill-plan/steps/evidence"
)

// checkInvocation checks that a recorded outcome is one that can have happened,
// that a process record exists exactly when something was started, and the
// retained streams.
func (v *verifier) checkInvocation(planned invocation, name string, went evidence.Invocation) error {
	if err := possible(went, planned.deadlineMS); err != nil {
		return &Error{name, CodeInvocation, err}
	}
	process := within(planned.dir, evidence.ProcessFile)
	if _, listed := v.listed[process]; listed || went.EndToEndUS != nil {
		started, _, err := record[evidence.Process](v, process)
		if err != nil {
			return err
		}
		if err := v.bound(process, started.ReceiptSHA256); err != nil {
			return err
		}
		if went.EndToEndUS == nil {
			return wrong(process, CodeUnexpected, "nothing was started")
		}
	}
	limits := v.result.Workload.Limits
	if err := v.checkStream(name, within(planned.dir, evidence.StdoutFile), went.Stdout, limits.StdoutBytes); err != nil {
		return err
	}
	return v.checkStream(name, within(planned.dir, evidence.StderrFile), went.Stderr, limits.StderrBytes)
}

// checkStream is CAP-25: the first bytes up to the limit are retained, and what
// is more is counted and dropped.
func (v *verifier) checkStream(record, name string, stream evidence.Stream, limit uint64) error {
	file, err := v.hash(name)
	if err != nil {
		return err
	}
	if stream.SHA256 != file.SHA256 || stream.Retained != file.Bytes {
		return wrong(record, CodeDigestMismatch, "it says other bytes of %s than are retained (INS-04)", name)
	}
	if stream.Retained != min(stream.Bytes, limit) || stream.Truncated != (stream.Bytes > stream.Retained) {
		return wrong(record, CodeInvocation, "what it says of %s does not fit the limit of %d bytes (CAP-25)", name, limit)
	}
	return nil
}

// possible holds the ways in which an invocation can end: not started, for want
// of a program or because of a cancellation, or started and ended by exit or by
// signal.
func possible(went evidence.Invocation, deadlineMS uint64) error {
	ended := went.ExitCode != nil || went.Signal != ""
	if went.EndToEndUS == nil {
		switch {
		case ended || went.Deadline || went.Usage != nil || went.SuspendedUS != 0:
			return errors.New("it says how a process ended that has no duration")
		case (went.SpawnError != "") == went.Cancelled:
			return errors.New("it says neither why nothing was started nor how long it ran")
		}
		return nil
	}
	switch {
	case went.SpawnError != "":
		return errors.New("it has a duration although nothing could be started")
	case went.ExitCode != nil && went.Signal != "" || !ended:
		return errors.New("a process ends either by exit or by signal")
	case went.Cancelled && went.Signal == "":
		return errors.New("a cancelled process ends by signal")
	}
	// Durations are rounded down, so only at equality can both be true (CAP-21).
	const perMS = 1000
	ms, rest := *went.EndToEndUS/perMS, *went.EndToEndUS%perMS
	switch {
	case (ms > deadlineMS || ms == deadlineMS && rest > 0) && !went.Deadline && !went.Cancelled:
		return fmt.Errorf("it ran for longer than its deadline of %d ms and does not say so", deadlineMS)
	case went.Deadline && ms < deadlineMS:
		return fmt.Errorf("it says that it exceeded its deadline of %d ms, and did not run that long", deadlineMS)
	}
	return nil
}
