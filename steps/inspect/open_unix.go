//go:build unix

package inspect

import (
	"errors"
	"os"
	"syscall"
)

// openRegular opens a regular file without following a link and without
// blocking on what is no file.
func openRegular(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
