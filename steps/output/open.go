package output

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/grill-plan/grill-plan/steps/evidence"
)

// lookAt says what a name is without opening or following it: "" for a regular
// file, with its size, else one of the types of evidence.
func lookAt(dir *os.File, name string) (kind string, size int64, err error) {
	var stat unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return "", 0, err
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return "", stat.Size, nil
	case unix.S_IFLNK:
		return evidence.TypeSymlink, 0, nil
	case unix.S_IFDIR:
		return evidence.TypeDirectory, 0, nil
	case unix.S_IFIFO:
		return evidence.TypeFIFO, 0, nil
	case unix.S_IFSOCK:
		return evidence.TypeSocket, 0, nil
	case unix.S_IFCHR, unix.S_IFBLK:
		return evidence.TypeDevice, 0, nil
	}
	return evidence.TypeOther, 0, nil
}

// openDir opens a directory that is not a link.
func openDir(at int, name string) (*os.File, error) {
	return open(at, name, unix.O_DIRECTORY)
}

// openFile opens what was seen to be a regular file. Should it have become
// something else meanwhile, it neither follows nor blocks (OUT-09).
func openFile(dir *os.File, name string) (*os.File, error) {
	file, err := open(int(dir.Fd()), name, unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it stopped being a regular file while it was looked at")
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func open(at int, name string, flags int) (*os.File, error) {
	for {
		fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|flags, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: name, Err: err}
		}
		return os.NewFile(uintptr(fd), name), nil
	}
}
