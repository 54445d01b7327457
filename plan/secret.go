package plan

import "fmt"

// Masked stands wherever a sensitive value would be printed.
const Masked = "(sensitive)"

// Secret is a sensitive value. Every form it is printed in is the mask; only
// [Secret.Reveal] gives the value, for the environment of a child (PLN-07).
type Secret struct{ value string }

// NewSecret wraps a sensitive value.
func NewSecret(value string) Secret { return Secret{value: value} }

// Reveal gives the value itself. It may go into the environment of a child and
// nowhere else.
func (s Secret) Reveal() string { return s.value }

// String implements fmt.Stringer with the mask.
func (s Secret) String() string { return Masked }

// Format implements fmt.Formatter, so that no verb prints the value.
func (s Secret) Format(state fmt.State, _ rune) { fmt.Fprint(state, Masked) }

// MarshalText implements encoding.TextMarshaler with the mask.
func (s Secret) MarshalText() ([]byte, error) { return []byte(Masked), nil }

// MarshalJSON implements json.Marshaler with the mask.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + Masked + `"`), nil }
