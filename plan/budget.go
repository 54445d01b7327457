package plan

import (
	"errors"
	"math/big"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// Bounds of what a plan may compute. A few lines of locals or of nested for
// expressions describe values of any size, and neither hcl nor cty has a bound;
// without one a plan ends in a crash for lack of memory and not in an error.
const (
	// maxValueUnits bounds one value. A unit is a value of any kind or 64 bytes
	// of text.
	maxValueUnits = 1 << 18
	// maxWorkUnits bounds what all expressions of one load take in and give
	// together. A plan of ten thousand experiments stays far below.
	maxWorkUnits = 1 << 24
	// countFunc is the name, which no plan can write, of the function that
	// counts the rounds of a loop.
	countFunc = "\x00count"
	// roundUnits is what a round costs beside what it computes.
	roundUnits = 16
)

var errTooLarge = errors.New("the result is larger than a plan may compute")

// budget is what the expressions of one load still may compute.
type budget struct {
	left     int
	exceeded bool
}

// take charges units and says whether there were that many.
func (b *budget) take(units int) bool {
	if b.exceeded || units > b.left {
		b.exceeded = true
		return false
	}
	b.left -= units
	return true
}

// takeValue charges a value with all it holds.
func (b *budget) takeValue(value cty.Value) bool {
	if b.exceeded {
		return false
	}
	left := maxValueUnits
	if !measure(value, &left) {
		b.exceeded = true
		return false
	}
	return b.take(maxValueUnits - left)
}

// measure subtracts the size of a value, shared parts counted each time they
// occur, and stops where nothing is left.
func measure(value cty.Value, left *int) bool {
	value, _ = value.Unmark()
	*left--
	if *left < 0 {
		return false
	}
	if !value.IsKnown() || value.IsNull() {
		return true
	}
	switch typ := value.Type(); {
	case typ == cty.String:
		*left -= len(value.AsString()) / 64
	case typ == cty.Number:
		*left -= digits(value.AsBigFloat()) / 64
	case value.CanIterateElements():
		for each := value.ElementIterator(); each.Next(); {
			if _, element := each.Element(); !measure(element, left) {
				return false
			}
		}
	}
	return *left >= 0
}

// digits is about how many digits a number has when it is written out. Numbers
// that no one writes out keep theirs in an exponent.
func digits(number *big.Float) int {
	bits := number.MantExp(nil)
	return min(max(bits, -bits), 1<<30) / 3
}

// bounded makes every function charge what it takes and gives, and refuse
// beforehand what would be out of all proportion to its arguments.
func (b *budget) bounded(functions map[string]function.Function) map[string]function.Function {
	all := make(map[string]function.Function, len(functions)+1)
	for name, f := range functions {
		all[name] = b.boundedFunction(name, f)
	}
	all[countFunc] = b.counter()
	return all
}

func (b *budget) boundedFunction(name string, f function.Function) function.Function {
	return function.New(&function.Spec{
		Params: f.Params(), VarParam: f.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			if !b.admits(name, args) {
				return cty.NilType, errTooLarge
			}
			typ, err := f.ReturnTypeForValues(args)
			return typ, withoutStack(err)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			value, err := f.Call(args)
			if err == nil && !b.takeValue(value) {
				err = errTooLarge
			}
			return value, withoutStack(err)
		},
	})
}

// withoutStack hides the stack that cty makes part of an error when a library
// function panics.
func withoutStack(err error) error {
	var panicked function.PanicError
	if errors.As(err, &panicked) {
		return errors.New("the function cannot take these values")
	}
	return err
}

// admits charges the arguments and estimates the result of the functions that
// multiply sizes.
func (b *budget) admits(name string, args []cty.Value) bool {
	for _, arg := range args {
		if !b.takeValue(arg) {
			return false
		}
	}
	if estimate(name, args) > maxValueUnits {
		b.exceeded = true
	}
	return !b.exceeded
}

