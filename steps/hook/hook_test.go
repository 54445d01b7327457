package hook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/grill-plan/grill-plan/plan/spec"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/process"
)

const childVariable = "HOOK_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(play(os.Args[1], os.Args[2:]))
	}
	// A program built with the race detector would stay for a second when it ends.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// play does what hooks do.
func play(name string, args []string) int {
	switch name {
	case "exit":
		fmt.Fprintln(os.Stderr, "last words of a hook")
		code, _ := strconv.Atoi(args[0])
		return code
	case "print":
		fmt.Print(args[0])
	case "leak":
		fmt.Fprintln(os.Stderr, "the token is", os.Getenv("TOKEN"))
		return 1
	case "sleep":
		time.Sleep(time.Minute)
	case "serve": // starts a service that holds the streams, and ends
		self, _ := os.Executable()
		service := exec.Command(self, "sleep")
		service.Stdout, service.Stderr = os.Stdout, os.Stderr
		if err := service.Start(); err != nil {
			return 1
		}
		fmt.Println(service.Process.Pid)
	case "flood":
		block := make([]byte, 1<<20)
		for {
			if _, err := os.Stdout.Write(block); err != nil {
				return 1
			}
		}
	case "third": // yes at the third time
		file, _ := os.OpenFile(args[0], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		fmt.Fprint(file, "x")
		file.Close()
		if data, _ := os.ReadFile(args[0]); len(data) < 3 {
			fmt.Println("not yet")
			return 1
		}
	}
	return 0
}

func env(t *testing.T) Env {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Env{Folder: t.TempDir(), Self: self, Dir: t.TempDir()}
}

func hook(args ...string) spec.Hook {
	return spec.Hook{Program: "self:", Args: args, DeadlineMS: 30_000, Env: []spec.Env{{Name: childVariable, Value: "1"}}}
}

func wants(t *testing.T, err error, code string, texts ...string) {
	t.Helper()
	var failure *Error
	if !errors.As(err, &failure) || failure.Code != code {
		t.Fatalf("got %v, want %s", err, code)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q is not in %q", text, err)
		}
	}
}

func groupOf(t *testing.T, dir string) int {
	t.Helper()
	started, _, err := evidence.ReadFile[evidence.Process](filepath.Join(dir, evidence.ProcessFile))
	if err != nil {
		t.Fatal(err)
	}
	return started.Group
}

// PLN-31: a switch that fails, in each of the ways.
func TestSwitchFails(t *testing.T) {
	slow := hook("sleep")
	slow.DeadlineMS = 300
	missing := hook()
	missing.Program = "nothing-here"
	away := hook("exit", "0")
	cwd := "nothing-here"
	away.Cwd = &cwd
	for name, c := range map[string]struct {
		hook  spec.Hook
		code  string
		texts []string
	}{
		"exit":     {hook("exit", "4"), SwitchFailed, []string{"exit code 4", "last words of a hook"}},
		"deadline": {slow, SwitchDeadline, []string{"300 ms"}},
		"missing":  {missing, SwitchFailed, []string{"nothing-here", "cannot be started"}},
		"no cwd":   {away, SwitchFailed, []string{"nothing-here"}},
		"flood":    {hook("flood"), SwitchFailed, []string{"64 MiB"}},
	} {
		t.Run(name, func(t *testing.T) {
			environment := env(t)
			wants(t, Switch(t.Context(), spec.Switch{Hook: c.hook}, environment), c.code, c.texts...)
			if info, err := os.Stat(filepath.Join(environment.Dir, SwitchHook, evidence.StdoutFile)); err == nil && info.Size() > streamLimit {
				t.Errorf("%d bytes of output are kept", info.Size())
			}
		})
	}
}

// PLN-31: after exit 0 the group is left alone, and what it holds open does not
// hold up; a later search for leftovers does not take the service for one.
func TestServiceLivesOn(t *testing.T) {
	environment := env(t)
	if err := Switch(t.Context(), spec.Switch{Hook: hook("serve")}, environment); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(environment.Dir, SwitchHook)
	printed, err := os.ReadFile(filepath.Join(dir, evidence.StdoutFile))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(printed)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	if err := process.EndReserved(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil || groupOf(t, dir) == 0 {
		t.Errorf("the service is gone: %v", err)
	}
}

// PLN-31: on cancellation the group is ended, and the cause is told.
func TestCancel(t *testing.T) {
	environment := env(t)
	cause := errors.New("somebody stopped it")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(300*time.Millisecond, func() { cancel(cause) })
	err := Switch(ctx, spec.Switch{Hook: hook("sleep")}, environment)
	var failure *Error
	if !errors.Is(err, cause) || errors.As(err, &failure) {
		t.Errorf("got %v", err)
	}
	if err := syscall.Kill(-groupOf(t, filepath.Join(environment.Dir, SwitchHook)), 0); err == nil {
		t.Error("the group is alive")
	}
}

// PLN-32: status 200 and nothing else is ready; the last answer is shown.
func TestReadyHTTP(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/soon" && asked.Add(1) >= 3:
			fmt.Fprint(w, "yes")
		case r.URL.Path == "/redirect":
			http.Redirect(w, r, "/yes", http.StatusFound)
		case r.URL.Path == "/yes":
		case r.URL.Path == "/created":
			w.WriteHeader(http.StatusCreated)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, "loading "+strings.Repeat("long ", 10_000))
		}
	}))
	defer server.Close()
	ask := func(path string, deadline uint64) error {
		return Switch(t.Context(), spec.Switch{Hook: hook("exit", "0"), Ready: &spec.Ready{HTTP: server.URL + path, DeadlineMS: deadline}}, env(t))
	}
	if err := ask("/soon", 30_000); err != nil || asked.Load() != 3 {
		t.Errorf("asked %d times, error %v", asked.Load(), err)
	}
	err := ask("/never", 500)
	wants(t, err, ReadyDeadline, "500 ms", "status 503", "loading")
	if len(err.Error()) > 3*shown {
		t.Errorf("the answer is not bounded: %d bytes", len(err.Error()))
	}
	wants(t, ask("/redirect", 300), ReadyDeadline, "status 302")
	wants(t, ask("/created", 300), ReadyDeadline, "status 201")
	server.Close()
	wants(t, ask("/yes", 300), ReadyDeadline, "refused")
}

