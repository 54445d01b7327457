package inspect_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

// INS-06: records are strict.
func TestStrictRecords(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"unknown field": func(b []byte) []byte {
			return bytes.Replace(b, []byte(`{"kind"`), []byte(`{"extra":1,"kind"`), 1)
		},
		"repeated field": func(b []byte) []byte {
			return bytes.Replace(b, []byte(`{"kind"`), []byte(`{"version":1,"kind"`), 1)
		},
		"null":           func(b []byte) []byte { return bytes.Replace(b, []byte(`"pid":1`), []byte(`"pid":null`), 1) },
		"fraction":       func(b []byte) []byte { return bytes.Replace(b, []byte(`"pid":1`), []byte(`"pid":1.0`), 1) },
		"space":          func(b []byte) []byte { return append(b, ' ') },
		"newer":          func(b []byte) []byte { return bytes.Replace(b, []byte(`"version":1`), []byte(`"version":2`), 1) },
		"another kind":   func(b []byte) []byte { return bytes.Replace(b, []byte(`media-process`), []byte(`media-run`), 1) },
		"not JSON":       func([]byte) []byte { return []byte("\x00") },
		"nothing":        func([]byte) []byte { return nil },
		"deeply nested":  func([]byte) []byte { return bytes.Repeat([]byte("["), 1<<20) },
		"another casing": func(b []byte) []byte { return bytes.Replace(b, []byte(`"pid"`), []byte(`"PID"`), 1) },
	} {
		t.Run(name, func(t *testing.T) {
			f := whole(t)
			path := "run-000001/process.json"
			data, err := os.ReadFile(filepath.Join(f.dir, path))
			if err != nil {
				t.Fatal(err)
			}
			f.write(path, change(data))
			f.seal()
			f.refused(path, inspect.CodeRecordInvalid)
		})
	}
}

// A hostile directory neither hangs nor is followed out of itself.
func TestHostileDirectory(t *testing.T) {
	replace := func(t *testing.T, name string, with func(path string) error) *fixture {
		f := whole(t)
		path := filepath.Join(f.dir, name)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := with(path); err != nil {
			t.Fatal(err)
		}
		return f
	}
	fifo := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	link := func(path string) error { return os.Symlink(os.DevNull, path) }
	for _, name := range []string{"completion.json", "receipt.json", "workload.json"} {
		replace(t, name, fifo).refused(name, inspect.CodeUnreadable)
		replace(t, name, link).refused(name, inspect.CodeUnreadable)
	}
	for _, name := range []string{"run-000001/run.json", "run-000001/stdout.bin"} {
		replace(t, name, fifo).refused(name, inspect.CodeUnreadable)
		replace(t, name, link).refused(name, inspect.CodeUnreadable)
	}
	for _, with := range []func(string) error{fifo, link} {
		f := replace(t, "run-000001/output.png", with)
		f.refused("run-000001/output.png", inspect.CodeMissing)
	}
	// A run directory that is a link to the same files elsewhere.
	f := whole(t)
	elsewhere := filepath.Join(t.TempDir(), "run")
	if err := os.Rename(filepath.Join(f.dir, "run-000001"), elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(f.dir, "run-000001")); err != nil {
		t.Fatal(err)
	}
	f.refused("run-000001", inspect.CodeUnreadable)
	// A sparse file of a terabyte costs neither time nor memory.
	f = whole(t)
	if err := os.Truncate(filepath.Join(f.dir, "run-000001", "output.png"), 1<<40); err == nil {
		f.refused("run-000001/output.png", inspect.CodeMissing)
	}
	f = whole(t)
	if err := os.Truncate(filepath.Join(f.dir, "run-000001", "stdout.bin"), 1<<40); err == nil {
		f.refused("run-000001/stdout.bin", inspect.CodeDigestMismatch)
	}
	f = whole(t)
	if err := os.Truncate(filepath.Join(f.dir, "workload.json"), 1<<40); err == nil {
		f.refused("workload.json", inspect.CodeUnreadable)
	}
	f = whole(t)
	if err := os.Rename(f.dir, f.dir+"2"); err != nil {
		t.Fatal(err)
	}
	f.refused("", inspect.CodeNotADirectory)
}

// Paths of a completion reach no file outside the capture.
func TestListedPaths(t *testing.T) {
	for _, path := range []string{"../outside", "/etc/passwd", "run-000001/../../outside", "run-000001/../receipt.json", ""} {
		f := whole(t)
		f.completion.Files = append([]evidence.EvidenceFile{{Path: path, Bytes: 0, SHA256: evidence.Digest(nil)}}, f.completion.Files...)
		slices.SortFunc(f.completion.Files, func(a, b evidence.EvidenceFile) int { return strings.Compare(a.Path, b.Path) })
		f.reseal()
		_, err := f.inspect()
		if _, ok := inspect.AsError(err); !ok {
			t.Errorf("%q was admitted: %v", path, err)
		}
	}
}

func TestCancelledContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := inspect.Inspect(ctx, whole(t).dir); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
