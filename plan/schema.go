package plan

// bodySchema is the table of what one kind of body may hold. Bounds and, for
// the blocks that become documents, presence are the business of package
// document.
type bodySchema struct {
	attrs  []attrSchema
	blocks []blockSchema
}

type attrSchema struct {
	name     string
	required bool
}

type blockSchema struct {
	kind   string
	labels []string // what each label is
	single bool     // at most one in its body
	needed bool     // at least one in its body
	body   *bodySchema
}

func (s *bodySchema) attr(name string) *attrSchema {
	for i := range s.attrs {
		if s.attrs[i].name == name {
			return &s.attrs[i]
		}
	}
	return nil
}

func (s *bodySchema) block(kind string) *blockSchema {
	for i := range s.blocks {
		if s.blocks[i].kind == kind {
			return &s.blocks[i]
		}
	}
	return nil
}

func (s *bodySchema) attrNames() []string {
	names := make([]string, len(s.attrs))
	for i := range s.attrs {
		names[i] = s.attrs[i].name
	}
	return names
}

func (s *bodySchema) blockNames() []string {
	names := make([]string, len(s.blocks))
	for i := range s.blocks {
		names[i] = s.blocks[i].kind
	}
	return names
}

func optional(names ...string) []attrSchema {
	attrs := make([]attrSchema, len(names))
	for i, name := range names {
		attrs[i] = attrSchema{name: name}
	}
	return attrs
}

func required(names ...string) []attrSchema {
	attrs := optional(names...)
	for i := range attrs {
		attrs[i].required = true
	}
	return attrs
}

func both(sets ...[]attrSchema) []attrSchema {
	var all []attrSchema
	for _, set := range sets {
		all = append(all, set...)
	}
	return all
}

// planSchema is the table of a whole plan.
func planSchema() *bodySchema {
	name := []string{"name"}
	return &bodySchema{
		blocks: []blockSchema{
			{kind: "plan", single: true, needed: true, body: &bodySchema{attrs: required("name", "version")}},
			{kind: "variable", labels: name, body: variableSchema()},
			{kind: "locals", body: nil}, // any attribute
			{kind: "workload", labels: name, body: workloadSchema()},
			{kind: "runner", labels: name, body: runnerSchema()},
			{kind: "deployment", labels: name, body: deploymentSchema()},
			{kind: "host", labels: name, body: &bodySchema{}},
			{kind: "experiment", labels: name, needed: true, body: experimentSchema()},
		},
	}
}

func variableSchema() *bodySchema {
	return &bodySchema{
		attrs: optional("type", "default", "description", "sensitive"),
		blocks: []blockSchema{
			{kind: "validation", body: &bodySchema{attrs: required("condition", "error_message")}},
		},
	}
}

func requestSchema() *bodySchema {
	return &bodySchema{attrs: optional("prompt", "negative_prompt", "seeds", "guidance_milli", "width", "height",
		"frames", "fps", "duration_us", "sample_rate", "steps", "images_per_run")}
}

func workloadSchema() *bodySchema {
	request := blockSchema{kind: "request", single: true, body: requestSchema()}
	expect := &bodySchema{attrs: optional("width", "height", "frames", "fps", "duration_us", "sample_rate", "channels", "audio")}
	return &bodySchema{
		attrs: optional("for_each", "name", "document", "modality"),
		blocks: []blockSchema{
			request,
			{kind: "output", labels: []string{"placeholder"}, body: &bodySchema{
				attrs:  optional("container"),
				blocks: []blockSchema{{kind: "expect", single: true, body: expect}},
			}},
			{kind: "cell", labels: []string{"id"}, body: &bodySchema{
				attrs:  optional("warmup_runs", "measured_runs", "pause_between_runs_ms"),
				blocks: []blockSchema{request},
			}},
			{kind: "limits", single: true, body: &bodySchema{
				attrs: optional("run_deadline_ms", "setup_deadline_ms", "output_bytes", "stdout_bytes", "stderr_bytes"),
			}},
			{kind: "gate", body: &bodySchema{
				attrs: optional("cell", "metric", "max_adverse_bps", "max_reference_spread_bps"),
			}},
		},
	}
}

// runnerSchema holds the fields of every runner kind; which of them a kind
// admits is said by package document.
func runnerSchema() *bodySchema {
	single := func(kind string, attrs ...string) blockSchema {
		return blockSchema{kind: kind, single: true, body: &bodySchema{attrs: optional(attrs...)}}
	}
	return &bodySchema{
		attrs: both(
			optional("for_each", "document", "kind", "id", "program", "args", "env", "execution", "cwd", "markers"),
			optional("endpoint", "auth_env", "model", "response_format", "stream", "voice", "wav_sizes", "stream_format",
				"workflow", "cached", "cached_nodes", "cached_classes"),
		),
		blocks: []blockSchema{
			single("cache", "declared_state", "paths"),
			single("setup", "args", "program", "deadline_ms"),
			{kind: "pin", body: &bodySchema{attrs: optional("path", "sha256")}},
			{kind: "array", body: &bodySchema{attrs: optional("name", "dtype", "shape")}},
			single("reset", "program", "args", "deadline_ms", "cells"),
			single("pcm", "channels", "sample_bytes"),
			{kind: "binding", body: &bodySchema{attrs: optional("field", "node", "title", "input")}},
			{kind: "phase", body: &bodySchema{attrs: optional("name", "classes")}},
		},
	}
}

func deploymentSchema() *bodySchema {
	program := both(required("program"), optional("args", "env", "cwd"))
	return &bodySchema{
		attrs: optional("for_each", "document", "model_revision", "runtime", "hardware", "settings"),
		blocks: []blockSchema{{kind: "switch", single: true, body: &bodySchema{
			attrs: both(program, required("deadline_ms"), optional("on_change_only")),
			blocks: []blockSchema{
				{kind: "ready", single: true, body: &bodySchema{
					attrs: both(optional("http", "program", "args", "env", "cwd"), required("deadline_ms")),
				}},
				{kind: "verify", single: true, body: &bodySchema{
					attrs: both(program, required("expect_stdout", "deadline_ms")),
				}},
			},
		}}},
	}
}

func experimentSchema() *bodySchema {
	side := &bodySchema{attrs: required("runner", "deployment")}
	return &bodySchema{
		attrs: both(required("workload"), optional("for_each", "host", "axis", "slots", "fail_fast", "decode",
			"require_same_boot", "max_gap_ms", "allow_host_change", "depends_on")),
		blocks: []blockSchema{
			{kind: "reference", single: true, needed: true, body: side},
			{kind: "candidate", single: true, needed: true, body: side},
			{kind: "restore", single: true, body: &bodySchema{
				attrs: both(required("program", "deadline_ms"), optional("args", "env", "cwd")),
			}},
			{kind: "distance", single: true, body: &bodySchema{attrs: optional("cells", "expect", "ssim")}},
		},
	}
}
