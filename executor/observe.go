package executor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"

	"github.com/grill-plan/grill-plan/internal/durable"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// observationWriter is the Runner by which an observation becomes an attempt
// like any other.
type observationWriter struct {
	seen Observation
}

func (o observationWriter) Observe(context.Context, *graph.Node) (Observation, error) {
	return o.seen, nil
}

func (o observationWriter) Run(_ context.Context, work Work) (Result, error) {
	names := make([]string, 0, len(o.seen.Files))
	for name := range o.seen.Files {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if !filepath.IsLocal(name) {
			return Result{}, fmt.Errorf("observation of %s: file name %q leads out of the attempt", work.Node.Address, name)
		}
		path := filepath.Join(work.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), durable.DirMode); err != nil {
			return Result{}, err
		}
		if err := os.WriteFile(path, o.seen.Files[name], durable.FileMode); err != nil {
			return Result{}, err
		}
	}
	return Result{OutputDigest: o.seen.Digest}, nil
}

func (o observationWriter) Recover(context.Context, Work) (Result, bool, error) {
	return Result{}, false, nil
}
