package compare

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/gate"
	"github.com/grill-plan/grill-plan/steps/inspect"
)

func cases[T any](t *testing.T, group string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups map[string]struct {
			Cases json.RawMessage `json:"cases"`
		} `json:"groups"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	var found []T
	if err := json.Unmarshal(file.Groups[group].Cases, &found); err != nil || len(found) == 0 {
		t.Fatalf("group %s: %d cases, %v", group, len(found), err)
	}
	return found
}

// CMP-18, CMP-21, CMP-22, CMP-23.
func TestOverallVectors(t *testing.T) {
	type vector struct {
		ID       string
		Outcomes []gate.Verdict `json:"gate_outcomes"`
		Axis     *string        `json:"identity_axis"`
		Missing  []string       `json:"missing"`
		Expect   struct {
			Worst   gate.Verdict `json:"worst_gate"`
			Overall gate.Verdict
			Reasons []string `json:"overall_reasons"`
			Exit    int
		}
	}
	for _, c := range cases[vector](t, "overall") {
		t.Run(c.ID, func(t *testing.T) {
			var report Report
			for _, outcome := range c.Outcomes {
				report.Gates = append(report.Gates, Gate{Outcome: outcome})
			}
			// Captures that miss exactly what the case says is missing.
			text := "x"
			deployment := document.Deployment{ModelRevision: &text, Runtime: &text, Hardware: &text, Settings: &text}
			reference, candidate := deployment, deployment
			for _, missing := range c.Missing {
				switch missing {
				case ModelIdentityMissing:
					candidate.ModelRevision = nil
				case ReferenceDeploymentIncomplete:
					reference.Settings = nil
				}
			}
			ordered := []*inspect.Result{
				{Deployment: &reference, Receipt: evidence.Receipt{Arm: document.ArmA}},
				{Deployment: &candidate, Receipt: evidence.Receipt{Arm: document.ArmB}},
				{Deployment: &reference, Receipt: evidence.Receipt{Arm: document.ArmA2}},
			}
			report.conclude(identityReasons(c.Axis, ordered))
			if report.GateVerdict != c.Expect.Worst || report.Verdict != c.Expect.Overall ||
				!slices.Equal(report.Reasons, c.Expect.Reasons) || report.Verdict.ExitCode() != c.Expect.Exit {
				t.Errorf("got %s %s %v exit %d, want %+v", report.GateVerdict, report.Verdict, report.Reasons, report.Verdict.ExitCode(), c.Expect)
			}
		})
	}
}

// CMP-19, CMP-20, CMP-22.
func TestIdentityAxisVectors(t *testing.T) {
	type vector struct {
		ID        string
		Revisions [2]*string  `json:"model_revision"`
		Pins      [2][]string `json:"pin_sha256"`
		Expect    *string
	}
	pins := func(hashes []string) (pins []document.Pin) {
		for i, hash := range hashes {
			pins = append(pins, document.Pin{Path: string(rune('a' + i)), SHA256: hash})
		}
		return pins
	}
	for _, c := range cases[vector](t, "identity_axis") {
		got := IdentityAxis(c.Revisions[0], c.Revisions[1], pins(c.Pins[0]), pins(c.Pins[1]))
		if (got == nil) != (c.Expect == nil) || got != nil && *got != *c.Expect {
			t.Errorf("%s: got %v, want %v", c.ID, got, c.Expect)
		}
	}
}

// CMP-06.
func TestWallOrderVectors(t *testing.T) {
	type vector struct {
		ID       string
		Captures []struct {
			Arm      string
			Started  int64 `json:"started_unix_ms"`
			Finished int64 `json:"finished_unix_ms"`
		}
		Admitted bool `json:"expect_admitted"`
	}
	for _, c := range cases[vector](t, "wall_order") {
		captures := map[string]*inspect.Result{}
		for _, capture := range c.Captures {
			captures[capture.Arm] = &inspect.Result{
				Receipt:    evidence.Receipt{Arm: capture.Arm, StartedUnixMS: capture.Started},
				Completion: evidence.Completion{FinishedUnixMS: capture.Finished},
			}
		}
		var ordered []*inspect.Result
		for _, arm := range arms() {
			if captures[arm] != nil {
				ordered = append(ordered, captures[arm])
			}
		}
		err := checkOrder(ordered)
		if invalid, ok := AsInvalid(err); (err == nil) != c.Admitted || err != nil && (!ok || invalid.Code != CodeOrder) {
			t.Errorf("%s: %v, want admitted %v", c.ID, err, c.Admitted)
		}
	}
}
