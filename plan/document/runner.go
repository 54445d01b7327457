package document

import (
	"math"
	"slices"
	"strings"

	"github.com/grill-plan/grill-plan/internal/strictjson"
)

// unboundedLength stands where only the size of the document bounds a text.
const unboundedLength = math.MaxInt

// TokenEnv is set by grill-plan for every child and cannot be declared (CAP-12).
const TokenEnv = "GRILL_PLAN_TOKEN"

func runnerKinds() []string {
	return []string{CLIRunnerKind, SpeechServerKind, ImageServerKind, VideoServerKind, ComfyUIServerKind}
}

// runnerTable gives the table of one runner kind (DOC-40, SPH-01, SRV-01), in
// the order of the typed serialization.
func runnerTable(kind string) []field[Runner] {
	table := []field[Runner]{
		constant[Runner]("kind", "DOC-11", kind),
		version[Runner](),
		text("id", "DOC-12", nameForm, func(r *Runner) *string { return &r.ID }),
	}
	if kind == CLIRunnerKind {
		return append(table, cliTable()...)
	}
	for _, row := range serverTable(kind) {
		table = append(table, server(row))
	}
	return table
}

func cliTable() []field[Runner] {
	cache := []field[Cache]{
		text("declared_state", "DOC-49", oneOf("DOC-49", "cold", "warm", "unknown"), func(c *Cache) *string { return &c.DeclaredState }),
		list("paths", texts("DOC-49", 0, 64, verbatim("DOC-49", 1, maxPlainBytes)), func(c *Cache) *[]string { return &c.Paths }),
	}
	pin := []field[Pin]{
		text("path", "DOC-50", verbatim("DOC-50", 1, maxPlainBytes), func(p *Pin) *string { return &p.Path }),
		text("sha256", "DOC-50", sha256Form, func(p *Pin) *string { return &p.SHA256 }),
	}
	setup := []field[Setup]{
		list("args", argItems(), func(s *Setup) *[]string { return &s.Args }),
		optionalText("program", "DOC-43", verbatim("DOC-43", 1, unboundedLength), func(s *Setup) **string { return &s.Program }),
		optionalInteger("deadline_ms", bound{"DOC-48", 1, unlimited}, func(s *Setup) **uint64 { return &s.DeadlineMS }),
	}
	executions := []string{"in-process", "delegates-to-resident-service", "unknown"}
	return []field[Runner]{
		text("program", "DOC-43", verbatim("DOC-43", 1, unboundedLength), func(r *Runner) *string { return &r.Program }),
		list("args", argItems(), func(r *Runner) *[]string { return &r.Args }),
		envField(),
		text("execution", "DOC-41", oneOf("DOC-41", executions...), func(r *Runner) *string { return &r.Execution }),
		object("cache", cache, func(r *Runner) *Cache { return &r.Cache }),
		list("pins", objects("DOC-50", 0, math.MaxInt, pin, nil), func(r *Runner) *[]Pin { return &r.Pins }),
		optionalText("cwd", "DOC-46", verbatim("DOC-46", 1, unboundedLength), func(r *Runner) **string { return &r.Cwd }),
		optionalObject("setup", setup, func(r *Runner) **Setup { return &r.Setup }),
		optionalText("markers", "DOC-51", oneOf("DOC-51", "file"), func(r *Runner) **string { return &r.Markers }),
		optionalList("env_secret", secretItems(), func(r *Runner) *[]string { return &r.EnvSecret }),
		optionalList("arrays", arrayItems(), func(r *Runner) *[]Array { return &r.Arrays }),
	}
}

func argItems() items[string] {
	return texts("DOC-42", 0, math.MaxInt, verbatim("DOC-42", 0, unboundedLength))
}

