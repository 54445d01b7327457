package program

import (
	"io/fs"
	"syscall"
)

// fileState says whether a file is still the one that was hashed.
type fileState struct {
	device, inode     uint64
	size              int64
	modified, changed syscall.Timespec
}

func stateOf(info fs.FileInfo) fileState {
	s := info.Sys().(*syscall.Stat_t)
	return fileState{uint64(s.Dev), s.Ino, s.Size, s.Mtimespec, s.Ctimespec}
}
