package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/grill-plan/grill-plan/internal/strictjson"
)

const depth = 8

func codes(found []strictjson.Error) []string {
	var list []string
	for _, e := range found {
		list = append(list, e.Code)
	}
	return list
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		codes  []string
		offset int // of the first
		path   string
	}{
		"empty":                            {"", []string{strictjson.CodeSyntax}, 0, ""},
		"space only":                       {" \n", []string{strictjson.CodeSyntax}, 2, ""},
		"DOC-01 byte-order mark":           {"\xef\xbb\xbf{}", []string{strictjson.CodeBOM}, 0, ""},
		"DOC-01 trailing value":            {"{} {}", []string{strictjson.CodeTrailing}, 3, ""},
		"DOC-01 trailing text":             {"{}x", []string{strictjson.CodeTrailing}, 2, ""},
		"DOC-01 trailing form feed":        {"{}\f", []string{strictjson.CodeTrailing}, 2, ""},
		"DOC-01 trailing NUL":              {"{}\x00", []string{strictjson.CodeTrailing}, 2, ""},
		"DOC-03 repeated name":             {`{"a":1,"a":1}`, []string{strictjson.CodeDuplicate}, 7, "a"},
		"DOC-03 after unescaping":          {`{"kind":1,"\u006bind":1}`, []string{strictjson.CodeDuplicate}, 10, "kind"},
		"DOC-03 deep, each one":            {`{"a":[{"b":1,"b":2,"b":3}]}`, []string{strictjson.CodeDuplicate, strictjson.CodeDuplicate}, 13, "a[0].b"},
		"DOC-08 invalid byte":              {"\"a\xff\"", []string{strictjson.CodeEncoding}, 2, ""},
		"DOC-08 encoded surrogate":         {"\"\xed\xa0\x80\"", []string{strictjson.CodeEncoding, strictjson.CodeEncoding, strictjson.CodeEncoding}, 1, ""},
		"DOC-08 overlong":                  {"\"\xc0\xaf\"", []string{strictjson.CodeEncoding, strictjson.CodeEncoding}, 1, ""},
		"DOC-08 high surrogate":            {`{"a":"\ud800"}`, []string{strictjson.CodeEncoding}, 6, "a"},
		"DOC-08 low surrogate":             {`"x\udc00"`, []string{strictjson.CodeEncoding}, 2, ""},
		"DOC-08 two high surrogates":       {`"\ud800\ud800"`, []string{strictjson.CodeEncoding, strictjson.CodeEncoding}, 1, ""},
		"DOC-08 high then letter":          {`"\ud800\u0041"`, []string{strictjson.CodeEncoding}, 1, ""},
		"DOC-08 in a name":                 {"{\"\xff\":1}", []string{strictjson.CodeEncoding}, 2, ""},
		"raw control character":            {"\"a\nb\"", []string{strictjson.CodeSyntax}, 2, ""},
		"unknown escape":                   {`"\x"`, []string{strictjson.CodeSyntax}, 1, ""},
		"short unicode escape":             {`"\u00"`, []string{strictjson.CodeSyntax}, 1, ""},
		"escape at the end":                {`"\`, []string{strictjson.CodeSyntax}, 1, ""},
		"unclosed string":                  {`{"a":"b`, []string{strictjson.CodeSyntax}, 5, "a"},
		"leading zero":                     {"01", []string{strictjson.CodeTrailing}, 1, ""},
		"plus":                             {"+1", []string{strictjson.CodeSyntax}, 0, ""},
		"point without digit":              {"1.", []string{strictjson.CodeSyntax}, 0, ""},
		"exponent without digit":           {"1e+", []string{strictjson.CodeSyntax}, 0, ""},
		"minus alone":                      {"-", []string{strictjson.CodeSyntax}, 0, ""},
		"not a number":                     {"NaN", []string{strictjson.CodeSyntax}, 0, ""},
		"single quotes":                    {"{'a':1}", []string{strictjson.CodeSyntax}, 1, ""},
		"trailing comma in object":         {`{"a":1,}`, []string{strictjson.CodeSyntax}, 7, ""},
		"trailing comma in array":          {`[1,]`, []string{strictjson.CodeSyntax}, 3, "[1]"},
		"comment":                          {`{/*c*/}`, []string{strictjson.CodeSyntax}, 1, ""},
		"missing colon":                    {`{"a" 1}`, []string{strictjson.CodeSyntax}, 5, "a"},
		"missing comma":                    {`[1 2]`, []string{strictjson.CodeSyntax}, 3, ""},
		"unclosed array":                   {`[`, []string{strictjson.CodeSyntax}, 1, "[0]"},
		"unclosed object":                  {`{`, []string{strictjson.CodeSyntax}, 1, ""},
		"capital literal":                  {`True`, []string{strictjson.CodeSyntax}, 0, ""},
		"too deep":                         {strings.Repeat("[", depth+1), []string{strictjson.CodeDepth}, depth, strings.Repeat("[0]", depth)},
		"too deep in objects":              {strings.Repeat(`{"a":`, depth+1), []string{strictjson.CodeDepth}, depth * 5, strings.TrimPrefix(strings.Repeat(".a", depth), ".")},
		"duplicates before a syntax error": {`{"a":1,"a":1,`, []string{strictjson.CodeDuplicate, strictjson.CodeSyntax}, 7, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			_, found := strictjson.Parse([]byte(c.text), depth)
			if !slices.Equal(codes(found), c.codes) {
				t.Fatalf("codes %v, want %v", codes(found), c.codes)
			}
			if found[0].Offset != c.offset || found[0].Path != c.path {
				t.Errorf("first error at %d %q, want %d %q", found[0].Offset, found[0].Path, c.offset, c.path)
			}
			if !strings.Contains(found[0].Error(), found[0].Message) {
				t.Errorf("Error() = %q hides the message", found[0].Error())
			}
		})
	}
}

