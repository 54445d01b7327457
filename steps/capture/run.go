package capture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/grill-plan/grill-plan/internal/durable"
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/output"
	"github.com/grill-plan/grill-plan/steps/process"
)

// session is one capture under way.
type session struct {
	request Request
	plan    *admitted
	ledger  *ledger
	clock   Clock
	host    evidence.Host
	receipt string // its digest, which every later record carries (INS-03)

	started   time.Time
	monotonic time.Duration
	suspended time.Duration
	outcome   Outcome
	unstarted []int
}

// Run makes the capture. With a cancelled ctx the running sample ends, the rest
// is recorded as unstarted and the outcome is cancelled, without an error
// (CAP-22). Errors: *Rejected and *Error before anything was created; later ones
// are *Error with EvidenceFailed and leave no completion record.
func Run(ctx context.Context, request Request) (Outcome, error) {
	if err := process.Supported(runtime.GOOS); err != nil {
		return Outcome{}, err
	}
	plan, err := admit(ctx, request)
	if err != nil {
		return Outcome{}, err
	}
	if request.Dir, err = filepath.Abs(request.Dir); err != nil {
		return Outcome{}, fmt.Errorf("capture directory: %w", err)
	}
	clock := request.Clock.orMachine()
	s := &session{request: request, plan: plan, ledger: &ledger{root: request.Dir}, clock: clock, host: process.Host(),
		started: clock.Wall(), monotonic: clock.Monotonic(), suspended: clock.Suspended(), unstarted: []int{}}
	if err := s.open(); err != nil {
		return Outcome{}, err
	}
	if err := s.carryOut(ctx); err != nil {
		return Outcome{}, &Error{EvidenceFailed, fmt.Errorf("the capture stopped and %s is not complete: %w", request.Dir, err)}
	}
	return s.outcome, nil
}

// open makes the directory, which must be this capture's alone (CAP-03).
func (s *session) open() error {
	dir := s.request.Dir
	if !s.request.CreateDir {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("capture directory: %w", err)
		}
		if len(entries) > 0 {
			return &Error{DirectoryExists, fmt.Errorf("capture directory %s is not empty", dir)}
		}
		return nil
	}
	err := os.Mkdir(dir, durable.DirMode)
	if errors.Is(err, os.ErrExist) {
		return &Error{DirectoryExists, fmt.Errorf("%s exists: name a directory that does not, its parent must exist", dir)}
	}
	if err != nil {
		return fmt.Errorf("create capture directory: %w", err)
	}
	return durable.SyncDir(filepath.Dir(dir))
}

func (s *session) carryOut(ctx context.Context) error {
	if err := s.publishReceipt(); err != nil {
		return err
	}
	s.outcome.Status = evidence.Complete
	if err := s.setup(ctx); err != nil {
		return err
	}
	for i := range s.plan.samples {
		if s.outcome.Status != evidence.Complete || ctx.Err() != nil {
			s.leaveOut(i)
			continue
		}
		if err := s.sample(ctx, i); err != nil {
			return err
		}
	}
	return s.complete()
}

// leaveOut records a sample as unstarted. Only a cancellation leaves samples out
// of a setup that did not fail.
func (s *session) leaveOut(index int) {
	if s.outcome.Status == evidence.Complete {
		s.outcome.Status = evidence.Cancelled
	}
	s.unstarted = append(s.unstarted, index)
	s.outcome.Samples.Unstarted++
}

// publishReceipt stores the documents and then the receipt, before any program is
// started (CAP-05).
func (s *session) publishReceipt() error {
	for _, each := range []struct {
		name string
		data []byte
	}{
		{evidence.WorkloadFile, s.request.Workload},
		{evidence.RunnerFile, s.request.Runner},
		{evidence.DeploymentFile, s.request.Deployment},
	} {
		if _, err := s.ledger.store(each.name, each.data); err != nil {
			return err
		}
	}
	record := s.plan.receipt
	record.Kind, record.Version = evidence.ReceiptKind, evidence.Version
	record.Collector, record.Host = s.request.Collector, s.host
	record.StartedUnixMS = s.started.UnixMilli()
	record.Root, record.Folder = s.request.Dir, s.request.Folder
	digest, err := publish(s.ledger, evidence.ReceiptFile, record)
	s.receipt = digest
	s.outcome.ReceiptSHA256, s.outcome.Host, s.outcome.Program = digest, s.host, record.Program
	s.outcome.Samples.Planned = len(s.plan.samples)
	return err
}

