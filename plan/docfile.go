package plan

import (
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/grill-plan/grill-plan/internal/strictjson"
	"github.com/grill-plan/grill-plan/plan/document"
)

// documentFile is a JSON document that a plan names.
type documentFile struct {
	display    string
	data       []byte
	workload   *document.Workload
	runner     *document.Runner
	deployment *document.Deployment
	problems   []document.Problem
	err        error
	where      *built
}

// documentFile gives the admitted document that a block names, nil when there is
// none, which is said (PLN-05).
func (s *scope) documentFile(in *instance, a *attribute, kind string) *documentFile {
	if mixed, at := inlineItem(in.of.block.body, kind); mixed != "" {
		s.l.diags.errorAt(at, "Document mixed with inline attributes",
			"The block names a document, which says everything; remove %s and what else stands beside document, or the document.", mixed)
		return nil
	}
	written, ok := s.text(a)
	if !ok {
		return nil
	}
	file := s.l.readDocument(kind, written)
	if file.err != nil {
		s.l.diags.errorAt(a.expr.Range(), "Document not readable", "The document %q %s.", written, sentenceOf(file.err))
		return nil
	}
	for _, p := range file.problems {
		s.l.diags.errorAt(rangeAt(file.display, file.data, max(0, p.Offset)), "Invalid "+kind, "%s", problemText(p))
	}
	if len(file.problems) > 0 {
		return nil
	}
	return file
}

// inlineItem names the first item beside document and for_each. A switch is no
// part of a deployment document and may stand beside one.
func inlineItem(b *body, kind string) (string, hcl.Range) {
	for _, a := range b.attrs {
		if a.name != "document" && a.name != "for_each" {
			return "the attribute " + a.name, a.where
		}
	}
	for _, inner := range b.blocks {
		if kind != "deployment" || inner.kind != "switch" {
			return "the block " + inner.kind, inner.where
		}
	}
	return "", hcl.Range{}
}

// readDocument reads a document once per load.
func (l *loader) readDocument(kind, written string) *documentFile {
	id := kind + " " + written
	if known := l.documents[id]; known != nil {
		return known
	}
	file := &documentFile{display: written}
	l.documents[id] = file
	resolved, err := l.resolvePath(written)
	if err != nil {
		file.err = err
		return file
	}
	if !filepath.IsAbs(written) {
		file.display = filepath.Join(l.display, written)
	}
	if file.data, file.err = readRegular(resolved, document.MaxBytes); file.err != nil {
		return file
	}
	l.plan.Sources[file.display] = file.data
	switch kind {
	case "workload":
		file.workload, file.problems = document.ParseWorkload(file.display, file.data)
	case "runner":
		file.runner, file.problems = document.ParseRunner(file.display, file.data)
	default:
		file.deployment, file.problems = document.ParseDeployment(file.display, file.data)
	}
	return file
}

// located gives the tree of an admitted file with its offsets, for what is found
// later between documents.
func (f *documentFile) located() *built {
	if f.where == nil {
		const depth = 64 // more than an admitted document has
		tree, _ := strictjson.Parse(f.data, depth)
		f.where = &built{tree: tree, file: f}
	}
	return f.where
}
