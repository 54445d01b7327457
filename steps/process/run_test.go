package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
)

// play gives a command that runs this test binary as the named child.
func play(t *testing.T, child string) Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return Command{
		Path:     self,
		Env:      Environment(os.Environ(), []document.EnvVar{{Name: childVariable, Value: child}}, ""),
		Deadline: 30 * time.Second,
		Stdout:   Stream{Path: filepath.Join(dir, "stdout"), Limit: 1 << 20},
		Stderr:   Stream{Path: filepath.Join(dir, "stderr"), Limit: 1 << 20},
	}
}

func run(t *testing.T, command Command) evidence.Invocation {
	t.Helper()
	invocation, err := Run(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	return invocation
}

func contents(t *testing.T, stream Stream) string {
	t.Helper()
	data, err := os.ReadFile(stream.Path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func alive(pid int) bool {
	return len(aliveInGroupOrPID(pid)) > 0
}

func TestExitAndSignal(t *testing.T) {
	clean := run(t, play(t, "exit 0"))
	if clean.ExitCode == nil || *clean.ExitCode != 0 || clean.EndToEndUS == nil || *clean.EndToEndUS == 0 || clean.Usage == nil {
		t.Errorf("exit 0 gave %+v", clean)
	}
	if got := run(t, play(t, "exit 7")); got.ExitCode == nil || *got.ExitCode != 7 || got.Signal != "" {
		t.Errorf("exit 7 gave %+v", got)
	}
	got := run(t, play(t, "signal 15"))
	if got.Signal != "SIGTERM" || got.ExitCode != nil || got.Deadline || got.Cancelled {
		t.Errorf("SIGTERM gave %+v", got)
	}
}

// CAP-10: the declared path is executed and is argv[0], also when it is a link.
// CAP-13: standard input is empty. CAP-14: the child leads a group of its own.
func TestWhatTheChildGets(t *testing.T) {
	command := play(t, "describe")
	link := filepath.Join(t.TempDir(), "interpreter")
	if err := os.Symlink(command.Path, link); err != nil {
		t.Fatal(err)
	}
	command.Path, command.Dir = link, t.TempDir()
	run(t, command)
	dir, err := filepath.EvalSymlinks(command.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := contents(t, command.Stdout), link+"|0|"+dir+"|true"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// CAP-12: own environment, declared names added or replaced, and the token.
func TestEnvironment(t *testing.T) {
	got := Environment([]string{"A=1", "B=2", "B=3", TokenVariable + "=older", "C="},
		[]document.EnvVar{{Name: "Z", Value: "a=b"}, {Name: "B", Value: ""}}, "tok")
	if want := []string{"A=1", "C=", "B=", TokenVariable + "=tok", "Z=a=b"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	command := play(t, "environment")
	command.Env = Environment(os.Environ(), []document.EnvVar{{Name: childVariable, Value: "environment"}}, "secret-token")
	run(t, command)
	if !strings.Contains(contents(t, command.Stdout), TokenVariable+"=secret-token\n") {
		t.Error("the child does not carry the token")
	}
}

func TestSpawnFailure(t *testing.T) {
	missing := play(t, "exit 0")
	missing.Path = filepath.Join(t.TempDir(), "nothing")
	got := run(t, missing)
	if got.SpawnError == "" || got.EndToEndUS != nil || got.ExitCode != nil || got.StartedUnixMS == 0 {
		t.Errorf("a missing program gave %+v", got)
	}
	away := play(t, "exit 0")
	away.Dir = filepath.Join(t.TempDir(), "nothing")
	if got := run(t, away); !strings.HasPrefix(got.SpawnError, "cwd") {
		t.Errorf("a missing cwd gave %+v", got)
	}
}

// CAP-25: the first bytes are kept exactly, the rest is dropped, the child never
// blocks; exactly the limit is not truncated.
func TestStreamsAreBounded(t *testing.T) {
	for _, c := range []struct {
		printed, limit, retained uint64
		truncated                bool
	}{{100, 100, 100, false}, {101, 100, 100, true}, {99, 100, 99, false}, {5 << 20, 1000, 1000, true}, {0, 1, 0, false}} {
		command := play(t, "print "+strconv.FormatUint(c.printed, 10))
		command.Stdout.Limit, command.Stderr.Limit = c.limit, c.limit
		got := run(t, command)
		for name, stream := range map[string]evidence.Stream{"o": got.Stdout, "e": got.Stderr} {
			kept := strings.Repeat(name, int(c.retained))
			want := evidence.Stream{Bytes: c.printed, Retained: c.retained, SHA256: evidence.Digest([]byte(kept)), Truncated: c.truncated}
			if stream != want {
				t.Errorf("%d of %d: got %+v, want %+v", c.printed, c.limit, stream, want)
			}
		}
		if contents(t, command.Stdout) != strings.Repeat("o", int(c.retained)) {
			t.Errorf("%d of %d: the file holds something else", c.printed, c.limit)
		}
	}
}

// CAP-20: a child that closes its streams early is still waited for.
func TestClosedStreamsAreNotTheEnd(t *testing.T) {
	if got := run(t, play(t, "close")); *got.EndToEndUS < 150_000 {
		t.Errorf("ended after %d us, before the child did", *got.EndToEndUS)
	}
}

// CAP-21: the deadline ends in SIGKILL, also for a child that ignores signals or
// is stopped; the measured time is kept.
func TestDeadline(t *testing.T) {
	for _, child := range []string{"sleep", "ignore-term", "stop"} {
		command := play(t, child)
		command.Deadline = 200 * time.Millisecond
		got := run(t, command)
		if !got.Deadline || got.Signal != "SIGKILL" || got.Cancelled || *got.EndToEndUS < 200_000 {
			t.Errorf("%s gave %+v", child, got)
		}
	}
}

// CAP-21: an exit observed after the deadline is late, one at it is not.
func TestLate(t *testing.T) {
	c := &child{command: Command{Deadline: time.Second}}
	for elapsed, want := range map[time.Duration]bool{time.Second - 1: false, time.Second: false, time.Second + 1: true} {
		if got := c.late(elapsed); got != want {
			t.Errorf("%v: got %v", elapsed, got)
		}
	}
}

// CAP-22: cancellation ends the running group and is recorded as such.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	command := play(t, "ignore-term")
	command.Started = func(Started) error {
		cancel()
		return nil
	}
	got, err := Run(ctx, command)
	if err != nil || !got.Cancelled || got.Deadline || got.Signal != "SIGKILL" {
		t.Errorf("got %+v, error %v", got, err)
	}
	again := play(t, "exit 0")
	if got, err := Run(ctx, again); err != nil || !got.Cancelled || got.StartedUnixMS != 0 {
		t.Errorf("with a cancelled context: got %+v, error %v", got, err)
	}
	if contents(t, again.Stdout) != "" || contents(t, again.Stderr) != "" {
		t.Error("something was printed by an invocation that never was")
	}
}

// CAP-14, CAP-16: a descendant in the group does not survive the leader, even if
// the leader ended well.
func TestGroupDies(t *testing.T) {
	command := play(t, "grandchild ignore-term")
	got := run(t, command)
	pid, err := strconv.Atoi(strings.Fields(contents(t, command.Stdout))[0])
	if err != nil || *got.ExitCode != 0 {
		t.Fatalf("got %+v, error %v", got, err)
	}
	if alive(pid) {
		t.Errorf("grandchild %d is alive", pid)
	}
	if got.Stdout.Incomplete {
		t.Error("the stream ended with the group, yet is called incomplete")
	}
}

// CAP-15, CAP-17: a descendant that left the group is not waited for longer than
// the drain, and the record says so; it is out of reach.
func TestEscapedDescendantDoesNotHoldUp(t *testing.T) {
	command := play(t, "escape sleep")
	start := time.Now()
	got := run(t, command)
	pid, err := strconv.Atoi(strings.Fields(contents(t, command.Stdout))[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Kill(pid, unix.SIGKILL) }()
	if !got.Stdout.Incomplete || !got.Stderr.Incomplete {
		t.Errorf("the drain is not called incomplete: %+v", got)
	}
	took, measured := time.Since(start), time.Duration(*got.EndToEndUS)*time.Microsecond
	if took > 40*time.Second {
		t.Errorf("took %v", took)
	}
	if took < measured+drainTime {
		t.Errorf("CAP-20: the drain is in the time: %v of %v", measured, took)
	}
	if !alive(pid) {
		t.Error("the escaped descendant was ended")
	}
}

// PLN-31: after exit 0 the group of a switch is left alone and its files do not
// block it; after a failure the group is ended.
func TestLeaveRunning(t *testing.T) {
	for _, deadline := range []time.Duration{30 * time.Second, time.Nanosecond} {
		command := play(t, "grandchild sleep")
		command.LeaveRunning, command.Stdout.Direct, command.Stderr.Direct = true, true, true
		if deadline == time.Nanosecond {
			command = play(t, "sleep")
			command.LeaveRunning, command.Stdout.Direct, command.Stderr.Direct = true, true, true
			command.Deadline = 100 * time.Millisecond
		}
		var group int
		command.Started = func(started Started) error {
			group = started.Group
			return nil
		}
		got := run(t, command)
		if wanted := !got.Deadline; (len(aliveInGroup(group)) > 0) != wanted {
			t.Errorf("after %+v: alive %v", got, aliveInGroup(group))
		}
		_ = unix.Kill(-group, unix.SIGKILL)
	}
}

// PLN-31: a direct stream is cut to its limit and hashed.
func TestDirectStreamIsCut(t *testing.T) {
	command := play(t, "print 5000")
	command.Stdout.Direct, command.Stdout.Limit = true, 10
	got := run(t, command)
	want := evidence.Stream{Bytes: 5000, Retained: 10, SHA256: evidence.Digest([]byte("oooooooooo")), Truncated: true}
	if got.Stdout != want || contents(t, command.Stdout) != "oooooooooo" {
		t.Errorf("got %+v", got.Stdout)
	}
}

// CAP-08: an error of this side ends the group and is returned.
func TestOwnFailures(t *testing.T) {
	broken := errors.New("disk full")
	command := play(t, "sleep")
	var group int
	command.Started = func(started Started) error {
		group = started.Group
		return broken
	}
	got, err := Run(t.Context(), command)
	if !errors.Is(err, broken) || got.Cancelled || got.Deadline {
		t.Errorf("failed Started: got %+v, error %v", got, err)
	}
	if len(aliveInGroup(group)) > 0 {
		t.Error("the group outlived the failure")
	}
	taken := play(t, "exit 0")
	if err := os.WriteFile(taken.Stderr.Path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), taken); !errors.Is(err, os.ErrExist) {
		t.Errorf("existing stream file: error %v", err)
	}
}

// CAP-08: a stream file that takes no more is an error, and the child is ended
// rather than blocked. /dev/full stands for the full disk.
func TestStreamFileThatTakesNoMore(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full")
	}
	command := play(t, "print 5000000")
	streams, err := openStreams(command)
	if err != nil {
		t.Fatal(err)
	}
	defer streams.close()
	streams.stdout.file.Close()
	streams.stdout.file = full
	failed := make(chan error, 1)
	streams.stdout.start(func(err error) { failed <- err })
	go func() {
		data := make([]byte, 1<<20)
		for range 5 {
			if _, err := streams.stdout.write.Write(data); err != nil {
				return
			}
		}
	}()
	select {
	case err := <-failed:
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("got %v, want ENOSPC", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("no failure was reported")
	}
	streams.stdout.finish(time.Now().Add(time.Second))
}

// PLN-26: what is told of a started child identifies it.
func TestStarted(t *testing.T) {
	command := play(t, "exit 0")
	command.Started = func(started Started) error {
		if started.PID <= 0 || started.Group != started.PID || started.StartTime == "" {
			t.Errorf("got %+v", started)
		}
		return nil
	}
	run(t, command)
}

// The resource use is the child's.
func TestUsage(t *testing.T) {
	got := run(t, play(t, "burn 200"))
	if used := got.Usage.UserUS + got.Usage.SystemUS; used < 50_000 || used > *got.EndToEndUS*8 {
		t.Errorf("a child that burns 200 ms used %d us of %d us", used, *got.EndToEndUS)
	}
	if usageOf(unix.Rusage{Maxrss: 5 << 20}, ^uint64(0)).MaxRSSKiB != 0 {
		t.Error("a peak that may be the parent's is reported")
	}
	if usageOf(unix.Rusage{Maxrss: 5 << 20}, 1).MaxRSSKiB == 0 {
		t.Error("a peak above the parent's is left out")
	}
}

// PLN-46: jitter of the two clocks is no suspension.
func TestSuspended(t *testing.T) {
	before := Suspended()
	time.Sleep(5 * time.Millisecond)
	if got := SuspendedUS(Suspended() - before); got != 0 {
		t.Errorf("an awake machine slept %d us", got)
	}
	if got := SuspendedUS(1500 * time.Millisecond); got != 1_500_000 {
		t.Errorf("got %d", got)
	}
}
