// Package plan is the plan language: HCL files in, a typed and checked plan with
// source positions out. SPEC.md beside this file describes the language.
//
// It owns the table of blocks and attributes, variables, locals, functions,
// for_each, typed references, sensitive values and the making of the three
// JSON documents from blocks. It does not own the bounds of these documents
// (package document does), compiles nothing, starts nothing and reads no clock,
// environment or network. Invariants: equal files and variables give an equal
// plan; a sensitive value is held by [Secret] only and stands in no text.
package plan
