package main

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// readWithLibrary is the peer: the HCL library alone reads the same files and
// evaluates every attribute that refers to nothing, as any program over HCL has to.
// It gives the number of values, so that the work cannot be left out.
func readWithLibrary(name string, source []byte) (int, error) {
	file, diags := hclsyntax.ParseConfig(source, name, hcl.InitialPos)
	if diags.HasErrors() {
		return 0, fmt.Errorf("parse %s: %w", name, diags)
	}
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return 0, fmt.Errorf("parse %s: unexpected body %T", name, file.Body)
	}
	return evaluate(body)
}

func evaluate(body *hclsyntax.Body) (int, error) {
	values := 0
	for _, attribute := range body.Attributes {
		if len(attribute.Expr.Variables()) > 0 || calls(attribute.Expr) {
			continue
		}
		value, diags := attribute.Expr.Value(nil)
		if diags.HasErrors() || value == cty.NilVal {
			return 0, fmt.Errorf("evaluate %s: %w", attribute.Name, diags)
		}
		values++
	}
	for _, block := range body.Blocks {
		inner, err := evaluate(block.Body)
		if err != nil {
			return 0, err
		}
		values += inner
	}
	return values, nil
}

func calls(expr hclsyntax.Expression) bool {
	_, call := expr.(*hclsyntax.FunctionCallExpr)
	return call
}
