package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// Codes of failures that are the executor's own.
const (
	CodeFailed           = "node_failed" // the Runner gave no code
	CodeInterrupted      = "interrupted"
	CodeCheckpointFailed = "checkpoint_failed"
	CodeAttemptFailed    = "attempt_failed" // it could not be begun
	CodeAttemptLost      = "attempt_lost"   // another process ended it first
	CodeRecoverFailed    = "recover_failed"
	CodePlaceFailed      = "place_failed"
	CodeWithinFailed     = "within_failed"
)

// job is one attempt to be made.
type job struct {
	node    *graph.Node
	attempt int
	input   checkpoint.Input
	needs   map[string]Input
	within  []withinJob
}

// withinJob is a world node carried out within the job's attempt.
type withinJob struct {
	node  *graph.Node
	input checkpoint.Input
}

// bench is where jobs are done: the same for the executor's own process and for
// [RunNode].
type bench struct {
	run      *checkpoint.Run
	runner   Runner
	holder   checkpoint.Holder
	locked   bool
	now      func() time.Time
	progress func(address string, progress Progress)
}

// ended is how a job ended.
type ended struct {
	record *checkpoint.Record // nil when none could be published
	err    error              // nil when done
	within map[string]*checkpoint.Record
}

// do makes one attempt: lease, work, outputs made durable, checkpoint.
func (b *bench) do(ctx context.Context, job *job) ended {
	lease, err := b.run.Begin(job.node.Address, job.attempt, job.input, checkpoint.BeginOptions{
		Holder: b.holder, Locked: b.locked, Durable: job.node.Effect == graph.Measurement, Now: b.now(),
	})
	if err != nil && job.node.Finally {
		err = errors.Join(fmt.Errorf("it was done and could not be recorded: %w", err), b.unrecorded(ctx, job))
	}
	if err != nil {
		return ended{err: &Failure{Code: CodeAttemptFailed, Err: err}}
	}
	within := &withinLog{bench: b, job: job, records: map[string]*checkpoint.Record{}}
	result, err := b.runner.Run(ctx, b.work(job, within))
	record := &checkpoint.Record{
		Address: job.node.Address, Attempt: job.attempt, State: checkpoint.Done, Input: job.input,
		Token: lease.Token, Started: lease.Began,
	}
	if err == nil {
		err = within.problem()
	}
	switch {
	case err != nil && ctx.Err() != nil:
		record.State, record.Error = checkpoint.Interrupted, checkpoint.NewProblem(CodeInterrupted, err.Error())
	case err != nil:
		record.State, record.Error = checkpoint.Failed, problemOf(err)
	}
	if publishErr := b.publish(context.WithoutCancel(ctx), record, result); publishErr != nil {
		return ended{err: publishErr, within: within.records}
	}
	return ended{record: record, err: err, within: within.records}
}

func (b *bench) work(job *job, within *withinLog) Work {
	return Work{
		Node: job.node, Attempt: job.attempt, RunDir: b.run.Dir, Needs: job.needs,
		Dir:    b.run.AttemptDir(job.node.Address, job.attempt),
		Within: within.ended,
		Progress: func(progress Progress) {
			if b.progress != nil {
				b.progress(job.node.Address, progress)
			}
		},
	}
}

