// Package durable publishes files so that a kill or a power cut at any instant
// leaves either the old state or the new one, never half of it.
//
// The order is: temporary file in the target folder, write, fsync, close, give
// it its name, fsync the folder (CAP-07, PLN-19, PLN-24). It does not hold on
// file systems whose fsync lies. After a failed fsync nothing is retried: the
// kernel may have dropped the pages, so the caller has to fail.
package durable

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// FileMode and DirMode keep evidence readable by its owner only (PRV-02).
const (
	FileMode fs.FileMode = 0o600
	DirMode  fs.FileMode = 0o700
)

// Publish writes data as a new file. It never replaces: an existing name gives
// an error that wraps fs.ErrExist (PLN-24, by link(2), which also holds on
// network file systems).
func Publish(path string, data []byte) error {
	temporary, err := writeTemporary(path, data)
	if err != nil {
		return err
	}
	defer os.Remove(temporary)
	if err := os.Link(temporary, path); err != nil {
		return fmt.Errorf("publish %s: %w", path, errors.Unwrap(err))
	}
	if err := os.Remove(temporary); err != nil {
		return fmt.Errorf("publish %s: remove its temporary file: %w", path, err)
	}
	return SyncDir(filepath.Dir(path))
}

// Replace writes data under a name that may exist. Use it only for what can be
// derived again (reports, indexes, status), never for records.
func Replace(path string, data []byte) error {
	temporary, err := writeTemporary(path, data)
	if err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		os.Remove(temporary)
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return SyncDir(filepath.Dir(path))
}

// TemporaryPrefix starts the name of every file that is being published; such
// a file is what a kill left and holds nothing.
const TemporaryPrefix = ".grill-tmp-"

func writeTemporary(path string, data []byte) (string, error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	name := filepath.Join(filepath.Dir(path), TemporaryPrefix+hex.EncodeToString(random[:]))
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, FileMode)
	if err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(name)
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	return name, nil
}

// SyncDir makes the entries of a folder durable.
func SyncDir(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	defer file.Close()
	if err := file.Sync(); err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	return nil
}

// SyncFile makes the bytes of an existing regular file durable, without
// following a symbolic link.
func SyncFile(path string) error {
	file, err := openNoFollow(path)
	if err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	defer file.Close()
	if err := file.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return nil
}