func TestParseTree(t *testing.T) {
	text := ` {"b": [1, -0, 1.50e+3, true, false, null], "a": "x\u0041\ud83c\udfa7\"\\\/\b\f\n\r\t", "": {}}` + "\n"
	tree, found := strictjson.Parse([]byte(text), depth)
	if len(found) > 0 {
		t.Fatal(found)
	}
	want := strictjson.NewObject(1,
		strictjson.NewMember(2, "b", strictjson.NewArray(7,
			strictjson.NewNumber(8, "1"), strictjson.NewNumber(11, "-0"), strictjson.NewNumber(15, "1.50e+3"),
			strictjson.NewBool(24, true), strictjson.NewBool(30, false), &strictjson.Value{Offset: 37})),
		strictjson.NewMember(44, "a", strictjson.NewString(49, "xA🎧\"\\/\b\f\n\r\t")),
		strictjson.NewMember(88, "", &strictjson.Value{Kind: strictjson.Object, Offset: 92}))
	if !reflect.DeepEqual(tree, want) {
		got, _ := json.Marshal(tree)
		t.Errorf("tree differs: %s", got)
	}
	if tree.Lookup("a").Str != want.Members[1].Value.Str || tree.Lookup("A") != nil || tree.Lookup("b").Lookup("x") != nil {
		t.Error("Lookup has to match names byte for byte, in objects only")
	}
}

// A tree is given beside errors that leave the structure readable.
func TestParseGoesOn(t *testing.T) {
	tree, found := strictjson.Parse([]byte("{\"a\":\"\xff\",\"a\":2,\"b\":3} x"), depth)
	want := []string{strictjson.CodeEncoding, strictjson.CodeDuplicate, strictjson.CodeTrailing}
	if !slices.Equal(codes(found), want) || tree.Lookup("b").Num != "3" {
		t.Fatalf("codes %v, tree %v", codes(found), tree)
	}
}

func TestParseBoundsErrors(t *testing.T) {
	text := "{" + strings.Repeat(`"a":1,`, 5000) + `"a":1}`
	_, found := strictjson.Parse([]byte(text), depth)
	if n := len(found); n != 1001 || found[n-1].Code != strictjson.CodeTooMany {
		t.Errorf("%d errors, last %q", n, found[n-1].Code)
	}
}

func TestParseDeepInputIsCheap(t *testing.T) {
	_, found := strictjson.Parse(bytes.Repeat([]byte("["), 4<<20), 32)
	if !slices.Equal(codes(found), []string{strictjson.CodeDepth}) {
		t.Error(codes(found))
	}
}