// setup runs once, before the first sample, if it is declared (SET-01). It is
// never retried (SET-08).
func (s *session) setup(ctx context.Context) error {
	declared := s.plan.runner.Setup
	if declared == nil {
		return nil
	}
	if ctx.Err() != nil {
		s.outcome.Status = evidence.Cancelled
		s.setupEnded([]string{evidence.Unstarted})
		return nil
	}
	s.progress(0, "setup")
	args, err := s.plan.setupArgs(s.request.Dir)
	if err != nil {
		return err
	}
	outputs := output.ForSample(s.plan.workload, "")
	outputs.Outputs = output.Used(s.plan.workload.Outputs, declared.Args)
	run, err := s.invoke(ctx, invocation{
		dir:         evidence.SetupDir,
		reservation: evidence.Reservation{Setup: s.plan.receipt.Setup},
		executable:  s.plan.setup,
		args:        args,
		deadline:    s.plan.receipt.Setup.DeadlineMS,
		outputs:     outputs,
	})
	if err != nil {
		return err
	}
	switch {
	case run.Invocation.Cancelled:
		s.outcome.Status = evidence.Cancelled
	case len(run.Reasons) > 0:
		s.outcome.Status = evidence.SetupFailed
	}
	s.outcome.Setup = run.Reasons
	s.setupEnded(run.Reasons)
	return nil
}

func (s *session) setupEnded(reasons []string) {
	if s.request.SetupEnded == nil {
		return
	}
	if len(reasons) == 0 {
		s.request.SetupEnded(nil)
		return
	}
	s.request.SetupEnded(&Error{evidence.SetupFailed, fmt.Errorf("setup ended with %v: see %s", reasons, filepath.Join(s.request.Dir, evidence.SetupDir))})
}

// sample runs one sample and the pause after it. What fails in it is recorded
// and stops nothing (CAP-24).
func (s *session) sample(ctx context.Context, index int) error {
	sample, planned := s.plan.samples[index], s.plan.receipt.Samples[index]
	s.progress(index, fmt.Sprintf("sample %d of %d, cell %s, %s", index+1, len(s.plan.samples), sample.Cell, sample.Phase))
	args, err := s.plan.sampleArgs(sample, s.request.Dir)
	if err != nil {
		return err
	}
	run, err := s.invoke(ctx, invocation{
		dir:         document.RunDirName(index),
		reservation: evidence.Reservation{Sample: &planned},
		executable:  s.plan.executable,
		args:        args,
		deadline:    s.plan.workload.Limits.RunDeadlineMS,
		outputs:     output.ForSample(s.plan.workload, sample.Cell),
	})
	if err != nil {
		return err
	}
	if run.Invocation.Cancelled {
		s.outcome.Status = evidence.Cancelled
	}
	s.outcome.count(run)
	s.progress(index+1, settled(index+1, len(s.plan.samples), run))
	pause(ctx, milliseconds(sample.PauseMS))
	return nil
}

// pause waits after every run, the last included (CAP-19); cancellation ends it
// at once (CAP-22).
func pause(ctx context.Context, length time.Duration) {
	if length <= 0 {
		return
	}
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// complete closes the capture (CAP-32). The elapsed time is rounded up, so that
// the durations of the programs fit into it.
func (s *session) complete() error {
	record := evidence.Completion{
		Kind: evidence.CompletionKind, Version: evidence.Version,
		ReceiptSHA256:  s.receipt,
		Status:         s.outcome.Status,
		FinishedUnixMS: s.clock.Wall().UnixMilli(),
		ElapsedMS:      roundUp(s.clock.Monotonic() - s.monotonic),
		SuspendedUS:    process.SuspendedUS(s.clock.Suspended() - s.suspended),
		Unstarted:      s.unstarted,
		Files:          s.ledger.sorted(),
	}
	var err error
	if record.EvidenceSHA256, err = evidence.Seal(record); err != nil {
		return err
	}
	s.outcome.CompletionSHA, err = publish(s.ledger, evidence.CompletionFile, record)
	return err
}

func (s *session) progress(done int, text string) {
	if s.request.Progress != nil {
		s.request.Progress(done, len(s.plan.samples), text)
	}
}

func roundUp(elapsed time.Duration) uint64 {
	return uint64((elapsed + time.Millisecond - 1) / time.Millisecond)
}

// settled says how a sample ended: done, or why it does not count, with what was
// found where a check expected something else.
func settled(number, of int, run evidence.Run) string {
	if run.Eligible {
		return fmt.Sprintf("sample %d of %d done", number, of)
	}
	text := fmt.Sprintf("sample %d of %d is ineligible: %s", number, of, strings.Join(run.Reasons, ", "))
	for _, delivered := range run.Outputs {
		for _, file := range delivered.Files {
			for _, mismatch := range file.Mismatches {
				text += fmt.Sprintf("; %s is %s and not %s", mismatch.Field, mismatch.Found, mismatch.Expected)
			}
			if file.Problem != nil {
				text += "; " + file.Problem.Message
			}
		}
	}
	return text
}
