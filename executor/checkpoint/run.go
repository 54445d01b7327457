package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/grill-plan/grill-plan/executor/digest"
	"github.com/grill-plan/grill-plan/internal/durable"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// largestFile bounds what is read of a run directory at once, in bytes.
const largestFile = 1 << 30

const (
	manifestKind    = "grill-plan-run"
	manifestVersion = 1
)

// ErrNoRun: the folder holds no run, or none yet.
var ErrNoRun = errors.New("no run directory")

// Manifest says what a run directory belongs to. It is written once.
type Manifest struct {
	Kind         string `json:"kind"`
	Version      int    `json:"version"`
	DigestScheme int    `json:"digest_scheme"`
	// Plan is the plan's name; a run directory belongs to one plan.
	Plan string `json:"plan"`
	// Tool is the SHA-256 of the grill-plan that began the run (PLN-41).
	Tool    string    `json:"tool_sha256"`
	OS      string    `json:"os"`
	Arch    string    `json:"arch"`
	Created time.Time `json:"created"`
	// Info is the caller's; the executor never reads it.
	Info json.RawMessage `json:"info,omitempty"`
}

// Run is an opened run directory. It holds no lock and no open file; see
// [Run.Lock].
type Run struct {
	Dir      string // absolute
	Manifest Manifest
}

// Create makes a run directory. An existing run gives an error that wraps
// [fs.ErrExist], and is left as it is; so does a folder that holds something
// else. Kind, Version and DigestScheme are filled in.
func Create(dir string, manifest Manifest) (*Run, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("create run directory: %w", err)
	}
	manifest.Kind, manifest.Version, manifest.DigestScheme = manifestKind, manifestVersion, digest.Scheme
	manifest.Created = manifest.Created.UTC()
	data, err := encode(manifest)
	if err != nil {
		return nil, fmt.Errorf("create run directory %s: %w", dir, err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return nil, fmt.Errorf("create run directory: %w", err)
	}
	if err := os.Mkdir(dir, durable.DirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create run directory: %w", err)
	}
	if err := refuseForeign(dir); err != nil {
		return nil, err
	}
	for _, name := range []string{PlanDir, DocumentsDir, NodesDir, RequestsDir} {
		if err := os.Mkdir(filepath.Join(dir, name), durable.DirMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("create run directory: %w", err)
		}
	}
	// The manifest comes last: without it nothing is a run.
	if err := durable.Publish(filepath.Join(dir, ManifestFile), data); err != nil {
		return nil, fmt.Errorf("create run directory: %w", err)
	}
	if err := durable.SyncDir(filepath.Dir(dir)); err != nil {
		return nil, fmt.Errorf("create run directory: %w", err)
	}
	return &Run{Dir: dir, Manifest: manifest}, nil
}

// refuseForeign: a folder with something else in it is not made into a run.
// What a killed Create left is.
func refuseForeign(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("create run directory: %w", err)
	}
	for _, entry := range entries {
		switch name := entry.Name(); {
		case name == PlanDir, name == DocumentsDir, name == NodesDir, name == RequestsDir, isTemporary(name):
		case name == ManifestFile:
			return fmt.Errorf("create run directory %s: it holds a run already: %w", dir, fs.ErrExist)
		default:
			return fmt.Errorf("create run directory %s: it holds %q, which is no part of a run; name a new or empty folder: %w", dir, name, fs.ErrExist)
		}
	}
	return nil
}

func isTemporary(name string) bool {
	return len(name) > len(durable.TemporaryPrefix) && name[:len(durable.TemporaryPrefix)] == durable.TemporaryPrefix
}

// Open opens an existing run directory for reading and writing. Without one the
// error wraps [ErrNoRun].
func Open(dir string) (*Run, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open run directory: %w", err)
	}
	path := filepath.Join(dir, ManifestFile)
	data, err := durable.ReadRegular(path, largestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open %s: %w (there is no %s)", dir, ErrNoRun, ManifestFile)
	}
	if err != nil {
		return nil, fmt.Errorf("open run directory: %w", err)
	}
	var manifest Manifest
	if err := json.Unmarshal(data, &manifest); err != nil {
		return nil, fmt.Errorf("open run directory: read %s: %w", path, err)
	}
	switch {
	case manifest.Kind != manifestKind:
		return nil, fmt.Errorf("open run directory: %s is of kind %q, not %q", path, manifest.Kind, manifestKind)
	case manifest.Version > manifestVersion:
		return nil, fmt.Errorf("open run directory: %s has version %d; this grill-plan knows up to %d: use the newer one", path, manifest.Version, manifestVersion)
	case manifest.Version < 1 || manifest.DigestScheme < 1:
		return nil, fmt.Errorf("open run directory: %s has no valid version", path)
	}
	return &Run{Dir: dir, Manifest: manifest}, nil
}

