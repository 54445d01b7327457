package process

import (
	"bytes"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func (l leftOver) find() ([]suspect, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Getuid())
	if err != nil {
		return nil, err
	}
	const zombie = 5 // SZOMB
	var living []suspect
	for _, info := range all {
		pid := int(info.Proc.P_pid)
		if info.Proc.P_stat == zombie || pid == os.Getpid() {
			continue
		}
		living = append(living, suspect{pid, int(info.Eproc.Pgid), startTime(pid)})
	}
	return l.choose(living, l.carriesToken), nil
}

// carriesToken looks for the token as a whole entry of what the system shows of
// arguments and environment.
func (l leftOver) carriesToken(pid int) bool {
	shown, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return false
	}
	wanted := []byte(TokenVariable + "=" + l.token)
	for entry := range bytes.SplitSeq(shown, []byte{0}) {
		if bytes.Equal(entry, wanted) {
			return true
		}
	}
	return false
}

// end looks again just before the signal; the system has no descriptor of a
// process that would close the gap entirely.
func (l leftOver) end(seen suspect) error {
	if startTime(seen.pid) != seen.startTime {
		return nil
	}
	if err := unix.Kill(seen.pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	return nil
}
