package steps

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/hashicorp/hcl/v2"

	"github.com/grill-plan/grill-plan/plan"
	"github.com/grill-plan/grill-plan/plan/compile"
	"github.com/grill-plan/grill-plan/steps/capture"
	"github.com/grill-plan/grill-plan/steps/evidence"
)

// PlanInput names a plan and the values of its variables.
type PlanInput struct {
	Path     string // a .hcl file or a folder
	Vars     []string
	VarFiles []string
	Environ  []string
}

// Loaded is a plan that was read and compiled.
type Loaded struct {
	Path      string // absolute
	Plan      *plan.Plan
	Compiled  *compile.Compiled
	Collector evidence.Collector
	Self      string // path of the running executable
}

// Load reads and compiles a plan. It starts nothing and writes nothing. The
// diagnostics hold every mistake of the plan; with errors among them Compiled
// is nil, and Plan serves to show the source lines only. The error is for what
// is no mistake of the plan.
func Load(ctx context.Context, input PlanInput) (*Loaded, hcl.Diagnostics, error) {
	collector, self, err := identity(ctx)
	if err != nil {
		return nil, nil, err
	}
	path, err := filepath.Abs(input.Path)
	if err != nil {
		return nil, nil, fmt.Errorf("find the plan: %w", err)
	}
	loaded := &Loaded{Path: path, Collector: collector, Self: self}
	read, diagnostics := plan.Load(input.Path, plan.Options{Vars: input.Vars, VarFiles: input.VarFiles, Environ: input.Environ})
	loaded.Plan = read
	if diagnostics.HasErrors() {
		return loaded, diagnostics, nil
	}
	compiled, more := compile.Compile(read, compile.Options{Collector: collector.SHA256})
	loaded.Compiled = compiled
	return loaded, append(diagnostics, more...), nil
}

// identity is who captures (CAP-09) and the path of its executable.
func identity(ctx context.Context) (evidence.Collector, string, error) {
	collector, err := capture.CollectorIdentity(ctx)
	if err != nil {
		return collector, "", err
	}
	self, err := os.Executable()
	if err != nil {
		return collector, "", fmt.Errorf("find the running executable: %w", err)
	}
	return collector, self, nil
}

// RunsFolder is the folder beside a plan that holds its run directories.
const RunsFolder = "grill-runs"

// DefaultRunDir is grill-runs/NAME beside the plan.
func (l *Loaded) DefaultRunDir() string {
	return filepath.Join(l.Plan.Folder, RunsFolder, l.Plan.Name)
}

// NewRunDir is the first of NAME-2, NAME-3, … that does not exist, or NAME when
// there is none yet.
func (l *Loaded) NewRunDir() (string, error) {
	dir := l.DefaultRunDir()
	for n := 2; ; n++ {
		_, err := os.Lstat(dir)
		if os.IsNotExist(err) {
			return dir, nil
		}
		if err != nil {
			return "", fmt.Errorf("choose a run directory: %w", err)
		}
		dir = l.DefaultRunDir() + "-" + strconv.Itoa(n)
	}
}

// runner is the executor's Runner for this plan; documents come from memory.
func (l *Loaded) runner() *Runner {
	return &Runner{
		Folder: l.Plan.Folder, Self: l.Self, Collector: l.Collector,
		Secrets: l.Compiled.Secrets,
		Document: func(sha string) ([]byte, error) {
			if data, ok := l.Compiled.Documents[sha]; ok {
				return data, nil
			}
			return nil, fmt.Errorf("document %s is not one of the plan's", sha)
		},
	}
}
