// Package graph is the compiled form of a plan: addressed nodes and the edges
// between them, built once and read-only afterwards.
//
// It knows nothing of HCL, media or files and imports the standard library
// only. Its invariants, checked by [Builder.Build]: addresses are unique, every
// edge leads to a node of the graph, there is no cycle, and the order of
// [Graph.Nodes] is a topological order that depends on nothing but the input.
package graph

import "encoding/json"

// Kind is what a node does; the set is closed (architecture page, "Nodes").
type Kind string

const (
	Preflight Kind = "preflight"
	Switch    Kind = "switch"
	Setup     Kind = "setup"
	Capture   Kind = "capture"
	Inspect   Kind = "inspect"
	Decode    Kind = "decode"
	Compare   Kind = "compare"
	Distance  Kind = "distance"
	Restore   Kind = "restore"
	Report    Kind = "report"
	// Toy nodes carry tests of the executor and its benchmarks.
	Toy Kind = "toy"
)

// Effect says when a finished node may stand in for running it again
// (PLN-20 to PLN-22).
type Effect string

const (
	// Pure results depend on inputs only and are reused while these are equal.
	Pure Effect = "pure"
	// Measurement results are reused under the same rule; an interrupted one
	// is never continued.
	Measurement Effect = "measurement"
	// World nodes change something outside; their checkpoint never stands in
	// for doing it. They run exactly when a measurement that needs them runs.
	World Effect = "world"
)

// Claim is what a node asks of its host while it runs (PLN-18).
type Claim string

const (
	// NoClaim nodes run anywhere at any time: preflight, report.
	NoClaim   Claim = ""
	Shared    Claim = "shared"
	Exclusive Claim = "exclusive"
)

// Node is one unit of work. A Node of a built Graph is never modified.
type Node struct {
	// Address is unique, e.g. experiment.gemm["480p"].capture.a.
	Address string `json:"address"`
	Kind    Kind   `json:"kind"`
	Effect  Effect `json:"effect"`
	// Host names the machine claimed; "" is the single implicit host.
	Host  string `json:"host,omitempty"`
	Claim Claim  `json:"claim,omitempty"`
	// Group is the address of the experiment that holds its host whole
	// (PLN-18). "" for nodes outside any experiment.
	Group string `json:"group,omitempty"`
	// Needs are addresses that must have finished successfully before.
	Needs []string `json:"needs,omitempty"`
	// After are addresses that must have ended, however they ended (PLN-17:
	// restore and report come after others without needing them).
	After []string `json:"after,omitempty"`
	// Always marks nodes done anew by every run and never answered from a
	// checkpoint (PLN-40: preflight). All of them end before any effect.
	Always bool `json:"always,omitempty"`
	// Within is the address of the measurement in whose attempt and process a
	// world node is carried out (PLN-42: setup within capture).
	Within string `json:"within,omitempty"`
	// Stops marks nodes whose result may end the group early (fail_fast
	// inspects, PLN-13); what the stop leaves out is skipped, not failed.
	Stops bool `json:"stops,omitempty"`
	// Tolerates marks nodes that run although needs of theirs were left out by
	// an early stop (compare).
	Tolerates bool `json:"tolerates,omitempty"`
	// Finally marks a world node that runs before the group's host is given
	// up, in every process that ran a switch of the group (PLN-34: restore).
	Finally bool `json:"finally,omitempty"`
	// Spec is the canonical spec: compact JSON with fields in a fixed order.
	// The digest of a node covers it; it holds no absolute path, no secret.
	Spec json.RawMessage `json:"spec"`
}
