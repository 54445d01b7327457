package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	"golang.org/x/text/unicode/norm"
)

// selfProgram is what self() gives; it is resolved when a program is started
// (DOC-54).
const selfProgram = "self:"

// planFunctions lists the functions of the language. None reads a clock, the
// environment, the network or a random source (PLN-08).
func (l *loader) planFunctions() map[string]function.Function {
	return map[string]function.Function{
		"abs": stdlib.AbsoluteFunc, "ceil": stdlib.CeilFunc, "chomp": stdlib.ChompFunc, "chunklist": stdlib.ChunklistFunc,
		"coalesce": stdlib.CoalesceFunc, "coalescelist": stdlib.CoalesceListFunc, "compact": stdlib.CompactFunc,
		"concat": stdlib.ConcatFunc, "contains": stdlib.ContainsFunc, "csvdecode": stdlib.CSVDecodeFunc,
		"distinct": stdlib.DistinctFunc, "element": stdlib.ElementFunc, "flatten": stdlib.FlattenFunc,
		"floor": stdlib.FloorFunc, "format": stdlib.FormatFunc, "formatlist": stdlib.FormatListFunc,
		"indent": stdlib.IndentFunc, "int": stdlib.IntFunc, "join": stdlib.JoinFunc, "jsonencode": stdlib.JSONEncodeFunc,
		"keys": stdlib.KeysFunc, "length": stdlib.LengthFunc, "lookup": stdlib.LookupFunc, "lower": stdlib.LowerFunc,
		"max": stdlib.MaxFunc, "merge": stdlib.MergeFunc, "min": stdlib.MinFunc, "parseint": stdlib.ParseIntFunc,
		"range": stdlib.RangeFunc, "regex": stdlib.RegexFunc, "regexall": stdlib.RegexAllFunc,
		"regexreplace": stdlib.RegexReplaceFunc, "replace": stdlib.ReplaceFunc, "reverse": stdlib.ReverseListFunc,
		"setintersection": stdlib.SetIntersectionFunc, "setproduct": stdlib.SetProductFunc,
		"setsubtract": stdlib.SetSubtractFunc, "setunion": stdlib.SetUnionFunc, "signum": stdlib.SignumFunc,
		"slice": stdlib.SliceFunc, "sort": stdlib.SortFunc, "split": stdlib.SplitFunc, "strlen": stdlib.StrlenFunc,
		"strrev": stdlib.ReverseFunc, "substr": stdlib.SubstrFunc, "title": stdlib.TitleFunc, "trim": stdlib.TrimFunc,
		"trimprefix": stdlib.TrimPrefixFunc, "trimspace": stdlib.TrimSpaceFunc, "trimsuffix": stdlib.TrimSuffixFunc,
		"upper": stdlib.UpperFunc, "values": stdlib.ValuesFunc, "zipmap": stdlib.ZipmapFunc,

		"jsondecode": jsonDecodeFunc(), "toset": toSetFunc(), "tostring": convertFunc(cty.String), "tonumber": convertFunc(cty.Number),
		"file": textFunc(l.readText), "sha256": textFunc(sha256Text), "filesha256": textFunc(l.hashFile),
		"basename": textFunc(pure(path.Base)), "dirname": textFunc(pure(path.Dir)),
		"duration_ms": numberFunc(durationMS), "bytes": numberFunc(byteSize),
		"self": function.New(&function.Spec{
			Type: function.StaticReturnType(cty.String),
			Impl: func([]cty.Value, cty.Type) (cty.Value, error) { return cty.StringVal(selfProgram), nil },
		}),
	}
}

func pure(f func(string) string) func(string) (string, error) {
	return func(text string) (string, error) { return f(text), nil }
}

// textFunc makes a function of one text. Arguments of another type are refused:
// a converted number is rarely meant.
func textFunc(f func(string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			result, err := f(args[0].AsString())
			if err != nil {
				return cty.UnknownVal(cty.String), function.NewArgError(0, err)
			}
			return cty.StringVal(result), nil
		},
	})
}

func numberFunc(f func(string) (*big.Int, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			result, err := f(args[0].AsString())
			if err != nil {
				return cty.UnknownVal(cty.Number), function.NewArgError(0, err)
			}
			return cty.NumberVal(new(big.Float).SetPrec(512).SetInt(result)), nil
		},
	})
}

// jsonDecodeFunc refuses a key given twice, of which the library keeps the last
// silently, and texts the language would change.
func jsonDecodeFunc() function.Function {
	check := func(text string) error {
		if !norm.NFC.IsNormalString(text) {
			return errors.New("the text is not in Unicode normal form C")
		}
		return duplicateKey(json.NewDecoder(strings.NewReader(text)))
	}
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}},
		Type: func(args []cty.Value) (cty.Type, error) {
			if args[0].IsKnown() {
				if err := check(args[0].AsString()); err != nil {
					return cty.NilType, function.NewArgError(0, err)
				}
			}
			return stdlib.JSONDecodeFunc.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return stdlib.JSONDecode(args[0]) },
	})
}

