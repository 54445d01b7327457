package process

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// awaitExit blocks until the kernel reports the exit of a child and leaves it
// unreaped, so that its number stays its own. waitid would also return for a
// stopped child here, so the event queue is asked. clean says exit 0.
func awaitExit(pid int) (clean bool, err error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return false, err
	}
	defer unix.Close(queue)
	change := unix.Kevent_t{Fflags: unix.NOTE_EXIT | unix.NOTE_EXITSTATUS}
	unix.SetKevent(&change, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	events := make([]unix.Kevent_t, 1)
	for {
		n, err := unix.Kevent(queue, []unix.Kevent_t{change}, events, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ESRCH):
			return zombieClean(pid), nil
		case err != nil:
			return false, err
		case n == 1 && events[0].Flags&unix.EV_ERROR != 0:
			if unix.Errno(events[0].Data) == unix.ESRCH {
				return zombieClean(pid), nil
			}
			return false, unix.Errno(events[0].Data)
		case n == 1:
			return events[0].Data == 0, nil
		}
	}
}

// zombieClean says exit 0 of a child that had ended before it could be watched.
func zombieClean(pid int) bool {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && int(info.Proc.P_pid) == pid && info.Proc.P_xstat == 0
}

// groupEndTime bounds the wait for members that were killed and are still
// within the kernel.
const groupEndTime = 10 * time.Second

// awaitGroupEnd returns when no member of a killed group is alive.
func awaitGroupEnd(group int) error {
	until := time.Now().Add(groupEndTime)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		alive := aliveInGroup(group)
		if len(alive) == 0 {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("process group %d was killed but %v is still alive", group, alive)
		}
		time.Sleep(pause)
	}
}

func aliveInGroup(group int) []int {
	members, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", group)
	if err != nil {
		return nil
	}
	const zombie = 5 // SZOMB
	var alive []int
	for _, member := range members {
		if member.Proc.P_stat != zombie {
			alive = append(alive, int(member.Proc.P_pid))
		}
	}
	return alive
}

// startTime is the start of a process as seconds and microseconds.
func startTime(pid int) string {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return ""
	}
	return fmt.Sprintf("%d.%06d", info.Proc.P_starttime.Sec, info.Proc.P_starttime.Usec)
}

// suspended is how long the machine has slept since its boot: the clock that
// goes on in sleep less the one that does not (PLN-46).
func suspended() time.Duration {
	shortest := time.Duration(-1)
	for range 3 {
		var awake, all unix.Timespec
		if unix.ClockGettime(unix.CLOCK_UPTIME_RAW, &awake) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC_RAW, &all) != nil {
			return 0
		}
		if slept := time.Duration(all.Nano() - awake.Nano()); shortest < 0 || slept < shortest {
			shortest = slept
		}
	}
	return shortest
}

// peakKiB: macOS counts bytes.
func peakKiB(usage unix.Rusage) uint64 { return uint64(usage.Maxrss) >> 10 }
