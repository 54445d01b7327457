package document

import (
	"fmt"
	"math/bits"
)

// Phases of a sample (PRE-07).
const (
	warmup   = "warmup"
	measured = "measured"
)

// Schedule is every planned sample in the order of execution: all warmups of all
// cells as declared, then all measured runs of all cells (PRE-08). Run i of a
// phase in a cell uses seed i mod the number of seeds.
func Schedule(w *Workload) []Sample {
	var samples []Sample
	for _, phase := range []string{warmup, measured} {
		for i := range w.Cells {
			samples = appendPhase(samples, w, &w.Cells[i], phase)
		}
	}
	return samples
}

func appendPhase(samples []Sample, w *Workload, cell *Cell, phase string) []Sample {
	runs := cell.WarmupRuns
	if phase == measured {
		runs = cell.MeasuredRuns
	}
	seeds := cellRequest(w, cell).Seeds
	for i := range runs {
		samples = append(samples, Sample{
			Index: len(samples), Cell: cell.ID, Phase: phase,
			Seed: seeds[i%uint64(len(seeds))], PauseMS: pause(cell),
		})
	}
	return samples
}

func pause(cell *Cell) uint64 {
	if cell.PauseBetweenRunsMS == nil {
		return 0
	}
	return *cell.PauseBetweenRunsMS
}

// EffectiveRequest is the request of the cell with that id: its own if it
// declares one, else the workload's (DOC-28).
func EffectiveRequest(w *Workload, cell string) *Request {
	for i := range w.Cells {
		if w.Cells[i].ID == cell {
			return cellRequest(w, &w.Cells[i])
		}
	}
	return &w.Request
}

func cellRequest(w *Workload, cell *Cell) *Request {
	if cell.Request != nil {
		return cell.Request
	}
	return &w.Request
}

// SetupDeadlineMS is the effective deadline of a declared setup, and 0 without
// one (DOC-48).
func SetupDeadlineMS(w *Workload, r *Runner) uint64 {
	switch {
	case r.Setup == nil:
		return 0
	case r.Setup.DeadlineMS != nil:
		return *r.Setup.DeadlineMS
	default:
		return w.Limits.SetupDeadlineMS
	}
}

// AllowanceMS is the wall-clock allowance of one capture in milliseconds: the
// deadline and the pause of every sample and the deadline of a declared setup
// (PRE-10). It is an error when the sum exceeds 64 bits.
func AllowanceMS(w *Workload, r *Runner) (uint64, error) {
	sum := sum64{total: SetupDeadlineMS(w, r)}
	for i := range w.Cells {
		cell := &w.Cells[i]
		runs, carry := bits.Add64(cell.WarmupRuns, cell.MeasuredRuns, 0)
		sum.over = sum.over || carry != 0
		sum.addProduct(runs, w.Limits.RunDeadlineMS)
		sum.addProduct(runs, pause(cell))
	}
	if sum.over {
		return 0, fmt.Errorf("the wall-clock allowance of workload %s exceeds 64 bits of milliseconds: lower run_deadline_ms, the setup deadline or pause_between_runs_ms", w.Name)
	}
	return sum.total, nil
}

// sum64 adds without wrapping silently.
type sum64 struct {
	total uint64
	over  bool
}

func (s *sum64) addProduct(a, b uint64) {
	high, low := bits.Mul64(a, b)
	total, carry := bits.Add64(s.total, low, 0)
	s.total, s.over = total, s.over || high != 0 || carry != 0
}
