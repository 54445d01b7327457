package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/grill-plan/grill-plan/internal/view"
)

// Exit codes (PLN-29, CMP-23, CAP-33, INS-07).
const (
	exitOK           = 0
	exitError        = 1
	exitInconclusive = 2
	exitRegression   = 3
	exitStopped      = 4
)

// exitTable is shown in the help of the program and of commands with a verdict.
const exitTable = `Exit codes of run, report and media compare:
  0  PASS
  1  ERROR, invalid input or evidence, or a command line that cannot be carried out
  2  INCONCLUSIVE
  3  REGRESSION
  4  stopped before the end: run the same command again to go on
The worst experiment decides: ERROR, then REGRESSION, INCONCLUSIVE, PASS.
All other commands: 0, or 1 with the reason on standard error.
`

// exitLine is shown in the help of all other commands.
const exitLine = "Exit codes: 0, or 1 with the reason on standard error.\n"

// exitStatus ends a command that has said all there is to say.
type exitStatus struct{ code int }

func (e *exitStatus) Error() string { return "exit status " + strconv.Itoa(e.code) }

// exitWith is nil for success, so that commands can return it.
func exitWith(code int) error {
	if code == exitOK {
		return nil
	}
	return &exitStatus{code: code}
}

// usageError is a command line that cannot be carried out, with what to do.
func usageError(do, format string, args ...any) error {
	return view.WithHint(fmt.Errorf(format, args...), do)
}

// notInThisVersion refuses by name what is read but not carried out yet.
func notInThisVersion(what, instead string) error {
	return view.WithHint(errors.New(what+" is not in this version of grill-plan"), instead)
}
