package program_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/program"
)

const content = "#!/bin/sh\nexit 0\n"

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// canonicalDir is a temporary directory without symbolic links in its path.
func canonicalDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// ruleOf is the rule of a refusal, "" for none.
func ruleOf(t *testing.T, err error) string {
	t.Helper()
	var refused *program.Error
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &refused):
		t.Fatalf("%v is no refusal by a rule", err)
	}
	return refused.Rule
}

func TestResolve(t *testing.T) { // DOC-43, DOC-44, DOC-47, DOC-54
	dir := canonicalDir(t)
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("PATH", filepath.Join(dir, "path"))
	write(t, filepath.Join(dir, "real/tool"), 0o755)
	write(t, filepath.Join(dir, "home/tool"), 0o755)
	write(t, filepath.Join(dir, "path/onlypath"), 0o755)
	write(t, filepath.Join(dir, "here"), 0o755)
	write(t, filepath.Join(dir, "~odd"), 0o755)
	if err := os.Symlink("real/tool", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "dirlink")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, declared, wantDeclared, wantResolved string }{
		{"DOC-43 relative", "./here", "here", "here"},
		{"DOC-43 bare name", "here", "here", "here"},
		{"DOC-43 absolute", dir + "/here", "here", "here"},
		{"DOC-47 link stays declared", "link", "link", "real/tool"},
		{"DOC-44 tilde", "~/tool", "home/tool", "home/tool"},
		{"DOC-44 ~name is a name", "~odd", "~odd", "~odd"},
		{"DOC-47 parent of a link is not shortened", "dirlink/../here", "dirlink/../here", "here"},
	} {
		got, err := program.Resolve(dir, c.declared, "")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got.DeclaredPath != dir+"/"+c.wantDeclared || got.ResolvedPath != dir+"/"+c.wantResolved || got.ResolvedSHA256 != sum(content) {
			t.Errorf("%s: %+v", c.name, got)
		}
		if program.Executable(got) != got.DeclaredPath { // CAP_10, the part of it that is decided here
			t.Errorf("%s: executes %s", c.name, program.Executable(got))
		}
	}
	if _, err := program.Resolve(dir, "onlypath", ""); ruleOf(t, err) != "DOC-43" {
		t.Errorf("DOC-43: PATH was searched: %v", err)
	}
	self, err := program.Resolve(dir, "self:", dir+"/link")
	if err != nil || self.DeclaredPath != "self:" || self.ResolvedPath != dir+"/real/tool" || self.ResolvedSHA256 != sum(content) {
		t.Errorf("DOC-54: %+v %v", self, err)
	}
	if program.Executable(self) != self.ResolvedPath {
		t.Error("DOC-54: self: has to be executed by its path")
	}
	if _, err := program.Resolve(dir, "self:x", dir+"/link"); ruleOf(t, err) != "DOC-43" {
		t.Errorf("DOC-54: only the whole word stands for grill-plan: %v", err)
	}
	t.Setenv("HOME", "")
	if _, err := program.Resolve(dir, "~/tool", ""); ruleOf(t, err) != "DOC-44" {
		t.Errorf("DOC-44 without HOME: %v", err)
	}
}

func TestResolveRefuses(t *testing.T) { // DOC-43
	dir := canonicalDir(t)
	write(t, filepath.Join(dir, "plain"), 0o644)
	write(t, filepath.Join(dir, "unreadable"), 0o111)
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"dangling": "nowhere", "loop": "loop", "tofolder": "folder"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"plain": "not executable", "folder": "is a directory", "fifo": "is a FIFO", "missing": "no such file",
		"dangling": "no such file", "loop": "too many", "tofolder": "is a directory", "plain/x": "not a directory",
	} {
		_, err := program.Resolve(dir, name, "")
		if ruleOf(t, err) != "DOC-43" || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) && name != "tofolder" {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if os.Geteuid() != 0 {
		if _, err := program.Resolve(dir, "unreadable", ""); ruleOf(t, err) != "DOC-43" {
			t.Errorf("unreadable: %v", err)
		}
	}
}

