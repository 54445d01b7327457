package main

import (
	"path/filepath"
	"strings"
)

// hostLockVariable names another lock file for the machine than the usual one. A
// container whose /tmp is its own needs it, to share the host's; whoever gives two
// runs of one machine different files answers for nothing else measuring there.
const hostLockVariable = "GRILL_PLAN_HOST_LOCK"

// hostLock is the lock file of this machine, "" for the usual one (PLN-18).
func (a *app) hostLock() (string, error) {
	path := ""
	for _, entry := range a.environ {
		if value, ok := strings.CutPrefix(entry, hostLockVariable+"="); ok {
			path = value
		}
	}
	if path != "" && !filepath.IsAbs(path) {
		return "", usageError("Give the absolute path of a file that all runs of this machine share, or unset it.",
			"%s is %q", hostLockVariable, path)
	}
	return path, nil
}
