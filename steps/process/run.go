package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/grill-plan/grill-plan/steps/evidence"
)

// Run starts the command, waits for its end and reports how it went. A program
// that cannot be started, fails, or is killed is a fact of the invocation and no
// error. Errors are those of this side: a stream file that cannot be created or
// written, a failed Started, a group that does not die (CAP-08). With a
// cancelled context nothing is started; the stream files are there and empty.
func Run(ctx context.Context, command Command) (evidence.Invocation, error) {
	if err := Supported(runtime.GOOS); err != nil {
		return evidence.Invocation{}, err
	}
	streams, err := openStreams(command)
	if err != nil {
		return evidence.Invocation{}, err
	}
	defer streams.close()
	if ctx.Err() != nil {
		streams.drain(time.Now())
		return evidence.Invocation{Cancelled: true, Stdout: streams.stdout.result(), Stderr: streams.stderr.result()}, streams.failure()
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		return evidence.Invocation{}, fmt.Errorf("open the empty standard input: %w", err)
	}
	defer null.Close()
	attributes := &syscall.ProcAttr{
		Dir:   command.Dir,
		Env:   command.Env,
		Files: []uintptr{null.Fd(), streams.stdout.childFD(), streams.stderr.childFD()},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	}
	child := &child{command: command}
	invocation := child.run(ctx, attributes, streams)
	invocation.Stdout, invocation.Stderr = streams.stdout.result(), streams.stderr.result()
	return invocation, errors.Join(child.failure(), streams.failure())
}

// child is one program under way. mu guards what the timers and the wait share.
type child struct {
	command Command
	start   time.Time

	mu      sync.Mutex
	pid     int  // 0 before the start
	exited  bool // the kernel reported the exit; signals are no longer sent by timers
	stopped stopCause
	errs    []error
}

type stopCause int

const (
	notStopped stopCause = iota
	stoppedByDeadline
	stoppedByCancel
	stoppedByFailure
)

// run holds the timed path. Everything that can be made beforehand has been, and
// everything that can wait comes after the clock was read: from just before the
// start to the kernel's report of the exit nothing is set up, read, hashed or
// published on this goroutine (CAP-20). The clock is read before the start, since
// reading it after errs by milliseconds on a busy machine.
func (c *child) run(ctx context.Context, attributes *syscall.ProcAttr, streams *streams) evidence.Invocation {
	argv := append([]string{c.command.Path}, c.command.Args...)
	streams.start(c.fail)
	announcement, release := c.prepareAnnouncement(), c.arm(ctx)
	ownPeak, sleptBefore := ownPeakKiB(), suspended()
	c.mu.Lock()
	c.start = time.Now()
	c.mu.Unlock()
	pid, err := syscall.ForkExec(c.command.Path, argv, attributes)
	if err != nil {
		c.over()
		release()
		streams.closeChildEnds()
		streams.drain(time.Now())
		return evidence.Invocation{StartedUnixMS: c.start.UnixMilli(), SpawnError: spawnError(c.command, err)}
	}
	c.runs(pid)
	clean, waitErr := awaitExit(pid)
	elapsed := time.Since(c.start)

	slept := suspended() - sleptBefore
	c.over()
	release()
	if waitErr != nil {
		c.fail(fmt.Errorf("wait for process %d: %w", pid, waitErr))
	}
	streams.closeChildEnds()
	leave := c.command.LeaveRunning && clean && !c.late(elapsed)
	status, usage := c.settle(announcement, leave)
	streams.drain(time.Now().Add(drainTime))
	return c.invocation(ending{elapsed, slept, status, usage, ownPeak})
}

// runs makes the child known to the timers, which may already have gone off.
func (c *child) runs(pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pid = pid
	if c.stopped != notStopped {
		killGroup(pid)
	}
}

// over tells the timers that there is nothing to signal any more.
func (c *child) over() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exited = true
}

// stop ends the group before its leader has ended by itself. The first cause
// counts.
func (c *child) stop(cause stopCause) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.exited {
		return
	}
	if c.stopped == notStopped {
		c.stopped = cause
	}
	if c.pid != 0 {
		killGroup(c.pid)
	}
}

// fail notes an error of this side and ends the group.
func (c *child) fail(err error) {
	c.mu.Lock()
	c.errs = append(c.errs, err)
	c.mu.Unlock()
	c.stop(stoppedByFailure)
}