func TestProgramSize(t *testing.T) { // DOC-45
	dir := canonicalDir(t)
	path := filepath.Join(dir, "large")
	write(t, path, 0o755)
	if err := os.Truncate(path, program.MaxBytes+1); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	if _, err := program.Resolve(dir, "large", ""); ruleOf(t, err) != "DOC-45" {
		t.Errorf("1 GiB and 1 byte: %v", err)
	}
	if err := os.Truncate(path, program.MaxBytes); err != nil {
		t.Fatal(err)
	}
	if program.MaxBytes != 1_073_741_824 {
		t.Errorf("the bound is %d", program.MaxBytes)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	// The size is admitted, so that hashing starts; only the context ends it.
	if _, err := new(program.Resolver).Resolve(ctx, dir, "large", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("1 GiB: %v", err)
	}
}

// What was hashed is not hashed again, unless it was changed a moment before.
func TestResolverRemembersSettledFiles(t *testing.T) {
	resolver := new(program.Resolver)
	first, err := resolver.Resolve(context.Background(), "/", "/bin/sh", "")
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if again, err := resolver.Resolve(ended, "/", "/bin/sh", ""); err != nil || again != first {
		t.Errorf("hashed again: %v", err)
	}
	dir := canonicalDir(t)
	write(t, filepath.Join(dir, "fresh"), 0o755)
	if _, err := resolver.Resolve(context.Background(), dir, "fresh", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := resolver.Resolve(ended, dir, "fresh", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("a file written just now was answered from memory: %v", err)
	}
}

// A resolver answers from memory only for a file that has not changed.
func TestResolverSeesChanges(t *testing.T) {
	dir := canonicalDir(t)
	path := filepath.Join(dir, "tool")
	write(t, path, 0o755)
	resolver := new(program.Resolver)
	for _, text := range []string{content, content, content + "x", content + "y"} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		// Time stamps of some file systems are coarse; a replaced file has
		// another inode whatever the clock.
		if err := os.Rename(path, path+".new"); err != nil {
			t.Fatal(err)
		}
		write(t, path, 0o755)
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		got, err := resolver.Resolve(context.Background(), dir, "tool", "")
		if err != nil || got.ResolvedSHA256 != sum(text) {
			t.Errorf("%q: %+v %v", text, got, err)
		}
	}
}

func TestReadDocument(t *testing.T) { // DOC-09, DOC-10
	dir := canonicalDir(t)
	file := filepath.Join(dir, "doc.json")
	write(t, file, 0o600)
	if err := os.Symlink("doc.json", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(dir, "link")} {
		if data, err := program.ReadDocument(path); err != nil || string(data) != content {
			t.Errorf("%s: %q %v", path, data, err)
		}
	}
	if err := os.Truncate(file, document.MaxBytes); err != nil {
		t.Fatal(err)
	}
	if data, err := program.ReadDocument(file); err != nil || len(data) != 4_194_304 {
		t.Errorf("DOC-09 4 MiB: %d bytes, %v", len(data), err)
	}
	if err := os.Truncate(file, document.MaxBytes+1); err != nil {
		t.Fatal(err)
	}
	if _, err := program.ReadDocument(file); ruleOf(t, err) != "DOC-09" {
		t.Errorf("DOC-09 4 MiB and 1 byte: %v", err)
	}
}

// DOC-10: what is no regular file is refused at once, a FIFO without a writer
// included.
func TestReadDocumentRefusesWithoutBlocking(t *testing.T) {
	dir := canonicalDir(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // a socket's path has to be short
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for path, want := range map[string]string{
		dir: "is a directory", filepath.Join(dir, "fifo"): "is a FIFO", filepath.Join(dir, "socket"): "is a socket",
		"/dev/null": "is a device", filepath.Join(dir, "missing"): "no such file", "": "no such file",
	} {
		done := make(chan error, 1)
		go func() {
			_, err := program.ReadDocument(path)
			done <- err
		}()
		select {
		case err := <-done:
			if ruleOf(t, err) != "DOC-10" || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", path, err, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s blocks", path)
		}
	}
}

func TestResolveCwd(t *testing.T) { // DOC-46, DOC-44
	dir := canonicalDir(t)
	t.Setenv("HOME", dir)
	if err := os.MkdirAll(filepath.Join(dir, "a/b"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "file"), 0o755)
	if got, err := program.ResolveCwd(dir, nil); got != dir || err != nil {
		t.Errorf("no cwd: %s %v", got, err)
	}
	for cwd, want := range map[string]string{"a": "/a", "a/b/": "/a/b", "~/a": "/a", "~": "", ".": "", dir + "/a": "/a"} {
		if got, err := program.ResolveCwd(dir, &cwd); got != dir+want || err != nil {
			t.Errorf("%s: %s %v", cwd, got, err)
		}
	}
	for cwd, want := range map[string]string{"file": "is not a directory", "missing": "no such file", "file/x": "not a directory"} {
		if _, err := program.ResolveCwd(dir, &cwd); ruleOf(t, err) != "DOC-46" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", cwd, err)
		}
	}
	if os.Geteuid() != 0 {
		if err := os.Chmod(filepath.Join(dir, "a"), 0o600); err != nil {
			t.Fatal(err)
		}
		cwd := "a"
		if _, err := program.ResolveCwd(dir, &cwd); ruleOf(t, err) != "DOC-46" {
			t.Errorf("not enterable: %v", err)
		}
	}
	t.Setenv("HOME", "")
	cwd := "~/a"
	if _, err := program.ResolveCwd(dir, &cwd); ruleOf(t, err) != "DOC-44" {
		t.Errorf("without HOME: %v", err)
	}
}
