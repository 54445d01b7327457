// Package compile makes a typed plan into a graph of addressed nodes with
// canonical specs (architecture page, "Nodes").
//
// It owns which nodes and edges an experiment has, what stands in their specs,
// and the check of axis (PLN-12). It reads no file and has no side effect.
// Invariants: equal plans compile to equal bytes, and no absolute path and no
// sensitive value stands in a graph (PLN-07, PLN-08).
package compile
