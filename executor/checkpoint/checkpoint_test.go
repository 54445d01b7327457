package checkpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/grill-plan/grill-plan/plan/graph"
)

func newRun(t testing.TB) *Run {
	t.Helper()
	run, err := Create(filepath.Join(t.TempDir(), "run"), Manifest{Plan: "p", Created: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func attempt(t testing.TB, run *Run, address string, number int) string {
	t.Helper()
	if err := run.PrepareNodes([]string{address}); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Begin(address, number, Input{Spec: json.RawMessage("{}")}, BeginOptions{Holder: Self(time.Now())}); err != nil {
		t.Fatal(err)
	}
	return run.AttemptDir(address, number)
}

func publish(t testing.TB, run *Run, address string, number int) {
	t.Helper()
	files, err := ListFiles(context.Background(), run.AttemptDir(address, number), nil)
	if err != nil {
		t.Fatal(err)
	}
	digest := OutputDigest(files)
	record := &Record{Address: address, Attempt: number, State: Done, Input: Input{Digest: digest, Spec: json.RawMessage(`{"a":"<&>"}`)}, Output: digest, Outcome: "ok", Files: files}
	if err := run.Publish(record); err != nil {
		t.Fatal(err)
	}
}

// PLN-44: the rule of folder names.
func TestFolderNames(t *testing.T) {
	long := strings.Repeat("x", 101)
	cases := map[string]string{
		`experiment.chunking["480p"].capture.a`: "experiment.chunking/480p/capture.a",
		`report`:                                "report",
		`e["A"].x`:                              "e/%41/x",
		`e["../.."].x`:                          "e/%2E.%2F../x",
		`e[""].x`:                               "e/%/x",
		`e["~"].x`:                              "e/%7E/x",
		`e["a\"].b"].x`:                         `e/a%5C%22%5D.b/x`,
		`e["é"]`:                                "e/%C3%A9",
		`e["` + long + `"]`:                     "e/" + long[:60] + "~5df2e6d4fc53ee42",
		`open["x`:                               "open%5B%22x",
	}
	for address, want := range cases {
		got := Folder(address)
		if strings.Contains(want, "~") {
			if at := strings.Index(got, "~"); at != len("e/")+60 || len(got) != at+17 {
				t.Errorf("%s: %s", address, got)
			}
			continue
		}
		if got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	if Folder(`e["a"]`) == Folder(`e["A"]`) || strings.EqualFold(Folder(`e["a"]`), Folder(`e["A"]`)) {
		t.Error("keys meet on a case-blind disk")
	}
}

// PLN-44: no key leaves its place, and two keys never meet.
func TestFolderNamesHoldForAnyKey(t *testing.T) {
	key := rapid.StringOfN(rapid.Rune(), 0, 80, -1).Filter(func(s string) bool { return !strings.ContainsAny(s, `"\`) })
	rapid.Check(t, func(r *rapid.T) {
		a, b := key.Draw(r, "a"), key.Draw(r, "b")
		folder, other := Folder(`e["`+a+`"].x`), Folder(`e["`+b+`"].x`)
		if (a == b) != strings.EqualFold(folder, other) {
			r.Fatalf("%q and %q: %s and %s", a, b, folder, other)
		}
		parts := strings.Split(folder, "/")
		if !filepath.IsLocal(folder) || len(parts) != 3 || len(parts[1]) > longestName || strings.HasPrefix(parts[1], ".") {
			r.Fatalf("%q: %s", a, folder)
		}
	})
}

func TestFoldersThatMeetAreRefused(t *testing.T) {
	for _, pair := range [][2]string{{`a`, `a["attempt-1"]`}, {`a["k"].b`, `a["k"]b`}} {
		var b graph.Builder
		for _, address := range pair {
			b.Add(graph.Node{Address: address, Kind: graph.Toy, Effect: graph.Pure})
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		if CheckFolders(g) == nil {
			t.Errorf("%v accepted", pair)
		}
	}
}

func TestCreateAndOpen(t *testing.T) {
	run := newRun(t)
	if _, err := Create(run.Dir, Manifest{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created twice: %v", err)
	}
	if again, err := Open(run.Dir); err != nil || again.Manifest.Plan != "p" {
		t.Errorf("open: %+v %v", again, err)
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, ErrNoRun) {
		t.Errorf("open nothing: %v", err)
	}
	foreign := t.TempDir()
	os.WriteFile(filepath.Join(foreign, "thesis.tex"), nil, 0o600)
	if _, err := Create(foreign, Manifest{}); err == nil || !strings.Contains(err.Error(), "thesis.tex") {
		t.Errorf("took a folder that holds something else: %v", err)
	}
	for text, want := range map[string]string{
		``: "read", `{`: "read", `{"kind":"x"}`: "kind", `{"kind":"grill-plan-run","version":9}`: "version 9",
	} {
		os.WriteFile(filepath.Join(run.Dir, ManifestFile), []byte(text), 0o600)
		if _, err := Open(run.Dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("manifest %q: %v", text, err)
		}
	}
}

// PLN-24: one owner of an attempt, one end of it.
func TestAttemptHasOneOwnerAndOneEnd(t *testing.T) {
	run := newRun(t)
	attempt(t, run, "n", 1)
	if _, err := run.Begin("n", 1, Input{}, BeginOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("begun twice: %v", err)
	}
	publish(t, run, "n", 1)
	before, _ := os.ReadFile(run.AttemptDir("n", 1) + ".json")
	if err := run.Publish(&Record{Address: "n", Attempt: 1, State: Failed}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("ended twice: %v", err)
	}
	if after, _ := os.ReadFile(run.AttemptDir("n", 1) + ".json"); !bytes.Equal(before, after) {
		t.Error("the checkpoint was replaced")
	}
}

// PLN-19, PLN-20: any single damage to a checkpoint makes it a miss with a
// reason, and the one before counts.
func TestDamagedCheckpointIsAMiss(t *testing.T) {
	run := newRun(t)
	for number := 1; number <= 2; number++ {
		dir := attempt(t, run, "n", number)
		os.WriteFile(filepath.Join(dir, "out"), []byte("x"), 0o600)
		publish(t, run, "n", number)
	}
	path := run.AttemptDir("n", 2) + ".json"
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	node, err := run.ReadNode("n")
	if err != nil || node.Attempt != 2 || !node.Finished() {
		t.Fatalf("%+v %v", node, err)
	}
	damaged := [][]byte{nil, []byte("null"), []byte("[]"), append(append([]byte{}, good...), '\n'), bytes.Replace(good, []byte("{"), []byte("{ "), 1)}
	for cut := range good {
		damaged = append(damaged, good[:cut])
		flipped := append([]byte{}, good...)
		flipped[cut] ^= 1
		damaged = append(damaged, flipped)
	}
	for _, data := range damaged {
		if _, err := parseRecord(data, "n", 2); err == nil {
			t.Fatalf("accepted %q", data)
		}
	}
	os.WriteFile(path, good[:50], 0o600)
	node, err = run.ReadNode("n")
	if err != nil || node.Attempt != 1 || node.Last != 2 || len(node.Misses) != 1 || node.Misses[0].Attempt != 2 {
		t.Errorf("%+v %v", node, err)
	}
}

// What a hostile runner leaves is listed by type, and neither opened nor
// followed.
func TestListFilesOfAHostileRunner(t *testing.T) {
	run := newRun(t)
	dir := attempt(t, run, "n", 1)
	secret := filepath.Join(t.TempDir(), "secret")
	os.WriteFile(secret, []byte("s"), 0o600)
	for _, err := range []error{
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
		os.Symlink(secret, filepath.Join(dir, "link")),
		os.Symlink("/", filepath.Join(dir, "root")),
		os.Mkdir(filepath.Join(dir, "sub"), 0o700),
		os.WriteFile(filepath.Join(dir, "sub", "a"), []byte("a"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	odd := os.WriteFile(filepath.Join(dir, "\xff"), nil, 0o600) == nil // macOS refuses it
	files, err := ListFiles(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, file := range files {
		got = append(got, file.Path+":"+file.Type)
	}
	want := "link:symlink pipe:fifo root:symlink sub:directory sub/a:"
	if odd {
		want = "hex:ff: " + want
	}
	if strings.Join(got, " ") != want {
		t.Errorf("listed %q, want %q", got, want)
	}
	publish(t, run, "n", 1)
	if _, err := run.Record("n", 1); err != nil {
		t.Errorf("not read back: %v", err)
	}
	os.Remove(filepath.Join(dir, "sub", "a"))
	syscall.Mkfifo(filepath.Join(dir, "sub", "a"), 0o600)
	var damage *Damage
	if _, _, err := Verify(context.Background(), dir, files, true); !errors.As(err, &damage) || damage.Path != "sub/a" {
		t.Errorf("a file made a FIFO: %v", err)
	}
}

// PLN-20: what is untouched by its stat is not read; all else is.
func TestVerify(t *testing.T) {
	run := newRun(t)
	dir := attempt(t, run, "n", 1)
	path := filepath.Join(dir, "out")
	os.WriteFile(path, []byte("content"), 0o600)
	files, err := ListFiles(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, changed, err := Verify(context.Background(), dir, files, false); err != nil || changed {
		t.Errorf("untouched: %t %v", changed, err)
	}
	os.Chtimes(path, time.Now(), time.Unix(5, 0))
	noted, changed, err := Verify(context.Background(), dir, files, false)
	if err != nil || !changed || noted[0].SHA256 != files[0].SHA256 || *noted[0].Noted == *files[0].Noted {
		t.Errorf("touched: %t %v", changed, err)
	}
	os.WriteFile(path, []byte("CONTENT"), 0o600)
	var damage *Damage
	if _, _, err := Verify(context.Background(), dir, noted, false); !errors.As(err, &damage) {
		t.Errorf("rewritten: %v", err)
	}
}

// PLN-27: the first line gives the version; a torn last line is tolerated and
// cut away.
func TestEvents(t *testing.T) {
	run := newRun(t)
	path := filepath.Join(run.Dir, EventsFile)
	for round, torn := range []string{"", `{"time":"2026-`, "\x00\x00"} {
		log, err := run.OpenEvents(true)
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Append(Event{Event: NodeDone, Node: "n"}, true); err != nil {
			t.Fatal(err)
		}
		log.Close()
		file, _ := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		file.WriteString(torn)
		file.Close()
		events, unreadable, err := run.ReadEvents()
		if err != nil || len(events) != round+1 || (unreadable == 1) != (torn != "") {
			t.Errorf("round %d: %d events, %d unreadable, %v", round, len(events), unreadable, err)
		}
	}
	data, _ := os.ReadFile(path)
	if !bytes.HasPrefix(data, []byte(`{"kind":"grill-plan-events","version":1}`+"\n")) || bytes.Contains(data, []byte("2026-{")) {
		t.Errorf("file %q", data)
	}
	os.WriteFile(path, []byte(`{"kind":"grill-plan-events","version":2}`+"\n"), 0o600)
	if _, _, err := run.ReadEvents(); err == nil {
		t.Error("a newer version was read")
	}
}

// PLN-24: locks of dead, living and far holders.
func TestLock(t *testing.T) {
	run := newRun(t)
	lock, err := run.Lock(LockOptions{Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := run.Lock(LockOptions{}); !errors.As(err, &held) || held.Holder == nil || held.Holder.PID != os.Getpid() {
		t.Fatalf("second: %v", err)
	}
	if holder := run.CurrentHolder(); holder == nil || holder.Token == "" {
		t.Errorf("holder %v", holder)
	}
	if err := lock.Release(); err != nil || run.CurrentHolder() != nil {
		t.Errorf("released: %v, holder %v", err, run.CurrentHolder())
	}
	path := filepath.Join(run.Dir, LockFile)
	dead, far := Self(time.Now()), Self(time.Now())
	dead.PID, dead.Start = 1<<22+7, "1"
	far.Boot, far.Host, far.Machine = "another boot", "far", "another machine"
	for _, text := range [][]byte{nil, []byte(`{"pid":`), mustEncode(t, dead)} {
		os.WriteFile(path, text, 0o600)
		lock, err := run.Lock(LockOptions{})
		if err != nil {
			t.Fatalf("left by a dead process, %q: %v", text, err)
		}
		lock.Release()
	}
	os.WriteFile(path, mustEncode(t, far), 0o600)
	if _, err := run.Lock(LockOptions{}); !errors.As(err, &held) || !held.Elsewhere || !strings.Contains(err.Error(), "--take-over") {
		t.Fatalf("far holder: %v", err)
	}
	lock, err = run.Lock(LockOptions{TakeOver: true})
	if err != nil || lock.TakenOver == nil || lock.TakenOver.Host != "far" {
		t.Fatalf("take over: %v", err)
	}
	lock.Release()
}

func mustEncode(t *testing.T, value any) []byte {
	data, err := encode(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// PLN-18: links are not followed, and nothing but a regular file is a lock.
func TestHostLockIsNoTrap(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	os.WriteFile(target, []byte("precious"), 0o600)
	link, fifo := filepath.Join(dir, "link"), filepath.Join(dir, "fifo")
	os.Symlink(target, link)
	syscall.Mkfifo(fifo, 0o600)
	for _, path := range []string{link, fifo, dir} {
		if lock, err := LockHost(context.Background(), HostLockOptions{Path: path}); err == nil {
			lock.Release()
			t.Errorf("%s was taken as a lock", path)
		}
	}
	if data, _ := os.ReadFile(target); string(data) != "precious" {
		t.Errorf("the target of a link holds %q", data)
	}
	path := filepath.Join(dir, "lock")
	lock, err := LockHost(context.Background(), HostLockOptions{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	_, err = LockHost(ctx, HostLockOptions{Path: path, Waiting: func(*Holder, time.Duration) { cancel(why) }})
	if !errors.Is(err, why) {
		t.Errorf("waiting ended with %v", err)
	}
	lock.Release()
}

// PLN-38: documents are known by their bytes.
func TestDocuments(t *testing.T) {
	run := newRun(t)
	const sum = "2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df"
	if err := run.StoreDocuments(map[string][]byte{sum: []byte("ok")}); err != nil {
		t.Fatal(err)
	}
	if data, err := run.Document(sum); err != nil || string(data) != "ok" {
		t.Errorf("%q %v", data, err)
	}
	if err := run.StoreDocuments(map[string][]byte{sum: []byte("other")}); err == nil {
		t.Error("stored under a wrong name")
	}
	os.WriteFile(filepath.Join(run.Dir, DocumentsDir, sum+".json"), []byte("damaged"), 0o600)
	if _, err := run.Document(sum); err == nil {
		t.Error("a damaged document was read")
	}
	if _, err := run.Document("../../manifest"); err == nil {
		t.Error("a path was taken as a name")
	}
}

func FuzzParseRecord(f *testing.F) {
	run := newRun(f)
	attempt(f, run, "n", 1)
	publish(f, run, "n", 1)
	data, err := os.ReadFile(run.AttemptDir("n", 1) + ".json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"kind":"grill-plan-checkpoint","version":1,"address":"n","attempt":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		record, err := parseRecord(data, "n", 1)
		if err == nil && record == nil {
			t.Error("neither a record nor a reason")
		}
	})
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte(indexHeader))
	f.Fuzz(func(t *testing.T, data []byte) {
		index := &Index{entries: map[string]*indexEntry{}}
		index.decode(data)
		reader := indexReader{data: data, text: string(data)}
		for reader.err == nil && reader.at < len(data) {
			reader.entry()
		}
	})
}
