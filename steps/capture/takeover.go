package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/process"
)

// Whole says whether a directory holds a capture that ended as complete and can
// be taken over after its process died (PLN-22): its completion record is whole,
// matches its digest, belongs to the receipt beside it, and every file it lists
// is there in its size. Whether the bytes are right is inspect's business.
func Whole(dir string) (Outcome, bool) {
	completion, sealed, err := evidence.ReadFile[evidence.Completion](filepath.Join(dir, evidence.CompletionFile))
	if err != nil || completion.Status != evidence.Complete || evidence.CheckSeal(completion) != nil {
		return Outcome{}, false
	}
	receipt, digest, err := evidence.ReadFile[evidence.Receipt](filepath.Join(dir, evidence.ReceiptFile))
	if err != nil || digest != completion.ReceiptSHA256 {
		return Outcome{}, false
	}
	for _, file := range completion.Files {
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(file.Path)))
		if err != nil || !info.Mode().IsRegular() || uint64(info.Size()) != file.Bytes {
			return Outcome{}, false
		}
	}
	outcome := Outcome{Status: completion.Status, ReceiptSHA256: digest, CompletionSHA: sealed, Host: receipt.Host, Program: receipt.Program}
	outcome.Samples.Planned = len(receipt.Samples)
	outcome.Samples.Unstarted = len(completion.Unstarted)
	for i := range receipt.Samples {
		run, _, err := evidence.ReadFile[evidence.Run](filepath.Join(dir, document.RunDirName(i), evidence.RunFile))
		if err != nil || run.Sample == nil {
			return Outcome{}, false
		}
		outcome.count(run)
	}
	return outcome, true
}

// EndLeftOver ends what a killed process left running of the capture in a
// directory: of each invocation that was reserved and has no record (PLN-26).
func EndLeftOver(ctx context.Context, dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for a killed capture: %w", err)
	}
	for _, entry := range entries {
		if entry.IsDir() && (entry.Name() == evidence.SetupDir || strings.HasPrefix(entry.Name(), "run-")) {
			if err := process.EndReserved(ctx, filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