// estimate bounds the size of a result from above, in units, where it can be
// more than the sum of the arguments.
func estimate(name string, args []cty.Value) int {
	switch name {
	case "setproduct":
		product := len(args)
		for _, arg := range args {
			product = product * max(1, elements(arg))
			if product > maxValueUnits {
				break
			}
		}
		return product
	case "join":
		total := 0
		for _, list := range args[1:] {
			total += elements(list) * (1 + len(text(args[0]))/64)
		}
		return total
	case "indent":
		spaces, _ := number(args[0]).Int64()
		return int(min(max(spaces, 0), 1<<30)) / 64 * (1 + strings.Count(text(args[1]), "\n"))
	case "replace":
		return strings.Count(text(args[0]), text(args[1])) * len(text(args[2])) / 64
	case "regexreplace":
		return (len(text(args[0])) + 1) * (1 + len(text(args[2]))) / 64
	case "format", "formatlist":
		lists := 1
		for _, arg := range args[1:] {
			lists = max(lists, elements(arg))
		}
		return lists * (1 + widths(text(args[0]))/64)
	}
	return 0
}

// widths adds up the numbers in a format: a width or precision asks for that
// many characters.
func widths(format string) int {
	total, current := 0, 0
	for _, char := range []byte(format) {
		if char < '0' || char > '9' {
			total, current = total+current, 0
			continue
		}
		current = min(current*10+int(char-'0'), 1<<24)
	}
	return min(total+current, 1<<40)
}

func elements(value cty.Value) int {
	value, _ = value.Unmark()
	if !value.IsKnown() || value.IsNull() || !value.CanIterateElements() {
		return 0
	}
	return value.LengthInt()
}

func text(value cty.Value) string {
	value, _ = value.Unmark()
	if !value.IsKnown() || value.IsNull() || value.Type() != cty.String {
		return ""
	}
	return value.AsString()
}

func number(value cty.Value) *big.Float {
	value, _ = value.Unmark()
	if !value.IsKnown() || value.IsNull() || value.Type() != cty.Number {
		return new(big.Float)
	}
	return value.AsBigFloat()
}

// counter gives back its first argument and charges it, and as many units as
// the second says.
func (b *budget) counter() function.Function {
	value := function.Parameter{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true}
	return function.New(&function.Spec{
		Params: []function.Parameter{value, {Name: "nodes", Type: cty.Number}},
		Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			nodes, _ := number(args[1]).Int64()
			if !b.take(roundUnits+int(nodes)) || !b.takeValue(args[0]) {
				return cty.NilVal, errTooLarge
			}
			return args[0], nil
		},
	})
}

// count puts the counter into the loops of an expression, where one line can be
// evaluated any number of times, and where a text is put together of parts or
// two values are compared. The
// expression is the loader's own and is changed in place, once.
func count(expr hclsyntax.Expression) {
	hclsyntax.Walk(expr, walkFuncs{
		enter: func(hclsyntax.Node) {},
		exit: func(node hclsyntax.Node) {
			switch n := node.(type) {
			case *hclsyntax.ForExpr:
				// A collection that is refused ends its loop, and so every loop
				// inside another one as soon as the budget is exceeded.
				n.CollExpr = counted(n.CollExpr)
				n.ValExpr = counted(n.ValExpr)
				if n.KeyExpr != nil {
					n.KeyExpr = counted(n.KeyExpr)
				}
				if n.CondExpr != nil {
					n.CondExpr = counted(n.CondExpr)
				}
			case *hclsyntax.SplatExpr:
				n.Each = counted(n.Each)
			case *hclsyntax.BinaryOpExpr:
				n.LHS, n.RHS = counted(n.LHS), counted(n.RHS)
			case *hclsyntax.TemplateExpr:
				for i, part := range n.Parts {
					if literal, is := part.(*hclsyntax.LiteralValueExpr); !is || literal.Val.Type() != cty.String {
						n.Parts[i] = counted(part)
					}
				}
			}
		},
	})
}

func counted(expr hclsyntax.Expression) hclsyntax.Expression {
	nodes := int64(0)
	hclsyntax.Walk(expr, walkFuncs{enter: func(hclsyntax.Node) { nodes++ }, exit: func(hclsyntax.Node) {}})
	at := expr.Range()
	return &hclsyntax.FunctionCallExpr{
		Name: countFunc, NameRange: at, OpenParenRange: at, CloseParenRange: at,
		Args: []hclsyntax.Expression{expr, &hclsyntax.LiteralValueExpr{Val: cty.NumberIntVal(nodes), SrcRange: at}},
	}
}
