package durable

import (
	"os"
	"syscall"
)

// openNoFollow opens without following a link and without blocking on a FIFO
// that a runner left in place of a file.
func openNoFollow(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