// StoreDocuments stores documents under their SHA-256 (PLN-38); what is there
// stays. It has no effect on what is reused.
func (r *Run) StoreDocuments(documents map[string][]byte) error {
	for _, sum := range sortedKeys(documents) {
		data := documents[sum]
		if actual := sha256.Sum256(data); hex.EncodeToString(actual[:]) != sum {
			return fmt.Errorf("store document %s: its bytes have another SHA-256", sum)
		}
		path := filepath.Join(r.Dir, DocumentsDir, sum+".json")
		if present, err := durable.ReadRegular(path, largestFile); err == nil && bytes.Equal(present, data) {
			continue
		}
		// A damaged copy is replaced: the bytes are known by their name.
		if err := durable.Replace(path, data); err != nil {
			return fmt.Errorf("store document: %w", err)
		}
	}
	return nil
}

// Document reads a stored document and checks its SHA-256.
func (r *Run) Document(sum string) ([]byte, error) {
	if !digest.Valid(sum) {
		return nil, fmt.Errorf("read document %q: not a SHA-256", sum)
	}
	data, err := durable.ReadRegular(filepath.Join(r.Dir, DocumentsDir, sum+".json"), largestFile)
	if err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	if actual := sha256.Sum256(data); hex.EncodeToString(actual[:]) != sum {
		return nil, fmt.Errorf("read document %s: its bytes have another SHA-256; run the plan again to restore it", sum)
	}
	return data, nil
}

// StorePlan stores the plan files as they are now and the compiled graph, which
// replace what an earlier edition left. Names are relative, slash separated.
func (r *Run) StorePlan(g *graph.Graph, files map[string][]byte) error {
	encoded, err := g.Encode()
	if err != nil {
		return fmt.Errorf("store plan: %w", err)
	}
	for _, name := range sortedKeys(files) {
		if !filepath.IsLocal(name) || name == GraphFile {
			return fmt.Errorf("store plan: %q is no name for a plan file", name)
		}
		path := filepath.Join(r.Dir, PlanDir, filepath.FromSlash(name))
		if err := replaceIfDifferent(path, files[name]); err != nil {
			return fmt.Errorf("store plan: %w", err)
		}
	}
	if err := replaceIfDifferent(filepath.Join(r.Dir, PlanDir, GraphFile), encoded); err != nil {
		return fmt.Errorf("store plan: %w", err)
	}
	return nil
}

func replaceIfDifferent(path string, data []byte) error {
	if present, err := durable.ReadRegular(path, largestFile); err == nil && bytes.Equal(present, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), durable.DirMode); err != nil {
		return err
	}
	return durable.Replace(path, data)
}

// HasGraph says whether the stored graph is this one.
func (r *Run) HasGraph(g *graph.Graph) bool {
	encoded, err := g.Encode()
	if err != nil {
		return false
	}
	stored, err := durable.ReadRegular(filepath.Join(r.Dir, PlanDir, GraphFile), largestFile)
	return err == nil && bytes.Equal(stored, encoded)
}

// Graph reads the stored graph. Without one the error wraps [fs.ErrNotExist].
func (r *Run) Graph() (*graph.Graph, error) {
	data, err := durable.ReadRegular(filepath.Join(r.Dir, PlanDir, GraphFile), largestFile)
	if err != nil {
		return nil, fmt.Errorf("read the graph of the run: %w", err)
	}
	g, err := graph.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("read the graph of the run %s: %w; remove %s and run the plan again, which writes it anew", r.Dir, err, filepath.Join(r.Dir, PlanDir, GraphFile))
	}
	return g, nil
}

func sortedKeys(m map[string][]byte) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// encode gives the canonical bytes of a record: compact, in field order, raw
// parts as they are, a line feed at the end.
func encode(record any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(record); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
