package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/output"
)

// invocation is what is known of one process before its records are read.
type invocation struct {
	dir        string
	sample     *evidence.PlannedSample
	setup      *evidence.SetupPlan
	deadlineMS uint64
	outputs    output.Request
}

// readSetup verifies the setup's records, if it ran (SET-03). Without a setup
// directory it did not: then it was cancelled before it started.
func (v *verifier) readSetup() error {
	planned := v.result.Receipt.Setup
	if planned == nil || len(v.inDir[evidence.SetupDir]) == 0 {
		return nil
	}
	workload := v.result.Workload
	outputs := output.ForSample(workload, "")
	outputs.Outputs = output.Used(workload.Outputs, v.result.Runner.Setup.Args)
	run, err := v.readRun(invocation{dir: evidence.SetupDir, setup: planned, deadlineMS: planned.DeadlineMS, outputs: outputs})
	v.result.Setup = run
	return err
}

// readSamples verifies each sample that was started; the others count as
// unstarted, which checkStatus compares with the completion.
func (v *verifier) readSamples() error {
	workload := v.result.Workload
	for i := range v.result.Receipt.Samples {
		planned := v.result.Receipt.Samples[i]
		sample := Sample{Plan: planned, Reasons: []string{evidence.Unstarted}}
		dir := document.RunDirName(planned.Index)
		if len(v.inDir[dir]) > 0 {
			run, err := v.readRun(invocation{
				dir: dir, sample: &planned, deadlineMS: workload.Limits.RunDeadlineMS,
				outputs: output.ForSample(workload, planned.Cell),
			})
			if err != nil {
				return err
			}
			sample.Run, sample.Reasons, sample.Eligible = run, run.Reasons, run.Eligible
			if run.Eligible {
				if sample.Identity, err = identity(run.Outputs); err != nil {
					return err
				}
				sample.AudioUS, sample.Frames = amounts(run.Outputs)
			}
		}
		v.result.Samples = append(v.result.Samples, sample)
	}
	return nil
}

// readRun verifies the records of one process and judges its outputs anew
// (INS-03, INS-04).
func (v *verifier) readRun(planned invocation) (*evidence.Run, error) {
	if err := v.ctx.Err(); err != nil {
		return nil, fmt.Errorf("inspect %s: %w", v.dir, context.Cause(v.ctx))
	}
	if info, err := os.Lstat(v.path(planned.dir)); err != nil || !info.IsDir() {
		return nil, wrong(planned.dir, CodeMissing, "the completion lists files in it, and it is not a directory that is there")
	}
	reserved, err := v.readReservation(planned)
	if err != nil {
		return nil, err
	}
	name := within(planned.dir, evidence.RunFile)
	run, _, err := record[evidence.Run](v, name)
	if err != nil {
		return nil, err
	}
	if err := v.bound(name, run.ReceiptSHA256); err != nil {
		return nil, err
	}
	if run.ReservationSHA256 != reserved || !reflect.DeepEqual(run.Sample, planned.sample) {
		return nil, wrong(name, CodeForeignRecord, "it does not belong to the reservation beside it (INS-03)")
	}
	if err := v.checkInvocation(planned, name, run.Invocation); err != nil {
		return nil, err
	}
	outputs, err := v.collect(planned)
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(outputs, run.Outputs) {
		return nil, wrong(name, CodeOutputMismatch, "its outputs are not what checking the retained files gives: %s (INS-04)", firstDifference(outputs, run.Outputs))
	}
	reasons := evidence.SampleReasons(run.Invocation, outputs)
	if !slices.Equal(reasons, run.Reasons) || run.Eligible != (planned.sample != nil && len(reasons) == 0) {
		return nil, wrong(name, CodeReasonsMismatch, "its reasons or eligibility are not what its facts give: %q (INS-04)", reasons)
	}
	return &run, nil
}

func (v *verifier) readReservation(planned invocation) (digest string, err error) {
	name := within(planned.dir, evidence.ReservationFile)
	reservation, digest, err := record[evidence.Reservation](v, name)
	if err != nil {
		return "", err
	}
	if err := v.bound(name, reservation.ReceiptSHA256); err != nil {
		return "", err
	}
	if !reflect.DeepEqual(reservation.Sample, planned.sample) || !reflect.DeepEqual(reservation.Setup, planned.setup) {
		return "", wrong(name, CodePlanMismatch, "it reserves something else than the receipt plans (INS-02)")
	}
	return digest, nil
}

// collect judges the retained outputs with the code that captured them. A file
// whose bytes changed is named itself, before the record that describes it.
func (v *verifier) collect(planned invocation) ([]evidence.Output, error) {
	outputs, err := output.Collect(v.ctx, v.path(planned.dir), planned.outputs)
	if err != nil {
		if v.ctx.Err() != nil {
			return nil, fmt.Errorf("inspect %s: %w", v.dir, context.Cause(v.ctx))
		}
		return nil, &Error{planned.dir, CodeUnreadable, err}
	}
	for _, delivered := range outputs {
		for _, file := range delivered.Files {
			if file.SHA256 == "" {
				continue
			}
			name := within(planned.dir, file.Name)
			listed, err := v.lookUp(name)
			if err != nil {
				return nil, err
			}
			if listed.SHA256 != file.SHA256 || listed.Bytes != file.Bytes {
				return nil, wrong(name, CodeDigestMismatch, "its bytes are not those that were recorded (INS-04)")
			}
		}
	}
	for _, rest := range v.inDir[planned.dir] {
		if name := within(planned.dir, rest); !v.used[name] {
			return nil, wrong(name, CodeMissing, "the completion lists it, and it is no longer among what the run delivered")
		}
	}
	return outputs, nil
}

// firstDifference names the place where two lists of outputs part.
func firstDifference(found, recorded []evidence.Output) string {
	if len(found) != len(recorded) {
		return "another number of outputs"
	}
	for i := range found {
		a, b := found[i], recorded[i]
		switch {
		case a.Placeholder != b.Placeholder || a.State != b.State:
			return fmt.Sprintf("outputs[%d] is %s", i, a.State)
		case len(a.Files) != len(b.Files):
			return fmt.Sprintf("outputs[%d] has %d files", i, len(a.Files))
		}
		for j := range a.Files {
			if !reflect.DeepEqual(a.Files[j], b.Files[j]) {
				return fmt.Sprintf("outputs[%d].files[%d] has other facts", i, j)
			}
		}
	}
	return "other reasons"
}

// identity stands for what was delivered: placeholders, names and hashes, but
// not facts, which follow from the bytes.
func identity(outputs []evidence.Output) (string, error) {
	type file struct{ Placeholder, Name, SHA256 string }
	var files []file
	for _, delivered := range outputs {
		for _, one := range delivered.Files {
			files = append(files, file{delivered.Placeholder, one.Name, one.SHA256})
		}
	}
	data, err := json.Marshal(files)
	if err != nil {
		return "", fmt.Errorf("identify outputs: %w", err)
	}
	return evidence.Digest(data), nil
}

// amounts adds what was delivered over all outputs (INS-18). Of a video the
// frames count, of sound the duration of WAV files.
func amounts(outputs []evidence.Output) (audioUS, frames uint64) {
	for _, delivered := range outputs {
		for _, file := range delivered.Files {
			switch {
			case file.Facts == nil:
			case file.Facts.Audio != nil:
				audioUS += file.Facts.Audio.DurationUS
			case file.Facts.Video != nil:
				frames += file.Facts.Video.Frames
			}
		}
	}
	return audioUS, frames
}
