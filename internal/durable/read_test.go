package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is no regular file is refused at once, whatever it is.
func TestReadRegular(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadRegular(file, 4); err != nil || string(data) != "text" {
		t.Errorf("a file of the limit gives %q, %v", data, err)
	}
	if _, err := ReadRegular(file, 3); err == nil || !strings.Contains(err.Error(), "larger than 3 bytes") {
		t.Errorf("a larger file gives %v", err)
	}
	if _, err := ReadRegular(filepath.Join(dir, "absent"), 3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file gives %v", err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": file, "zero": "/dev/zero"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"fifo", "link", "zero", "."} {
		if _, err := ReadRegular(filepath.Join(dir, name), 100); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s gives %v", name, err)
		}
	}
	if _, err := OpenRegular(filepath.Join(dir, "fifo"), os.O_RDWR); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a FIFO opened for writing gives %v", err)
	}
}
