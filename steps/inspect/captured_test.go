package inspect_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grill-plan/grill-plan/steps/capture"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

// script misbehaves in a way that its first argument, the seed, says.
const script = `#!/bin/sh
out="$2"
case "$1" in
1) cp "$3" "$out" ;;
2) cp "$3" "$out"; exit 3 ;;
3) : ;;
4) echo text > "$out" ;;
5) ln -s "$3" "$out" ;;
6) mkfifo "$out" ;;
7) mkdir "$out" ;;
8) cp "$3" "$out"; kill -9 $$ ;;
9) cp "$3" "$out"; echo "more than the limit allows to keep" ;;
10) cp "$3" "$out"; head -c 200000 /dev/zero >> "$out" ;;
11) cp "$3" "$out"; echo left > "$(dirname "$out")/left"; mkdir "$(dirname "$out")/-"; ln -s / "$(dirname "$out")/root" ;;
12) sleep 60 ;;
esac
`

const scriptedWorkload = `{"kind":"media-workload-v1","version":1,"name":"w","modality":"image",
"request":{"prompt":"p","seeds":[%s],"width":4,"height":3,"steps":1,"images_per_run":1},
"outputs":[{"placeholder":"output","container":"png","expect":{"width":4,"height":3}}],
"cells":[{"id":"hot","warmup_runs":0,"measured_runs":%d}],
"slots":[{"id":"a","arm":"a"},{"id":"b","arm":"b"},{"id":"a2","arm":"a2"}],
"limits":{"run_deadline_ms":%d,"setup_deadline_ms":60000,"output_bytes":100000,"stdout_bytes":8,"stderr_bytes":8},
"gates":[{"cell":"hot","metric":"end_to_end_us","max_adverse_bps":100,"max_reference_spread_bps":100}]}`

// scripted captures one run for each seed. started is called when the capture is
// about to start.
func scripted(t *testing.T, ctx context.Context, program, setup string, deadlineMS int, seeds ...string) (dir string, outcome capture.Outcome) {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no /bin/sh")
	}
	folder := t.TempDir()
	for name, data := range map[string][]byte{"run.sh": []byte(script), "in.png": picture(t, 4, 1)} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	dir = filepath.Join(folder, "capture")
	outcome, err := capture.Run(ctx, capture.Request{
		Names:    capture.Names{Workload: "w", Runner: "r", Deployment: "d"},
		Workload: fmt.Appendf(nil, scriptedWorkload, strings.Join(seeds, ","), len(seeds), deadlineMS),
		Runner: fmt.Appendf(nil, `{"kind":"media-runner-v1","version":1,"id":"r","program":%q,"args":["{seed}","{output}",%q],
			"env":{},"execution":"in-process",%s"cache":{"declared_state":"unknown","paths":[]},"pins":[]}`,
			program, filepath.Join(folder, "in.png"), setup),
		Deployment: []byte(`{}`), Slot: "a", Dir: dir, CreateDir: true, Folder: folder,
		Collector: evidence.Collector{SHA256: strings.Repeat("c", 64), Version: "test", OS: "linux", Arch: "amd64"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir, outcome
}

// INS-04: inspect derives of every kind of failure what capture recorded.
func TestRealFailures(t *testing.T) {
	seeds := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"}
	dir, _ := scripted(t, context.Background(), "run.sh", "", 60000, seeds...)
	result, err := inspect.Inspect(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{
		nil, {evidence.ExitNonzero}, {evidence.OutputMissing}, {evidence.OutputInvalid}, {evidence.OutputEntryType},
		{evidence.OutputEntryType}, {evidence.OutputEntryType}, {evidence.Signalled}, nil, {evidence.OutputOversized}, nil,
	} {
		if got := result.Samples[i]; !slices.Equal(got.Reasons, want) && len(got.Reasons)+len(want) > 0 || got.Eligible != (len(want) == 0) {
			t.Errorf("seed %s: %v, want %v", seeds[i], got.Reasons, want)
		}
	}
	if stream := result.Samples[8].Run.Invocation.Stdout; !stream.Truncated || stream.Retained != 8 {
		t.Errorf("stream %+v", stream)
	}
}

// INS-07: captures that ended early inspect with their status.
func TestRealEarlyEnds(t *testing.T) {
	if _, err := os.Stat("/bin/false"); err != nil {
		t.Skip("there is no /bin/false")
	}
	late, _ := scripted(t, context.Background(), "run.sh", "", 50, "12", "1")
	failed, _ := scripted(t, context.Background(), "run.sh", `"setup":{"args":["nothing"],"program":"/bin/false"},`, 60000, "1", "1")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	cancelled, _ := scripted(t, ctx, "run.sh", "", 60000, "12", "1")
	gone, stop := context.WithCancel(context.Background())
	stop()
	for dir, want := range map[string]string{late: evidence.Complete, failed: evidence.SetupFailed, cancelled: evidence.Cancelled} {
		result, err := inspect.Inspect(context.Background(), dir)
		if err != nil || result.Completion.Status != want {
			t.Errorf("%s: %v", want, err)
			continue
		}
		if _, err := inspect.Describe(result).JSON(); err != nil {
			t.Error(err)
		}
	}
	if _, err := inspect.Inspect(gone, late); err == nil {
		t.Error("inspected with a context that had ended")
	}
}
