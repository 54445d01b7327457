package plan

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// loader is the state of one Load.
type loader struct {
	diags   *diagnostics
	plan    *Plan
	display string // the plan folder as the caller wrote it

	functions map[string]function.Function
	budget    *budget
	static    map[hclsyntax.Expression]*staticFacts

	variables map[string]*variable
	locals    map[string]*local

	// definitions by kind: the blocks that references can name.
	definitions map[string]*definitions
	types       map[string]cty.Type // capsule type of each of these kinds

	base    *hcl.EvalContext // var, local and functions
	secrets map[string][]string

	texts     map[string]string // what file() read, by path as written
	documents map[string]*documentFile
	built     map[any]*built    // by *WorkloadUse and *RunnerUse
	admitted  map[[2]any]bool   // by workload and runner use
	digests   map[string]string // what filesha256() computed, likewise
}

// definitions are the blocks of one kind in order of declaration.
type definitions struct {
	list   []*definition
	byName map[string]*definition
}

// definition is one outer block that can be referred to.
type definition struct {
	kind      string
	name      string
	block     *block
	each      bool // has for_each
	invalid   bool // what its instances are is not known; said already
	instances []*instance
	byKey     map[string]*instance
}

// instance is a definition, or one key of it.
type instance struct {
	of      *definition
	key     string
	value   cty.Value // each.value
	address string
	unknown bool // stands for instances that are not known

	// What the block became; nil when it could not be built, which has been
	// said.
	workloads  map[string]*WorkloadUse // by arms
	runner     *RunnerUse
	deployment *DeploymentUse
	experiment *Experiment
}
