package plan

import (
	"math"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/grill-plan/grill-plan/plan/document"
)

// makeExperiment builds one experiment instance. An experiment with a mistake is
// left out of the plan; the mistake has been said.
func (l *loader) makeExperiment(in *instance, reference *scope) {
	b := in.of.block.body
	s := in.scope(reference)
	e := &Experiment{
		Name: in.of.name, Key: in.key, HasKey: in.of.each, Address: in.address, Range: in.of.block.where,
		FailFast:        s.flagOr(b, "fail_fast", true),
		Decode:          s.flagOr(b, "decode", true),
		RequireSameBoot: s.flagOr(b, "require_same_boot", false),
		AllowHostChange: s.flagOr(b, "allow_host_change", false),
	}
	ok := !b.broken
	if a := b.attr("max_gap_ms"); a != nil {
		gap, read := s.whole(a, 0, math.MaxUint64)
		e.MaxGapMS, ok = &gap, read && ok
	}
	ok = s.useWorkload(e, b) && ok
	ok = s.useHost(e, b) && ok
	e.Reference = s.side(b, "reference")
	e.Candidate = s.side(b, "candidate")
	ok = s.axis(e, b) && ok
	ok = s.restoreAndDistance(e, b) && ok
	s.dependsOn(e, b)
	ok = ok && e.Reference != nil && e.Candidate != nil
	if e.Workload != nil {
		for _, side := range []*Side{e.Reference, e.Candidate} {
			ok = side == nil || l.admit(e.Workload, side.Runner) && ok
		}
	}
	if ok && !in.unknown {
		in.experiment = e
	}
}

// useWorkload finds the workload with the slots of this experiment.
func (s *scope) useWorkload(e *Experiment, b *body) bool {
	e.Arms = defaultArms()
	slots := b.attr("slots")
	ok := true
	if slots != nil {
		arms, _, read := s.texts(slots)
		switch {
		case !read:
			ok = false
		case !orderedArms(arms):
			s.l.diags.errorAt(slots.expr.Range(), "Slots in no admitted order",
				`The slots of an experiment are ["a", "b", "a2"], which is the default, or ["a", "b", "b2", "a2"], in this order: A2 has to follow B to show what moved meanwhile.`)
			ok = false
		default:
			e.Arms = arms
		}
	}
	a := b.attr("workload")
	if a == nil {
		return false
	}
	in := s.resolve(a, "workload")
	if in == nil || in.unknown {
		return false
	}
	if in.of.block.body.attr("document") != nil {
		return s.documentSlots(e, in, slots, a) && ok
	}
	e.Workload = s.l.workload(in, e.Arms)
	return e.Workload != nil && ok
}

// documentSlots takes the slots of a document, under the same rule of order.
func (s *scope) documentSlots(e *Experiment, in *instance, slots, a *attribute) bool {
	if slots != nil {
		s.l.diags.errorAt(slots.where, "Slots given twice", "The document of %s brings its own slots; remove slots here.", in.address)
		return false
	}
	e.Workload = s.l.workload(in, nil)
	if e.Workload == nil {
		return false
	}
	e.Arms = nil
	for _, slot := range e.Workload.Document.Slots {
		e.Arms = append(e.Arms, slot.Arm)
	}
	if !orderedArms(e.Arms) {
		s.l.diags.errorAt(a.expr.Range(), "Slots in no admitted order",
			"The document of %s has its slots in the order %s; a, b, a2 or a, b, b2, a2 is required.", in.address, strings.Join(e.Arms, ", "))
		return false
	}
	return true
}

func (s *scope) useHost(e *Experiment, b *body) bool {
	a := b.attr("host")
	if a == nil {
		return true
	}
	in := s.resolve(a, "host")
	if in == nil {
		return false
	}
	e.Host = in.of.name
	return true
}

// side reads a reference or candidate block; nil when it has a mistake.
func (s *scope) side(b *body, kind string) *Side {
	inner := b.block(kind)
	if inner == nil {
		return nil
	}
	side := &Side{Range: inner.where}
	if a := inner.body.attr("runner"); a != nil {
		if in := s.resolve(a, "runner"); in != nil {
			side.Runner = in.runner
		}
	}
	if a := inner.body.attr("deployment"); a != nil {
		if in := s.resolve(a, "deployment"); in != nil {
			side.Deployment = in.deployment
		}
	}
	if side.Runner == nil || side.Deployment == nil {
		return nil
	}
	return side
}

// axis reads what the sides may differ in. Whether they do is the business of
// compilation; here only the words are checked.
func (s *scope) axis(e *Experiment, b *body) bool {
	a := b.attr("axis")
	if a == nil {
		return true
	}
	names, ranges, ok := s.texts(a)
	if !ok {
		return false
	}
	e.Axis = &Axis{Range: a.expr.Range()}
	seen := map[string]bool{}
	for i, name := range names {
		switch {
		case seen[name]:
			s.l.diags.errorAt(ranges[i], "Axis names something twice", "%q stands twice in axis; remove one.", name)
			ok = false
		case !axisName(name):
			s.l.diags.errorAt(ranges[i], "Unknown axis", "%q is nothing the sides can differ in.%s", name, suggestion(name, axisNames()))
			ok = false
		}
		seen[name] = true
		e.Axis.Entries = append(e.Axis.Entries, AxisEntry{Name: name, Range: ranges[i]})
	}
	return ok
}

