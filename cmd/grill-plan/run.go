package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/executor"
	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/internal/view"
	"github.com/grill-plan/grill-plan/steps"
)

type runFlags struct {
	planFlags
	out      string
	only     []string
	redo     []string
	replan   bool
	verify   bool
	fresh    bool
	takeOver bool
	backend  string
	detach   bool
	json     bool
}

func (a *app) newRun() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run PLAN [--out RUN]",
		Short: "Runs a plan, or goes on with it",
		Long: `Runs a plan and gives its verdict. The same command goes on after an interruption:
what is finished is not done again. The first Ctrl-C ends the current sample, runs
the plan's restore and says how to go on; the second ends at once.

When the plan or a program has changed so that finished measurements would be
discarded, run names them with the reasons and stops until --replan is given.
Nothing finished is ever deleted.`,
		Annotations:       map[string]string{verdictCommand: ""},
		Example:           "  grill-plan run examples/plans/quickstart.hcl",
		Args:              exactArgs("PLAN"),
		ValidArgsFunction: completePlan,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(cmd); err != nil {
				return err
			}
			return a.runPlan(cmd.Context(), args[0], flags)
		},
	}
	flags.add(cmd)
	set := cmd.Flags()
	set.StringVar(&flags.out, "out", "", "keep the evidence in `RUN` (default grill-runs/NAME beside the plan)")
	set.StringArrayVar(&flags.only, "only", nil, "run `EXPERIMENT` and what it depends on; exits 4 while others are unfinished; may be repeated")
	set.StringArrayVar(&flags.redo, "redo", nil, "make a new attempt of the node at `ADDRESS` and of what follows it; may be repeated")
	set.BoolVar(&flags.replan, "replan", false, "redo finished measurements that no longer fit the plan")
	set.BoolVar(&flags.verify, "verify", false, "hash everything that is reused, whatever its modification time says")
	set.BoolVar(&flags.fresh, "new", false, "measure again in NAME-2, NAME-3, ...")
	set.BoolVar(&flags.takeOver, "take-over", false, "go on although a holder on another machine cannot be examined")
	set.StringVar(&flags.backend, "backend", "", "place nodes by `BACKEND`; none is in this version")
	set.BoolVar(&flags.detach, "detach", false, "leave the run to a backend; none is in this version")
	set.BoolVar(&flags.json, "json", false, "print one JSON document")
	return cmd
}

// check rejects what this version does not have and what cannot go together.
func (f *runFlags) check(cmd *cobra.Command) error {
	switch {
	case cmd.Flags().Changed("backend"):
		return notInThisVersion("--backend", "Leave it out: every node runs on this machine.")
	case f.detach:
		return notInThisVersion("--detach", "Leave it out, or start grill-plan under a program that keeps it running.")
	case f.fresh && f.out != "":
		return usageError("Leave out one of them.", "%s--new chooses the run directory and --out names it", prefix(cmd))
	case f.fresh && (len(f.redo) > 0 || f.replan || f.takeOver):
		return usageError("Leave out --new to go on with the existing run.",
			"%s--new begins another run, in which there is nothing to redo, replan or take over", prefix(cmd))
	}
	return nil
}

func (a *app) runPlan(ctx context.Context, path string, flags runFlags) error {
	loaded, err := a.loadValid(ctx, path, flags.planFlags)
	if err != nil {
		return err
	}
	dir, err := chooseRunDir(loaded, flags)
	if err != nil {
		return err
	}
	lock, err := a.hostLock()
	if err != nil {
		return err
	}
	progress := view.NewProgress(a.err, stepsAhead(loaded), time.Now)
	ctx, release := a.interruptible(ctx, exitStopped, func(text string) {
		progress.Show(view.Happening{What: view.Noted, Text: text})
	})
	outcome, err := steps.Run(ctx, steps.RunInput{
		Loaded: loaded, RunDir: dir, HostLock: lock, Only: flags.only, Redo: flags.redo,
		Replan: flags.replan, Verify: flags.verify, TakeOver: flags.takeOver,
		Event: func(event checkpoint.Event) {
			if h, ok := happening(event); ok {
				progress.Show(h)
			}
		},
		Progress: func(address string, p executor.Progress) {
			progress.Show(view.Happening{Address: address, What: view.Advanced, Done: p.Done, Total: p.Total, Text: p.Text})
		},
	})
	release()
	progress.Close()
	if err != nil {
		return diskHint(err)
	}
	return a.showOutcome(path, outcome, flags)
}

// diskHint says what to do about a disk that takes nothing more.
func diskHint(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return view.WithHint(err, "Free some space and give the same command again: what is finished is kept.")
	case errors.Is(err, syscall.EROFS):
		return view.WithHint(err, "The run directory cannot be written. Mount it writable, or name another with --out.")
	}
	return err
}

// chooseRunDir is the folder named, the default one, or a new one beside it.
func chooseRunDir(loaded *steps.Loaded, flags runFlags) (string, error) {
	switch {
	case flags.out != "":
		return flags.out, nil
	case flags.fresh:
		return loaded.NewRunDir()
	}
	return loaded.DefaultRunDir(), nil
}

// showOutcome says how a run ended, with the verdict, the figures behind it and
// where the evidence is, and how to go on when it is not at its end.
func (a *app) showOutcome(path string, outcome *steps.RunOutcome, flags runFlags) error {
	if flags.json {
		if err := a.printResults(outcome.Report); err != nil {
			return err
		}
	} else {
		a.out.Printf("%s", view.Block(outcome.Report.Text(shortest(outcome.RunDir))))
	}
	code := outcome.ExitCode()
	switch {
	case outcome.NothingDone() && code != exitStopped:
		view.Note(a.err, "nothing to do: everything was finished and verified before; --new measures again")
	case code == exitStopped:
		view.Note(a.err, "stopped before the end; what is finished is kept")
		view.Hints(a.err, goOn(path, outcome.RunDir, flags))
	}
	return exitWith(code)
}

// goOn says how to go on with a stopped run. Values of variables are not repeated:
// they may be secrets (PLN-07); neither are flags that would do work anew.
func goOn(path, runDir string, flags runFlags) string {
	argv := []string{view.Program, "run", path}
	if flags.out != "" || flags.fresh {
		argv = append(argv, "--out", shortest(runDir))
	}
	for _, experiment := range flags.only {
		argv = append(argv, "--only", experiment)
	}
	text := "Go on with: " + view.Argv(argv)
	if len(flags.vars)+len(flags.varFiles) > 0 {
		text += "\nGive the same --var and --var-file again."
	}
	return text
}

// shortest names a folder as a reader here would write it.
func shortest(dir string) string {
	here, err := os.Getwd()
	if err != nil {
		return dir
	}
	relative, err := filepath.Rel(here, dir)
	if err != nil || len(relative) >= len(dir) {
		return dir
	}
	return relative
}
