package process

import "time"

// Suspended is how long this machine has been asleep since its boot: boot-time
// clock less monotonic clock (PLN-46). Only differences mean anything; 0 when
// the system does not say. Its jitter is below a millisecond.
func Suspended() time.Duration { return suspended() }

// SuspendedUS is the microseconds of a difference of two readings of Suspended,
// 0 when it is no more than their jitter.
func SuspendedUS(difference time.Duration) uint64 { return suspendedUS(difference) }
