package process

import (
	"bytes"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

func (l leftOver) find() ([]suspect, error) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return nil, err
	}
	var living []suspect
	for _, pid := range allPIDs() {
		stat, ok := readStat(pid)
		if !ok || !stat.alive() || pid == os.Getpid() {
			continue
		}
		living = append(living, suspect{pid, stat.group, stat.startTime})
	}
	return l.choose(living, l.carriesToken), nil
}

// carriesToken looks for the token as a whole entry. The environment of another
// user's process cannot be read, and that process is not ours either.
func (l leftOver) carriesToken(pid int) bool {
	environment, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	wanted := []byte(TokenVariable + "=" + l.token)
	for entry := range bytes.SplitSeq(environment, []byte{0}) {
		if bytes.Equal(entry, wanted) {
			return true
		}
	}
	return false
}

// end opens the process, makes sure that it is still the one that was seen, and
// signals through the descriptor: from then on the number may be reused without
// harm.
func (l leftOver) end(seen suspect) error {
	descriptor, err := unix.PidfdOpen(seen.pid, 0)
	switch {
	case errors.Is(err, unix.ESRCH):
		return nil
	case errors.Is(err, unix.ENOSYS):
		return l.endByNumber(seen)
	case err != nil:
		return err
	}
	defer unix.Close(descriptor)
	if now, ok := readStat(seen.pid); !ok || now.startTime != seen.startTime {
		return nil
	}
	err = unix.PidfdSendSignal(descriptor, unix.SIGKILL, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// endByNumber is for kernels before 5.3, where nothing closes the gap between
// the look and the signal entirely.
func (l leftOver) endByNumber(seen suspect) error {
	if now, ok := readStat(seen.pid); !ok || now.startTime != seen.startTime {
		return nil
	}
	if err := unix.Kill(seen.pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	return nil
}
