package compile

import (
	"fmt"

	"github.com/grill-plan/grill-plan/plan"
)

// Part names a program of a node that has several.
type Part string

// Parts of nodes: the runner (with its setup) of a capture, the programs of a
// switch, and the one of a restore.
const (
	RunnerPart  Part = "runner"
	SwitchPart  Part = "switch"
	ReadyPart   Part = "ready"
	VerifyPart  Part = "verify"
	RestorePart Part = "restore"
)

// Secrets holds sensitive env values by node and program. Printed in any form
// it is masked (PLN-07).
type Secrets struct {
	entries map[secretKey][]plan.SecretEnv
}

type secretKey struct {
	address string
	part    Part
}

func newSecrets() *Secrets { return &Secrets{entries: map[secretKey][]plan.SecretEnv{}} }

func (s *Secrets) put(address string, part Part, entries []plan.SecretEnv) {
	if len(entries) > 0 {
		s.entries[secretKey{address, part}] = entries
	}
}

// Env gives the sensitive env entries of one program of a node, sorted by name.
// The address of a capture serves its setup too (SET-02).
func (s *Secrets) Env(address string, part Part) []plan.SecretEnv {
	return s.entries[secretKey{address, part}]
}

// Format implements fmt.Formatter with the mask.
func (s *Secrets) Format(state fmt.State, _ rune) { fmt.Fprint(state, plan.Masked) }

// MarshalJSON implements json.Marshaler with the mask.
func (s *Secrets) MarshalJSON() ([]byte, error) { return []byte(`"` + plan.Masked + `"`), nil }
