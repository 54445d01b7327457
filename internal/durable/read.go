package durable

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrNotRegular: something that is no regular file stands where a file belongs.
var ErrNotRegular = errors.New("no regular file")

// OpenRegular opens a regular file without following a symbolic link and without
// blocking: a FIFO or a device in its place is an error that wraps
// [ErrNotRegular], at once.
func OpenRegular(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, flags|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, FileMode)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO) {
		return nil, fmt.Errorf("%s: %w: remove what stands there", path, ErrNotRegular)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w: remove what stands there", path, ErrNotRegular)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// ReadRegular reads a regular file of at most limit bytes, as OpenRegular opens.
func ReadRegular(path string, limit int64) ([]byte, error) {
	file, err := OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("read %s: larger than %d bytes", path, limit)
	}
	return data, nil
}
