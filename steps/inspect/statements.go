package inspect

// TimingStatement says how durations were taken (CAP-20).
const TimingStatement = "end_to_end_us runs from just before the process is started to the kernel's report of its exit, waited for and not polled; by the monotonic clock, in whole microseconds rounded down."

// ObservationStatement is what a report of one capture says of its figures
// (INS-19).
const ObservationStatement = "These figures are observations of one capture and not a verdict. How the runner executes is its own declaration and was not verified."
