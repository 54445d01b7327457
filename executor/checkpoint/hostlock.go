package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// DefaultHostLock is the one lock file for all users of a machine (PLN-18).
const DefaultHostLock = "/tmp/grill-plan-host.lock"

// HostLock is a held host.
type HostLock struct {
	file *os.File
}

// HostLockOptions of [LockHost].
type HostLockOptions struct {
	Path string // "" means DefaultHostLock
	// Holder is written into the file for those who wait.
	Holder Holder
	// Waiting is called when the host is held, again every minute, and when
	// somebody else gets it first; nil holder: who it is cannot be read.
	Waiting func(holder *Holder, waited time.Duration)
}

// How often a waiting process asks, and how often it says so. flock(2) that
// blocks could not be cancelled, so it is asked again.
const (
	hostLockAsk    = 200 * time.Millisecond
	hostLockRepeat = time.Minute
)

// LockHost waits for the host until ctx is done. The lock ends with the process.
// It does not tell machines apart: each machine has its own file system for
// temporary files.
func LockHost(ctx context.Context, options HostLockOptions) (*HostLock, error) {
	if options.Path == "" {
		options.Path = DefaultHostLock
	}
	file, err := openHostLock(options.Path)
	if err != nil {
		return nil, fmt.Errorf("lock host: %w", err)
	}
	if err := waitForHost(ctx, file, options); err != nil {
		file.Close()
		return nil, fmt.Errorf("lock host by %s: %w", options.Path, err)
	}
	// Not being able to write who holds it (another user's file, mode 0644)
	// weakens the message to others and nothing else.
	_ = writeHolder(file, &options.Holder)
	return &HostLock{file: file}, nil
}

// Release gives the host up.
func (l *HostLock) Release() error {
	_ = writeHolder(l.file, nil)
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("release host: %w", err)
	}
	return nil
}

// openHostLock opens without O_CREAT first: with fs.protected_regular the kernel
// refuses O_CREAT on another user's file in a sticky folder. Links are not
// followed, and a FIFO in its place does not block.
func openHostLock(path string) (*os.File, error) {
	const flags = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	for range 3 {
		file, err := os.OpenFile(path, os.O_RDWR|flags, 0)
		if errors.Is(err, fs.ErrPermission) {
			file, err = os.OpenFile(path, os.O_RDONLY|flags, 0)
		}
		if errors.Is(err, fs.ErrNotExist) {
			file, err = createHostLock(path, flags)
			if errors.Is(err, fs.ErrExist) {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		info, err := file.Stat()
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a regular file; remove it", path)
		}
		if err != nil {
			file.Close()
			return nil, err
		}
		return file, nil
	}
	return nil, fmt.Errorf("%s appears and disappears", path)
}

func createHostLock(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|flags, 0o666)
	if err != nil {
		return nil, err
	}
	// Whatever the umask: every user of the machine has to be able to hold it
	// and to say so. It holds nothing but who holds it.
	if err := file.Chmod(0o666); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func waitForHost(ctx context.Context, file *os.File, options HostLockOptions) error {
	start := time.Now()
	var said time.Time
	var told *Holder
	for {
		err := flock(file, unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		holder := readHolder(file)
		if said.IsZero() || time.Since(said) >= hostLockRepeat || changed(told, holder) {
			said, told = time.Now(), holder
			if options.Waiting != nil {
				options.Waiting(holder, time.Since(start))
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(hostLockAsk):
		}
	}
}

func changed(before, now *Holder) bool {
	return now != nil && (before == nil || before.PID != now.PID || before.Start != now.Start || before.Since != now.Since)
}
