package inspect

import (
	"context"
	"fmt"

	"github.com/grill-plan/grill-plan/steps/evidence"
)

// Inspect verifies the capture in a directory. The error is an [*Error] when the
// evidence does not verify, and the context's when that ended. A result may have
// any status; only complete captures are compared (INS-07, CMP-02).
//
// Files are read once, bounded and without following links; the directory is not
// changed. What is written to while it is inspected is not detected.
func Inspect(ctx context.Context, dir string) (*Result, error) {
	v, err := open(ctx, dir)
	if err != nil {
		return nil, err
	}
	// From the seal inwards: what names all files comes first, so that a changed
	// byte is reported at the file that holds it.
	for _, step := range []func() error{
		v.readDocuments, v.readReceipt, v.checkReceipt, v.readSetup, v.readSamples,
		v.nothingElse, v.checkStatus, v.checkClocks,
	} {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("inspect %s: %w", dir, context.Cause(ctx))
		}
		if err := step(); err != nil {
			return nil, err
		}
	}
	return v.result, nil
}

// verifier carries one inspection. listed are the files that the sealed
// completion names; used are those that had a place in the capture.
type verifier struct {
	ctx    context.Context
	dir    string
	result *Result
	listed map[string]evidence.EvidenceFile
	inDir  map[string][]string // names listed below a first path component
	used   map[string]bool
}
