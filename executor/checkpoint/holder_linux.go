package checkpoint

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// processStart is field 22 of /proc/PID/stat, counted behind the last ), since
// the name before it may hold anything; "" for no such process and for one that
// has ended and only waits to be reaped.
func processStart(pid int) string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 20 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return ""
	}
	return string(fields[19])
}

func bootID() string    { return firstLine("/proc/sys/kernel/random/boot_id") }
func machineID() string { return firstLine("/etc/machine-id") }

func pidNamespace() string {
	name, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return name
}

func firstLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return line
}
