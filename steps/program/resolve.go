// Package program finds what the documents name on this machine: programs with
// their hash, working directories, document files.
//
// It owns the rules that need a file system (DOC-09, DOC-10, DOC-43 to DOC-47,
// DOC-54). It only looks: nothing is started, created or changed, PATH is never
// searched, and nothing that could block or act when opened is opened. What it
// says holds for the moment it looked; a later change is found by looking again
// (CAP-11, PLN-40).
package program

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
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
)

// Self stands for the running grill-plan where a program is named (DOC-54).
const Self = "self:"

// MaxBytes bounds a program (DOC-45).
const MaxBytes = 1 << 30

// Error says that something a document names is not usable here.
type Error struct {
	Rule string // requirement id
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// refuse builds an Error whose text needs no file path in front.
func refuse(rule, format string, args ...any) error {
	return &Error{Rule: rule, Err: fmt.Errorf(format, args...)}
}

// Resolver resolves programs and remembers hashes of files that have not changed
// since, so that a plan with a thousand experiments hashes its one program
// once. The zero value is ready, for several goroutines too; it may not be copied
// after its first use.
type Resolver struct {
	mu     sync.Mutex
	hashes map[fileState]string
}

// Resolve is (*Resolver).Resolve without memory.
func Resolve(folder, declared, self string) (evidence.Program, error) {
	return new(Resolver).Resolve(context.Background(), folder, declared, self)
}

// Resolve finds a declared program. folder is the absolute directory that
// relative paths belong to, self the path of the running executable. The error
// is an *Error unless the context ended.
func (r *Resolver) Resolve(ctx context.Context, folder, declared, self string) (evidence.Program, error) {
	p := evidence.Program{DeclaredPath: declared}
	target := self
	if declared != Self {
		path, err := Declared(folder, declared)
		if err != nil {
			return evidence.Program{}, err
		}
		p.DeclaredPath, target = path, path
	}
	resolved, err := filepath.EvalSymlinks(target)
	if err != nil {
		return evidence.Program{}, refuse("DOC-43", "program %s: %s; name an executable file, relative to %s", target, cause(err), folder)
	}
	if resolved, err = filepath.Abs(resolved); err != nil {
		return evidence.Program{}, refuse("DOC-43", "program %s: %w", target, err)
	}
	p.ResolvedPath = resolved
	if p.ResolvedSHA256, err = r.hash(ctx, resolved); err != nil {
		return evidence.Program{}, err
	}
	return p, nil
}

// Declared is the declared_path of a program: tilde expanded and absolute, with
// symbolic links not followed (DOC-44, DOC-47). Self stays Self.
func Declared(folder, declared string) (string, error) {
	if declared == Self {
		return Self, nil
	}
	path, err := absolute(folder, declared)
	if err != nil {
		return "", &Error{Rule: "DOC-44", Err: fmt.Errorf("program: %w", err)}
	}
	return path, nil
}

// Executable is what is executed for a program: its declared path, even when
// that is a symbolic link (CAP-10), and for Self the executable itself.
func Executable(p evidence.Program) string {
	if p.DeclaredPath == Self {
		return p.ResolvedPath
	}
	return p.DeclaredPath
}

// absolute keeps a path with .. in it as it is written: to shorten it before
// links are followed could name another file.
func absolute(folder, path string) (string, error) {
	path, err := document.ExpandTilde(path, os.Getenv("HOME"))
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(path) {
		path = folder + string(filepath.Separator) + path
	}
	if slices.Contains(strings.Split(path, string(filepath.Separator)), "..") {
		return path, nil
	}
	return filepath.Clean(path), nil
}

// cause is what the operating system said, without its own naming of the file.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// hash opens a canonical path and gives the SHA-256 of what it holds.
func (r *Resolver) hash(ctx context.Context, path string) (string, error) {
	file, err := openRegular(path)
	if err != nil {
		return "", refuse("DOC-43", "program %s: %w; name an executable file that can be read", path, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", refuse("DOC-43", "program %s: %w", path, err)
	}
	if info.Mode().Perm()&0o111 == 0 || unix.Access(path, unix.X_OK) != nil {
		return "", refuse("DOC-43", "program %s: is not executable; set its executable bit (chmod +x)", path)
	}
	if info.Size() > MaxBytes {
		return "", refuse("DOC-45", "program %s: is %d bytes long; at most %d are admitted", path, info.Size(), MaxBytes)
	}
	// The lock is held while hashing: whoever asks for the same program meanwhile
	// would read it all again.
	r.mu.Lock()
	defer r.mu.Unlock()
	state := stateOf(info)
	if known, ok := r.hashes[state]; ok {
		return known, nil
	}
	sum, err := digest(ctx, file, path)
	if err != nil {
		return "", err
	}
	if !state.settled(time.Now()) {
		return sum, nil
	}
	if r.hashes == nil {
		r.hashes = map[fileState]string{}
	}
	r.hashes[state] = sum
	return sum, nil
}

// settled says whether a later change would show in the state: time stamps tick
// coarsely, so that a file changed just now could change again without a trace.
func (s fileState) settled(now time.Time) bool {
	return now.Sub(time.Unix(s.changed.Unix())) > 2*time.Second
}

// digest streams a file of bounded size; it may still grow while it is read.
func digest(ctx context.Context, file io.Reader, path string) (string, error) {
	hash := sha256.New()
	n, err := io.Copy(hash, contextReader{ctx, io.LimitReader(file, MaxBytes+1)})
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("hash program %s: %w", path, ctx.Err())
	case err != nil:
		return "", refuse("DOC-47", "hash program %s: %w", path, err)
	case n > MaxBytes:
		return "", refuse("DOC-45", "program %s: is more than %d bytes long", path, MaxBytes)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

type contextReader struct {
	ctx    context.Context
	reader io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.reader.Read(p)
}