// envField is an object from name to string value, kept sorted by name so that
// the order of writing enters no hash (DOC-13, DOC-42).
func envField() field[Runner] {
	return field[Runner]{
		name: "env",
		read: func(at place, v *strictjson.Value, into *Runner) {
			if !isObject(at, v) {
				return
			}
			into.Env = make([]EnvVar, 0, len(v.Members))
			seen := map[string]bool{}
			for i := range v.Members {
				member := &v.Members[i]
				entry := at.member(member.Name)
				if seen[member.Name] {
					entry.report(member.NameOffset, "DOC-03", "stands more than once in one object")
					continue
				}
				seen[member.Name] = true
				checkEnvName(entry, member.NameOffset, "DOC-42", member.Name)
				if isString(entry, member.Value, "DOC-42") {
					verbatim("DOC-42", 0, unboundedLength)(entry, member.Value)
					into.Env = append(into.Env, EnvVar{Name: member.Name, Value: member.Value.Str})
				}
			}
			slices.SortFunc(into.Env, func(a, b EnvVar) int { return strings.Compare(a.Name, b.Name) })
		},
		write: func(out []byte, from *Runner) ([]byte, bool) {
			out = append(out, '{')
			for i := range from.Env {
				out = strictjson.AppendName(out, from.Env[i].Name)
				out = strictjson.AppendString(out, from.Env[i].Value)
			}
			return append(out, '}'), true
		},
	}
}

func checkEnvName(at place, offset int, rule, name string) {
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00"):
		at.report(offset, rule, "is no name of an environment variable; it has to be non-empty, without = and NUL")
	case name == TokenEnv:
		at.report(offset, "CAP-12", "is set by grill-plan itself and cannot be declared")
	}
}

func envNameForm(rule string) check {
	return func(at place, v *strictjson.Value) { checkEnvName(at, v.Offset, rule, v.Str) }
}

func secretItems() items[string] {
	of := texts("PLN-07", 1, math.MaxInt, envNameForm("PLN-07"))
	of.after = func(at place, v *strictjson.Value, names []string) {
		unique(at, v, "PLN-07", "a name", func(i int) string { return names[i] })
	}
	return of
}

// arrayItems is MED-22 with the element types of MED-13. Names are compared
// without case, since they become file names.
func arrayItems() items[Array] {
	table := []field[Array]{
		text("name", "DOC-12", nameForm, func(a *Array) *string { return &a.Name }),
		text("dtype", "MED-13", oneOf("MED-13", "uint8", "uint16", "float16", "float32"), func(a *Array) *string { return &a.DType }),
		list("shape", integers("MED-22", 1, 8, bound{"MED-22", 1, math.MaxUint32}), func(a *Array) *[]uint64 { return &a.Shape }),
	}
	return objects("MED-22", 1, 16, table, func(at place, v *strictjson.Value, arrays []Array) {
		unique(at, v, "MED-22", "the name of an array", func(i int) string { return strings.ToLower(arrays[i].Name) })
	})
}

// checkSecrets reports names that are both given and kept secret (PLN-07).
func checkSecrets(root place, tree *strictjson.Value, r *Runner) {
	secrets := tree.Lookup("env_secret")
	if secrets == nil || len(secrets.Items) != len(r.EnvSecret) {
		return
	}
	for i, name := range r.EnvSecret {
		if slices.ContainsFunc(r.Env, func(e EnvVar) bool { return e.Name == name }) {
			root.member("env_secret").item(i).report(secrets.Items[i].Offset, "PLN-07", "stands in env as well; a name is given in one of them")
		}
	}
}

// readRunner reads the kind first, since the table depends on it.
func readRunner(root place, tree *strictjson.Value, r *Runner) {
	kind := tree.Lookup("kind")
	if kind == nil || kind.Kind != strictjson.String || !slices.Contains(runnerKinds(), kind.Str) {
		reportRunnerKind(root, tree, kind)
		return
	}
	r.Kind = kind.Str
	if r.Kind != CLIRunnerKind {
		r.Server = new(Server)
	}
	readObject(root, tree, runnerTable(r.Kind), r)
	switch r.Kind {
	case CLIRunnerKind:
		checkSecrets(root, tree, r)
	case SpeechServerKind:
		checkSpeech(root, tree, r.Server)
	}
}

// reportRunnerKind names the admitted kinds. The other fields of an unknown kind
// cannot be judged, but those of a program are, when it looks like one.
func reportRunnerKind(root place, tree, kind *strictjson.Value) {
	at := root.member("kind")
	switch {
	case kind == nil:
		at.report(tree.Offset, "DOC-11", "is required and missing; admitted: %s", quoteList(runnerKinds()))
	case isString(at, kind, "DOC-11"):
		oneOf("DOC-11", runnerKinds()...)(at, kind)
	}
	if tree.Lookup("program") == nil {
		return
	}
	var ignored Runner
	rest := runnerTable(CLIRunnerKind)
	rest[0] = field[Runner]{name: "kind", optional: true, read: func(place, *strictjson.Value, *Runner) {}}
	readObject(root, tree, rest, &ignored)
}
