package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/internal/view"
	"github.com/grill-plan/grill-plan/steps"
)

// openRun opens what RUN names: a run directory, or the default one of a plan.
func (a *app) openRun(ctx context.Context, path string) (*checkpoint.Run, error) {
	run, err := checkpoint.Open(path)
	if err == nil {
		return run, nil
	}
	if !looksLikePlan(path) {
		if !errors.Is(err, checkpoint.ErrNoRun) {
			return nil, err
		}
		return nil, view.WithHint(err, "Name a run directory, or the plan whose default run directory is meant.")
	}
	dir, err := a.defaultRunDir(ctx, path)
	if err != nil {
		return nil, err
	}
	run, err = checkpoint.Open(dir)
	if errors.Is(err, checkpoint.ErrNoRun) {
		return nil, view.WithHint(err, fmt.Sprintf("Begin it with \"grill-plan run %s\", or name the run directory that --out gave.", path))
	}
	return run, err
}

// looksLikePlan: a plan is an .hcl file or a folder with some.
func looksLikePlan(path string) bool {
	if strings.HasSuffix(path, ".hcl") {
		return true
	}
	files, err := filepath.Glob(filepath.Join(escapeGlob(path), "*.hcl"))
	return err == nil && len(files) > 0
}

// defaultRunDir needs no more of a plan than its name and folder, but reads all of
// it. A plan that cannot be read now, for want of a variable perhaps, may still
// have runs, which are named then.
func (a *app) defaultRunDir(ctx context.Context, path string) (string, error) {
	loaded, diags, err := a.load(ctx, path, planFlags{})
	if err != nil {
		return "", err
	}
	if !diags.HasErrors() {
		return loaded.DefaultRunDir(), nil
	}
	// A name that could be read is enough when a run of that name is there.
	if dir := loaded.DefaultRunDir(); loaded.Plan.Name != "" {
		if run, err := checkpoint.Open(dir); err == nil && run.Manifest.Plan == loaded.Plan.Name {
			return dir, nil
		}
	}
	do := "Name the run directory instead of the plan."
	if runs := runsBeside(loaded.Plan.Folder); len(runs) > 0 {
		do = "Name the run directory instead of the plan, such as " + strings.Join(runs, " or ") + "."
	}
	return "", view.WithHint(fmt.Errorf("%s: the plan has errors, see \"grill-plan validate\", so that its run directory is not known", path), do)
}

func runsBeside(folder string) []string {
	entries, err := os.ReadDir(filepath.Join(folder, steps.RunsFolder))
	if err != nil {
		return nil
	}
	var runs []string
	for _, entry := range entries {
		if entry.IsDir() {
			runs = append(runs, filepath.Join(folder, steps.RunsFolder, entry.Name()))
		}
	}
	return runs
}
