// Package process runs one program: directly, as the leader of its own process
// group, with bounded streams, a deadline and a clock around it.
//
// It owns the start, the waiting, the end of the group, the streams and the
// finding of groups that a killed executor left behind. It does not know what a
// program is for or whether its outputs are any good. Invariant: when Run
// returns nothing of the group is alive, except after exit 0 of a command that
// is there to start things (PLN-31). What moved to another group is out of reach
// (CAP-15): this is not a sandbox.
package process

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/grill-plan/grill-plan/plan/document"
)

// TokenVariable carries the token of a reservation into the child's environment
// (CAP-12, PLN-26).
const TokenVariable = "GRILL_PLAN_TOKEN"

// Command is one program to run.
type Command struct {
	// Path is executed and is argv[0], also when it is a symbolic link (CAP-10).
	Path string
	// Args follow argv[0]. No shell takes part.
	Args []string
	// Env is the whole environment; Environment makes one.
	Env []string
	// Dir is the child's directory; empty means the one of this process.
	Dir string
	// Deadline ends in SIGKILL of the whole group (CAP-21); 0 means none.
	Deadline time.Duration
	Stdout   Stream
	Stderr   Stream
	// LeaveRunning leaves the group alone after exit 0 (PLN-31).
	LeaveRunning bool
	// Started is told of the child while it runs, on a goroutine of its own so
	// that publishing does not delay the wait. Its error ends the group and is
	// returned by Run.
	Started func(Started) error
}

// Started identifies a running child (PLN-26).
type Started struct {
	PID       int
	Group     int
	StartTime string // of the kernel, as far as it says; see evidence.Process
}

// Stream says where a stream of the child goes. The file must not exist.
type Stream struct {
	Path string
	// Limit is how many bytes are retained; the rest is read and dropped, so
	// that the child never blocks (CAP-25).
	Limit uint64
	// Direct gives the child the file itself, not a pipe, so that a service
	// which holds it is never blocked once nobody reads (PLN-31). The file is
	// cut to Limit when the command has ended.
	Direct bool
}

// Environment is the inherited environment with variables replaced or added and
// with the token (CAP-12). Inherited values are passed on and recorded nowhere
// (PRV-04).
func Environment(inherited []string, added []document.EnvVar, token string) []string {
	declared := slices.Clone(added)
	if token != "" {
		declared = append(declared, document.EnvVar{Name: TokenVariable, Value: token})
	}
	names := make(map[string]bool, len(declared))
	for _, variable := range declared {
		names[variable.Name] = true
	}
	names[TokenVariable] = true // never that of a process above this one
	var environment []string
	for _, entry := range inherited {
		if name, _, _ := strings.Cut(entry, "="); !names[name] {
			environment = append(environment, entry)
		}
	}
	slices.SortStableFunc(declared, func(a, b document.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
	for _, variable := range declared {
		environment = append(environment, variable.Name+"="+variable.Value)
	}
	return environment
}