func (c *child) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.errs...)
}

// killGroup sends SIGKILL to the group and to the leader, which may have moved
// to another group. It is only called while the leader is not reaped, so both
// numbers are still its own.
func killGroup(pid int) {
	_ = unix.Kill(-pid, unix.SIGKILL)
	_ = unix.Kill(pid, unix.SIGKILL)
}

// late says whether the exit was observed after the deadline; equality is within
// (CAP-21).
func (c *child) late(elapsed time.Duration) bool {
	return c.command.Deadline > 0 && elapsed > c.command.Deadline
}

// settle ends what is left of the group and reaps the leader. While the leader
// is a zombie its number cannot be given to anybody else; that is why the kill
// comes first (CAP-14, CAP-16).
func (c *child) settle(announcement *announcement, leave bool) (unix.WaitStatus, unix.Rusage) {
	if leave {
		announcement.make()
		leave = c.failure() == nil
	}
	if !leave {
		killGroup(c.pid)
	}
	announcement.make()
	status, usage, err := reap(c.pid)
	if err != nil {
		c.fail(fmt.Errorf("wait for process %d: %w", c.pid, err))
	}
	if !leave {
		if err := awaitGroupEnd(c.pid); err != nil {
			c.fail(err)
		}
	}
	return status, usage
}

// ending is all that is known when a child is gone.
type ending struct {
	elapsed time.Duration
	slept   time.Duration
	status  unix.WaitStatus
	usage   unix.Rusage
	ownPeak uint64
}

func (c *child) invocation(end ending) evidence.Invocation {
	c.mu.Lock()
	stopped := c.stopped
	c.mu.Unlock()
	us := uint64(end.elapsed.Microseconds())
	invocation := evidence.Invocation{
		StartedUnixMS: c.start.UnixMilli(),
		EndToEndUS:    &us,
		SuspendedUS:   suspendedUS(end.slept),
		Usage:         usageOf(end.usage, end.ownPeak),
		Deadline:      c.late(end.elapsed),
	}
	switch {
	case end.status.Exited():
		code := end.status.ExitStatus()
		invocation.ExitCode = &code
	case end.status.Signaled():
		invocation.Signal = signalName(end.status.Signal())
		// What ended by itself just before the signal came was not ended by it.
		killed := end.status.Signal() == unix.SIGKILL
		invocation.Deadline = invocation.Deadline || killed && stopped == stoppedByDeadline
		invocation.Cancelled = killed && stopped == stoppedByCancel
	}
	return invocation
}

// suspendedUS drops what is only the jitter of two clock readings; no machine
// sleeps and wakes within a millisecond.
func suspendedUS(slept time.Duration) uint64 {
	if slept < time.Millisecond {
		return 0
	}
	return uint64(slept.Microseconds())
}

// usageOf leaves the resident peak out where it could be this process's own,
// which a child carries until it has executed its program.
func usageOf(usage unix.Rusage, ownPeak uint64) *evidence.Usage {
	result := &evidence.Usage{
		UserUS:   uint64(time.Duration(usage.Utime.Nano()).Microseconds()),
		SystemUS: uint64(time.Duration(usage.Stime.Nano()).Microseconds()),
	}
	if peak := peakKiB(usage); peak > ownPeak {
		result.MaxRSSKiB = peak
	}
	return result
}

func ownPeakKiB() uint64 {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return ^uint64(0) // unknown: never report a child's
	}
	return peakKiB(usage)
}

func reap(pid int) (unix.WaitStatus, unix.Rusage, error) {
	for {
		var status unix.WaitStatus
		var usage unix.Rusage
		_, err := unix.Wait4(pid, &status, 0, &usage)
		if !errors.Is(err, unix.EINTR) {
			return status, usage, err
		}
	}
}

func signalName(signal unix.Signal) string {
	if name := unix.SignalName(signal); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(signal))
}

// spawnError says why nothing was started. The kernel's answer is the same for a
// missing program, interpreter or directory, so the directory is looked at.
func spawnError(command Command, err error) string {
	if command.Dir != "" {
		if info, statErr := os.Stat(command.Dir); statErr != nil || !info.IsDir() {
			return "cwd cannot be entered: " + err.Error()
		}
	}
	return err.Error()
}
