package inspect

import (
	"math/bits"
	"slices"

	"github.com/grill-plan/grill-plan/steps/evidence"
)

// checkStatus derives the status and the unstarted samples from the runs
// (CAP-22, CAP-23, CAP-32, SET-04).
func (v *verifier) checkStatus() error {
	completion, status := v.result.Completion, evidence.Complete
	if planned := v.result.Receipt.Setup; planned != nil {
		switch setup := v.result.Setup; {
		case setup == nil || setup.Invocation.Cancelled:
			status = evidence.Cancelled
		case len(setup.Reasons) > 0:
			status = evidence.SetupFailed
		}
	}
	unstarted, ended := []int{}, status != evidence.Complete
	for _, sample := range v.result.Samples {
		switch {
		case sample.Run == nil:
			unstarted = append(unstarted, sample.Plan.Index)
			if !ended {
				status = evidence.Cancelled
			}
		case ended || len(unstarted) > 0:
			return wrong(within(dirOf(sample), evidence.RunFile), CodeStatusMismatch, "it was started after the capture had come to its end")
		case sample.Run.Invocation.Cancelled:
			status, ended = evidence.Cancelled, true
		}
	}
	if completion.Status != status || !slices.Equal(completion.Unstarted, unstarted) {
		return wrong(evidence.CompletionFile, CodeStatusMismatch, "its status or its unstarted samples do not follow from the runs, which give %s with %d unstarted", status, len(unstarted))
	}
	return nil
}

// checkClocks is INS-09 to INS-12.
func (v *verifier) checkClocks() error {
	completion := v.result.Completion
	var durations []uint64
	if v.result.Setup != nil && v.result.Setup.Invocation.EndToEndUS != nil {
		durations = append(durations, *v.result.Setup.Invocation.EndToEndUS)
	}
	for _, sample := range v.result.Samples {
		if us, known := sample.EndToEndUS(); known {
			durations = append(durations, us)
		}
	}
	if !DurationsFit(durations, completion.ElapsedMS) {
		return wrong(evidence.CompletionFile, CodeClockInconsistent, "the programs ran for longer together than the %d ms of the capture (INS-09)", completion.ElapsedMS)
	}
	if !WallFits(v.result.Receipt.StartedUnixMS, completion.FinishedUnixMS, completion.ElapsedMS) {
		return wrong(evidence.CompletionFile, CodeClockInconsistent,
			"the wall clock went back, or moved far less than the %d ms that passed (INS-10, INS-11, INS-12)", completion.ElapsedMS)
	}
	return nil
}

// DurationsFit says whether the sum of durations is within elapsed milliseconds
// (INS-09). Sums beyond 64 bits do not fit.
func DurationsFit(durationsUS []uint64, elapsedMS uint64) bool {
	var sum, carry uint64
	for _, us := range durationsUS {
		if sum, carry = bits.Add64(sum, us, 0); carry != 0 {
			return false
		}
	}
	high, low := bits.Mul64(elapsedMS, 1000)
	return high != 0 || sum <= low
}

// WallFits is INS-10 to INS-12: the end is not before the start, and the wall
// clock moved at least as far as the monotonic one less one second and a
// thousandth. It may have moved further: the machine may have been suspended.
func WallFits(startedMS, finishedMS int64, elapsedMS uint64) bool {
	if finishedMS < startedMS {
		return false
	}
	moved := uint64(finishedMS) - uint64(startedMS) // exact also across zero
	allowance := 1000 + elapsedMS/1000
	return elapsedMS <= allowance || moved >= elapsedMS-allowance
}