func TestAppendString(t *testing.T) {
	for text, want := range map[string]string{
		"<b>&":                    `"<b>&"`,
		"\u2028\u2029":            "\"\u2028\u2029\"",
		"\x00\x1f\x7f":            "\"\\u0000\\u001f\x7f\"",
		"\"\\/\b\f\n\r\t":         `"\"\\/\b\f\n\r\t"`,
		"日本🎧":                     `"日本🎧"`,
		string([]byte{'a', 0xff}): "\"a\ufffd\"",
	} {
		if got := string(strictjson.AppendString(nil, text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestAppendName(t *testing.T) {
	out := strictjson.AppendName([]byte("{"), "a")
	out = strictjson.AppendInt(out, -9223372036854775808)
	out = strictjson.AppendName(out, "b")
	out = strictjson.AppendUint(out, 18446744073709551615)
	out = strictjson.AppendName(out, "c")
	out = append(strictjson.AppendBool(out, true), '}')
	if got := string(out); got != `{"a":-9223372036854775808,"b":18446744073709551615,"c":true}` {
		t.Error(got)
	}
}

func TestAppendStringReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ToValidUTF8(rapid.String().Draw(t, "text"), "")
		tree, found := strictjson.Parse(strictjson.AppendString(nil, text), 1)
		if len(found) > 0 || tree.Str != text {
			t.Fatalf("%q came back as %v %v", text, tree, found)
		}
	})
}

func TestPaths(t *testing.T) {
	tree, _ := strictjson.Parse([]byte(`{"cells":[{"request":{"seeds":[1,2]}}],"env":{"A B":"x","C":"y","":"z"}}`), depth)
	for path, want := range map[string]struct {
		offset int
		found  bool
	}{
		"":                            {0, true},
		"cells":                       {9, true},
		"cells[0].request.seeds[1]":   {33, true},
		"cells[0].request.seeds[2]":   {30, false},
		"cells[0].request.prompt":     {21, false},
		"cells[x]":                    {9, false},
		"cells[99999999999999999999]": {9, false},
		`env["A B"]`:                  {52, true},
		`env.C`:                       {60, true},
		`env[""]`:                     {67, true},
		`env["A B`:                    {45, false},
		"nothing":                     {0, false},
	} {
		node, found := strictjson.Locate(tree, path)
		if node.Offset != want.offset || found != want.found {
			t.Errorf("%s: %d %v, want %d %v", path, node.Offset, found, want.offset, want.found)
		}
	}
	for _, c := range []struct{ path, name, want string }{
		{"", "a", "a"}, {"a", "b", "a.b"}, {"env", "A B", `env["A B"]`}, {"env", "a.b", `env["a.b"]`},
		{"env", "", `env[""]`}, {"", "\x1b", `["\x1b"]`},
	} {
		if got := strictjson.JoinName(c.path, c.name); got != c.want {
			t.Errorf("%q and %q: %s, want %s", c.path, c.name, got, c.want)
		}
	}
	if got := strictjson.JoinName("", strings.Repeat("é", 1000)); len(got) > 200 || !utf8.ValidString(got) {
		t.Errorf("a long name gives a path of %d bytes", len(got))
	}
	if node, found := strictjson.Locate(nil, "a"); node != nil || found {
		t.Error("Locate in no tree")
	}
}

// FuzzParse holds that nothing panics, and that what is accepted is what
// encoding/json reads, with every name once.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "{}", `{"a":[1,2.5e-3,"x"],"b":null}`, `"\ud83c\udfa7"`, `"\ud800"`, `{"a":1,"\u0061":2}`, "\xef\xbb\xbf{}",
		"[[[[[[[[[1]]]]]]]]]", "-0", "1e400", "{\"a\":\"\xff\"}", `[true,false,null] x`, "\"\u2028\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, found := strictjson.Parse(data, depth)
		if len(found) > 0 {
			if onlyRefusedByUs(found) {
				return
			}
			if json.Valid(data) {
				t.Fatalf("%q is JSON, but %v", data, found)
			}
			return
		}
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		var want any
		if err := decoder.Decode(&want); err != nil {
			t.Fatalf("%q accepted, but %v", data, err)
		}
		if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			t.Fatalf("%q accepted with trailing data", data)
		}
		if got := plainValue(tree); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q read as %#v, want %#v", data, got, want)
		}
	})
}

func onlyRefusedByUs(found []strictjson.Error) bool {
	for _, e := range found {
		switch e.Code {
		case strictjson.CodeSyntax, strictjson.CodeTrailing, strictjson.CodeBOM:
			return false
		}
	}
	return true
}

func plainValue(v *strictjson.Value) any {
	switch v.Kind {
	case strictjson.Bool:
		return v.Bool
	case strictjson.Number:
		return json.Number(v.Num)
	case strictjson.String:
		return v.Str
	case strictjson.Array:
		items := []any{}
		for _, item := range v.Items {
			items = append(items, plainValue(item))
		}
		return items
	case strictjson.Object:
		members := map[string]any{}
		for _, member := range v.Members {
			members[member.Name] = plainValue(member.Value)
		}
		return members
	default:
		return nil
	}
}
