package document_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/grill-plan/grill-plan/plan/document"
)

func TestRunnerRules(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	all := []string{"program DOC-06", "args DOC-06", "env DOC-06", "execution DOC-06", "cache DOC-06", "pins DOC-06"}
	checkChanges(t, "runner", []change{
		{"DOC-02 unknown at the root", cliRunner, []string{"Program", `"x"`}, []string{"Program DOC-02"}},
		{"DOC-02 unknown in setup", cliRunner, []string{"setup", `{"args":[],"cwd":"x"}`}, []string{"setup.cwd DOC-02"}},
		{"DOC-02 unknown in cache", cliRunner, []string{"cache.x", `1`}, []string{"cache.x DOC-02"}},
		{"DOC-02 unknown in pin", cliRunner, []string{"pins", `[{"path":"p","sha256":"` + sum + `","x":1}]`}, []string{"pins[0].x DOC-02"}},
		{"DOC-02 unknown in pcm", speechRunner, []string{"pcm.x", `1`}, []string{"pcm.x DOC-02"}},
		{"DOC-04 array for setup", cliRunner, []string{"setup", `[]`}, []string{"setup DOC-04"}},
		{"DOC-04 array for cache", cliRunner, []string{"cache", `["cold",[]]`}, []string{"cache DOC-04"}},
		{"DOC-04 array for pin", cliRunner, []string{"pins", `[["p","` + sum + `"]]`}, []string{"pins[0] DOC-04"}},
		{"DOC-04 array for env", cliRunner, []string{"env", `[]`}, []string{"env DOC-04"}},
		{"DOC-04 array for pcm", speechRunner, []string{"pcm", `[1,2]`}, []string{"pcm DOC-04"}},
		{"DOC-05 null cwd", cliRunner, []string{"cwd", `null`}, []string{"cwd DOC-05"}},
		{"DOC-05 null env value", cliRunner, []string{"env.A", `null`}, []string{"env.A DOC-05"}},
		{"DOC-05 null voice", speechRunner, []string{"voice", `null`}, []string{"voice DOC-05"}},
		{"DOC-06, DOC-40 everything missing", `{"kind":"media-runner-v1","version":1,"id":"r"}`, nil, all},
		{"DOC-40 all optional", cliRunner, []string{"cwd", `"/tmp"`, "setup", `{"args":["x"],"program":"p","deadline_ms":1}`, "markers", `"file"`}, nil},
		{"DOC-11 version", cliRunner, []string{"version", `2`}, []string{"version DOC-11"}},
		{"DOC-11 speech version", speechRunner, []string{"version", `2`}, []string{"version DOC-11"}},
		{"DOC-11, DOC-55 unknown kind", cliRunner, []string{"kind", `"media-runner-v2"`, "markers", `"x"`}, []string{"kind DOC-11", "markers DOC-51"}},
		{"DOC-11 no kind", cliRunner, []string{"kind", ""}, []string{"kind DOC-11"}},
		{"DOC-11 kind is no text", cliRunner, []string{"kind", `1`}, []string{"kind DOC-11"}},
		{"DOC-11 kind of a workload", speechRunner, []string{"kind", `"media-workload-v1"`}, []string{"kind DOC-11"}},
		{"DOC-12 id", cliRunner, []string{"id", `"a,b"`}, []string{"id DOC-12"}},
		{"DOC-41", cliRunner, []string{"execution", `"remote"`}, []string{"execution DOC-41"}},
		{"DOC-41 resident", cliRunner, []string{"execution", `"delegates-to-resident-service"`}, nil},
		{"DOC-42 args", cliRunner, []string{"args.0", `1`}, []string{"args[0] DOC-42"}},
		{"DOC-42 args empty, env empty", cliRunner, []string{"args", `[]`, "env", `{}`}, nil},
		{"DOC-42 args is text", cliRunner, []string{"args", `"x"`}, []string{"args DOC-42"}},
		{"DOC-42 env value", cliRunner, []string{"env.A", `1`}, []string{"env.A DOC-42"}},
		{"DOC-42 env name with =", cliRunner, []string{"env.B=C", `""`}, []string{`env["B=C"] DOC-42`}},
		{"DOC-42 empty env name", cliRunner, []string{"env", `{"":"x"}`}, []string{`env[""] DOC-42`}},
		{"DOC-42 NUL", cliRunner, []string{
			"program", `"a\u0000"`, "args.0", `"\u0000"`, "env.A", `"\u0000"`, "cwd", `"\u0000"`,
			"cache.paths", `["\u0000"]`, "pins", `[{"path":"\u0000","sha256":"` + sum + `"}]`, "setup", `{"args":["\u0000"],"program":"\u0000"}`,
		}, []string{
			"program DOC-42", "args[0] DOC-42", "env.A DOC-42", "cwd DOC-42", "cache.paths[0] DOC-42", "pins[0].path DOC-42",
			"setup.args[0] DOC-42", "setup.program DOC-42",
		}},
		{"DOC-42 line feeds are admitted", cliRunner, []string{"args.0", `"a\nb"`, "env.A", `"\t"`}, nil},
		{"CAP_12 the token cannot be declared", cliRunner, []string{"env.GRILL_PLAN_TOKEN", `"x"`}, []string{"env.GRILL_PLAN_TOKEN CAP_12"}},
		{"DOC-43 empty program", cliRunner, []string{"program", `""`}, []string{"program DOC-43"}},
		{"DOC-46 empty cwd", cliRunner, []string{"cwd", `""`}, []string{"cwd DOC-46"}},
		{"DOC-48 no args", cliRunner, []string{"setup", `{}`}, []string{"setup.args DOC-06"}},
		{"DOC-48 deadline 0", cliRunner, []string{"setup", `{"args":[],"deadline_ms":0}`}, []string{"setup.deadline_ms DOC-48"}},
		{"DOC-49 state", cliRunner, []string{"cache.declared_state", `"hot"`}, []string{"cache.declared_state DOC-49"}},
		{"DOC-49 no paths", cliRunner, []string{"cache.paths", ""}, []string{"cache.paths DOC-06"}},
		{"DOC-50 uppercase", cliRunner, []string{"pins", `[{"path":"p","sha256":"` + strings.ToUpper(sum) + `"}]`}, []string{"pins[0].sha256 DOC-50"}},
		{"DOC-50 short", cliRunner, []string{"pins", `[{"path":"p","sha256":"` + sum[1:] + `"}]`}, []string{"pins[0].sha256 DOC-50"}},
		{"DOC-50 g in the middle", cliRunner, []string{"pins", `[{"path":"p","sha256":"0g` + sum[2:] + `"}]`}, []string{"pins[0].sha256 DOC-50"}},
		{"DOC-50 path", cliRunner, []string{"pins", `[{"path":"","sha256":"` + sum + `"},{"path":` + quote(strings.Repeat("x", 4097)) + `,"sha256":"` + sum + `"}]`}, []string{"pins[0].path DOC-50", "pins[1].path DOC-50"}},
		{"DOC-50 good", cliRunner, []string{"pins", `[{"path":` + quote(strings.Repeat("x", 4096)) + `,"sha256":"` + sum + `"}]`}, nil},
		{"DOC-51", cliRunner, []string{"markers", `"stdout"`}, []string{"markers DOC-51"}},
		{"PLN_07 secret", cliRunner, []string{"env_secret", `["TOKEN","B"]`}, nil},
		{"PLN_07 secret and value", cliRunner, []string{"env_secret", `["A"]`}, []string{"env_secret[0] PLN_07"}},
		{"PLN_07 secret twice", cliRunner, []string{"env_secret", `["B","B"]`}, []string{"env_secret[1] PLN_07"}},
		{"PLN_07 no secret", cliRunner, []string{"env_secret", `[]`}, []string{"env_secret PLN_07"}},
		{"PLN_07 bad name", cliRunner, []string{"env_secret", `["a=b"]`}, []string{"env_secret[0] PLN_07"}},
		{"MED_22 arrays", cliRunner, []string{"arrays", `[{"name":"latents","dtype":"float32","shape":[1,2]}]`}, nil},
		{"MED_22 no arrays", cliRunner, []string{"arrays", `[]`}, []string{"arrays MED_22"}},
		{"MED_22 bad", cliRunner, []string{"arrays", `[{"name":"x","dtype":"float64","shape":[]},{"name":"X","dtype":"uint8","shape":[0]}]`}, []string{
			"arrays[0].dtype MED_13", "arrays[0].shape MED_22", "arrays[1] MED_22", "arrays[1].shape[0] MED_22",
		}},
	})
}

