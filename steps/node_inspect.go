package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/grill-plan/grill-plan/executor"
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/plan/graph"
	"github.com/grill-plan/grill-plan/plan/spec"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

const (
	inspectFile = "inspect.json"
	// blockedFile lists the gates that this slot or an earlier one has made
	// undecidable, for the inspect of the next slot (PLN-13).
	blockedFile = "blocked-gates.json"
)

// blockedGates is what blockedFile holds: positions in the workload's gates.
type blockedGates struct {
	Gates []int `json:"gates"`
}

// runInspect verifies a capture and says whether the experiment can still be
// decided.
func (r *Runner) runInspect(ctx context.Context, work executor.Work) (executor.Result, error) {
	wanted, err := readSpec[spec.Inspect](work.Node)
	if err != nil {
		return executor.Result{}, err
	}
	captures := dirsOf(work, graph.Capture)
	if len(captures) != 1 {
		return executor.Result{}, fmt.Errorf("%s needs one capture and has %d", work.Node.Address, len(captures))
	}
	result, err := inspectComplete(ctx, captures[0])
	if err != nil {
		return executor.Result{}, interrupted(ctx, err)
	}
	report, err := inspect.Describe(result).JSON()
	if err != nil {
		return executor.Result{}, err
	}
	if err := writeFile(work.Dir, inspectFile, report); err != nil {
		return executor.Result{}, err
	}
	blocked, err := blockGates(work, result)
	if err != nil {
		return executor.Result{}, err
	}
	data, err := json.Marshal(blocked)
	if err != nil {
		return executor.Result{}, err
	}
	if err := writeFile(work.Dir, blockedFile, append(data, '\n')); err != nil {
		return executor.Result{}, err
	}
	done := executor.Result{Outcome: "verified"}
	if wanted.FailFast && len(blocked.Gates) == len(result.Workload.Gates) {
		done.StopGroup = "insufficient_samples"
		done.Outcome = "verified; no gate can be decided any more"
	}
	return done, nil
}

// needOf says what a needed node is within its experiment: its address without
// the experiment's, such as capture.a. Keys of experiments hold any text, so
// nothing is looked for inside an address.
func needOf(work executor.Work, address string, kind graph.Kind) bool {
	rest, ok := strings.CutPrefix(address, work.Node.Group+".")
	return ok && strings.HasPrefix(rest, string(kind)+".")
}

// dirsOf are the folders of the needed nodes of a kind, by address, sorted.
func dirsOf(work executor.Work, kind graph.Kind) []string {
	var dirs []string
	for _, address := range slices.Sorted(maps.Keys(work.Needs)) {
		if input := work.Needs[address]; needOf(work, address, kind) && input.Dir != "" {
			dirs = append(dirs, input.Dir)
		}
	}
	return dirs
}

// inspectComplete demands evidence that verifies and a complete capture.
func inspectComplete(ctx context.Context, dir string) (*inspect.Result, error) {
	result, err := inspect.Inspect(ctx, dir)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, &executor.Failure{Code: EvidenceInvalid, Err: fmt.Errorf("%s: %w", dir, err)}
	}
	if result.Completion.Status != evidence.Complete {
		return nil, &executor.Failure{Code: EvidenceInvalid, Err: fmt.Errorf("%s: the capture is %s", dir, result.Completion.Status)}
	}
	return result, nil
}

// blockGates adds the gates that this slot makes undecidable to those of the
// slot before it.
func blockGates(work executor.Work, result *inspect.Result) (blockedGates, error) {
	before, err := blockedBefore(work)
	if err != nil {
		return blockedGates{}, err
	}
	blocked := blockedGates{Gates: []int{}}
	var arms []string
	for _, slot := range result.Workload.Slots {
		arms = append(arms, slot.Arm)
	}
	for i, gate := range result.Workload.Gates {
		alone := *result.Workload
		alone.Gates = []document.Gate{gate}
		if before[i] || !inspect.CanStillDecide([]*inspect.Result{result}, &alone, arms) {
			blocked.Gates = append(blocked.Gates, i)
		}
	}
	return blocked, nil
}

func blockedBefore(work executor.Work) (map[int]bool, error) {
	before := map[int]bool{}
	for _, dir := range dirsOf(work, graph.Inspect) {
		path := filepath.Join(dir, blockedFile)
		data, err := evidence.ReadBytes(path, 1<<20)
		if err != nil {
			return nil, fmt.Errorf("read the gates that earlier slots decided: %w", err)
		}
		var blocked blockedGates
		if err := json.Unmarshal(data, &blocked); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		for _, gate := range blocked.Gates {
			before[gate] = true
		}
	}
	return before, nil
}

var errNoCapture = errors.New("no capture was made")
