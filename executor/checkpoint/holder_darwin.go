package checkpoint

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const zombie = 5 // SZOMB of <sys/proc.h>

// processStart is the start time the kernel keeps, "" for no such process and
// for one that has ended and only waits to be reaped.
func processStart(pid int) string {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid || info.Proc.P_stat == zombie {
		return ""
	}
	return fmt.Sprintf("%d.%06d", info.Proc.P_starttime.Sec, info.Proc.P_starttime.Usec)
}

func bootID() string       { return sysctl("kern.bootsessionuuid") }
func machineID() string    { return sysctl("kern.uuid") }
func pidNamespace() string { return "" }

func sysctl(name string) string {
	value, err := unix.Sysctl(name)
	if err != nil {
		return ""
	}
	return value
}
