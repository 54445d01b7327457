package plan

import (
	"github.com/grill-plan/grill-plan/internal/strictjson"
	"github.com/grill-plan/grill-plan/plan/document"
)

// makeRunner makes the document of one runner instance.
func (l *loader) makeRunner(in *instance) {
	s := in.scope(&scope{l: l, ctx: l.base, roots: []string{"var", "local"}})
	if a := in.of.block.body.attr("document"); a != nil {
		l.runnerFile(in, s, a)
		return
	}
	t := &treeBuilder{s: s}
	tree, secrets := t.runnerTree(in)
	made := t.finish(tree)
	doc, problems := document.DecodeRunner(in.address, tree)
	l.reportProblems(problems, made, "Invalid runner")
	if doc == nil || len(made.failed) > 0 {
		return
	}
	use := &RunnerUse{Address: in.address, Range: in.of.block.where, Document: doc, Bytes: doc.Typed(), Secrets: secrets}
	use.SHA256 = document.RawHash(use.Bytes)
	in.runner = use
	l.built[use] = made
}

// runnerFile admits a runner document. One that lists env_secret is for a
// standalone capture: nothing in a plan could give the values.
func (l *loader) runnerFile(in *instance, s *scope, a *attribute) {
	file := s.documentFile(in, a, "runner")
	if file == nil {
		return
	}
	if len(file.runner.EnvSecret) > 0 {
		l.diags.errorAt(a.expr.Range(), "Document with sensitive values",
			"The document lists env_secret, and a plan gives sensitive values in the env of an inline runner only; write the runner inline.")
		return
	}
	in.runner = &RunnerUse{Address: in.address, Range: in.of.block.where, Document: file.runner, Bytes: file.data, SHA256: document.RawHash(file.data)}
	l.built[in.runner] = file.located()
}

func (t *treeBuilder) runnerTree(in *instance) (*strictjson.Value, []SecretEnv) {
	b := in.of.block.body
	root := t.object(b, "", "for_each", "id", "env")
	kind := b.attr("kind")
	if kind == nil {
		t.text(root, "kind", document.CLIRunnerKind, b.where)
	}
	program := kind == nil || root.Lookup("kind") != nil && root.Lookup("kind").Str == document.CLIRunnerKind
	t.add(root, "version", b.where, strictjson.NewNumber(t.offset(b.where), "1"))
	t.name(root, in, "id")
	secrets := t.runnerEnv(root, b, program)
	t.runnerBlocks(root, b, program)
	return root, secrets
}

// runnerEnv adds env and, for sensitive entries, env_secret with their names
// (PLN-07). A program without env has an empty one.
func (t *treeBuilder) runnerEnv(root *strictjson.Value, b *body, program bool) []SecretEnv {
	a := b.attr("env")
	if a == nil {
		if program {
			t.add(root, "env", b.where, strictjson.NewObject(t.offset(b.where)))
		}
		return nil
	}
	entries, ok := t.s.env(a)
	if !ok {
		t.fail("env")
		t.fail("env_secret")
		return nil
	}
	env := strictjson.NewObject(t.offset(a.expr.Range()))
	names := strictjson.NewArray(t.offset(a.expr.Range()))
	var secrets []SecretEnv
	for _, entry := range entries {
		if !entry.secret {
			t.add(env, entry.name, entry.nameAt, strictjson.NewString(t.offset(entry.at), entry.value))
			continue
		}
		if !t.s.noNUL(entry.value, entry.at) {
			t.fail("env")
		}
		names.Items = append(names.Items, strictjson.NewString(t.offset(entry.nameAt), entry.name))
		secrets = append(secrets, SecretEnv{Name: entry.name, Value: NewSecret(entry.value)})
	}
	t.add(root, "env", a.where, env)
	if len(secrets) > 0 {
		t.add(root, "env_secret", a.where, names)
	}
	return secrets
}

// runnerBlocks adds what stands in nested blocks. A program without cache block
// declares nothing about caches, and has no pins unless it says some.
func (t *treeBuilder) runnerBlocks(root *strictjson.Value, b *body, program bool) {
	if cache := b.block("cache"); cache != nil {
		t.add(root, "cache", cache.where, t.object(cache.body, "cache"))
		if object := root.Lookup("cache"); object.Lookup("paths") == nil && cache.body.attr("paths") == nil {
			t.add(object, "paths", cache.where, strictjson.NewArray(t.offset(cache.where)))
		}
	} else if program {
		cache := strictjson.NewObject(t.offset(b.where))
		t.text(cache, "declared_state", "unknown", b.where)
		t.add(cache, "paths", b.where, strictjson.NewArray(t.offset(b.where)))
		t.add(root, "cache", b.where, cache)
	}
	for _, kind := range []string{"setup", "reset", "pcm"} {
		if inner := b.block(kind); inner != nil {
			t.add(root, kind, inner.where, t.object(inner.body, kind))
		}
	}
	if program || b.block("pin") != nil {
		t.blockList(root, b, "pin", "pins")
	}
	for _, kind := range []string{"array", "binding", "phase"} {
		if b.block(kind) != nil {
			t.blockList(root, b, kind, kind+"s")
		}
	}
}

// makeDeployment makes the document of one deployment instance and its switch,
// which is no part of the document.
func (l *loader) makeDeployment(in *instance) {
	s := in.scope(&scope{l: l, ctx: l.base, roots: []string{"var", "local"}})
	use := &DeploymentUse{Address: in.address, Range: in.of.block.where}
	ok := true
	if a := in.of.block.body.attr("document"); a != nil {
		file := s.documentFile(in, a, "deployment")
		if ok = file != nil; ok {
			use.Document, use.Bytes = file.deployment, file.data
		}
	} else {
		ok = s.inlineDeployment(use, in)
	}
	if inner := in.of.block.body.block("switch"); inner != nil {
		made, read := s.switchBlock(inner.body)
		use.Switch, ok = made, read && ok
	}
	if ok {
		use.SHA256 = document.RawHash(use.Bytes)
		in.deployment = use
	}
}

func (s *scope) inlineDeployment(use *DeploymentUse, in *instance) bool {
	t := &treeBuilder{s: s}
	tree := t.object(in.of.block.body, "", "for_each")
	made := t.finish(tree)
	doc, problems := document.DecodeDeployment(in.address, tree)
	s.l.reportProblems(problems, made, "Invalid deployment")
	if doc == nil || len(made.failed) > 0 {
		return false
	}
	use.Document, use.Bytes = doc, doc.Typed()
	return true
}
