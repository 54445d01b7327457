package plan

import (
	"github.com/grill-plan/grill-plan/internal/strictjson"
	"github.com/grill-plan/grill-plan/plan/document"
)

// makeRunner builds the document of one runner instance.
func (l *loader) makeRunner(in *instance) {
	s := in.scope(&scope{l: l, ctx: l.base, roots: []string{"var", "local"}})
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

func (t *treeBuilder) runnerTree(in *instance) (*strictjson.Value, []SecretEnv) {
	b := in.of.block.body
	root := t.object(b, "")
	kind := b.attr("kind")
	if kind != nil {
		t.attribute(root, kind, "")
	} else {
		t.text(root, "kind", document.CLIRunnerKind, b.where)
	}
	program := kind == nil || root.Lookup("kind") != nil && root.Lookup("kind").Str == document.CLIRunnerKind
	t.add(root, "version", b.where, strictjson.NewNumber(t.offset(b.where), "1"))
	t.name(root, in, "id")
	for _, row := range runnerSchema().attrs {
		switch row.name {
		case "for_each", "kind", "id", "env":
		default:
			if a := b.attr(row.name); a != nil {
				t.attribute(root, a, "")
			}
		}
	}
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
		t.add(root, "cache", cache.where, t.object(cache.body, "cache", "declared_state", "paths"))
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
			t.add(root, kind, inner.where, t.object(inner.body, kind, runnerSchema().block(kind).body.attrNames()...))
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

// makeDeployment builds the document of one deployment instance and its switch,
// which is no part of the document.
func (l *loader) makeDeployment(in *instance) {
	s := in.scope(&scope{l: l, ctx: l.base, roots: []string{"var", "local"}})
	b := in.of.block.body
	t := &treeBuilder{s: s}
	tree := t.object(b, "", "model_revision", "runtime", "hardware", "settings")
	made := t.finish(tree)
	doc, problems := document.DecodeDeployment(in.address, tree)
	l.reportProblems(problems, made, "Invalid deployment")
	ok := doc != nil && len(made.failed) == 0
	var change *Switch
	if inner := b.block("switch"); inner != nil {
		made, read := s.switchBlock(inner.body)
		change, ok = made, read && ok
	}
	if !ok {
		return
	}
	use := &DeploymentUse{Address: in.address, Range: in.of.block.where, Document: doc, Bytes: doc.Typed(), Switch: change}
	use.SHA256 = document.RawHash(use.Bytes)
	in.deployment = use
}
