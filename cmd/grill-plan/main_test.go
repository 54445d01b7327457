package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"grill-plan": main})
}

// TestScripts runs testdata/script: one behaviour of the program each, through
// the program itself. In them $REPO is the root of the repository $PLANS and $DOCS
// hold a plan and the documents of a small experiment of the program with itself.
func TestScripts(t *testing.T) {
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("REPO", repository)
			env.Setenv(hostLockVariable, filepath.Join(env.WorkDir, "host.lock"))
			env.Setenv("PLANS", filepath.Join(repository, "cmd", "grill-plan", "testdata", "plans"))
			env.Setenv("DOCS", filepath.Join(repository, "cmd", "grill-plan", "testdata", "documents"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"flip":    flip,
			"count":   count,
			"waitfor": waitfor,
		},
	})
}

// exits runs a command and demands its exit code: exits CODE COMMAND ARG...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		got = ended.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code is %d, want %d\nstdout: %s\nstderr: %s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// flip inverts one bit in the middle of a file: flip FILE
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: flip FILE")
	}
	name := ts.MkAbs(args[0])
	data, err := os.ReadFile(name)
	ts.Check(err)
	if len(data) == 0 {
		ts.Fatalf("%s is empty: there is nothing to flip", name)
	}
	data[len(data)/2] ^= 1
	ts.Check(os.WriteFile(name, data, 0o600))
}

// count demands how often a text occurs in a file: count N FILE TEXT
func count(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: count N FILE TEXT")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := strings.Count(ts.ReadFile(args[1]), args[2]); got != want {
		ts.Fatalf("%q occurs %d times in %s, want %d:\n%s", args[2], got, args[1], want, ts.ReadFile(args[1]))
	}
}

// waitfor waits until a file exists: waitfor FILE
func waitfor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfor FILE")
	}
	for range 600 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("%s did not appear within 30 seconds", args[0])
}
