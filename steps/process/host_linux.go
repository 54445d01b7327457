package process

import (
	"os"
	"strings"

	"github.com/grill-plan/grill-plan/steps/evidence"
)

func host() evidence.Host {
	return evidence.Host{
		MachineID: firstLine("/etc/machine-id"),
		BootID:    firstLine("/proc/sys/kernel/random/boot_id"),
		Kernel:    firstLine("/proc/sys/kernel/osrelease"),
	}
}

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
	return strings.ToValidUTF8(strings.TrimSpace(line), "?")
}
