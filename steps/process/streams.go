package process

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/grill-plan/grill-plan/internal/durable"
	"github.com/grill-plan/grill-plan/steps/evidence"
)

// drainTime bounds how long a descendant that escaped the group can keep a
// stream open after the group was killed (CAP-17).
const drainTime = time.Second

// streams are the two outputs of one child.
type streams struct{ stdout, stderr *stream }

func openStreams(command Command) (*streams, error) {
	stdout, err := openStream(command.Stdout)
	if err != nil {
		return nil, fmt.Errorf("open stdout: %w", err)
	}
	stderr, err := openStream(command.Stderr)
	if err != nil {
		stdout.close()
		return nil, fmt.Errorf("open stderr: %w", err)
	}
	return &streams{stdout, stderr}, nil
}

func (s *streams) start(fail func(error)) {
	s.stdout.start(fail)
	s.stderr.start(fail)
}

func (s *streams) closeChildEnds() {
	s.stdout.closeChildEnd()
	s.stderr.closeChildEnd()
}

// drain reads what is left until the streams end, or until the time given.
func (s *streams) drain(until time.Time) {
	s.stdout.finish(until)
	s.stderr.finish(until)
}

func (s *streams) failure() error { return errors.Join(s.stdout.err, s.stderr.err) }

func (s *streams) close() {
	s.stdout.close()
	s.stderr.close()
}

// stream keeps a prefix of what a child writes.
type stream struct {
	declared Stream
	file     *os.File
	read     *os.File // nil for a direct stream
	write    *os.File
	buffer   []byte
	hash     hash.Hash
	done     chan struct{} // closed by the reader; its fields are read after
	bytes    uint64
	retained uint64
	partial  bool
	err      error
}

func openStream(declared Stream) (*stream, error) {
	file, err := os.OpenFile(declared.Path, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND|syscall.O_NOFOLLOW, durable.FileMode)
	if err != nil {
		return nil, err
	}
	s := &stream{declared: declared, file: file, hash: sha256.New()}
	if declared.Direct {
		return s, nil
	}
	if s.read, s.write, err = os.Pipe(); err != nil {
		file.Close()
		return nil, err
	}
	s.buffer = make([]byte, 64<<10)
	return s, nil
}

// childFD is what the child gets. The descriptors are closed on exec by default
// and duplicated for the child, so only the one meant reaches it.
func (s *stream) childFD() uintptr {
	if s.write != nil {
		return s.write.Fd()
	}
	return s.file.Fd()
}

func (s *stream) start(fail func(error)) {
	if s.read == nil {
		return
	}
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		s.copy(fail)
	}()
}

// copy reads to the end. When the file takes no more it goes on reading, so that
// the group ends by the kill that fail brings and not by a full pipe.
func (s *stream) copy(fail func(error)) {
	for {
		n, err := s.read.Read(s.buffer)
		if n > 0 {
			s.keep(s.buffer[:n], fail)
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return
		case errors.Is(err, os.ErrDeadlineExceeded):
			s.partial = true
			return
		default:
			s.note(fmt.Errorf("read what the program prints: %w", err), fail)
			return
		}
	}
}

func (s *stream) keep(data []byte, fail func(error)) {
	s.bytes += uint64(len(data))
	keep := data[:min(uint64(len(data)), s.declared.Limit-s.retained)]
	if len(keep) == 0 || s.err != nil {
		return
	}
	if _, err := s.file.Write(keep); err != nil {
		s.note(fmt.Errorf("store what the program prints: %w", err), fail)
		return
	}
	s.hash.Write(keep)
	s.retained += uint64(len(keep))
}

func (s *stream) note(err error, fail func(error)) {
	if s.err == nil {
		s.err = err
		fail(err)
	}
}

// closeChildEnd gives up this process's copy of the write end; the stream ends
// when the last holder has closed its own.
func (s *stream) closeChildEnd() {
	if s.write != nil {
		s.write.Close()
		s.write = nil
	}
}

func (s *stream) finish(until time.Time) {
	if s.read == nil {
		s.finishDirect()
	} else if s.done != nil {
		if err := s.read.SetReadDeadline(until); err != nil {
			s.read.Close() // ends the reader the hard way
		}
		<-s.done
	}
	if err := s.file.Sync(); err != nil && s.err == nil {
		s.err = fmt.Errorf("store what the program prints: %w", err)
	}
}

// finishDirect cuts the file and hashes it. A service that goes on writing
// appends after the cut; what it writes then belongs to nobody here.
func (s *stream) finishDirect() {
	info, err := s.file.Stat()
	if err == nil {
		s.bytes = uint64(info.Size())
		s.retained = min(s.bytes, s.declared.Limit)
		if s.retained < s.bytes {
			err = s.file.Truncate(int64(s.retained))
		}
	}
	if err == nil {
		_, err = io.Copy(s.hash, io.NewSectionReader(s.file, 0, int64(s.retained)))
	}
	if err != nil {
		s.err = fmt.Errorf("store what the program prints: %w", err)
	}
}

func (s *stream) result() evidence.Stream {
	return evidence.Stream{
		Bytes:      s.bytes,
		Retained:   s.retained,
		SHA256:     hex.EncodeToString(s.hash.Sum(nil)),
		Truncated:  s.bytes > s.retained,
		Incomplete: s.partial,
	}
}

func (s *stream) close() {
	s.closeChildEnd()
	if s.read != nil {
		s.read.Close()
	}
	s.file.Close()
}
