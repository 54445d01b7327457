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
	return &Stat{MTime: sys.Mtim.Nano(), CTime: sys.Ctim.Nano(), Dev: sys.Dev, Inode: sys.Ino}
}
