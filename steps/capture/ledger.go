package capture

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/grill-plan/grill-plan/internal/durable"
	"github.com/grill-plan/grill-plan/steps/evidence"
)

// ledger writes evidence and remembers each file with its digest, so that the
// completion lists exactly what was published without reading it again.
type ledger struct {
	root  string
	files []evidence.EvidenceFile
}

// store publishes bytes under a slash separated name.
func (l *ledger) store(name string, data []byte) (string, error) {
	if err := durable.Publish(filepath.Join(l.root, filepath.FromSlash(name)), data); err != nil {
		return "", err
	}
	digest := evidence.Digest(data)
	l.note(name, uint64(len(data)), digest)
	return digest, nil
}

func (l *ledger) note(name string, bytes uint64, digest string) {
	l.files = append(l.files, evidence.EvidenceFile{Path: name, Bytes: bytes, SHA256: digest})
}

// publish stores a record.
func publish[T evidence.Record](l *ledger, name string, record T) (string, error) {
	data, err := evidence.Marshal(record)
	if err != nil {
		return "", fmt.Errorf("publish %s: %w", name, err)
	}
	return l.store(name, data)
}

// directory makes a new directory of the capture, durably.
func (l *ledger) directory(name string) (string, error) {
	path := filepath.Join(l.root, name)
	if err := os.Mkdir(path, durable.DirMode); err != nil {
		return "", fmt.Errorf("create evidence directory: %w", err)
	}
	return path, durable.SyncDir(l.root)
}

// keepOutputs makes collected files durable and notes those that were hashed. An
// oversized or special entry stays where it is and belongs to no digest
// (CAP-31).
func (l *ledger) keepOutputs(dir string, outputs []evidence.Output) error {
	for _, output := range outputs {
		for _, file := range output.Files {
			if file.SHA256 == "" {
				continue
			}
			if err := durable.SyncFile(filepath.Join(l.root, dir, filepath.FromSlash(file.Name))); err != nil {
				return err
			}
			l.note(dir+"/"+file.Name, file.Bytes, file.SHA256)
		}
		if output.Placeholder == evidence.OutputDir && output.State == evidence.OutputPresent {
			if err := syncIfDirectory(filepath.Join(l.root, dir, evidence.OutputDir)); err != nil {
				return err
			}
		}
	}
	return nil
}

func syncIfDirectory(path string) error {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return nil // a program may have put anything in its place, or nothing
	}
	return durable.SyncDir(path)
}

func (l *ledger) sorted() []evidence.EvidenceFile {
	files := slices.Clone(l.files)
	slices.SortFunc(files, func(a, b evidence.EvidenceFile) int { return cmp.Compare(a.Path, b.Path) })
	return files
}
