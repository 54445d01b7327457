package steps

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/grill-plan/grill-plan/executor"
	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/plan/graph"
	"github.com/grill-plan/grill-plan/steps/evidence"
)

// compareRunDir says of every node what a run in an existing directory would do
// and why (PLN-15). Without a directory nothing is added.
func compareRunDir(ctx context.Context, input DryRunInput, dry *DryRun) error {
	dir := input.RunDir
	if dir == "" {
		dir = input.Loaded.DefaultRunDir()
	}
	run, err := checkpoint.Open(dir)
	if errors.Is(err, checkpoint.ErrNoRun) {
		return nil
	}
	if err != nil {
		return err
	}
	if run.Manifest.Plan != input.Loaded.Plan.Name {
		return otherPlan(run, input.Loaded.Plan)
	}
	decisions, err := executor.Decide(ctx, executor.Options{Run: run, Graph: input.Loaded.Compiled.Graph, Runner: input.Loaded.runner()})
	if err != nil {
		return err
	}
	dry.RunDir = &RunDirComparison{Path: dir}
	for i, decision := range decisions.Nodes {
		refined := refine(run, input.Loaded, decision)
		node := &dry.Nodes[i]
		node.Decision = string(decision.Action)
		for _, reason := range refined.Reasons {
			node.Reasons = append(node.Reasons, reason.String())
		}
		switch decision.Action {
		case executor.Reuse:
			dry.RunDir.Reuse++
		case executor.Start:
			dry.RunDir.Run++
		case executor.Redo:
			dry.RunDir.Redo++
		}
		if decision.Discards {
			dry.RunDir.Discards = append(dry.RunDir.Discards, decision.Address)
		}
	}
	return nil
}

// refineDiscard names attributes instead of document hashes in an error that
// lists what would be discarded.
func refineDiscard(run *checkpoint.Run, loaded *Loaded, err error) error {
	var discard *executor.DiscardError
	if !errors.As(err, &discard) {
		return err
	}
	refined := &executor.DiscardError{Nodes: slices.Clone(discard.Nodes)}
	for i := range refined.Nodes {
		refined.Nodes[i] = refine(run, loaded, refined.Nodes[i])
	}
	return refined
}

const documentsPath = "documents."

// refine replaces "documents.runner changed" by the attributes that differ, such
// as runner.args[3]. The executor sees only hashes of documents.
func refine(run *checkpoint.Run, loaded *Loaded, decision executor.Decision) executor.Decision {
	var reasons []executor.Reason
	for _, reason := range decision.Reasons {
		reason = nameProgram(run, loaded, decision.Address, reason)
		kind, isDocument := strings.CutPrefix(reason.Path, documentsPath)
		if reason.Code != executor.AttributeChanged || !isDocument {
			reasons = append(reasons, reason)
			continue
		}
		address := decision.Address
		if reason.Node != "" {
			address = reason.Node
		}
		paths := changedAttributes(run, loaded, address, decision.Attempt, kind)
		if len(paths) == 0 {
			reasons = append(reasons, reason)
		}
		for _, path := range paths {
			changed := reason
			changed.Path = kind + "." + path
			reasons = append(reasons, changed)
		}
	}
	decision.Reasons = reasons
	return decision
}

// changedAttributes compares the document an attempt was made from with today's.
// It gives nothing where the older one cannot be read.
func changedAttributes(run *checkpoint.Run, loaded *Loaded, address string, attempt int, kind string) []string {
	record, err := run.Record(address, attempt)
	node, known := loaded.Compiled.Graph.Lookup(address)
	if err != nil || !known {
		return nil
	}
	before, err := run.Document(documentOf(record.Input.Spec, kind))
	if err != nil {
		return nil
	}
	return document.Diff(before, loaded.Compiled.Documents[documentOf(node.Spec, kind)])
}

// documentOf reads the hash of one document out of a spec.
func documentOf(spec json.RawMessage, kind string) string {
	var documents struct {
		Documents map[string]string `json:"documents"`
	}
	if json.Unmarshal(spec, &documents) != nil {
		return ""
	}
	return documents.Documents[kind]
}

// observationPath is what the executor calls a change of what a preflight saw
// while its spec stayed: the bytes of a program.
const observationPath = "observation"

// nameProgram says which program's bytes changed, also where a node only follows
// the preflight that saw it (PLN-15, PLN-40).
func nameProgram(run *checkpoint.Run, loaded *Loaded, address string, reason executor.Reason) executor.Reason {
	observed := reason.Code == executor.AttributeChanged && reason.Path == observationPath
	if reason.Code == executor.UpstreamChanged {
		address, observed = reason.Node, true
	}
	node, known := loaded.Compiled.Graph.Lookup(address)
	if !observed || !known || node.Kind != graph.Preflight {
		return reason
	}
	before, err := storedPrograms(run, address)
	if err != nil {
		return reason
	}
	seen, err := loaded.runner().Observe(context.Background(), node)
	var now observedPrograms
	if err != nil || json.Unmarshal(seen.Files[programsFile], &now) != nil {
		return reason
	}
	switch {
	case before.Program.ResolvedSHA256 != now.Program.ResolvedSHA256:
		reason.Path, reason.Old, reason.New = "the program "+now.Program.DeclaredPath, before.Program.ResolvedSHA256, now.Program.ResolvedSHA256
	case before.Setup != nil && now.Setup != nil && before.Setup.ResolvedSHA256 != now.Setup.ResolvedSHA256:
		reason.Path, reason.Old, reason.New = "the setup program "+now.Setup.DeclaredPath, before.Setup.ResolvedSHA256, now.Setup.ResolvedSHA256
	default:
		return reason
	}
	reason.Code, reason.Node = executor.AttributeChanged, ""
	return reason
}

// storedPrograms are the identities that the counting attempt of a preflight saw.
func storedPrograms(run *checkpoint.Run, address string) (observedPrograms, error) {
	var before observedPrograms
	node, err := run.ReadNode(address)
	if err != nil {
		return before, err
	}
	data, err := evidence.ReadBytes(filepath.Join(run.AttemptDir(address, node.Attempt), programsFile), 1<<20)
	if err != nil {
		return before, err
	}
	return before, json.Unmarshal(data, &before)
}
