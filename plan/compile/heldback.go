package compile

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/grill-plan/grill-plan/plan"
	"github.com/grill-plan/grill-plan/plan/document"
)

// HeldBack is one thing of one experiment that the language admits and this
// version does not carry out; `run` refuses it by name and ignores none of it.
type HeldBack struct {
	Address string    // of the experiment
	What    string    // a sentence without full stop, naming the block
	Range   hcl.Range // of the block
}

func heldBack(p *plan.Plan) []HeldBack {
	var held []HeldBack
	for _, e := range p.Experiments {
		if e.Distance != nil {
			held = append(held, HeldBack{e.Address, e.Address + " has a distance block; distances are not computed by this version", e.Distance.Range})
		}
		sides := []*plan.Side{e.Reference}
		if e.Candidate.Runner != e.Reference.Runner {
			sides = append(sides, e.Candidate)
		}
		gates := false
		for _, side := range sides {
			for _, problem := range document.HeldBack(e.Workload.Address, side.Runner.Address, e.Workload.Document, side.Runner.Document) {
				at := side.Runner.Range
				if problem.Document == e.Workload.Address {
					if gates {
						continue // said with the first side
					}
					at = e.Workload.Range
				}
				held = append(held, HeldBack{e.Address, problem.Document + ": " + problem.Path + " " + problem.Message, at})
			}
			gates = true
		}
	}
	return held
}
