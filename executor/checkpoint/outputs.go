package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/grill-plan/grill-plan/executor/digest"
	"github.com/grill-plan/grill-plan/internal/durable"
)

// File is one thing that an attempt left. What is not a regular file has a type
// and nothing else: it is never opened, since a FIFO would block, a device act
// and a link lead elsewhere.
type File struct {
	// Path is slash separated, relative to the attempt; hex:… when not UTF-8.
	Path   string `json:"path"`
	Type   string `json:"type,omitempty"` // directory, symlink, fifo, socket, device, other
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256,omitempty"`
	// Noted is what the file system said when this machine last hashed the
	// file; while it says the same the file is not hashed again (PLN-20).
	Noted *Stat `json:"noted,omitempty"`
}

// Stat is what tells an untouched file. Times are nanoseconds of the epoch.
type Stat struct {
	MTime int64  `json:"mtime_ns"`
	CTime int64  `json:"ctime_ns"`
	Dev   uint64 `json:"dev"`
	Inode uint64 `json:"ino"`
}

const hexPrefix = "hex:"

func encodePath(path string) string {
	if utf8.ValidString(path) && !strings.HasPrefix(path, hexPrefix) {
		return path
	}
	return hexPrefix + hex.EncodeToString([]byte(path))
}

func (f *File) path() (string, error) {
	digits, encoded := strings.CutPrefix(f.Path, hexPrefix)
	if !encoded {
		return f.Path, nil
	}
	path, err := hex.DecodeString(digits)
	return string(path), err
}

// ListFiles makes everything under an attempt's folder durable, hashes it and
// lists it sorted by path. A file that changes meanwhile is an error: whoever
// writes it should have ended before the node did. Files for which read gives
// false, by their path with slashes, are listed by size and not read: nil means
// that all are.
func ListFiles(ctx context.Context, dir string, read func(path string) bool) ([]File, error) {
	lister := lister{ctx: ctx, root: dir, read: read}
	if err := lister.folder(""); err != nil {
		return nil, fmt.Errorf("list the files of an attempt: %w", err)
	}
	sort.Slice(lister.files, func(i, j int) bool { return lister.files[i].Path < lister.files[j].Path })
	return lister.files, nil
}

type lister struct {
	ctx    context.Context
	root   string
	files  []File
	read   func(path string) bool
	buffer []byte
}

func (l *lister) folder(relative string) error {
	dir := filepath.Join(l.root, relative)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := filepath.Join(relative, entry.Name())
		switch kind := typeOf(entry.Type()); kind {
		case "":
			if err := l.regular(name); err != nil {
				return err
			}
		case "directory":
			l.files = append(l.files, File{Path: encodePath(name), Type: kind})
			if err := l.folder(name); err != nil {
				return err
			}
		default:
			l.files = append(l.files, File{Path: encodePath(name), Type: kind})
		}
	}
	if len(entries) == 0 && relative == "" {
		return nil // its own entry is made durable with the checkpoint
	}
	return durable.SyncDir(dir)
}

func (l *lister) regular(name string) error {
	if err := l.ctx.Err(); err != nil {
		return context.Cause(l.ctx)
	}
	file, err := openRegular(filepath.Join(l.root, name))
	if err != nil {
		return err
	}
	defer file.Close()
	if l.buffer == nil {
		l.buffer = make([]byte, 256<<10)
	}
	var listed *File
	if l.read != nil && !l.read(filepath.ToSlash(name)) {
		listed, err = measureFile(file)
	} else {
		listed, err = hashFile(l.ctx, file, l.buffer)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", name, err)
	}
	listed.Path = encodePath(name)
	l.files = append(l.files, *listed)
	return nil
}

// openRegular opens without following a link and without blocking.
func openRegular(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file any more", path)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// measureFile lists a file by its size alone.
func measureFile(file *os.File) (*File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return &File{Size: info.Size()}, nil
}

func hashFile(ctx context.Context, file *os.File, buffer []byte) (*File, error) {
	before, err := file.Stat()
	if err != nil {
		return nil, err
	}
	hash := sha256.New()
	for {
		n, err := file.Read(buffer)
		hash.Write(buffer[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	after, err := file.Stat()
	if err != nil {
		return nil, err
	}
	noted := statOf(after)
	if before.Size() != after.Size() || *statOf(before) != *noted {
		return nil, errors.New("it changed while it was read")
	}
	return &File{Size: after.Size(), SHA256: hex.EncodeToString(hash.Sum(nil)), Noted: noted}, nil
}

func typeOf(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return ""
	case fs.ModeDir:
		return "directory"
	case fs.ModeSymlink:
		return "symlink"
	case fs.ModeNamedPipe:
		return "fifo"
	case fs.ModeSocket:
		return "socket"
	case fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice:
		return "device"
	default:
		return "other"
	}
}

// OutputDigest is the digest of a list of files.
func OutputDigest(files []File) string {
	lines := make([]digest.File, len(files))
	for i, file := range files {
		lines[i] = digest.File{Path: file.Path, Type: file.Type, Size: file.Size, SHA256: file.SHA256}
	}
	return digest.Files(lines)
}

// Damage says which output is not as its checkpoint lists it.
type Damage struct {
	Path   string
	Reason string
}

func (d *Damage) Error() string { return fmt.Sprintf("output %s: %s", d.Path, d.Reason) }

// Verify compares the files of an attempt with their list (PLN-20). Files whose
// noted facts still hold are not read, unless always is set. It gives the list
// with facts noted anew and whether any is new. A *Damage is a finding, every
// other error is trouble with looking.
func Verify(ctx context.Context, dir string, files []File, always bool) (noted []File, changed bool, err error) {
	noted = files
	for i := range files {
		file, err := verifyFile(ctx, dir, &files[i], always)
		if err != nil {
			return nil, false, err
		}
		if file == nil {
			continue
		}
		if !changed {
			noted, changed = append([]File(nil), files...), true
		}
		noted[i].Noted = file.Noted
	}
	return noted, changed, nil
}

// verifyFile gives nil when the noted facts hold, else what was hashed.
func verifyFile(ctx context.Context, dir string, listed *File, always bool) (*File, error) {
	name, err := listed.path()
	if err != nil {
		return nil, &Damage{Path: listed.Path, Reason: "its name cannot be read"}
	}
	path := dir + "/" + name
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, &Damage{Path: listed.Path, Reason: "it is missing"}
	case err != nil:
		return nil, err
	case typeOf(info.Mode()) != listed.Type:
		return nil, &Damage{Path: listed.Path, Reason: "it is of another type"}
	case listed.Type != "":
		return nil, nil
	case info.Size() != listed.Size:
		return nil, &Damage{Path: listed.Path, Reason: fmt.Sprintf("it has %d bytes instead of %d", info.Size(), listed.Size)}
	case listed.SHA256 == "":
		return nil, nil // too large to be read when it was listed, and now
	case !always && listed.Noted != nil && *statOf(info) == *listed.Noted:
		return nil, nil
	}
	file, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	found, err := hashFile(ctx, file, make([]byte, 256<<10))
	if err != nil {
		return nil, fmt.Errorf("verify %s: %w", path, err)
	}
	if found.SHA256 != listed.SHA256 {
		return nil, &Damage{Path: listed.Path, Reason: "its SHA-256 is not the listed one"}
	}
	return found, nil
}
