package compile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/grill-plan/grill-plan/plan"
	"github.com/grill-plan/grill-plan/plan/graph"
	"github.com/grill-plan/grill-plan/plan/spec"
)

// ReportAddress is the address of the node that writes the report.
const ReportAddress = "report"

// Options are what a graph depends on beside the plan.
type Options struct {
	// Collector is the SHA-256 of the running grill-plan, lowercase
	// hexadecimal; it is part of each capture's spec (PLN-41).
	Collector string
}

// Compiled is a plan made into a graph.
type Compiled struct {
	Graph *graph.Graph
	// Documents holds every document a node uses by the SHA-256 of its bytes.
	Documents map[string][]byte
	// Gates tells, by experiment address, where each gate was declared, in the
	// order of the workload's gates (PLN-35).
	Gates map[string][]GateSource
	// Differences lists, by experiment address, what the sides differ in, in
	// the words of axis (PLN-12).
	Differences map[string][]string
	// Secrets holds the sensitive env values of nodes.
	Secrets *Secrets
	// HeldBack lists what the language admits and nothing carries out yet, in
	// order of the experiments.
	HeldBack []HeldBack
}

// GateSource is the place of a gate; File is inside the plan folder.
type GateSource struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Snippet string `json:"snippet"`
}

// compiler is the state of one Compile.
type compiler struct {
	options   Options
	nodes     []graph.Node
	documents map[string][]byte
	secrets   *Secrets
	diags     hcl.Diagnostics
	err       error // a defect of this program, not of the plan
}

// Compile makes p, which loaded without errors, into a graph. With errors the
// result is nil. It has no side effect, and equal plans give equal bytes.
func Compile(p *plan.Plan, options Options) (*Compiled, hcl.Diagnostics) {
	c := &compiler{options: options, documents: map[string][]byte{}, secrets: newSecrets()}
	differences := map[string][]string{}
	for _, e := range p.Experiments {
		differences[e.Address] = c.checkAxis(e)
	}
	if c.diags.HasErrors() {
		return nil, c.diags
	}
	c.layOut(p)
	built, err := c.build()
	if err != nil {
		return nil, append(c.diags, &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Plan does not compile", Detail: upperFirst(err.Error()) + ".",
		})
	}
	made := &Compiled{
		Graph: built, Documents: c.documents, Differences: differences, Secrets: c.secrets,
		Gates: gateSources(p), HeldBack: heldBack(p),
	}
	return made, c.diags
}

// layOut declares the nodes: all preflights, the experiments in their order,
// the report.
func (c *compiler) layOut(p *plan.Plan) {
	byAddress := make(map[string]*plan.Experiment, len(p.Experiments))
	for _, e := range p.Experiments {
		byAddress[e.Address] = e
		x := &experiment{c: c, e: e}
		x.preflights()
	}
	for _, e := range p.Experiments {
		x := &experiment{c: c, e: e}
		for _, address := range e.DependsOn {
			other := &experiment{c: c, e: byAddress[address]}
			if other.e == nil {
				c.fail(fmt.Errorf("%s depends on %s, which the plan does not have", e.Address, address))
				continue
			}
			x.waitFor = append(x.waitFor, other.address(graph.Compare, ""))
			if other.e.Restore != nil {
				x.after = append(x.after, other.address(graph.Restore, ""))
			}
		}
		x.measure()
	}
	c.report(p)
}

// report comes after every experiment, however that ended (PLN-17): all its
// nodes lead to its compare, and the restore comes after that.
func (c *compiler) report(p *plan.Plan) {
	content := spec.Report{Plan: p.Name, Experiments: []string{}}
	for _, e := range p.Experiments {
		content.Experiments = append(content.Experiments, e.Address)
	}
	var after []string
	for i := range c.nodes {
		if kind := c.nodes[i].Kind; kind == graph.Compare || kind == graph.Restore {
			after = append(after, c.nodes[i].Address)
		}
	}
	c.add(graph.Node{Address: ReportAddress, Kind: graph.Report, Effect: graph.Pure, Claim: graph.NoClaim, After: after}, content)
}

func (c *compiler) build() (*graph.Graph, error) {
	if c.err != nil {
		return nil, c.err
	}
	var builder graph.Builder
	for _, node := range c.nodes {
		builder.Add(node)
	}
	return builder.Build()
}

func (c *compiler) fail(err error) { c.err = errors.Join(c.err, err) }

// document keeps a document and gives its SHA-256.
func (c *compiler) document(sha string, data []byte) string {
	c.documents[sha] = data
	return sha
}

func encodeSpec(content any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(content); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

func gateSources(p *plan.Plan) map[string][]GateSource {
	sources := make(map[string][]GateSource, len(p.Experiments))
	for _, e := range p.Experiments {
		for _, gate := range e.Workload.Gates {
			sources[e.Address] = append(sources[e.Address], GateSource{
				File: gate.File, Line: gate.Range.Start.Line, Column: gate.Range.Start.Column, Snippet: gate.Snippet,
			})
		}
	}
	return sources
}

func upperFirst(text string) string {
	if text == "" {
		return text
	}
	return string(bytes.ToUpper([]byte(text[:1]))) + text[1:]
}
