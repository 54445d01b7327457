package evidence

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func sampleRun() Run {
	us, code := uint64(1234), 0
	return Run{
		Kind: RunKind, Version: Version,
		ReceiptSHA256: strings.Repeat("a", 64), ReservationSHA256: strings.Repeat("b", 64),
		Sample:     &PlannedSample{Index: 3, Cell: "c", Phase: Measured, Seed: 18446744073709551615, Argv: []string{"/x", "<a&b>", "\u2028\"\\\n\x01"}},
		Invocation: Invocation{StartedUnixMS: 5, EndToEndUS: &us, ExitCode: &code, Usage: &Usage{UserUS: 1}},
		Outputs:    []Output{{Placeholder: "output", State: OutputPresent, Files: []File{{Name: "output.png", Bytes: 9}}}},
		Reasons:    nil,
		Eligible:   true,
	}
}

// DOC-13: compact, fields in the order of the type, no HTML escaping, plain
// decimal integers, unused optional fields left out; nil lists are lists.
func TestMarshalIsCanonical(t *testing.T) {
	got, err := Marshal(sampleRun())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"kind":"media-run","version":1,"receipt_sha256":"` + strings.Repeat("a", 64) + `","reservation_sha256":"` + strings.Repeat("b", 64) +
		`","sample":{"index":3,"cell":"c","phase":"measured","seed":18446744073709551615,"argv":["/x","<a&b>","` + "\u2028" + `\"\\\n\u0001"]},` +
		`"invocation":{"started_unix_ms":5,"end_to_end_us":1234,"exit_code":0,"usage":{"user_us":1,"system_us":0},` +
		`"stdout":{"bytes":0,"retained":0,"sha256":"","truncated":false},"stderr":{"bytes":0,"retained":0,"sha256":"","truncated":false}},` +
		`"outputs":[{"placeholder":"output","state":"present","files":[{"name":"output.png","bytes":9}]}],"reasons":[],"eligible":true}` + "\n"
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestMarshalRefusesInvalidText(t *testing.T) {
	record := sampleRun()
	record.Sample.Cell = "\xff"
	if _, err := Marshal(record); err == nil || !strings.Contains(err.Error(), "sample: cell") {
		t.Errorf("got %v, want an error that names the field", err)
	}
}

// INS-06: any other spelling of the same facts is refused.
func TestReadRefusesOtherSpellings(t *testing.T) {
	good, err := Marshal(sampleRun())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read[Run](good); err != nil {
		t.Fatalf("the canonical form is refused: %v", err)
	}
	replace := func(old, new string) []byte {
		if !bytes.Contains(good, []byte(old)) {
			t.Fatalf("%q is not in the record", old)
		}
		return bytes.Replace(good, []byte(old), []byte(new), 1)
	}
	cases := map[string][]byte{
		"unknown field":     replace(`"eligible":true`, `"eligible":true,"more":1`),
		"repeated field":    replace(`"version":1`, `"version":1,"version":1`),
		"other case":        replace(`"eligible"`, `"Eligible"`),
		"null option":       replace(`"exit_code":0,`, `"exit_code":0,"signal":null,`),
		"null list":         replace(`"reasons":[]`, `"reasons":null`),
		"missing field":     replace(`,"eligible":true`, ``),
		"white space":       replace(`"version":1`, `"version": 1`),
		"other escape":      replace(`"media-run"`, `"media-\u0072un"`),
		"fraction":          replace(`"exit_code":0`, `"exit_code":0.0`),
		"number as text":    replace(`"version":1`, `"version":"1"`),
		"text after it":     append(bytes.Clone(good), '{', '}'),
		"two line feeds":    append(bytes.Clone(good), '\n'),
		"no line feed":      good[:len(good)-1],
		"byte order mark":   append([]byte("\xef\xbb\xbf"), good...),
		"invalid UTF-8":     replace(`"c"`, "\"\xff\""),
		"lone surrogate":    replace(`"c"`, `"\ud800"`),
		"array for object":  []byte("[]\n"),
		"empty":             nil,
		"order":             replace(`"kind":"media-run","version":1`, `"version":1,"kind":"media-run"`),
		"empty option kept": replace(`"exit_code":0,`, `"exit_code":0,"signal":"",`),
	}
	for name, data := range cases {
		if _, err := Read[Run](data); err == nil {
			t.Errorf("%s is accepted: %s", name, data)
		}
	}
}

func TestReadNamesKindAndVersion(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{`{"kind":"media-receipt","version":1}`, `is of kind "media-receipt", not "media-run"`},
		{`{"kind":"media-run","version":2,"news":[]}`, "use a newer one"},
		{`{"kind":"media-run","version":0}`, "the first version is 1"},
	} {
		if _, err := Read[Run]([]byte(c.data)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.data, err, c.want)
		}
	}
}

