package process

import (
	"crypto/rand"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/grill-plan/grill-plan/steps/evidence"
)

func aliveInGroupOrPID(pid int) []int {
	found := aliveInGroup(pid)
	if startTime(pid) != "" && !slices.Contains(found, pid) && unix.Kill(pid, 0) == nil && !isZombie(pid) {
		found = append(found, pid)
	}
	return found
}

// orphan starts a sleeping child that this package does not wait for, in a group
// of its own, as a killed executor leaves it.
func orphan(t *testing.T, token string) evidence.Process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(self)
	command.Env = append(os.Environ(), childVariable+"=sleep")
	if token != "" {
		command.Env = append(command.Env, TokenVariable+"="+token)
	}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = command.Wait()
	}()
	pid := command.Process.Pid
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
	})
	return evidence.Process{PID: pid, Group: pid, StartTime: startTime(pid)}
}

func reservation(token string) evidence.Reservation {
	return evidence.Reservation{Token: token, BootID: Host().BootID, PIDNamespace: Namespace()}
}

// PLN-26: a group left by a killed executor is found by its token, or by pid
// with start time, and ended; nobody else is touched.
func TestEndLeftOver(t *testing.T) {
	token, other := rand.Text(), rand.Text()
	ours, stranger := orphan(t, token), orphan(t, other)
	if err := EndLeftOver(t.Context(), reservation(token), nil); err != nil {
		t.Fatal(err)
	}
	if alive(ours.PID) {
		t.Error("the process with the token is alive")
	}
	if !alive(stranger.PID) {
		t.Fatal("a process with another token was ended")
	}
	hidden := orphan(t, "")
	reused := hidden
	reused.StartTime = "1"
	if err := EndLeftOver(t.Context(), reservation(token), &reused); err != nil || !alive(hidden.PID) {
		t.Fatalf("a process that reused the pid was touched (%v)", err)
	}
	if err := EndLeftOver(t.Context(), reservation(token), &hidden); err != nil || alive(hidden.PID) {
		t.Errorf("the recorded process is alive (%v)", err)
	}
	if !alive(stranger.PID) {
		t.Error("a stranger was ended")
	}
}

// PLN-26: another boot or another pid namespace: nothing is signalled.
func TestEndLeftOverElsewhere(t *testing.T) {
	token := rand.Text()
	ours := orphan(t, token)
	boot, namespace := reservation(token), reservation(token)
	boot.BootID, namespace.PIDNamespace = "another", "another"
	for _, each := range []evidence.Reservation{boot, namespace} {
		if err := EndLeftOver(t.Context(), each, &ours); err != nil || !alive(ours.PID) {
			t.Errorf("%+v: a process was ended (%v)", each, err)
		}
	}
}

// PLN-26: members of the recorded group count only while a member is certain.
func TestChoose(t *testing.T) {
	living := []suspect{{10, 10, "5"}, {11, 10, "6"}, {12, 12, "7"}, {13, 12, "8"}}
	tokens := func(with ...int) func(int) bool {
		return func(pid int) bool { return slices.Contains(with, pid) }
	}
	recorded := func(pid, group int, start string) *evidence.Process {
		return &evidence.Process{PID: pid, Group: group, StartTime: start}
	}
	for _, c := range []struct {
		name    string
		running *evidence.Process
		tokens  []int
		want    []int
	}{
		{"nothing known", nil, nil, nil},
		{"token only", nil, []int{11}, []int{11}},
		{"recorded leader brings its group", recorded(10, 10, "5"), nil, []int{10, 11}},
		{"reused leader", recorded(10, 10, "4"), nil, nil},
		{"leader gone, member with token", recorded(9, 10, "1"), []int{11}, []int{10, 11}},
		{"descendant that left the group", recorded(10, 10, "4"), []int{13}, []int{13}},
		{"no start time recorded", recorded(10, 10, ""), nil, nil},
	} {
		left := leftOver{token: "t", running: c.running}
		if got := pids(left.choose(living, tokens(c.tokens...))); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// PLN-26: the process that is looked at again is not the one that was seen.
func TestEndLooksAgain(t *testing.T) {
	victim := orphan(t, "")
	left := leftOver{}
	if err := left.end(suspect{victim.PID, victim.Group, "1"}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	if !alive(victim.PID) {
		t.Error("a process with another start time was ended")
	}
}