// ProgramBytes is the axis entry for other program bytes under one path, which
// preflight finds (PLN-12).
const ProgramBytes = "program_bytes"

// axisNames lists the words of axis; runner.env.NAME stands for all names.
func axisNames() []string {
	names := []string{"model_revision", "runtime", "hardware", "settings", ProgramBytes, "runner.env.NAME", "runner.kind", "runner.pins"}
	for _, row := range runnerSchema().attrs {
		if row.name != "for_each" && row.name != "kind" && row.name != "id" && row.name != "env" && row.name != "document" {
			names = append(names, "runner."+row.name)
		}
	}
	for _, kind := range []string{"cache", "setup", "reset", "pcm", "arrays", "bindings", "phases"} {
		names = append(names, "runner."+kind)
	}
	return names
}

func axisName(name string) bool {
	if env, isEnv := strings.CutPrefix(name, "runner.env"); isEnv && (strings.HasPrefix(env, ".") && len(env) > 1 || strings.HasPrefix(env, "[")) {
		return true
	}
	return slices.Contains(axisNames(), name)
}

func (s *scope) restoreAndDistance(e *Experiment, b *body) bool {
	ok := true
	if inner := b.block("restore"); inner != nil {
		hook, read := s.hook(inner.body)
		e.Restore, ok = &hook, read
	}
	if inner := b.block("distance"); inner != nil {
		e.Distance = s.distance(e, inner)
		ok = e.Distance != nil && ok
	}
	return ok
}

func (s *scope) distance(e *Experiment, b *block) *Distance {
	d := &Distance{SSIM: s.flagOr(b.body, "ssim", false), Range: b.where}
	if a := b.body.attr("expect"); a != nil {
		text, ok := s.text(a)
		if !ok {
			return nil
		}
		if text != "equal" {
			s.l.diags.errorAt(a.expr.Range(), "Unknown expectation", `What a distance can expect is "equal"; leave expect out to expect nothing.`)
			return nil
		}
		d.Expect = text
	}
	a := b.body.attr("cells")
	if a == nil {
		return d
	}
	cells, ranges, ok := s.texts(a)
	if !ok {
		return nil
	}
	d.Cells = cells
	if e.Workload == nil {
		return d
	}
	for i, cell := range cells {
		if !s.cellExists(e.Workload.Document, cell, ranges[i]) {
			return nil
		}
	}
	return d
}

func (s *scope) cellExists(w *document.Workload, cell string, at hcl.Range) bool {
	var ids []string
	for _, c := range w.Cells {
		ids = append(ids, c.ID)
	}
	if slices.Contains(ids, cell) {
		return true
	}
	s.l.diags.errorAt(at, "Unknown cell", "The workload has no cell %q.%s", cell, suggestion(cell, ids))
	return false
}

// dependsOn reads the experiments this one waits for. A for_each experiment
// named as a whole means all its instances.
func (s *scope) dependsOn(e *Experiment, b *body) {
	a := b.attr("depends_on")
	if a == nil {
		return
	}
	value, ok := s.plainValue(a)
	if !ok {
		return
	}
	if value.IsNull() || !isSequence(value.Type()) && !value.Type().IsSetType() {
		s.wrongType(a.expr.Range(), "A list of experiments", value)
		return
	}
	elements := value.AsValueSlice()
	ranges := elementRanges(a.expr, len(elements))
	for i, element := range elements {
		named := s.experiments(element)
		if named == nil {
			s.wrongType(ranges[i], "An experiment, like experiment.NAME,", element)
		}
		for _, other := range named {
			if !slices.Contains(e.DependsOn, other.address) {
				e.DependsOn = append(e.DependsOn, other.address)
			}
		}
	}
}

func (s *scope) experiments(value cty.Value) []*instance {
	if in := s.l.instanceOf(value, "experiment"); in != nil {
		return []*instance{in}
	}
	if value.IsNull() || !value.Type().IsObjectType() {
		return nil
	}
	named := []*instance{}
	for it := value.ElementIterator(); it.Next(); {
		_, element := it.Element()
		in := s.l.instanceOf(element, "experiment")
		if in == nil {
			return nil
		}
		named = append(named, in)
	}
	return named
}

// admit checks a workload with a runner, once per pair (TPL, DOC-34, DOC-39).
func (l *loader) admit(w *WorkloadUse, r *RunnerUse) bool {
	id := [2]any{w, r}
	if verdict, known := l.admitted[id]; known {
		return verdict
	}
	const workload, runner = "workload", "runner"
	problems := document.Admit(workload, runner, w.Document, r.Document)
	for _, p := range problems {
		where, summary := l.built[w], "Workload and runner do not fit"
		other := r.Address
		if p.Document == runner {
			where, other = l.built[r], w.Address
		}
		l.diags.errorAt(where.place(p), summary, "%s Used together with %s.", problemText(p), other)
	}
	l.admitted[id] = len(problems) == 0
	return len(problems) == 0
}
