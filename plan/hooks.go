package plan

import (
	"math"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// maxDeadlineMS is what a duration in nanoseconds holds, some 292 years.
const maxDeadlineMS = math.MaxInt64 / 1_000_000

// tokenEnv is set by grill-plan for every child (CAP-12).
const tokenEnv = "GRILL_PLAN_TOKEN"

// hook reads the program of a switch, ready, verify or restore block.
func (s *scope) hook(b *body) (Hook, bool) {
	h := Hook{Args: []string{}, Range: b.where}
	ok := !b.broken
	if a := b.attr("program"); a == nil {
		ok = false // said by the structure, or by ready
	} else {
		program, read := s.text(a)
		h.Program, ok = program, read && s.programText(program, a.expr.Range()) && ok
	}
	if a := b.attr("args"); a != nil {
		args, ranges, read := s.texts(a)
		for i, arg := range args {
			read = s.noNUL(arg, ranges[i]) && read
		}
		h.Args, ok = args, read && ok
	}
	if a := b.attr("cwd"); a != nil {
		cwd, read := s.text(a)
		h.Cwd, ok = &cwd, read && s.programText(cwd, a.expr.Range()) && ok
	}
	if a := b.attr("env"); a != nil {
		env, read := s.hookEnv(a)
		h.Env, ok = env, read && ok
	}
	deadline, read := s.deadline(b)
	h.DeadlineMS = deadline
	return h, read && ok
}

func (s *scope) deadline(b *body) (uint64, bool) {
	a := b.attr("deadline_ms")
	if a == nil {
		return 0, false
	}
	return s.whole(a, 1, maxDeadlineMS)
}

func (s *scope) noNUL(text string, at hcl.Range) bool {
	if strings.ContainsRune(text, 0) {
		s.l.diags.errorAt(at, "NUL byte", "No program can be given a NUL byte; remove it.")
		return false
	}
	return true
}

func (s *scope) programText(text string, at hcl.Range) bool {
	if text == "" {
		s.l.diags.errorAt(at, "Empty path", "A path is required here and this text is empty.")
		return false
	}
	return s.noNUL(text, at)
}

func (s *scope) hookEnv(a *attribute) ([]HookEnv, bool) {
	entries, ok := s.env(a)
	env := make([]HookEnv, 0, len(entries))
	for _, entry := range entries {
		ok = s.noNUL(entry.value, entry.at) && s.envName(entry) && ok
		added := HookEnv{Name: entry.name, Value: entry.value}
		if entry.secret {
			secret := NewSecret(entry.value)
			added.Value, added.Secret = "", &secret
		}
		env = append(env, added)
	}
	return env, ok
}

func (s *scope) envName(entry envEntry) bool {
	switch {
	case entry.name == "" || strings.ContainsAny(entry.name, "=\x00"):
		s.l.diags.errorAt(entry.nameAt, "Invalid name of an environment variable", "The name is not empty and holds no = and no NUL.")
		return false
	case entry.name == tokenEnv:
		s.l.diags.errorAt(entry.nameAt, "Invalid name of an environment variable", "%s is set by grill-plan itself.", tokenEnv)
		return false
	}
	return true
}

// switchBlock reads a switch with its ready and verify (PLN-30 to PLN-33).
func (s *scope) switchBlock(b *body) (*Switch, bool) {
	hook, ok := s.hook(b)
	made := &Switch{Hook: hook, OnChangeOnly: s.flagOr(b, "on_change_only", false)}
	if inner := b.block("ready"); inner != nil {
		ready, read := s.ready(inner.body)
		made.Ready, ok = ready, read && ok
	}
	if inner := b.block("verify"); inner != nil {
		verify, read := s.verify(inner.body)
		made.Verify, ok = verify, read && ok
	}
	return made, ok
}

// ready polls either an address or a program. A try of the program may take the
// whole deadline, since a good check generates something.
func (s *scope) ready(b *body) (*Ready, bool) {
	http, program := b.attr("http"), b.attr("program")
	if (http == nil) == (program == nil) {
		if !b.broken {
			s.l.diags.errorAt(b.where, "Ready needs one check", "A ready block has either http or program, exactly one of the two.")
		}
		return nil, false
	}
	if http == nil {
		hook, ok := s.hook(b)
		return &Ready{Hook: &hook, DeadlineMS: hook.DeadlineMS}, ok
	}
	ok := true
	for _, name := range []string{"args", "env", "cwd"} {
		if a := b.attr(name); a != nil {
			s.l.diags.errorAt(a.where, "Attribute without a program", "%s belongs to a program, and this ready block asks an address; remove it.", name)
			ok = false
		}
	}
	address, read := s.httpURL(http)
	deadline, readDeadline := s.deadline(b)
	return &Ready{HTTP: address, DeadlineMS: deadline}, ok && read && readDeadline
}

func (s *scope) verify(b *body) (*Verify, bool) {
	hook, ok := s.hook(b)
	a := b.attr("expect_stdout")
	if a == nil {
		return nil, false
	}
	expected, read := s.text(a)
	return &Verify{Hook: hook, ExpectStdout: expected}, ok && read
}
