package readme

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// root is the module's folder, seen from this package.
const root = "../.."

// documents are those whose commands are run, in this order.
func documents(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"README.md"}
	for _, doc := range docs {
		names = append(names, filepath.ToSlash(filepath.Join("docs", filepath.Base(doc))))
	}
	return append(names, "CONTRIBUTING.md")
}

// All documents are run in one copy of the project, as a reader would run them.
func TestDocumentsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs whole experiments")
	}
	folder := copyModule(t)
	// As README says; done here so that one page can fail without the others.
	runBlock(t, folder, block{file: "README.md", text: "go build -o bin/grill-plan ./cmd/grill-plan"})
	for _, name := range documents(t) {
		t.Run(name, func(t *testing.T) { runDocument(t, folder, name) })
	}
}

func runDocument(t *testing.T, folder, name string) {
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := parse(name, string(data))
	if err != nil {
		t.Fatal(err)
	}
	printed, ran := "", false
	for _, b := range blocks {
		switch {
		case b.skip != "":
			ran = false
		case b.lang == "sh":
			printed = runBlock(t, folder, b)
			ran = true
		case b.lang == "text" && b.after && ran:
			if lines := missing(b.text, printed); len(lines) > 0 {
				t.Errorf("%s shows what was not printed:\n%s\nprinted was:\n%s", b, strings.Join(lines, "\n"), printed)
			}
			ran = false
		case b.attrs["file"] != "":
			if err := os.WriteFile(filepath.Join(folder, b.attrs["file"]), []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// runBlock gives what the block printed, both streams together.
func runBlock(t *testing.T, folder string, b block) string {
	t.Helper()
	want, err := b.exit()
	if err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", b.text)
	cmd.Dir = folder
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(os.Environ(),
		"PATH="+filepath.Join(folder, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GRILL_PLAN_HOST_LOCK="+filepath.Join(folder, "host.lock"), "NO_COLOR=1", "GOFLAGS=-buildvcs=false")
	start := time.Now()
	output, err := cmd.CombinedOutput()
	t.Logf("%s took %s", b, time.Since(start).Round(100*time.Millisecond))
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatalf("%s: %v", b, err)
	}
	if code := cmd.ProcessState.ExitCode(); code != want {
		t.Fatalf("%s ended with %d, want %d:\n%s\nprinted:\n%s", b, code, want, b.text, output)
	}
	return string(output)
}

// copyModule copies the project, without what is built, run or kept by git.
func copyModule(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	err := filepath.WalkDir(root, func(full string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, full)
		if err != nil {
			return err
		}
		target := filepath.Join(folder, name)
		switch {
		case entry.IsDir() && slices.Contains([]string{".git", "bin", "grill-runs"}, entry.Name()):
			return filepath.SkipDir
		case entry.IsDir():
			return os.MkdirAll(target, 0o700)
		case !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(full)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, info.Mode().Perm()|0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// Links within the project lead somewhere, and so do links to headings.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, name := range append(documents(t), "CHANGELOG.md", "bench/README.md") {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, match := range link.FindAllStringSubmatch(string(data), -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			checkLink(t, name, match[1])
		}
	}
}

func checkLink(t *testing.T, name, link string) {
	t.Helper()
	file, anchor, _ := strings.Cut(link, "#")
	target := filepath.Join(root, filepath.Dir(name), file)
	if file == "" {
		target = filepath.Join(root, name)
	}
	data, err := os.ReadFile(target)
	if err != nil {
		if info, statErr := os.Stat(target); statErr != nil || !info.IsDir() {
			t.Errorf("%s: the link %s leads nowhere", name, link)
		}
		return
	}
	if anchor != "" && !slices.Contains(anchors(string(data)), anchor) {
		t.Errorf("%s: %s has no such heading", name, link)
	}
}

// anchors are the names that GitHub gives to headings.
func anchors(document string) []string {
	heading := regexp.MustCompile(`(?m)^#+ (.+)$`)
	dropped := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	var names []string
	for _, match := range heading.FindAllStringSubmatch(document, -1) {
		name := dropped.ReplaceAllString(strings.ToLower(match[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

// Every direct dependency stands in README with its reason, and no other does.
func TestDependenciesAreExplained(t *testing.T) {
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(readme), "\n## Dependencies\n")
	if !found {
		t.Fatal("README.md has no Dependencies")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	var explained []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z][^|]*/[^|]*) \| [^|]+ \|$`).FindAllStringSubmatch(table, -1) {
		explained = append(explained, strings.Split(row[1], ", ")...)
	}
	var direct []string
	for _, line := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(string(module), -1) {
		direct = append(direct, strings.TrimPrefix(line[1], "github.com/"))
	}
	slices.Sort(explained)
	slices.Sort(direct)
	if !slices.Equal(explained, direct) {
		t.Errorf("README explains\n%q\ngo.mod requires\n%q", explained, direct)
	}
}
