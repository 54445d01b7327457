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

// lstat is os.Lstat without what is not asked for; a run with nothing to do
// calls it twice for each node.
func lstat(path string) (*Stat, error) {
	var sys syscall.Stat_t
	for {
		err := syscall.Lstat(path, &sys)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		break
	}
	return &Stat{MTime: sys.Mtim.Nano(), CTime: sys.Ctim.Nano(), Dev: sys.Dev, Inode: sys.Ino}, nil
}
