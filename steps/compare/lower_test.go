package compare_test

import (
	"slices"
	"testing"

	"github.com/grill-plan/grill-plan/steps/compare"
	"github.com/grill-plan/grill-plan/steps/evidence"
	"github.com/grill-plan/grill-plan/steps/gate"
)

// PLN-29, PLN-37, PLN-46: lowering, its reasons and their order.
func TestLower(t *testing.T) {
	gap := uint64(9_999)
	for name, c := range map[string]struct {
		change  func(e *experiment)
		facts   compare.Facts
		verdict gate.Verdict
		reasons []string
	}{
		"nothing":                 {nil, compare.Facts{}, gate.Regression, nil},
		"node failed":             {nil, compare.Facts{Failed: true}, gate.Error, nil},
		"skipped":                 {nil, compare.Facts{Skipped: true}, gate.Error, []string{compare.Skipped}},
		"PLN-37 another machine":  {host("a2", "other", "boot", "k"), compare.Facts{}, gate.Inconclusive, []string{compare.HostChanged}},
		"PLN-37 allowed":          {host("a2", "other", "boot", "k"), compare.Facts{AllowHostChange: true}, gate.Regression, nil},
		"PLN-37 unknown machine":  {host("a2", "", "boot", "k"), compare.Facts{}, gate.Regression, nil},
		"PLN-37 reboot":           {host("a2", "m", "boot 2", "k"), compare.Facts{}, gate.Regression, nil},
		"PLN-37 same boot asked":  {host("a2", "m", "boot 2", "k"), compare.Facts{RequireSameBoot: true}, gate.Inconclusive, []string{compare.HostChanged}},
		"PLN-37 kernel":           {host("b", "m", "boot", "k2"), compare.Facts{RequireSameBoot: true}, gate.Inconclusive, []string{compare.HostChanged}},
		"PLN-37 unknown boot":     {host("b", "m", "", "k"), compare.Facts{RequireSameBoot: true}, gate.Inconclusive, []string{compare.HostChanged}},
		"PLN-37 same boot kept":   {nil, compare.Facts{RequireSameBoot: true}, gate.Regression, nil},
		"PLN-37 gap too long":     {nil, compare.Facts{MaxGapMS: &gap}, gate.Inconclusive, []string{compare.SlotsTooFarApart}},
		"PLN-46 one second":       {asleep(1_000_000), compare.Facts{}, gate.Regression, nil},
		"PLN-46 more":             {asleep(1_000_001), compare.Facts{}, gate.Inconclusive, []string{compare.HostSuspended}},
		"all in order, after own": {all, compare.Facts{MaxGapMS: &gap}, gate.Inconclusive, []string{compare.ModelIdentityMissing, compare.HostChanged, compare.HostSuspended, compare.SlotsTooFarApart}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newExperiment(false, worked())
			e.workload.Gates[0].MaxAdverseBPS = 100
			if c.change != nil {
				c.change(e)
			}
			report := mustCompare(t, e)
			got := compare.Lower(report, c.facts)
			if got.Verdict != c.verdict || !slices.Equal(got.Reasons, append([]string{}, c.reasons...)) {
				t.Errorf("got %s %v, want %s %v", got.Verdict, got.Reasons, c.verdict, c.reasons)
			}
			if report.Gates[0].Outcome != gate.Regression {
				t.Error("the gate does not stay as compare gave it")
			}
		})
	}
	if got := compare.Lower(nil, compare.Facts{}); got.Verdict != gate.Error {
		t.Errorf("without a report: %s", got.Verdict)
	}
	exact := uint64(10_000)
	if got := compare.Lower(mustCompare(t, newExperiment(false, worked())), compare.Facts{MaxGapMS: &exact}); len(got.Reasons) != 0 || got.Slots[0].GapMS != 10_000 {
		t.Errorf("a gap of exactly the bound: %+v", got)
	}
}

func host(arm, machine, boot, kernel string) func(*experiment) {
	return func(e *experiment) {
		e.captures[arm].Receipt.Host = evidence.Host{MachineID: machine, BootID: boot, Kernel: kernel}
	}
}

func asleep(us uint64) func(*experiment) {
	return func(e *experiment) {
		e.captures["b"].Samples[2].Run.Invocation.SuspendedUS = us
		e.captures["b"].Samples[0].Run = &evidence.Run{Invocation: evidence.Invocation{SuspendedUS: 1 << 40}} // a warmup does not count
	}
}

func all(e *experiment) {
	host("b", "other", "boot", "k")(e)
	asleep(2_000_000)(e)
	e.captures["b"].Deployment.ModelRevision = nil
}
