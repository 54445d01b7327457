package program

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/grill-plan/grill-plan/plan/document"
)

// ReadDocument reads a document file of at most document.MaxBytes, without ever
// holding more than that (DOC-09). A symbolic link to a regular file is
// followed; a directory, FIFO, socket or device is refused without blocking
// (DOC-10). The error is an *Error.
func ReadDocument(path string) ([]byte, error) {
	file, err := openRegular(path)
	if err != nil {
		return nil, refuse("DOC-10", "document %s: %w; name a regular file that can be read", path, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, refuse("DOC-10", "document %s: %w", path, err)
	}
	if info.Size() > document.MaxBytes {
		return nil, refuse("DOC-09", "document %s: is %d bytes long; at most %d are admitted", path, info.Size(), document.MaxBytes)
	}
	data, err := io.ReadAll(io.LimitReader(file, document.MaxBytes+1))
	if err != nil {
		return nil, refuse("DOC-10", "read document %s: %w", path, err)
	}
	if len(data) > document.MaxBytes {
		return nil, refuse("DOC-09", "document %s: is more than %d bytes long", path, document.MaxBytes)
	}
	return data, nil
}

// openRegular opens a regular file for reading. It looks before it opens, since
// opening a device can act, and opens without blocking and looks again, since
// the name may have changed hands in between.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, cause(err)
	}
	if err := regular(info); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, cause(err)
	}
	if info, err = file.Stat(); err == nil {
		err = regular(info)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func regular(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errors.New("is a directory")
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("is a FIFO")
	case mode&fs.ModeSocket != 0:
		return errors.New("is a socket")
	case mode&fs.ModeDevice != 0:
		return errors.New("is a device")
	default:
		return errors.New("is not a regular file")
	}
}

// ResolveCwd is the directory a child starts in: the declared one, or folder
// when none is (DOC-44, DOC-46). The error is an *Error.
func ResolveCwd(folder string, cwd *string) (string, error) {
	if cwd == nil {
		return folder, nil
	}
	path, err := absolute(folder, *cwd)
	if err != nil {
		return "", &Error{Rule: "DOC-44", Err: fmt.Errorf("cwd: %w", err)}
	}
	return path, CheckCwd(path)
}

// CheckCwd demands a directory that can be entered (DOC-46).
func CheckCwd(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return refuse("DOC-46", "cwd %s: %w; name an existing directory", path, cause(err))
	case !info.IsDir():
		return refuse("DOC-46", "cwd %s: is not a directory", path)
	case unix.Access(path, unix.X_OK) != nil:
		return refuse("DOC-46", "cwd %s: cannot be entered; check its permissions", path)
	}
	return nil
}
