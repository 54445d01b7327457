package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// awaitExit blocks until the kernel reports the exit of a child and leaves it
// unreaped, so that its number stays its own. clean says exit 0. A stopped child
// has not ended.
func awaitExit(pid int) (clean bool, err error) {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return false, err
		}
	}
	const exitedByItself = 1 // CLD_EXITED
	return info.Code == exitedByItself && exitStatus(&info) == 0, nil
}

// exitStatus reads si_status, which x/sys does not name: it follows si_pid and
// si_uid at the start of the union, which is aligned as a pointer is.
func exitStatus(info *unix.Siginfo) int32 {
	const header = 3 * unsafe.Sizeof(int32(0))
	union := (header + unsafe.Sizeof(uintptr(0)) - 1) / unsafe.Sizeof(uintptr(0)) * unsafe.Sizeof(uintptr(0))
	return *(*int32)(unsafe.Add(unsafe.Pointer(info), union+2*unsafe.Sizeof(int32(0))))
}

// groupEndTime bounds the wait for members that were killed and are still
// within the kernel.
const groupEndTime = 10 * time.Second

// awaitGroupEnd returns when no member of a killed group is alive. Existence is
// asked first, which is cheap and nearly always enough; zombies answer it too,
// and whoever adopted them may reap late, so the states decide.
func awaitGroupEnd(group int) error {
	until := time.Now().Add(groupEndTime)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		if errors.Is(unix.Kill(-group, 0), unix.ESRCH) {
			return nil
		}
		alive := aliveInGroup(group)
		if len(alive) == 0 {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("process group %d was killed but %v is still alive: see what it waits for in /proc/PID/stack", group, alive)
		}
		time.Sleep(pause)
	}
}

func aliveInGroup(group int) []int {
	var alive []int
	for _, pid := range allPIDs() {
		if stat, ok := readStat(pid); ok && stat.group == group && stat.alive() {
			alive = append(alive, pid)
		}
	}
	return alive
}

// stat is what /proc/PID/stat says of a process.
type stat struct {
	state     byte
	group     int
	startTime string
}

func (s stat) alive() bool { return s.state != 'Z' && s.state != 'X' }

// readStat counts the fields behind the last ")", since a program may have any
// name. ok is false when there is no such process.
func readStat(pid int) (stat, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	text := string(data)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const state, group, startTime = 0, 2, 19 // fields 3, 5 and 22
	if len(fields) <= startTime {
		return stat{}, false
	}
	number, err := strconv.Atoi(fields[group])
	if err != nil {
		return stat{}, false
	}
	return stat{state: fields[state][0], group: number, startTime: fields[startTime]}, true
}

func allPIDs() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// startTime is field 22 of /proc/PID/stat, in clock ticks since the boot.
func startTime(pid int) string {
	stat, _ := readStat(pid)
	return stat.startTime
}

// suspended is how long the machine has slept since its boot (PLN-46). Being
// interrupted between the two readings makes it too long, so the shortest of a
// few counts.
func suspended() time.Duration {
	shortest := time.Duration(-1)
	for range 3 {
		var monotonic, boot unix.Timespec
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &monotonic) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil {
			return 0
		}
		if slept := time.Duration(boot.Nano() - monotonic.Nano()); shortest < 0 || slept < shortest {
			shortest = slept
		}
	}
	return shortest
}

func peakKiB(usage unix.Rusage) uint64 { return uint64(usage.Maxrss) }