func TestServerRunnerRules(t *testing.T) {
	long := quote(strings.Repeat("x", 4097))
	checkChanges(t, "runner", []change{
		{"SPH-01 no program", speechRunner, []string{"program", `"x"`, "args", `[]`, "env", `{}`, "cache", `{}`, "pins", `[]`, "setup", `{}`, "markers", `"file"`}, []string{
			"program DOC-02", "args DOC-02", "env DOC-02", "cache DOC-02", "pins DOC-02", "setup DOC-02", "markers DOC-02",
		}},
		{"SPH-01 everything missing", `{"kind":"media-speech-server-v1","version":1,"id":"r"}`, nil, []string{
			"endpoint DOC-06", "model DOC-06", "response_format DOC-06", "stream DOC-06",
		}},
		{"SPH-01 format", speechRunner, []string{"response_format", `"mp3"`}, []string{"response_format SPH-01"}},
		{"SPH-01 pcm missing", speechRunner, []string{"pcm", ""}, []string{"pcm SPH-01"}},
		{"SPH-01 pcm with wav", speechRunner, []string{"response_format", `"wav"`, "stream", `false`}, []string{"pcm SPH-01"}},
		{"SPH-01 wav", speechRunner, []string{"response_format", `"wav"`, "stream", `false`, "pcm", ""}, nil},
		{"SPH-02 stream of wav", speechRunner, []string{"response_format", `"wav"`, "pcm", ""}, []string{"response_format SPH-02"}},
		{"SPH-02 pcm without stream", speechRunner, []string{"stream", `false`}, nil},
		{"SPH-02 pcm", speechRunner, []string{"pcm", `{"channels":0,"sample_bytes":9}`}, []string{"pcm.channels SPH-02", "pcm.sample_bytes SPH-02"}},
		{"SPH-02 pcm ends", speechRunner, []string{"pcm", `{"channels":65535,"sample_bytes":8}`}, nil},
		{"SPH-02 pcm above", speechRunner, []string{"pcm", `{"channels":65536,"sample_bytes":0}`}, []string{"pcm.channels SPH-02", "pcm.sample_bytes SPH-02"}},
		{"SPH-02 texts", speechRunner, []string{"model", `""`, "voice", long}, []string{"model SPH-02", "voice SPH-02"}},
		{"SPH-02 control", speechRunner, []string{"model", `"a\n"`}, []string{"model SPH-02"}},
		{"SPH-03 long", speechRunner, []string{"endpoint", quote("https://h/" + strings.Repeat("x", 4087))}, []string{"endpoint SPH-03"}},
		{"SPH-03 longest", speechRunner, []string{"endpoint", quote("https://h/" + strings.Repeat("x", 4086))}, nil},
		{"SPH-03 empty fragment", speechRunner, []string{"endpoint", `"https://h/#"`}, []string{"endpoint SPH-03"}},
		{"SPH-03 port", speechRunner, []string{"endpoint", `"https://h:65536/"`}, []string{"endpoint SPH-03"}},
		{"SPH-03 mapped address", speechRunner, []string{"endpoint", `"http://[::ffff:127.0.0.1]/"`}, []string{"endpoint SPH-03"}},
		{"SPH_25", speechRunner, []string{"wav_sizes", `"to_end"`}, nil},
		{"SPH_25 other", speechRunner, []string{"wav_sizes", `"any"`}, []string{"wav_sizes SPH_25"}},
		{"SPH_26", speechRunner, []string{"stream_format", `"sse"`}, nil},
		{"SPH_26 other", speechRunner, []string{"stream_format", `"ndjson"`}, []string{"stream_format SPH_26"}},
		{"SPH_27", speechRunner, []string{"auth_env", `"API_TOKEN"`}, nil},
		{"SPH_27 other", speechRunner, []string{"auth_env", `"a=b"`}, []string{"auth_env SPH_27"}},
		{"SRV_01 closed", imageRunner, []string{"voice", `"x"`}, []string{"voice DOC-02"}},
		{"SRV_14 reset", videoRunner, []string{"reset", `{"program":"./restart","args":[],"deadline_ms":1,"cells":["c"]}`}, nil},
		{"SRV_14 reset bad", videoRunner, []string{"reset", `{"program":"./restart","deadline_ms":0,"cells":[]}`}, []string{"reset.args DOC-06", "reset.cells SRV_14", "reset.deadline_ms SRV_14"}},
		{"SRV_08 bindings", comfyRunner, []string{"bindings", `[{"field":"colour","input":"x"},{"field":"seed","node":"1","title":"t","input":""}]`}, []string{
			"bindings[0] SRV_08", "bindings[0].field SRV_08", "bindings[1] SRV_08", "bindings[1].input SRV_08",
		}},
		{"SRV_10 cached", comfyRunner, []string{"cached", `"forbid"`, "cached_nodes", `["3"]`, "cached_classes", `["KSampler"]`}, nil},
		{"SRV_10 other", comfyRunner, []string{"cached", `"never"`}, []string{"cached SRV_10"}},
		{"SRV_12 phases", comfyRunner, []string{"phases", `[{"name":"sampling","classes":["KSampler"]},{"name":"sampling","classes":[]}]`}, []string{"phases[1] SRV_12", "phases[1].classes SRV_12"}},
	})
}

