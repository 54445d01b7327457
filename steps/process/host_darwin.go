package process

import (
	"golang.org/x/sys/unix"

	"github.com/grill-plan/grill-plan/steps/evidence"
)

// host leaves the machine id out: without cgo macOS gives none that stays.
func host() evidence.Host {
	boot, _ := unix.Sysctl("kern.bootsessionuuid")
	kernel, _ := unix.Sysctl("kern.osrelease")
	return evidence.Host{BootID: boot, Kernel: kernel}
}

func pidNamespace() string { return "" }
