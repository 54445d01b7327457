package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// commands are all commands that help shows, groups too.
func commands(t *testing.T) []*cobra.Command {
	t.Helper()
	a := &app{}
	var all []*cobra.Command
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		all = append(all, cmd)
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() && sub.Name() != "help" {
				walk(sub)
			}
		}
	}
	walk(a.newRoot())
	return all
}

// Every command says in help what it is for, shows an example and its exit codes.
func TestHelpIsComplete(t *testing.T) {
	for _, cmd := range commands(t) {
		text := helpText(cmd)
		if cmd.Short == "" {
			t.Errorf("%s says nothing of itself", cmd.CommandPath())
		}
		if cmd.HasAvailableSubCommands() && cmd.HasParent() {
			continue
		}
		if !strings.Contains(text, "\nExample:\n  ") || !strings.Contains(text, "\nExit codes") {
			t.Errorf("help of %s lacks an example or the exit codes:\n%s", cmd.CommandPath(), text)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "\t") {
				t.Errorf("help of %s has a tab: %q", cmd.CommandPath(), line)
			}
		}
	}
}

// Every example of help works as pasted, from the root of the repository.
func TestHelpExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the quickstart, which takes twenty seconds")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		if os.Getenv("REQUIRE_TOOLS") == "1" {
			t.Fatal("bash is required")
		}
		t.Skip("needs bash")
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(filepath.Join(dir, "examples/plans/grill-runs")) // of whoever ran them here
	corpus := "testdata/corpus/generated"
	if err := os.CopyFS(filepath.Join(dir, corpus), os.DirFS(filepath.Join("../..", corpus))); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range commands(t) {
		if cmd.Example == "" {
			continue
		}
		t.Run(strings.ReplaceAll(cmd.CommandPath(), " ", "_"), func(t *testing.T) {
			script := "set -e\n" + cmd.Example + "\nwait\n" // for what runs beside it
			shell := exec.Command("bash", "-c", script)
			shell.Dir = dir
			if out, err := shell.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s\n%s", err, cmd.Example, out)
			}
		})
	}
}

// The tree is built for one invocation: nothing is left of an earlier one.
func TestRunKeepsNothing(t *testing.T) {
	invoke := func(args ...string) (int, string, string) {
		var stdout, stderr strings.Builder
		code := run(context.Background(), invocation{args: args, stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr})
		return code, stdout.String(), stderr.String()
	}
	if code, out, _ := invoke("version", "--json"); code != 0 || !strings.HasPrefix(out, "{") {
		t.Errorf("version --json gives %d, %q", code, out)
	}
	if code, out, _ := invoke("version"); code != 0 || strings.HasPrefix(out, "{") {
		t.Errorf("version gives %d, %q after version --json", code, out)
	}
	if code, out, errs := invoke(); code != 1 || out != "" || errs == "" {
		t.Errorf("no arguments give %d, %q, %q", code, out, errs)
	}
	code := run(context.Background(), invocation{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard})
	if code != 1 {
		t.Errorf("nil arguments give %d: the test's own were read", code)
	}
}
