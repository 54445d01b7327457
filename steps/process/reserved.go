package process

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/grill-plan/grill-plan/steps/evidence"
)

// EndReserved ends what a killed process left running of the one invocation
// whose records are in a folder: with a reservation, with or without a process
// record, and without the run record that its end would have left (PLN-26). A
// folder without a reservation has started nothing.
func EndReserved(ctx context.Context, dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, evidence.RunFile)); err == nil {
		return nil
	}
	reservation, _, err := evidence.ReadFile[evidence.Reservation](filepath.Join(dir, evidence.ReservationFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	running, _, err := evidence.ReadFile[evidence.Process](filepath.Join(dir, evidence.ProcessFile))
	if errors.Is(err, fs.ErrNotExist) {
		return EndLeftOver(ctx, reservation, nil)
	}
	if err != nil {
		return err
	}
	return EndLeftOver(ctx, reservation, &running)
}