// duplicateKey walks the tokens of a JSON text without recursion. Text that is
// no JSON is left to the library's own error.
func duplicateKey(decoder *json.Decoder) error {
	type level struct {
		keys  map[string]bool // nil in an array
		value bool            // in an object: a value comes next
	}
	var levels []level
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil
		}
		top := len(levels) - 1
		if text, isText := token.(string); isText && top >= 0 && levels[top].keys != nil && !levels[top].value {
			if levels[top].keys[text] {
				return errors.New("a key stands twice in one object, and only one of the values could be kept")
			}
			levels[top].keys[text], levels[top].value = true, true
			continue
		}
		if delim, isDelim := token.(json.Delim); isDelim && (delim == '{' || delim == '[') {
			var keys map[string]bool
			if delim == '{' {
				keys = map[string]bool{}
			}
			levels = append(levels, level{keys: keys})
			continue
		} else if isDelim {
			levels = levels[:top]
			top--
		}
		if top >= 0 {
			levels[top].value = false
		}
	}
}

// toSetFunc turns a list into a set; for_each takes one of texts.
func toSetFunc() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "values", Type: cty.DynamicPseudoType}},
		Type: func(args []cty.Value) (cty.Type, error) {
			if !args[0].IsKnown() {
				return cty.DynamicPseudoType, nil
			}
			set, err := convert.Convert(args[0], cty.Set(cty.DynamicPseudoType))
			if err != nil {
				return cty.NilType, function.NewArgError(0, errors.New("a list whose elements are of one type is required"))
			}
			return set.Type(), nil
		},
		Impl: func(args []cty.Value, typ cty.Type) (cty.Value, error) { return convert.Convert(args[0], typ) },
	})
}

// convertFunc converts a value; a text that becomes a number is looked at
// first, as in variables.
func convertFunc(typ cty.Type) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true}},
		Type:   function.StaticReturnType(typ),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			err := checkTexts(args[0], typ)
			if err == nil {
				var value cty.Value
				if value, err = convert.Convert(args[0], typ); err == nil {
					return value, nil
				}
			}
			return cty.UnknownVal(typ), function.NewArgError(0, err)
		},
	})
}

func sha256Text(text string) (string, error) {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:]), nil
}

// resolvePath makes a path of the plan one of this machine (PLN-39).
func (l *loader) resolvePath(written string) (string, error) {
	if written == "" || strings.ContainsRune(written, 0) {
		return "", errors.New("a path is not empty and holds no NUL")
	}
	if filepath.IsAbs(written) {
		return written, nil
	}
	return filepath.Join(l.plan.Folder, filepath.FromSlash(written)), nil
}

// readText reads a file of the plan folder for file(). One load reads a file
// once, so that a plan never sees two states of it.
func (l *loader) readText(written string) (string, error) {
	if text, known := l.texts[written]; known {
		return text, nil
	}
	resolved, err := l.resolvePath(written)
	if err != nil {
		return "", err
	}
	data, err := readRegular(resolved, maxFileBytes)
	if err != nil {
		return "", fmt.Errorf("the file %q %s", written, sentenceOf(err))
	}
	switch {
	case !utf8.Valid(data):
		return "", fmt.Errorf("the file %q is not UTF-8 text", written)
	case strings.ContainsRune(string(data), 0):
		return "", fmt.Errorf("the file %q holds a NUL byte", written)
	case strings.HasPrefix(string(data), "\ufeff"):
		return "", fmt.Errorf("the file %q starts with a byte-order mark; save it without", written)
	case !norm.NFC.IsNormal(data):
		return "", fmt.Errorf("the file %q is not in Unicode normal form C, and the language would change its text", written)
	}
	l.texts[written] = string(data)
	return l.texts[written], nil
}

// hashFile computes the SHA-256 of a file for filesha256(), whatever its size.
func (l *loader) hashFile(written string) (string, error) {
	if digest, known := l.digests[written]; known {
		return digest, nil
	}
	resolved, err := l.resolvePath(written)
	if err != nil {
		return "", err
	}
	file, err := openRegular(resolved)
	if err != nil {
		return "", fmt.Errorf("the file %q %s", written, sentenceOf(err))
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", fmt.Errorf("the file %q cannot be read: %w", written, plainPathError(err))
	}
	l.digests[written] = hex.EncodeToString(hash.Sum(nil))
	return l.digests[written], nil
}

var (
	durationForm = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`)
	sizeForm     = regexp.MustCompile(`^([0-9]{1,20}(?:\.[0-9]{1,20})?) ?(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)?$`)
)

// durationMS reads a duration such as 30s, 1.5s or 1h20m as whole milliseconds.
func durationMS(text string) (*big.Int, error) {
	duration, err := time.ParseDuration(text)
	if !durationForm.MatchString(text) || err != nil {
		return nil, errors.New("a duration is written like 250ms, 30s, 20m or 1h30m")
	}
	if duration%time.Millisecond != 0 {
		return nil, errors.New("the duration is not a whole number of milliseconds")
	}
	return big.NewInt(duration.Milliseconds()), nil
}

// byteSize reads a size such as 512MiB or 1.5GB as whole bytes.
func byteSize(text string) (*big.Int, error) {
	parts := sizeForm.FindStringSubmatch(text)
	if parts == nil {
		return nil, errors.New("a size is written like 512MiB, 1GB or 4096B")
	}
	size, _ := new(big.Rat).SetString(parts[1])
	size.Mul(size, new(big.Rat).SetInt64(unitBytes(parts[2])))
	if !size.IsInt() {
		return nil, errors.New("the size is not a whole number of bytes")
	}
	return size.Num(), nil
}

func unitBytes(unit string) int64 {
	switch unit {
	case "kB", "KB":
		return 1e3
	case "MB":
		return 1e6
	case "GB":
		return 1e9
	case "TB":
		return 1e12
	case "KiB":
		return 1 << 10
	case "MiB":
		return 1 << 20
	case "GiB":
		return 1 << 30
	case "TiB":
		return 1 << 40
	}
	return 1
}