// pairOf admits a pair after edits and gives the violations.
func pairOf(t *testing.T, workload, runner string) []string {
	t.Helper()
	return violations(document.Admit("W", "R", mustWorkload(t, workload), mustRunner(t, runner)))
}

func TestPairRules(t *testing.T) {
	metric := func(doc, name string) string { return edit(t, doc, "gates.0.metric", quote(name)) }
	marked := edit(t, cliRunner, "markers", `"file"`, "args", `["{output}","{marker_file}"]`)
	whole := edit(t, speechRunner, "stream", `false`)
	speech, audio, video := speechWorkload(t), audioWorkload(t), videoWorkload(t)
	cell := func(doc, request string) string {
		return edit(t, doc, "cells.1", `{"id":"d","warmup_runs":0,"measured_runs":1,"request":`+request+`}`)
	}
	for _, c := range []struct {
		name, workload, runner string
		want                   []string
	}{
		{"DOC-34 end_to_end_us", imageWorkload, cliRunner, nil},
		{"DOC-34 markers missing", metric(imageWorkload, "generation_us"), cliRunner, []string{"gates[0].metric DOC-34"}},
		{"DOC-34 load without markers", metric(imageWorkload, "load_to_generation_us"), cliRunner, []string{"gates[0].metric DOC-34"}},
		{"DOC-34 markers", metric(imageWorkload, "generation_us"), marked, nil},
		{"DOC-34 first audio of a program", metric(audio, "first_audio_us"), cliRunner, []string{"gates[0].metric DOC-34"}},
		{"DOC-34 first audio streamed", metric(speech, "first_audio_us"), speechRunner, nil},
		{"DOC-34, SPH-06 first audio whole", metric(speech, "first_audio_us"), whole, []string{"gates[0].metric DOC-34"}},
		{"DOC-34 ratio of a program's audio", metric(audio, "duration_ratio"), cliRunner, nil},
		{"DOC-34 ratio of a video", metric(video, "duration_ratio"), cliRunner, []string{"gates[0].metric DOC-34"}},
		{"SPH-06 ratio", metric(speech, "duration_ratio"), whole, nil},
		{"SPH-06 markers", metric(speech, "generation_us"), speechRunner, []string{"gates[0].metric SPH-06"}},
		{"DOC-39 no outputs with a program", speech, edit(t, cliRunner, "args", `[]`), []string{"outputs DOC-39"}},
		{"DOC-39 and SPH-04 outputs with a speech server", audio, speechRunner, []string{"outputs DOC-39", "request.duration_us SPH-04"}},
		{"SPH-04 modality", edit(t, imageWorkload, "outputs", `[]`), speechRunner, []string{
			"modality SPH-04", "request.width SPH-04", "request.height SPH-04", "request.steps SPH-04", "request.images_per_run SPH-04", "request.sample_rate SPH-04",
		}},
		{"SPH-04 other fields", edit(t, speech, "request.steps", `1`, "request.negative_prompt", `""`, "request.guidance_milli", `1`), speechRunner, []string{
			"request.steps SPH-04", "request.negative_prompt SPH-04", "request.guidance_milli SPH-04",
		}},
		{"SPH-04 cell requests", cell(speech, audioRequest), speechRunner, []string{"cells[1].request.duration_us SPH-04"}},
		{"DOC-48 setup deadline equal", imageWorkload, edit(t, cliRunner, "setup", `{"args":[],"deadline_ms":500}`), nil},
		{"DOC-48 setup deadline above", imageWorkload, edit(t, cliRunner, "setup", `{"args":[],"deadline_ms":501}`), []string{"setup.deadline_ms DOC-48"}},
		{"MED_22 array_dir once", imageWorkload, edit(t, cliRunner, "args", `["{output}","{array_dir}"]`, "arrays", `[{"name":"x","dtype":"uint8","shape":[1]}]`), nil},
		{"MED_22 array_dir missing", imageWorkload, edit(t, cliRunner, "arrays", `[{"name":"x","dtype":"uint8","shape":[1]}]`), []string{"args MED_22"}},
		{"MED_22 array_dir undeclared", imageWorkload, edit(t, cliRunner, "args", `["{output}","{array_dir}"]`), []string{"args[1] TPL-02"}},
		{"SRV_01 image", imageWorkload, imageRunner, nil},
		{"SRV_01 video", video, videoRunner, nil},
		{"SRV_01 comfy audio", audio, comfyRunner, nil},
		{"SRV_01 modality", video, imageRunner, []string{"modality SRV_01"}},
		{"SRV_01 output_dir", edit(t, imageWorkload, "outputs.0.placeholder", `"output_dir"`), imageRunner, []string{"outputs SRV_01"}},
		{"SRV_01 several images", edit(t, imageWorkload, "request.images_per_run", `2`), imageRunner, []string{"SRV_01"}},
		{"SRV_08 bound field missing", audio, edit(t, comfyRunner, "bindings.0.field", `"width"`), []string{"bindings[0].field SRV_08"}},
		{"SRV_14 unknown cell", video, edit(t, videoRunner, "reset", `{"program":"p","args":[],"deadline_ms":1,"cells":["x"]}`), []string{"reset.cells[0] SRV_14"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			slices.Sort(c.want)
			if got := pairOf(t, c.workload, c.runner); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// SPH-05: characters and bytes are counted apart.
func TestSpeechPromptBounds(t *testing.T) {
	for _, c := range []struct {
		prompt string
		want   []string
	}{
		{strings.Repeat("🎧", 4096), nil},
		{strings.Repeat("x", 4096), nil},
		{strings.Repeat("x", 4097), []string{"request.prompt SPH-05"}},
	} {
		if got := pairOf(t, edit(t, speechWorkload(t), "request.prompt", quote(c.prompt)), speechRunner); !slices.Equal(got, c.want) {
			t.Errorf("%d bytes: %q", len(c.prompt), got)
		}
	}
	long := edit(t, speechWorkload(t), "request.prompt", quote(strings.Repeat("🎧", 4097)))
	if got := violations(parseAny("workload", long)); !slices.Equal(got, []string{"request.prompt DOC-19"}) {
		t.Errorf("16,388 bytes: %q", got)
	}
}

// DOC-15: what lies between the documents leads back to a place in one of them.
func TestPairProblemsAreLocated(t *testing.T) {
	w := mustWorkload(t, edit(t, imageWorkload, "gates.0.metric", `"generation_us"`))
	r := mustRunner(t, edit(t, cliRunner, "args.2", `"{outptu}"`))
	problems := document.Admit("W", "R", w, r)
	if len(problems) != 2 || problems[0].Document != "W" || problems[1].Document != "R" {
		t.Fatalf("%v", problems)
	}
	for _, p := range problems {
		if p.Offset != document.NoOffset {
			t.Errorf("%s has the offset %d of no tree", p, p.Offset)
		}
	}
	if !strings.Contains(problems[1].Message, `did you mean "output"?`) {
		t.Errorf("%s", problems[1])
	}
}

func TestHeldBack(t *testing.T) {
	for _, c := range []struct {
		name, workload, runner string
		want                   []string
	}{
		{"nothing", imageWorkload, cliRunner, []string{}},
		{"setup, secrets and pins are carried out", imageWorkload, edit(t, cliRunner, "setup", `{"args":[]}`, "env_secret", `["B"]`), []string{}},
		{"duration_ratio is carried out", edit(t, audioWorkload(t), "gates.0.metric", `"duration_ratio"`), cliRunner, []string{}},
		{
			"all of a program", edit(t, imageWorkload, "gates.0.metric", `"generation_us"`),
			edit(t, cliRunner, "markers", `"file"`, "cache.paths", `["p"]`, "arrays", `[{"name":"x","dtype":"uint8","shape":[1]}]`),
			[]string{"arrays", "cache.paths", "gates[0].metric", "markers"},
		},
		{"speech", edit(t, speechWorkload(t), "gates.0.metric", `"first_audio_us"`), speechRunner, []string{"gates[0].metric", "kind"}},
		{"image server", imageWorkload, imageRunner, []string{"kind"}},
	} {
		problems := document.HeldBack("W", "R", mustWorkload(t, c.workload), mustRunner(t, c.runner))
		got := []string{}
		for _, p := range problems {
			got = append(got, p.Path)
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		for _, p := range problems {
			if p.Rule != document.NotInThisVersion || !strings.Contains(p.Message, "not carried out by this version") {
				t.Errorf("%s: %s", c.name, p)
			}
		}
	}
}
