package compare_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/capture"
	"github.com/grill-plan/grill-plan/steps/compare"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/gate"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

// copier is a runner that delivers a picture by copying it.
func copier(t *testing.T, folder string) (workload, runner []byte) {
	t.Helper()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 4, 3))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "in.png"), picture.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	workload = []byte(`{"kind":"media-workload-v1","version":1,"name":"copy","modality":"image",
		"request":{"prompt":"p","seeds":[1],"width":4,"height":3,"steps":1,"images_per_run":1},
		"outputs":[{"placeholder":"output","container":"png","expect":{"width":4,"height":3}}],
		"cells":[{"id":"hot","warmup_runs":1,"measured_runs":3}],
		"slots":[{"id":"first","arm":"a"},{"id":"second","arm":"b"},{"id":"third","arm":"a2"}],
		"limits":{"run_deadline_ms":60000,"setup_deadline_ms":60000,"output_bytes":100000,"stdout_bytes":100,"stderr_bytes":100},
		"gates":[{"cell":"hot","metric":"end_to_end_us","max_adverse_bps":9999,"max_reference_spread_bps":1000000}]}`)
	runner = []byte(`{"kind":"media-runner-v1","version":1,"id":"cp","program":"/bin/cp","args":["in.png","{output}"],
		"env":{},"execution":"in-process","cache":{"declared_state":"unknown","paths":[]},"pins":[]}`)
	return workload, runner
}

// Real captures inspect, compare, and still do after they were moved; a changed
// document of one of them is an error and no verdict (CMP-02, CMP-07).
func TestRealCaptures(t *testing.T) {
	if _, err := os.Stat("/bin/cp"); err != nil {
		t.Skip("there is no /bin/cp")
	}
	ctx, folder := context.Background(), t.TempDir()
	workload, runner := copier(t, folder)
	captures := map[string]*inspect.Result{}
	captures[document.ArmA] = captureSlot(t, ctx, folder, "first", "default", workload, runner)
	captures[document.ArmB] = captureSlot(t, ctx, folder, "second", "changed", workload, runner)
	captures[document.ArmA2] = captureSlot(t, ctx, folder, "third", "default", workload, runner)
	report, err := compare.Compare(captures)
	if err != nil {
		t.Fatal(err)
	}
	if report.Verdict == gate.Error || report.Gates[0].IneligibleSamples != 0 || report.Gates[0].ReferenceSamples != 6 {
		t.Errorf("verdict %s of %+v", report.Verdict, report.Gates[0])
	}
	if equality := report.Cells[0].CrossArm[0].Equality; equality != gate.Equal {
		t.Errorf("copies of one picture are %s", equality)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(filepath.Join(folder, "second"), moved); err != nil {
		t.Fatal(err)
	}
	if captures[document.ArmB], err = inspect.Inspect(ctx, moved); err != nil {
		t.Fatal(err)
	}
	again, err := compare.Compare(captures)
	if err != nil {
		t.Fatal(err)
	}
	first, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := json.Marshal(again); err != nil || !bytes.Equal(first, second) {
		t.Error("moved captures give another report (CMP-29)")
	}
	if err := os.WriteFile(filepath.Join(moved, evidence.DeploymentFile), []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = inspect.Inspect(ctx, moved)
	if found, ok := inspect.AsError(err); !ok || found.File != evidence.DeploymentFile {
		t.Errorf("a changed deployment: %v", err)
	}
}

func captureSlot(t *testing.T, ctx context.Context, folder, slot, settings string, workload, runner []byte) *inspect.Result {
	t.Helper()
	dir := filepath.Join(folder, slot)
	outcome, err := capture.Run(ctx, capture.Request{
		Names:    capture.Names{Workload: "workload.json", Runner: "runner.json", Deployment: "deployment.json"},
		Workload: workload, Runner: runner,
		Deployment: []byte(`{"model_revision":"r","runtime":"x","hardware":"y","settings":"` + settings + `"}`),
		Slot:       slot, Dir: dir, CreateDir: true, Folder: folder,
		Collector: evidence.Collector{SHA256: strings.Repeat("c", 64), Version: "test", OS: "linux", Arch: "amd64"},
	})
	if err != nil || outcome.Status != evidence.Complete {
		t.Fatalf("%s: %v %v", slot, outcome.Status, err)
	}
	result, err := inspect.Inspect(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	return result
}
