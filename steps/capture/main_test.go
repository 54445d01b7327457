package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/process"
)

// childVariable makes the test binary play a runner; captureVariable makes it
// capture, in order to be killed.
const (
	childVariable   = "CAPTURE_TEST_CHILD"
	captureVariable = "CAPTURE_TEST_CAPTURE"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(childVariable) != "":
		os.Exit(playRunner(os.Args[1], os.Args[2:]))
	case os.Getenv(captureVariable) != "":
		os.Exit(captureUntilKilled(os.Getenv(captureVariable)))
	}
	// A program built with the race detector would stay for a second when it ends.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// picture is what a good runner writes.
func picture() []byte {
	var buffer bytes.Buffer
	_ = png.Encode(&buffer, image.NewGray(image.Rect(0, 0, 4, 4)))
	return buffer.Bytes()
}

// playRunner does what runners do, good and bad. The first of args is {output}.
func playRunner(play string, args []string) int {
	if len(args) == 0 {
		return 0
	}
	good := func() error { return os.WriteFile(args[0], picture(), 0o600) }
	seed := args[len(args)-1]
	switch play {
	case "good":
	case "exit":
		_ = good()
		return 3
	case "odd-exit": // fails for odd seeds
		if strings.HasSuffix(seed, "1") {
			return 3
		}
	case "signal":
		_ = good()
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		time.Sleep(time.Minute)
	case "nothing":
		return 0
	case "garbage":
		_ = os.WriteFile(args[0], []byte("no picture"), 0o600)
		return 0
	case "fifo":
		_ = syscall.Mkfifo(args[0], 0o600)
		return 0
	case "hang", "hang-second":
		if play == "hang" || strings.Contains(args[0], "000001") {
			fmt.Println("hanging")
			time.Sleep(time.Minute)
		}
	case "late-writer": // a grandchild that would write after its parent ended
		return lateWriter(args)
	case "write-later":
		for parent := os.Getppid(); os.Getppid() == parent; {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(50 * time.Millisecond)
		return exitCode(os.WriteFile(args[0], []byte("too late"), 0o600))
	case "serial":
		return serial(args)
	case "block-next": // takes the name of the next run directory
		_ = os.WriteFile(filepath.Join(filepath.Dir(args[0]), "..", "run-000001"), nil, 0o600)
	case "absolute": // the path of the output holds from any directory
		if here, _ := os.Getwd(); !filepath.IsAbs(args[0]) || strings.HasPrefix(args[0], here) {
			return 6
		}
	case "count": // leaves a mark for each time it runs, and fails
		file, err := os.OpenFile(args[0], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return exitCode(err)
		}
		defer file.Close()
		fmt.Fprint(file, "x")
		return 3
	case "reserved": // what has to be there before the start
		for _, name := range []string{"reservation.json", "../receipt.json", "../workload.json", "../runner.json", "../deployment.json"} {
			if _, err := os.Stat(filepath.Join(filepath.Dir(args[0]), name)); err != nil {
				return 9
			}
		}
		if _, err := os.Stat(args[0]); err == nil {
			return 8
		}
	case "environment":
		fmt.Println(os.Getenv("DECLARED"), os.Getenv("GP_SECRET"), len(os.Getenv(process.TokenVariable)) > 0)
	}
	return exitCode(good())
}

func exitCode(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func lateWriter(args []string) int {
	self, _ := os.Executable()
	attributes := &os.ProcAttr{Files: []*os.File{nil, nil, nil}}
	_, err := os.StartProcess(self, append([]string{self, "write-later"}, args...), attributes)
	if err != nil {
		return exitCode(err)
	}
	return exitCode(os.WriteFile(args[0], picture(), 0o600))
}

// serial fails when another sample runs at the same time (CAP-18).
func serial(args []string) int {
	busy := filepath.Join(filepath.Dir(args[0]), "..", "..", "busy")
	file, err := os.OpenFile(busy, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 7
	}
	file.Close()
	time.Sleep(5 * time.Millisecond)
	return exitCode(errors.Join(os.WriteFile(args[0], picture(), 0o600), os.Remove(busy)))
}

// documents are the three of a test, as maps that a test may change.
type documents struct{ workload, runner map[string]any }

func standard(play string) documents {
	self, _ := os.Executable()
	return documents{
		workload: map[string]any{
			"kind": "media-workload-v1", "version": 1, "name": "w", "modality": "image",
			"request": map[string]any{"prompt": "a cat {seed}", "seeds": []any{10, 11}, "width": 4, "height": 4, "steps": 1, "images_per_run": 1},
			"outputs": []any{map[string]any{"placeholder": "output", "container": "png", "expect": map[string]any{"width": 4, "height": 4}}},
			"cells":   []any{map[string]any{"id": "one", "warmup_runs": 1, "measured_runs": 2}, map[string]any{"id": "..", "warmup_runs": 0, "measured_runs": 1}},
			"slots":   []any{map[string]any{"id": "A", "arm": "a"}, map[string]any{"id": "B", "arm": "b"}, map[string]any{"id": "A2", "arm": "a2"}},
			"limits":  map[string]any{"run_deadline_ms": 30000, "setup_deadline_ms": 30000, "output_bytes": 100000, "stdout_bytes": 1000, "stderr_bytes": 1000},
			"gates":   []any{map[string]any{"cell": "one", "metric": "end_to_end_us", "max_adverse_bps": 100, "max_reference_spread_bps": 100}},
		},
		runner: map[string]any{
			"kind": "media-runner-v1", "version": 1, "id": "r", "program": self, "args": []any{play, "{output}", "{seed}"},
			"env": map[string]any{childVariable: "1", "DECLARED": "declared-value"}, "execution": "in-process",
			"cache": map[string]any{"declared_state": "unknown", "paths": []any{}}, "pins": []any{},
		},
	}
}

func (d documents) request(t *testing.T) Request {
	t.Helper()
	encode := func(document map[string]any) []byte {
		data, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Request{
		Names:    Names{"workload.json", "runner.json", "deployment.json"},
		Workload: encode(d.workload), Runner: encode(d.runner), Deployment: []byte("{ }\n"),
		Slot: "B", Dir: filepath.Join(t.TempDir(), "capture"), CreateDir: true, Folder: t.TempDir(), Self: self,
		Collector: evidence.Collector{SHA256: strings.Repeat("c", 64), Version: "test", OS: "linux", Arch: "amd64"},
	}
}

func record[T evidence.Record](t *testing.T, parts ...string) T {
	t.Helper()
	found, _, err := evidence.ReadFile[T](filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
