package checkpoint

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/grill-plan/grill-plan/internal/durable"
)

// Lock is a held lock on a run directory. flock(2) holds it, so it ends with
// the process; the file stays, since deleting it would let two hold it.
type Lock struct {
	file   *os.File
	holder Holder
	// TakenOver is the holder on another machine that could not be examined
	// and from whom the run was taken.
	TakenOver *Holder
}

// LockOptions of [Run.Lock].
type LockOptions struct {
	// TakeOver goes on although a holder on another machine cannot be examined.
	TakeOver bool
	Now      time.Time
}

// HeldError: another process works on the run directory (PLN-24).
type HeldError struct {
	Dir    string
	Holder *Holder // nil when who holds it did not or could not say
	// Elsewhere: the holder is on another machine and may be dead.
	Elsewhere bool
}

func (e *HeldError) Error() string {
	switch {
	case e.Holder == nil:
		return fmt.Sprintf("run directory %s is held by another process, which is not known; wait for it to end", e.Dir)
	case e.Elsewhere:
		return fmt.Sprintf("run directory %s is held by %s, which cannot be examined from here; if it is gone, go on with --take-over", e.Dir, e.Holder)
	default:
		return fmt.Sprintf("run directory %s is held by %s; wait for it to end, or use cancel or stop", e.Dir, e.Holder)
	}
}

// Lock takes the run directory for this process or says at once who has it. A
// lock left by a dead process of this machine is taken without asking.
func (r *Run) Lock(options LockOptions) (*Lock, error) {
	path := filepath.Join(r.Dir, LockFile)
	file, err := durable.OpenRegular(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("lock run directory: %w", err)
	}
	lock, err := r.lock(file, options)
	if err != nil {
		file.Close()
		return nil, err
	}
	return lock, nil
}

func (r *Run) lock(file *os.File, options LockOptions) (*Lock, error) {
	err := flock(file, unix.LOCK_EX|unix.LOCK_NB)
	earlier := readHolder(file)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, &HeldError{Dir: r.Dir, Holder: earlier, Elsewhere: earlier != nil && earlier.elsewhere()}
	}
	if err != nil {
		return nil, fmt.Errorf("lock run directory %s: %w", r.Dir, err)
	}
	lock := &Lock{file: file, holder: Self(options.Now)}
	if earlier != nil && earlier.elsewhere() {
		if !options.TakeOver {
			return nil, &HeldError{Dir: r.Dir, Holder: earlier, Elsewhere: true}
		}
		lock.TakenOver = earlier
	}
	if lock.holder.Token, err = newToken(); err != nil {
		return nil, err
	}
	if err := writeHolder(file, &lock.holder); err != nil {
		return nil, fmt.Errorf("lock run directory %s: %w", r.Dir, err)
	}
	return lock, nil
}

// Holder is who holds the lock: this process.
func (l *Lock) Holder() Holder { return l.holder }

// Release gives the run directory up. The emptied file tells a process on
// another machine that nobody is left to be examined.
func (l *Lock) Release() error {
	err := writeHolder(l.file, nil)
	if closeErr := l.file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("release run directory: %w", err)
	}
	return nil
}

// CurrentHolder reads who holds a run directory without touching its lock; nil
// when nobody does, the holder is gone, or who it is cannot be read.
func (r *Run) CurrentHolder() *Holder {
	file, err := durable.OpenRegular(filepath.Join(r.Dir, LockFile), os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer file.Close()
	holder := readHolder(file)
	if holder == nil || holder.Examine() == Gone {
		return nil
	}
	return holder
}

const longestHolder = 64 << 10

// readHolder gives nil for an empty, torn or otherwise unreadable holder: the
// file is written without rename, so a reader may meet it half written.
func readHolder(file *os.File) *Holder {
	data, err := io.ReadAll(io.NewSectionReader(file, 0, longestHolder))
	if err != nil || len(data) == 0 {
		return nil
	}
	var holder Holder
	if json.Unmarshal(data, &holder) != nil || holder.PID < 1 {
		return nil
	}
	return &holder
}

func writeHolder(file *os.File, holder *Holder) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	if holder == nil {
		return nil
	}
	data, err := encode(holder)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(data, 0)
	return err
}

func flock(file *os.File, how int) error {
	for {
		err := unix.Flock(int(file.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func newToken() (string, error) {
	var token [16]byte
	if _, err := rand.Read(token[:]); err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	return hex.EncodeToString(token[:]), nil
}
