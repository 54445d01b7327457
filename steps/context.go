package steps

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/internal/durable"
	"github.com/grill-plan/grill-plan/plan/compile"
	"github.com/grill-plan/grill-plan/steps/evidence"
)

// contextFile lies beside the stored plan files and says what the graph does
// not: which values were used and where gates were declared. A report needs
// nothing but it and the evidence.
const contextFile = "context.json"

// runContext is what contextFile holds.
type runContext struct {
	Format     int                        `json:"format"`
	Plan       string                     `json:"plan"`
	PlanSHA256 string                     `json:"plan_sha256"` // over the plan files and the values used
	Folder     string                     `json:"folder"`      // absolute, where the plan lay at the last run
	Path       string                     `json:"path"`        // absolute, of the plan file or folder
	Variables  map[string]json.RawMessage `json:"variables,omitempty"`
	Sensitive  []string                   `json:"sensitive,omitempty"`
	// Experiments in the order of the plan.
	Experiments []experimentContext `json:"experiments"`
}

type experimentContext struct {
	Address string               `json:"address"`
	Slots   []slotContext        `json:"slots"`
	Gates   []compile.GateSource `json:"gates,omitempty"`
}

type slotContext struct {
	Slot string `json:"slot"`
	Arm  string `json:"arm"`
}

func (l *Loaded) context() ([]byte, error) {
	made := runContext{
		Format: 1, Plan: l.Plan.Name, PlanSHA256: l.planDigest(), Folder: l.Plan.Folder, Path: l.Path,
		Variables: l.Plan.Variables, Sensitive: l.Plan.Sensitive,
	}
	for _, experiment := range l.Plan.Experiments {
		entry := experimentContext{Address: experiment.Address, Gates: l.Compiled.Gates[experiment.Address]}
		for _, slot := range experiment.Workload.Document.Slots {
			entry.Slots = append(entry.Slots, slotContext{Slot: slot.ID, Arm: slot.Arm})
		}
		made.Experiments = append(made.Experiments, entry)
	}
	data, err := json.MarshalIndent(made, "", " ")
	if err != nil {
		return nil, fmt.Errorf("describe the plan: %w", err)
	}
	return append(data, '\n'), nil
}

// planDigest is SHA-256 over labelled lines of the plan's files and of the
// values used; no path of this machine enters.
func (l *Loaded) planDigest() string {
	var lines strings.Builder
	lines.WriteString("grill-plan plan 1\n")
	names := make([]string, 0, len(l.Plan.Files))
	for name := range l.Plan.Files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&lines, "file %q %s\n", name, evidence.Digest(l.Plan.Files[name]))
	}
	names = names[:0]
	for name := range l.Plan.Variables {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&lines, "variable %q %s\n", name, l.Plan.Variables[name])
	}
	return evidence.Digest([]byte(lines.String()))
}

// planFiles are what a run keeps of its plan.
func (l *Loaded) planFiles() (map[string][]byte, error) {
	files := make(map[string][]byte, len(l.Plan.Files)+1)
	for name, data := range l.Plan.Files {
		files[name] = data
	}
	context, err := l.context()
	if err != nil {
		return nil, err
	}
	files[contextFile] = context
	return files, nil
}

// errNotBegun: a run directory in which nothing was ever carried out.
var errNotBegun = errors.New("nothing has run in it yet")

func readContext(run *checkpoint.Run) (runContext, error) {
	path := filepath.Join(run.Dir, checkpoint.PlanDir, contextFile)
	data, err := durable.ReadRegular(path, 1<<28)
	if errors.Is(err, fs.ErrNotExist) {
		return runContext{}, fmt.Errorf("run directory %s: %w", run.Dir, errNotBegun)
	}
	if err != nil {
		return runContext{}, fmt.Errorf("read the plan of the run: %w", err)
	}
	var read runContext
	if err := json.Unmarshal(data, &read); err != nil {
		return runContext{}, fmt.Errorf("read %s: %w", path, err)
	}
	if read.Format != 1 {
		return runContext{}, fmt.Errorf("read %s: format %d is not one this version reads", path, read.Format)
	}
	return read, nil
}

// PlanPath is where the plan of a run lay when it last ran, "" when unknown.
func PlanPath(runDir string) string {
	run, err := checkpoint.Open(runDir)
	if err != nil {
		return ""
	}
	described, err := readContext(run)
	if err != nil {
		return ""
	}
	return described.Path
}
