package evidence

import "slices"

// InvocationReasons says why an invocation alone makes a sample ineligible, in
// the fixed order (CAP-29, CAP-30). A signal that grill-plan sent to end the
// group at a deadline or on cancellation is not a reason of its own.
func InvocationReasons(invocation Invocation) []string {
	var reasons []string
	ended := invocation.Deadline || invocation.Cancelled
	if invocation.SpawnError != "" {
		reasons = append(reasons, SpawnFailed)
	}
	if invocation.ExitCode != nil && *invocation.ExitCode != 0 {
		reasons = append(reasons, ExitNonzero)
	}
	if invocation.Signal != "" && !ended {
		reasons = append(reasons, Signalled)
	}
	if invocation.Deadline {
		reasons = append(reasons, DeadlineExceeded)
	}
	if invocation.Cancelled {
		reasons = append(reasons, SampleCancelled)
	}
	return reasons
}

// SampleReasons merges what the invocation and the outputs give, each reason
// once, in the fixed order. It is never nil: a record holds an empty list.
func SampleReasons(invocation Invocation, outputs []Output) []string {
	found := InvocationReasons(invocation)
	for _, output := range outputs {
		found = append(found, output.Reasons...)
	}
	reasons := []string{}
	for _, reason := range Reasons() {
		if slices.Contains(found, reason) {
			reasons = append(reasons, reason)
		}
	}
	return reasons
}