// PLN-32: a program is asked until exit 0; each try has its own deadline.
func TestReadyProgram(t *testing.T) {
	ask := func(probe spec.Hook, deadline uint64) error {
		return Switch(t.Context(), spec.Switch{Hook: hook("exit", "0"), Ready: &spec.Ready{Hook: &probe, DeadlineMS: deadline}}, env(t))
	}
	counter := filepath.Join(t.TempDir(), "counter")
	if err := ask(hook("third", counter), 30_000); err != nil {
		t.Error(err)
	}
	if data, _ := os.ReadFile(counter); len(data) != 3 {
		t.Errorf("asked %d times", len(data))
	}
	wants(t, ask(hook("exit", "6"), 1500), ReadyDeadline, "exit code 6", "last words of a hook")
	slow := hook("sleep")
	slow.DeadlineMS = 100
	wants(t, ask(slow, 1500), ReadyDeadline, "longer than 100 ms")
	missing := hook()
	missing.Program = "nothing-here"
	wants(t, ask(missing, 60_000), ReadyFailed, "nothing-here")
}

// PLN-32: cancellation ends the waiting.
func TestReadyCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	err := Switch(ctx, spec.Switch{Hook: hook("exit", "0"), Ready: &spec.Ready{HTTP: "http://127.0.0.1:1/", DeadlineMS: 60_000}}, env(t))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// PLN-32: verify must print exactly the expected bytes.
func TestVerify(t *testing.T) {
	verify := func(probe spec.Hook, expect string) error {
		return Switch(t.Context(), spec.Switch{Hook: hook("exit", "0"), Verify: &spec.Verify{Hook: probe, ExpectStdout: expect}}, env(t))
	}
	if err := verify(hook("print", "v1\n"), "v1\n"); err != nil {
		t.Error(err)
	}
	for _, expect := range []string{"v1", "v1\n\n", "V1\n", "", "v1\nand more"} {
		wants(t, verify(hook("print", "v1\n"), expect), VerifyMismatch, `"v1\n"`)
	}
	if err := verify(hook("print", ""), ""); err != nil {
		t.Errorf("nothing is expected and printed: %v", err)
	}
	wants(t, verify(hook("exit", "5"), ""), VerifyFailed, "exit code 5")
	slow := hook("sleep")
	slow.DeadlineMS = 200
	wants(t, verify(slow, ""), VerifyDeadline, "200 ms")
}

// PLN-07: a secret reaches the hook and no error, file or record of ours.
func TestSecrets(t *testing.T) {
	secret := hook("leak")
	secret.Env = append(secret.Env, spec.Env{Name: "TOKEN", Value: spec.Masked, Sensitive: true})
	environment := env(t)
	environment.Secrets = func(hook, name string) (string, bool) { return "hunter2", hook == SwitchHook && name == "TOKEN" }
	err := Switch(t.Context(), spec.Switch{Hook: secret}, environment)
	wants(t, err, SwitchFailed, "the token is "+spec.Masked)
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the secret is in %q", err)
	}
	dir := filepath.Join(environment.Dir, SwitchHook)
	for _, name := range []string{evidence.ReservationFile, evidence.ProcessFile, evidence.RunFile} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || strings.Contains(string(data), "hunter2") {
			t.Errorf("%s: %q, error %v", name, data, err)
		}
	}
	none := env(t)
	wants(t, Switch(t.Context(), spec.Switch{Hook: secret}, none), SwitchFailed, "TOKEN", "give it again")
}

// PLN-34: restore has codes of its own and leaves what it starts alone.
func TestRestore(t *testing.T) {
	if err := Restore(t.Context(), spec.Restore{Hook: hook("exit", "0")}, env(t)); err != nil {
		t.Error(err)
	}
	wants(t, Restore(t.Context(), spec.Restore{Hook: hook("exit", "2")}, env(t)), RestoreFailed, "exit code 2")
	slow := hook("sleep")
	slow.DeadlineMS = 200
	wants(t, Restore(t.Context(), spec.Restore{Hook: slow}, env(t)), RestoreDeadline)
}

// PLN-39: relative paths belong to the folder, which is also the directory of a
// hook without a cwd.
func TestFolder(t *testing.T) {
	environment := env(t)
	script := filepath.Join(environment.Folder, "where")
	if err := os.WriteFile(script, []byte("#!/bin/sh\npwd -P\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.EvalSymlinks(environment.Folder)
	if err != nil {
		t.Fatal(err)
	}
	where := spec.Hook{Program: "where", DeadlineMS: 30_000}
	err = Switch(t.Context(), spec.Switch{Hook: hook("exit", "0"), Verify: &spec.Verify{Hook: where, ExpectStdout: folder + "\n"}}, environment)
	if err != nil {
		t.Error(err)
	}
}
