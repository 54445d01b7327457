package view

import (
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/media"
	"github.com/grill-plan/grill-plan/plan/sight"
	"github.com/grill-plan/grill-plan/steps"
)

func TestStatus(t *testing.T) {
	var text strings.Builder
	Status(NewOutput(&text, nil), RunStatus{Plan: "p", Dir: "/runs/p", HeldBy: "process 7 on host", Nodes: []NodeStatus{
		{Address: "e.capture.a", State: StateDone, Attempt: 2, SpentMS: 61_240, Note: "4 of 4 samples eligible"},
		{Address: "e.inspect.a", State: StateFailed, Attempt: 1, SpentMS: 40, Note: "disk\x1bfull"},
		{Address: "e.capture.b", State: StatePending},
	}})
	want := `Run /runs/p of plan p
worked on by process 7 on host

STATE    ATTEMPT  SPENT   NODE
done     2        1m1.2s  e.capture.a  4 of 4 samples eligible
failed   1        0s      e.inspect.a  disk\x1bfull
pending  -        -       e.capture.b

3 nodes, 1 done, 1 pending, 1 failed
`
	if got := text.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// PLN-15: against a run directory every node has its decision and its reason.
func TestPlanAgainstRun(t *testing.T) {
	var text strings.Builder
	Plan(NewOutput(&text, nil), &steps.DryRun{
		Plan: "p", AllowanceMS: "18446744073709551616", EvidenceMax: "5",
		Nodes: []steps.DryNode{
			{Address: "e.capture.a", Kind: "capture", Effect: "measurement", Decision: "reuse"},
			{Address: "e.capture.b", Kind: "capture", Effect: "measurement", Claim: "exclusive", Host: "gpu0", Decision: "redo",
				Reasons: []string{"runner.args[3] changed"},
				Commands: []steps.DryCommand{
					{What: "sample", Cell: "hot", Phase: "measured", Seed: "18446744073709551615", Argv: []string{"./x", "a b\x1b"}, DeadlineMS: 5, PauseMS: 7},
					{What: "ready", HTTP: "http://127.0.0.1/\x07", DeadlineMS: 5},
				}},
		},
		Experiments: []steps.DryExperiment{{Address: "e", AllowanceMS: "1", EvidenceMax: "5",
			Advice: []sight.Advice{{Code: "gate_cannot_decide", Gate: 0, Cell: "hot", Text: "Three are needed."}}}},
		HeldBack: []string{"e: runner.r declares markers"},
		Machine:  &steps.Machine{Collector: "abc", Missing: []string{"program ./x"}},
		RunDir:   &steps.RunDirComparison{Path: "/runs/p", Reuse: 1, Redo: 1, Discards: []string{"e.capture.b"}},
	})
	got := text.String()
	for _, want := range []string{
		"   1  reuse  e.capture.a  capture, measurement\n",
		"   2  redo   e.capture.b  capture, measurement, exclusive on host gpu0\n        because runner.args[3] changed\n",
		"sample, hot, measured, seed 18446744073709551615, deadline 5 ms, then a pause of 7 ms\n          ./x \"a b\\x1b\"\n",
		`GET http://127.0.0.1/\a`,
		"gate_cannot_decide: gate 1 (cell hot): Three are needed.",
		"run refuses this plan because of\n  e: runner.r declares markers\n",
		"18446744073709551616 ms;",
		"1 reused, 0 to run, 1 to redo",
		"only with --replan:\n    e.capture.b\n",
		"missing         program ./x\n",
		"nothing: this compares a thing with itself",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.ContainsAny(got, "\x1b\x07") {
		t.Errorf("control characters reach the terminal: %q", got)
	}
}

func TestChecked(t *testing.T) {
	for _, c := range []struct {
		name string
		file CheckedFile
		want []string
	}{
		{"video", CheckedFile{Path: "a\x1b.mp4", Facts: &media.Facts{Container: "mp4", Bytes: 9, Validation: "container_checked", Video: &media.VideoFacts{
			Layout: "fragmented", Width: 2, Height: 3, DisplayWidth: 2<<16 | 0x8000, DisplayHeight: 3 << 16, Frames: 1, FPSNumerator: 24000, FPSDenominator: 1001,
			FragmentGaps: 2, Tracks: []media.AudioTrack{{Codec: "mp\x1b", Channels: 2}}}}},
			[]string{`a\x1b.mp4: mp4, 9 bytes`, "2.5 x 3 shown", "1 at 24000/1001 per second", "2 between fragments", `mp\x1b, 2 channels`}},
		{"audio", CheckedFile{Path: "a.wav", SHA256: "ab", Facts: &media.Facts{Container: "wav", Audio: &media.AudioFacts{Format: "pcm", BitsPerSample: 16, Channels: 1, SampleRate: 8000, Frames: 4, DurationUS: 500}}},
			[]string{"pcm, 16 bits, 1 channels, 8000 Hz", "500 us, 4 frames", "sha256          ab"}},
		{"refused", CheckedFile{Path: "a", Problem: &Refusal{Kind: "malformed", Code: "png_crc", Offset: 33, Message: "bad"}},
			[]string{"a: refused at byte 33: malformed: bad (png_crc)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var text strings.Builder
			WriteChecked(NewOutput(&text, nil), c.file)
			for _, want := range c.want {
				if !strings.Contains(text.String(), want) {
					t.Errorf("%q is missing in %q", want, text.String())
				}
			}
		})
	}
}

// A 16.16 number has sixteen decimals at most, and none is lost.
func TestFixed(t *testing.T) {
	for in, want := range map[media.Fixed1616]string{
		0: "0", 1: "0.0000152587890625", 320 << 16: "320", 0xffffffff: "65535.9999847412109375",
	} {
		if got := fixed(in); got != want {
			t.Errorf("fixed(%#x) = %s, want %s", uint32(in), got, want)
		}
	}
}
