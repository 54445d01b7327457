package document_test

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/plan/document"
)

// Documents that are admitted; tests change one thing at a time.
const (
	imageWorkload = `{"kind":"media-workload-v1","version":1,"name":"w","modality":"image",
		"request":{"prompt":"a cat","seeds":[7],"width":64,"height":48,"steps":20,"images_per_run":1},
		"outputs":[{"placeholder":"output","container":"png","expect":{"width":64,"height":48}}],
		"cells":[{"id":"c","warmup_runs":1,"measured_runs":3}],
		"slots":[{"id":"s1","arm":"a"},{"id":"s2","arm":"b"},{"id":"s3","arm":"a2"}],
		"limits":{"run_deadline_ms":1000,"setup_deadline_ms":500,"output_bytes":1000,"stdout_bytes":10,"stderr_bytes":10},
		"gates":[{"cell":"c","metric":"end_to_end_us","max_adverse_bps":100,"max_reference_spread_bps":300}]}`
	audioRequest = `{"prompt":"hi","seeds":[1],"duration_us":1500000,"sample_rate":44100}`
	audioOutputs = `[{"placeholder":"output","container":"wav","expect":{"duration_us":1500000,"sample_rate":44100,"channels":1}}]`
	videoRequest = `{"prompt":"sea","seeds":[1],"width":64,"height":48,"frames":10,"fps":24}`
	videoOutputs = `[{"placeholder":"output","container":"mp4","expect":{"width":64,"height":48,"frames":10,"fps":24}}]`
	cliRunner    = `{"kind":"media-runner-v1","version":1,"id":"r","program":"./render.sh",
		"args":["{prompt}","{seed}","{output}"],"env":{"A":"1"},"execution":"in-process",
		"cache":{"declared_state":"unknown","paths":[]},"pins":[]}`
	speechRunner = `{"kind":"media-speech-server-v1","version":1,"id":"r","endpoint":"http://127.0.0.1:8000/v1/audio/speech",
		"model":"m","response_format":"pcm","stream":true,"pcm":{"channels":1,"sample_bytes":2}}`
	imageRunner = `{"kind":"media-image-server-v1","version":1,"id":"r","endpoint":"https://h/x","model":"m"}`
	videoRunner = `{"kind":"media-video-server-v1","version":1,"id":"r","endpoint":"https://h/x","model":"m"}`
	comfyRunner = `{"kind":"media-comfyui-server-v1","version":1,"id":"r","endpoint":"http://[::1]:8188",
		"workflow":"graph.json","bindings":[{"field":"seed","node":"3","input":"seed"},{"field":"prompt","title":"Prompt","input":"text"}]}`
)

func audioWorkload(t testing.TB) string {
	return edit(t, imageWorkload, "modality", `"audio"`, "request", audioRequest, "outputs", audioOutputs)
}

func videoWorkload(t testing.TB) string {
	return edit(t, imageWorkload, "modality", `"video"`, "request", videoRequest, "outputs", videoOutputs)
}

func speechWorkload(t testing.TB) string {
	return edit(t, imageWorkload, "modality", `"audio"`, "request", `{"prompt":"hi","seeds":[1],"sample_rate":44100}`, "outputs", `[]`)
}

// edit changes a JSON document: pairs of a dotted path and the raw text to put
// there, "" to take it out. A path may name a new member or the next element.
func edit(t testing.TB, doc string, changes ...string) string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(doc))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(changes); i += 2 {
		tree = put(t, tree, strings.Split(changes[i], "."), changes[i+1])
	}
	out, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func put(t testing.TB, node any, path []string, raw string) any {
	t.Helper()
	if len(path) == 0 {
		return json.RawMessage(raw)
	}
	switch node := node.(type) {
	case map[string]any:
		if len(path) == 1 && raw == "" {
			delete(node, path[0])
			return node
		}
		node[path[0]] = put(t, node[path[0]], path[1:], raw)
		return node
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i > len(node) {
			t.Fatalf("no element %s", path[0])
		}
		if i == len(node) {
			node = append(node, nil)
		}
		node[i] = put(t, node[i], path[1:], raw)
		return node
	case json.RawMessage:
		var tree any
		if err := json.Unmarshal(node, &tree); err != nil {
			t.Fatal(err)
		}
		return put(t, tree, path, raw)
	default:
		t.Fatalf("nothing to change at %v", path)
		return nil
	}
}

// violations are the problems as "path rule", sorted. Rules of which the form of
// a document is only a part (servers, arrays, secrets) are written with an
// underscore, so that a checked form does not pass for the whole requirement.
func violations(problems []document.Problem) []string {
	partly := strings.NewReplacer("SRV-", "SRV_", "MED-", "MED_", "SPH-2", "SPH_2", "PLN-", "PLN_", "CAP-", "CAP_")
	list := []string{}
	for _, p := range problems {
		list = append(list, strings.TrimSpace(p.Path+" "+partly.Replace(p.Rule)))
	}
	slices.Sort(list)
	return list
}

func parseAny(kind, doc string) []document.Problem {
	var problems []document.Problem
	switch kind {
	case "workload":
		_, problems = document.ParseWorkload("W", []byte(doc))
	case "runner":
		_, problems = document.ParseRunner("R", []byte(doc))
	default:
		_, problems = document.ParseDeployment("D", []byte(doc))
	}
	return problems
}

func mustWorkload(t testing.TB, doc string) *document.Workload {
	t.Helper()
	w, problems := document.ParseWorkload("W", []byte(doc))
	if len(problems) > 0 {
		t.Fatalf("workload refused: %v", problems)
	}
	return w
}

func mustRunner(t testing.TB, doc string) *document.Runner {
	t.Helper()
	r, problems := document.ParseRunner("R", []byte(doc))
	if len(problems) > 0 {
		t.Fatalf("runner refused: %v", problems)
	}
	return r
}

// cases reads one group of the shared vectors.
func cases[T any](t *testing.T, group string) []T {
	t.Helper()
	data, err := os.ReadFile("../../testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Groups map[string]struct {
			Cases []T `json:"cases"`
		} `json:"groups"`
	}
	var raw struct {
		Groups map[string]json.RawMessage `json:"groups"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	only := `{"groups":{"` + group + `":` + string(raw.Groups[group]) + `}}`
	if err := json.Unmarshal([]byte(only), &all); err != nil {
		t.Fatal(err)
	}
	list := all.Groups[group].Cases
	if len(list) == 0 {
		t.Fatalf("no cases in group %s", group)
	}
	return list
}

func quote(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(out)
}
