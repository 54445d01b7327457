package plan

import (
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/grill-plan/grill-plan/plan/document"
)

// languageVersion is the version of the language that a plan names.
const languageVersion = 1

// Options are the inputs of a load beside the files.
type Options struct {
	Vars     []string // of --var: name=value
	VarFiles []string // of --var-file: paths, relative to the working directory
	Environ  []string // as of os.Environ; only GRILL_VAR_name is looked at
}

// Load reads the plan at path, a .hcl file or a folder of such files, and gives
// all its errors in one go, sorted by position (PLN-02). The plan is never nil;
// with errors only Folder, Files and Sources are to be used. No diagnostic
// carries an expression or context, so that no writer can print a value.
func Load(path string, options Options) (*Plan, hcl.Diagnostics) {
	l := newLoader()
	files, folder, display, err := readPlanFiles(path)
	if err != nil {
		l.diags.errorNowhere("Plan not readable", "%s", sentence(upperFirst(err.Error())))
		return l.plan, l.diags.list
	}
	l.plan.Folder, l.display = folder, display
	l.load(files, options)
	secrets := l.secretTexts()
	return l.plan, l.diags.sorted(secrets)
}

func newLoader() *loader {
	l := &loader{
		diags:       newDiagnostics(),
		plan:        &Plan{Files: map[string][]byte{}, Sources: map[string][]byte{}},
		static:      map[hclsyntax.Expression]*staticFacts{},
		variables:   map[string]*variable{},
		locals:      map[string]*local{},
		definitions: map[string]*definitions{},
		types:       map[string]cty.Type{},
		secrets:     map[string][]string{},
		texts:       map[string]string{},
		digests:     map[string]string{},
		documents:   map[string]*documentFile{},
		built:       map[any]*built{},
		admitted:    map[[2]any]bool{},
	}
	for _, kind := range blockRoots() {
		l.types[kind] = cty.Capsule(kind, reflect.TypeFor[instance]())
	}
	l.budget = &budget{left: maxWorkUnits}
	l.functions = l.budget.bounded(l.planFunctions())
	return l
}

// load does the work in the order in which values depend on each other.
func (l *loader) load(files []sourceFile, options Options) {
	root := l.parse(files)
	checkStructure(root, planSchema(), "A plan", l.diags)
	l.readHeader(root)

	variables := l.declareVariables(root.blocksOf("variable"))
	locals := l.declareLocals(root.blocksOf("locals"))
	l.setVariables(variables, l.collectGiven(options))
	l.validate(variables)
	values := l.variableValues()
	l.setLocals(locals, values)
	l.storeVariables()

	l.base = &hcl.EvalContext{Variables: map[string]cty.Value{"var": values, "local": l.localValues()}, Functions: l.functions}
	for _, kind := range blockRoots() {
		l.declare(kind, root.blocksOf(kind))
	}
	l.eachInstance("runner", l.makeRunner)
	l.eachInstance("deployment", l.makeDeployment)
	l.makeExperiments()
	l.eachInstance("workload", func(in *instance) {
		if len(in.workloads) == 0 { // no experiment uses it; its mistakes are mistakes all the same
			l.workload(in, defaultArms())
		}
	})
}

// parse reads all files into one body, file by file in order of their names.
func (l *loader) parse(files []sourceFile) *body {
	root := &body{}
	for i, file := range files {
		l.plan.Files[file.name] = file.data
		l.plan.Sources[file.display] = file.data
		b := parseFile(file, l.diags)
		if i == 0 {
			root.where = b.where
		}
		root.attrs = append(root.attrs, b.attrs...)
		root.blocks = append(root.blocks, b.blocks...)
		root.broken = root.broken || b.broken
	}
	return root
}

// readHeader reads the plan block.
func (l *loader) readHeader(root *body) {
	header := root.block("plan")
	if header == nil {
		return
	}
	s := &scope{l: l, ctx: &hcl.EvalContext{Functions: l.functions}}
	if a := header.body.attr("version"); a != nil {
		if version, ok := s.whole(a, 0, 1<<32); ok && version != languageVersion {
			l.diags.errorAt(a.expr.Range(), "Unknown version of the language", "This grill-plan reads version %d of the plan language.", languageVersion)
		}
	}
	if a := header.body.attr("name"); a != nil {
		name, ok := s.text(a)
		if ok && (!document.ValidName(name) || strings.HasPrefix(name, ".")) {
			l.diags.errorAt(a.expr.Range(), "Invalid name", "The name of a plan is 1 to 64 of A-Z a-z 0-9 . _ - and starts with no dot, since its run directory is named by it.")
		}
		l.plan.Name = name
	}
}

// makeExperiments builds the experiments, whose expressions may name blocks.
func (l *loader) makeExperiments() {
	reference := &scope{l: l, ctx: l.base.NewChild(), roots: append([]string{"var", "local"}, blockRoots()...)}
	reference.ctx.Variables = l.referenceValues()
	l.eachInstance("experiment", func(in *instance) { l.makeExperiment(in, reference) })
	for _, d := range l.definitions["experiment"].list {
		for _, in := range d.instances {
			if in.experiment != nil {
				l.plan.Experiments = append(l.plan.Experiments, in.experiment)
			}
		}
	}
	for _, d := range l.definitions["host"].list {
		l.plan.Hosts = append(l.plan.Hosts, d.name)
	}
	slices.Sort(l.plan.Hosts)
	l.checkDependencies()
}

// checkDependencies reports experiments that wait for themselves, as a path
// (PLN-10).
func (l *loader) checkDependencies() {
	byAddress := map[string]*Experiment{}
	for _, e := range l.plan.Experiments {
		byAddress[e.Address] = e
	}
	state := map[string]localState{}
	var path []string
	var visit func(e *Experiment)
	visit = func(e *Experiment) {
		state[e.Address] = visiting
		path = append(path, e.Address)
		for _, address := range e.DependsOn {
			next := byAddress[address]
			switch {
			case next == nil || state[address] == done:
			case state[address] == visiting:
				start := slices.Index(path, address)
				steps := append(slices.Clone(path[start:]), address)
				l.diags.errorAt(next.Range, "Cycle of experiments", "These experiments wait for each other: %s. Take one depends_on away.", strings.Join(steps, " -> "))
			default:
				visit(next)
			}
		}
		path = path[:len(path)-1]
		state[e.Address] = done
	}
	for _, e := range l.plan.Experiments {
		if state[e.Address] == unvisited {
			visit(e)
		}
	}
}

func upperFirst(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