// publish makes the files of an attempt durable and then its checkpoint. If
// that fails a finished node fails with it (PLN-19).
func (b *bench) publish(ctx context.Context, record *checkpoint.Record, result Result) error {
	files, err := checkpoint.ListFiles(ctx, b.run.AttemptDir(record.Address, record.Attempt), readable(record, result))
	if err != nil && record.State == checkpoint.Done {
		record.State, record.Error = checkpoint.Failed, checkpoint.NewProblem(CodeCheckpointFailed, err.Error())
		result = Result{}
	}
	record.Files = files
	if record.State == checkpoint.Done {
		record.Output, record.Outcome, record.Stop, record.Facts = result.OutputDigest, result.Outcome, result.StopGroup, compact(result.Facts)
		if record.Output == "" {
			record.Output = checkpoint.OutputDigest(files)
		}
	}
	record.Finished = b.now()
	publishErr := b.run.Publish(record)
	switch {
	case errors.Is(publishErr, fs.ErrExist):
		return &Failure{Code: CodeAttemptLost, Err: fmt.Errorf("another process ended attempt %d first; this result is void: %w", record.Attempt, publishErr)}
	case publishErr != nil:
		return &Failure{Code: CodeCheckpointFailed, Err: publishErr}
	case record.Error != nil && record.Error.Code == CodeCheckpointFailed:
		return &Failure{Code: CodeCheckpointFailed, Err: err}
	}
	return nil
}

// readable says which files of an attempt are hashed: all of a finished one but
// those that its work found too large, and none of one that did not finish, which
// nothing is ever keyed on.
func readable(record *checkpoint.Record, result Result) func(string) bool {
	if record.State != checkpoint.Done {
		return func(string) bool { return false }
	}
	return func(path string) bool { return !slices.Contains(result.Unread, path) }
}

// unrecorded does a Finally node's work although its attempt cannot be recorded,
// on a full disk perhaps: a host left switched is worse than a lost record. What
// it prints is thrown away.
func (b *bench) unrecorded(ctx context.Context, job *job) error {
	dir, err := os.MkdirTemp("", "grill-plan-restore-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	work := b.work(job, &withinLog{bench: b, job: job, records: map[string]*checkpoint.Record{}})
	work.Dir = dir
	_, err = b.runner.Run(ctx, work)
	return err
}

// compact drops facts that are no JSON rather than lose the checkpoint.
func compact(facts json.RawMessage) json.RawMessage {
	if len(facts) == 0 || !json.Valid(facts) {
		return nil
	}
	return facts
}

func problemOf(err error) *checkpoint.Problem {
	message := err.Error()
	if failure := (*Failure)(nil); errors.As(err, &failure) && message == failure.Error() {
		message = failure.Err.Error() // the code stands beside it
	}
	return checkpoint.NewProblem(codeOf(err), message)
}

// codeOf is the reason code of an error, the outermost if there are several.
func codeOf(err error) string {
	var failure *Failure
	if errors.As(err, &failure) {
		return failure.Code
	}
	var problem *checkpoint.Problem
	if errors.As(err, &problem) {
		return problem.Code
	}
	return CodeFailed
}

// withinLog publishes the checkpoints of nodes carried out within another.
type withinLog struct {
	bench   *bench
	job     *job
	records map[string]*checkpoint.Record
	failed  error
}

// ended is Work.Within. It is called from the Runner's own goroutine.
func (l *withinLog) ended(address string, err error) {
	for _, within := range l.job.within {
		if within.node.Address != address || l.records[address] != nil {
			continue
		}
		now := l.bench.now()
		record := &checkpoint.Record{
			Address: address, Attempt: l.job.attempt, State: checkpoint.Done, Input: within.input,
			Output: checkpoint.OutputDigest(nil), Started: now, Finished: now,
		}
		if err != nil {
			record.State, record.Output, record.Error = checkpoint.Failed, "", problemOf(err)
		}
		publishErr := l.bench.run.Publish(record)
		if publishErr != nil && !errors.Is(publishErr, fs.ErrExist) {
			l.failed = publishErr
		}
		l.records[address] = record
	}
}

func (l *withinLog) problem() error {
	if l.failed != nil {
		return &Failure{Code: CodeCheckpointFailed, Err: l.failed}
	}
	for _, within := range l.job.within {
		if record := l.records[within.node.Address]; record == nil {
			return &Failure{Code: CodeWithinFailed, Err: fmt.Errorf("the runner did not say how %s ended", within.node.Address)}
		}
	}
	return nil
}
