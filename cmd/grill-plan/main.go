// Command grill-plan plans, captures, verifies and compares media generation
// runs.
//
// This package owns flags, what is printed where, and exit codes; it decides
// nothing else. Each command is one file of three pieces: its flags, its work,
// and what it prints, the last of which is in internal/view. Nothing is kept in
// package variables: the tree of commands is built for one invocation, so that
// tests call it in their own process.
package main

import (
	"context"
	"os"
	"runtime/debug"
)

func main() {
	relaxCollector()
	os.Exit(run(context.Background(), invocation{
		args:    os.Args[1:],
		stdin:   os.Stdin,
		stdout:  os.Stdout,
		stderr:  os.Stderr,
		environ: os.Environ(),
		exit:    os.Exit,
	}))
}

// relaxCollector lets the heap grow fivefold before it is collected: commands are
// short, a plan of a thousand experiments takes some 40 MiB, and marking it again
// and again costs more than the rest of `plan` or of a run with nothing to do.
// GOGC, if set, is left in force.
func relaxCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
