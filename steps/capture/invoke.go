package capture

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"time"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/output"
	"github.com/grill-plan/grill-plan/steps/process"
)

// invocation is one program to run in a run directory, of a sample or of setup.
type invocation struct {
	dir         string // slash separated name within the capture
	reservation evidence.Reservation
	executable  string
	args        []string // as executed, with absolute paths (CAP-27)
	deadline    uint64   // milliseconds
	outputs     output.Request
}

// invoke reserves, runs, collects and records. Nothing is started before the
// reservation is durable (CAP-26); outputs are read when the group is dead
// (CAP-16). The record is written also when ctx was cancelled meanwhile.
func (s *session) invoke(ctx context.Context, do invocation) (evidence.Run, error) {
	path, err := s.ledger.directory(do.dir)
	if err != nil {
		return evidence.Run{}, err
	}
	if err := output.Prepare(path, do.outputs.Outputs); err != nil {
		return evidence.Run{}, err
	}
	reserved, token, err := s.reserve(do)
	if err != nil {
		return evidence.Run{}, err
	}
	went, err := process.Run(ctx, s.command(do, path, token))
	if err != nil {
		return evidence.Run{}, err
	}
	for name, stream := range map[string]evidence.Stream{evidence.StdoutFile: went.Stdout, evidence.StderrFile: went.Stderr} {
		s.ledger.note(do.dir+"/"+name, stream.Retained, stream.SHA256)
	}
	return s.record(context.WithoutCancel(ctx), do, path, reserved, went)
}

func (s *session) reserve(do invocation) (digest, token string, err error) {
	token = rand.Text()
	record := do.reservation
	record.Kind, record.Version = evidence.ReservationKind, evidence.Version
	record.ReceiptSHA256 = s.receipt
	record.BootID, record.PIDNamespace, record.Token = s.host.BootID, process.Namespace(), token
	digest, err = publish(s.ledger, do.dir+"/"+evidence.ReservationFile, record)
	return digest, token, err
}

func (s *session) command(do invocation, path, token string) process.Command {
	limits := s.plan.workload.Limits
	return process.Command{
		Path:     do.executable,
		Args:     do.args,
		Env:      process.Environment(os.Environ(), s.plan.environment, token),
		Dir:      s.plan.cwd,
		Deadline: milliseconds(do.deadline),
		Stdout:   process.Stream{Path: filepath.Join(path, evidence.StdoutFile), Limit: limits.StdoutBytes},
		Stderr:   process.Stream{Path: filepath.Join(path, evidence.StderrFile), Limit: limits.StderrBytes},
		Started: func(started process.Started) error {
			_, err := publish(s.ledger, do.dir+"/"+evidence.ProcessFile, evidence.Process{
				Kind: evidence.ProcessKind, Version: evidence.Version, ReceiptSHA256: s.receipt,
				PID: started.PID, Group: started.Group, StartTime: started.StartTime,
			})
			return err
		},
	}
}

func (s *session) record(ctx context.Context, do invocation, path, reserved string, went evidence.Invocation) (evidence.Run, error) {
	outputs, err := output.Collect(ctx, path, do.outputs)
	if err != nil {
		return evidence.Run{}, err
	}
	if err := s.ledger.keepOutputs(do.dir, outputs); err != nil {
		return evidence.Run{}, err
	}
	reasons := evidence.SampleReasons(went, outputs)
	run := evidence.Run{
		Kind: evidence.RunKind, Version: evidence.Version,
		ReceiptSHA256: s.receipt, ReservationSHA256: reserved,
		Sample:     do.reservation.Sample,
		Invocation: went,
		Outputs:    outputs,
		Reasons:    reasons,
		Eligible:   do.reservation.Sample != nil && len(reasons) == 0,
	}
	_, err = publish(s.ledger, do.dir+"/"+evidence.RunFile, run)
	return run, err
}

// milliseconds turns a limit of a document, which may have 64 bits, into a
// duration.
func milliseconds(limit uint64) time.Duration {
	const most = uint64(1<<63-1) / uint64(time.Millisecond)
	return time.Duration(min(limit, most)) * time.Millisecond
}

// environment is what a runner declares, with the values of its secrets.
func environment(runner *document.Runner, secrets map[string]string) []document.EnvVar {
	variables := append([]document.EnvVar{}, runner.Env...)
	for _, name := range runner.EnvSecret {
		variables = append(variables, document.EnvVar{Name: name, Value: secrets[name]})
	}
	return variables
}
