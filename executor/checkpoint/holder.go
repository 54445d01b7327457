package checkpoint

import (
	"fmt"
	"os"
	"time"
)

// Holder says who works on something.
type Holder struct {
	PID int `json:"pid"`
	// Start is the start time of the process in the kernel's own unit; with
	// the pid it tells a process from a later one of the same number.
	Start string `json:"start,omitempty"`
	Host  string `json:"host"`
	// Boot names one boot of one machine; PIDNamespace what the pid is valid in.
	Boot         string    `json:"boot,omitempty"`
	PIDNamespace string    `json:"pid_namespace,omitempty"`
	Machine      string    `json:"machine,omitempty"`
	Since        time.Time `json:"since"`
	// Run and Plan say what for (host lock).
	Run  string `json:"run,omitempty"`
	Plan string `json:"plan,omitempty"`
	// Token tells one holding of a lock from another.
	Token string `json:"token,omitempty"`
}

// Self describes the calling process.
func Self(now time.Time) Holder {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return Holder{
		PID: os.Getpid(), Start: processStart(os.Getpid()), Host: host,
		Boot: bootID(), PIDNamespace: pidNamespace(), Machine: machineID(), Since: now.UTC(),
	}
}

func (h Holder) String() string {
	return fmt.Sprintf("process %d on %s since %s", h.PID, h.Host, h.Since.Format(time.RFC3339))
}

// Liveness is what can be said of a holder from here.
type Liveness int

const (
	Unknown Liveness = iota // on another machine or in another pid namespace
	Alive
	Gone
)

// Examine says whether a holder still lives. Only a process of this boot and
// pid namespace can be examined; one of an earlier boot of this machine is gone.
func (h Holder) Examine() Liveness {
	here := Self(time.Time{})
	if h.PID < 1 {
		return Unknown
	}
	if h.Boot != here.Boot || h.Boot == "" {
		sameMachine := h.Boot != "" && here.Boot != "" && h.Machine != "" && h.Machine == here.Machine && h.Host == here.Host
		if sameMachine {
			return Gone
		}
		return Unknown
	}
	if h.PIDNamespace != here.PIDNamespace {
		return Unknown
	}
	if start := processStart(h.PID); start == "" || h.Start != "" && start != h.Start {
		return Gone
	}
	return Alive
}

// elsewhere: held by a machine whose processes cannot be examined from here.
// Two containers of one machine share its boot; there flock decides.
func (h Holder) elsewhere() bool {
	here := Self(time.Time{})
	if h.Boot != "" && h.Boot == here.Boot {
		return false
	}
	return h.Examine() == Unknown
}