// CAP-07: a published record is complete and never replaced.
func TestPublishAndReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), RunFile)
	digest, err := Publish(path, sampleRun())
	if err != nil {
		t.Fatal(err)
	}
	_, read, err := ReadFile[Run](path)
	if err != nil || read != digest {
		t.Fatalf("read back: digest %s, want %s, error %v", read, digest, err)
	}
	changed := sampleRun()
	changed.Eligible = false
	if _, err := Publish(path, changed); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second publication: got %v, want fs.ErrExist", err)
	}
	if _, again, _ := ReadFile[Run](path); again != digest {
		t.Error("the first record was changed")
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("PRV-02: mode %v, error %v", info.Mode(), err)
	}
	link := filepath.Join(filepath.Dir(path), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadFile[Run](link); err == nil {
		t.Error("a symbolic link was followed")
	}
}

// CAP-32, INS-05: the evidence digest covers everything but itself.
func TestSeal(t *testing.T) {
	completion := Completion{Kind: CompletionKind, Version: Version, Status: Complete, FinishedUnixMS: 7, ElapsedMS: 3,
		Files: []EvidenceFile{{Path: "a", Bytes: 1, SHA256: "x"}}}
	if err := CheckSeal(completion); err == nil {
		t.Error("a completion without digest passes")
	}
	digest, err := Seal(completion)
	if err != nil {
		t.Fatal(err)
	}
	want := Digest([]byte(`{"kind":"media-completion","version":1,"receipt_sha256":"","status":"complete","finished_unix_ms":7,"elapsed_ms":3,` +
		`"unstarted":[],"files":[{"path":"a","bytes":1,"sha256":"x"}]}`))
	if digest != want {
		t.Errorf("digest %s, want %s", digest, want)
	}
	completion.EvidenceSHA256 = digest
	if err := CheckSeal(completion); err != nil {
		t.Error(err)
	}
	completion.Files[0].Bytes++
	if err := CheckSeal(completion); err == nil {
		t.Error("a changed completion passes")
	}
}

// CAP-29: closed list, fixed order, each reason once.
func TestSampleReasons(t *testing.T) {
	code := 3
	for _, c := range []struct {
		name       string
		invocation Invocation
		outputs    []Output
		want       string
	}{
		{"clean", Invocation{}, nil, ""},
		{"exit and outputs", Invocation{ExitCode: &code}, []Output{
			{Reasons: []string{ExpectationMismatch}}, {Reasons: []string{OutputMissing, ExpectationMismatch}},
		}, "exit_nonzero output_missing expectation_mismatch"},
		{"own signal", Invocation{Signal: "SIGSEGV"}, nil, "signalled"},
		{"killed at the deadline", Invocation{Signal: "SIGKILL", Deadline: true}, nil, "deadline_exceeded"},
		{"killed on cancellation", Invocation{Signal: "SIGKILL", Cancelled: true}, nil, "cancelled"},
		{"late and failed", Invocation{ExitCode: &code, Deadline: true}, nil, "exit_nonzero deadline_exceeded"},
		{"never started", Invocation{SpawnError: "no such file"}, []Output{{Reasons: []string{OutputMissing}}}, "spawn_failed output_missing"},
	} {
		if got := strings.Join(SampleReasons(c.invocation, c.outputs), " "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Every text and number comes back as it was, and reading is the inverse of
// writing for any run.
func TestRunRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		record := sampleRun()
		record.Sample.Seed = rapid.Uint64().Draw(t, "seed")
		record.Sample.Argv = rapid.SliceOf(rapid.String()).Draw(t, "argv")
		record.Invocation.StartedUnixMS = rapid.Int64().Draw(t, "started")
		record.Invocation.Signal = rapid.String().Draw(t, "signal")
		data, err := Marshal(record)
		if err != nil {
			t.Skip("text that no record holds")
		}
		read, err := Read[Run](data)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := Marshal(read); !bytes.Equal(again, data) {
			t.Fatalf("%s became %s", data, again)
		}
		if read.Sample.Seed != record.Sample.Seed {
			t.Fatalf("seed %d became %d", record.Sample.Seed, read.Sample.Seed)
		}
	})
}

// FuzzRead: no input panics, and whatever is accepted is canonical.
func FuzzRead(f *testing.F) {
	good, _ := Marshal(sampleRun())
	f.Add(good)
	f.Add([]byte(`{"kind":"media-run","version":1}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, data []byte) {
		record, err := Read[Run](data)
		if err != nil {
			return
		}
		if again, err := Marshal(record); err != nil || !bytes.Equal(again, data) {
			t.Errorf("accepted %q, which is written %q (%v)", data, again, err)
		}
	})
}
