package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/process"
)

// CAP-08, CAP-34: evidence that cannot be stored stops the capture with an error
// and without a completion record.
func TestEvidenceThatCannotBeStored(t *testing.T) {
	request := standard("block-next").request(t)
	_, err := Run(t.Context(), request)
	var failure *Error
	if !errors.As(err, &failure) || failure.Code != EvidenceFailed || !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(request.Dir, evidence.CompletionFile)); err == nil {
		t.Error("there is a completion record")
	}
	if _, whole := Whole(request.Dir); whole {
		t.Error("the capture counts as whole")
	}
}

// PLN-07, PRV-04: the value of a secret and inherited values stand in no file of
// the evidence; declared values do, in the runner document alone.
func TestSecretsStayOut(t *testing.T) {
	t.Setenv("INHERITED_FOR_TEST", "inherited-value-77")
	documents := standard("good")
	documents.runner["env_secret"] = []any{"GP_SECRET"}
	request := documents.request(t)
	request.Secrets = map[string]string{"GP_SECRET": "hunter2-secret"}
	capture(t, request)
	err := filepath.WalkDir(request.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, private := range []string{"hunter2-secret", "inherited-value-77"} {
			if bytes.Contains(data, []byte(private)) {
				t.Errorf("%s holds %s", path, private)
			}
		}
		if bytes.Contains(data, []byte("declared-value")) && entry.Name() != evidence.RunnerFile {
			t.Errorf("%s holds a declared value", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// CAP-32, INS-08: elapsed time is monotonic and rounded up, the wall clock is
// only shown, suspension is recorded.
func TestClock(t *testing.T) {
	request := standard("good").request(t)
	wall := time.UnixMilli(1_700_000_000_000)
	var walls, monotonics, sleeps int
	request.Clock = Clock{
		Wall: func() time.Time {
			walls++
			return wall.Add(time.Duration(walls) * -time.Hour) // goes back
		},
		Monotonic: func() time.Duration {
			monotonics++
			return time.Duration(monotonics) * (5*time.Second + time.Nanosecond)
		},
		Suspended: func() time.Duration {
			sleeps++
			return time.Duration(sleeps) * 3 * time.Second
		},
	}
	capture(t, request)
	got := record[evidence.Completion](t, request.Dir, evidence.CompletionFile)
	if got.ElapsedMS != 5001 {
		t.Errorf("elapsed %d ms", got.ElapsedMS)
	}
	if want := wall.Add(-2 * time.Hour).UnixMilli(); got.FinishedUnixMS != want {
		t.Errorf("finished %d, want %d", got.FinishedUnixMS, want)
	}
	if got.SuspendedUS != 3_000_000 {
		t.Errorf("PLN-46: suspended %d us", got.SuspendedUS)
	}
	for elapsed, want := range map[time.Duration]uint64{0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2} {
		if got := roundUp(elapsed); got != want {
			t.Errorf("%v: got %d, want %d", elapsed, got, want)
		}
	}
}

// CAP-12: the token is in the child's environment and cannot be declared.
func TestToken(t *testing.T) {
	documents := standard("environment")
	documents.runner["env"].(map[string]any)[process.TokenVariable] = "mine"
	if _, err := Run(t.Context(), documents.request(t)); err == nil {
		t.Error("a runner declares the token")
	}
}

// killedOrder is what the other process is told.
type killedOrder struct {
	Workload, Runner, Deployment []byte
	Dir, Folder, Self            string
}

// captureUntilKilled is the other process of TestKilled: it captures what the
// request in a file says.
func captureUntilKilled(path string) int {
	data, err := os.ReadFile(path)
	if err != nil {
		return 1
	}
	var order killedOrder
	if err := json.Unmarshal(data, &order); err != nil {
		return 1
	}
	request := Request{Workload: order.Workload, Runner: order.Runner, Deployment: order.Deployment, Slot: "A",
		Dir: order.Dir, CreateDir: true, Folder: order.Folder, Self: order.Self}
	os.Unsetenv(captureVariable)
	go func() { // the test is gone when its end of the pipe closes
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(1)
	}()
	_, err = Run(context.Background(), request)
	return exitCode(err)
}

// CAP-34, PLN-26: a capture that is killed leaves no completion record; what it
// left running is found and ended.
func TestKilled(t *testing.T) {
	request := standard("hang").request(t)
	data, err := json.Marshal(killedOrder{request.Workload, request.Runner, request.Deployment, request.Dir, request.Folder, request.Self})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "request.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	other := exec.Command(request.Self)
	other.Env = append(os.Environ(), captureVariable+"="+path)
	hold, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	running := awaitProcess(t, filepath.Join(request.Dir, "run-000000"))
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	if !groupAlive(running.Group) {
		t.Fatal("the sample died with its capture: there is nothing to find")
	}
	if _, whole := Whole(request.Dir); whole {
		t.Error("a killed capture counts as whole")
	}
	if err := EndLeftOver(t.Context(), request.Dir); err != nil {
		t.Fatal(err)
	}
	if groupAlive(running.Group) {
		t.Error("the sample is alive")
	}
	if err := EndLeftOver(t.Context(), filepath.Join(request.Dir, "nothing")); err != nil {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func awaitProcess(t *testing.T, dir string) evidence.Process {
	t.Helper()
	for range 600 {
		if _, err := os.Stat(filepath.Join(dir, evidence.ProcessFile)); err == nil {
			return record[evidence.Process](t, dir, evidence.ProcessFile)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("no sample was started")
	return evidence.Process{}
}

// groupAlive says whether a member of a group is more than a zombie.
func groupAlive(group int) bool {
	if syscall.Kill(-group, 0) != nil {
		return false
	}
	out, err := exec.Command("ps", "-A", "-o", "pgid=,stat=").Output()
	if err != nil {
		return true
	}
	for _, line := range strings.Split(string(out), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 2 && fields[0] == strconv.Itoa(group) && !strings.HasPrefix(fields[1], "Z") {
			return true
		}
	}
	return false
}

// PLN-22: what is not whole is not taken over.
func TestWhole(t *testing.T) {
	request := standard("good").request(t)
	capture(t, request)
	path := filepath.Join(request.Dir, evidence.CompletionFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"torn":    good[:len(good)/2],
		"edited":  bytes.Replace(good, []byte(`"elapsed_ms":`), []byte(`"elapsed_ms":1`), 1),
		"nothing": nil,
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, whole := Whole(request.Dir); whole {
			t.Errorf("%s: whole", name)
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(request.Dir, "run-000002", "output.png")); err != nil {
		t.Fatal(err)
	}
	if _, whole := Whole(request.Dir); whole {
		t.Error("a file is missing, yet it is whole")
	}
}

// CAP-09: the collector is the running executable.
func TestCollectorIdentity(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	got, err := CollectorIdentity(t.Context())
	if err != nil || got.SHA256 != evidence.Digest(data) || got.OS == "" || got.Arch == "" {
		t.Errorf("got %+v, error %v", got, err)
	}
}
