package checkpoint

import (
	"io/fs"
	"syscall"
)

func statOf(info fs.FileInfo) *Stat {
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return &Stat{}
	}
	return &Stat{MTime: sys.Mtimespec.Nano(), CTime: sys.Ctimespec.Nano(), Dev: uint64(uint32(sys.Dev)), Inode: sys.Ino}
}
