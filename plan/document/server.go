package document

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/grill-plan/grill-plan/internal/strictjson"
)

// Server is what a runner of a server kind declares beside its id. Which fields
// a kind admits and requires is said by its table (SPH-01, SRV-01).
type Server struct {
	Endpoint string  // SPH-03
	AuthEnv  *string // name of the variable that holds the token, SPH-27
	Reset    *Reset  // SRV-14; image, video and ComfyUI servers
	Model    *string // speech, image and video servers

	// Speech servers (SPH-01, SPH-02, SPH-25, SPH-26).
	ResponseFormat string // wav, pcm
	Stream         bool
	Voice          *string
	PCM            *PCM
	WavSizes       *string // exact, to_end
	StreamFormat   *string // audio, sse

	// ComfyUI servers (SRV-08, SRV-10, SRV-12).
	Workflow      string // path of a workflow file in API format
	Bindings      []Binding
	Cached        *string  // forbid, expect, allow
	CachedNodes   []string // node ids that the policy covers
	CachedClasses []string // node classes that the policy covers
	Phases        []Phase
}

// PCM describes raw samples of a speech server (SPH-02).
type PCM struct {
	Channels    uint64
	SampleBytes uint64
}

// Binding puts one field of the request into an input of a workflow node, which
// is named by its id or by a title that occurs once (SRV-08).
type Binding struct {
	Field string // named as the placeholder of it: prompt, seed, width, …
	Node  *string
	Title *string
	Input string
}

// Phase is a named sum of node durations over classes (SRV-12).
type Phase struct {
	Name    string
	Classes []string
}

// Reset runs before each sample of the named cells (SRV-14).
type Reset struct {
	Program    string
	Args       []string
	DeadlineMS uint64
	Cells      []string
}

// server makes a row of the runner table from a row of the server's own fields.
func server(row field[Server]) field[Runner] {
	return field[Runner]{
		name: row.name, optional: row.optional,
		read: func(at place, v *strictjson.Value, into *Runner) {
			row.read(at, v, into.Server)
		},
		write: func(out []byte, from *Runner) ([]byte, bool) {
			return row.write(out, from.Server)
		},
	}
}

// serverTable is the rows of a server kind after its id, in the order of the
// typed serialization: the required ones, then the optional ones.
func serverTable(kind string) []field[Server] {
	endpoint := text("endpoint", "SPH-03", endpointForm, func(s *Server) *string { return &s.Endpoint })
	model := requiredText("model", "SPH-02", plain("SPH-02", 1, maxPlainBytes), func(s *Server) **string { return &s.Model })
	auth := optionalText("auth_env", "SPH-27", envNameForm("SPH-27"), func(s *Server) **string { return &s.AuthEnv })
	reset := optionalObject("reset", resetTable(), func(s *Server) **Reset { return &s.Reset })
	switch kind {
	case SpeechServerKind:
		return append([]field[Server]{endpoint, model}, append(speechTable(), auth)...)
	case ImageServerKind, VideoServerKind:
		return []field[Server]{endpoint, model, auth, reset}
	case ComfyUIServerKind:
		return append([]field[Server]{endpoint}, append(comfyTable(), auth, reset)...)
	}
	return nil
}

func speechTable() []field[Server] {
	pcm := []field[PCM]{
		integer("channels", bound{"SPH-02", 1, maxChannels}, func(p *PCM) *uint64 { return &p.Channels }),
		integer("sample_bytes", bound{"SPH-02", 1, 8}, func(p *PCM) *uint64 { return &p.SampleBytes }),
	}
	return []field[Server]{
		text("response_format", "SPH-01", oneOf("SPH-01", "wav", "pcm"), func(s *Server) *string { return &s.ResponseFormat }),
		boolean("stream", "SPH-01", func(s *Server) *bool { return &s.Stream }),
		optionalText("voice", "SPH-02", plain("SPH-02", 1, maxPlainBytes), func(s *Server) **string { return &s.Voice }),
		optionalObject("pcm", pcm, func(s *Server) **PCM { return &s.PCM }),
		optionalText("wav_sizes", "SPH-25", oneOf("SPH-25", "exact", "to_end"), func(s *Server) **string { return &s.WavSizes }),
		optionalText("stream_format", "SPH-26", oneOf("SPH-26", "audio", "sse"), func(s *Server) **string { return &s.StreamFormat }),
	}
}

func comfyTable() []field[Server] {
	names := func(rule string) items[string] { return texts(rule, 0, 1024, plain(rule, 1, maxPlainBytes)) }
	phase := []field[Phase]{
		text("name", "DOC-12", nameForm, func(p *Phase) *string { return &p.Name }),
		list("classes", texts("SRV-12", 1, 1024, plain("SRV-12", 1, maxPlainBytes)), func(p *Phase) *[]string { return &p.Classes }),
	}
	phases := objects("SRV-12", 0, 64, phase, func(at place, v *strictjson.Value, phases []Phase) {
		unique(at, v, "SRV-12", "the name of a phase", func(i int) string { return phases[i].Name })
	})
	return []field[Server]{
		text("workflow", "SRV-08", verbatim("SRV-08", 1, maxPlainBytes), func(s *Server) *string { return &s.Workflow }),
		list("bindings", bindingItems(), func(s *Server) *[]Binding { return &s.Bindings }),
		optionalText("cached", "SRV-10", oneOf("SRV-10", "forbid", "expect", "allow"), func(s *Server) **string { return &s.Cached }),
		optionalList("cached_nodes", names("SRV-10"), func(s *Server) *[]string { return &s.CachedNodes }),
		optionalList("cached_classes", names("SRV-10"), func(s *Server) *[]string { return &s.CachedClasses }),
		optionalList("phases", phases, func(s *Server) *[]Phase { return &s.Phases }),
	}
}

func bindingItems() items[Binding] {
	form := plain("SRV-08", 1, maxPlainBytes)
	fields := []string{"prompt", "negative_prompt", "seed", "width", "height", "steps", "frames", "fps", "duration_s", "sample_rate", "images_per_run"}
	table := []field[Binding]{
		text("field", "SRV-08", oneOf("SRV-08", fields...), func(b *Binding) *string { return &b.Field }),
		optionalText("node", "SRV-08", form, func(b *Binding) **string { return &b.Node }),
		optionalText("title", "SRV-08", form, func(b *Binding) **string { return &b.Title }),
		text("input", "SRV-08", form, func(b *Binding) *string { return &b.Input }),
	}
	return objects("SRV-08", 1, 64, table, func(at place, v *strictjson.Value, bindings []Binding) {
		for i, b := range bindings {
			if v.Items[i].Kind == strictjson.Object && (b.Node == nil) == (b.Title == nil) {
				at.item(i).report(v.Items[i].Offset, "SRV-08", "needs exactly one of node and title")
			}
		}
	})
}

func resetTable() []field[Reset] {
	return []field[Reset]{
		text("program", "DOC-43", verbatim("DOC-43", 1, unboundedLength), func(r *Reset) *string { return &r.Program }),
		list("args", argItems(), func(r *Reset) *[]string { return &r.Args }),
		integer("deadline_ms", bound{"SRV-14", 1, unlimited}, func(r *Reset) *uint64 { return &r.DeadlineMS }),
		list("cells", texts("SRV-14", 1, 64, nameForm), func(r *Reset) *[]string { return &r.Cells }),
	}
}

// endpointForm is SPH-03: https, or http to a literal loopback address.
func endpointForm(at place, v *strictjson.Value) {
	plain("SPH-03", 1, maxPlainBytes)(at, v)
	if why := endpointProblem(v.Str); why != "" && v.Str != "" {
		at.report(v.Offset, "SPH-03", "%s; admitted: https://HOST/… and http:// with an address of 127.0.0.0/8 or [::1], without user information and fragment", why)
	}
}

// endpointProblem never repeats the text, which might hold a credential (PRV-06).
func endpointProblem(endpoint string) string {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return "is no URL"
	case u.User != nil || strings.Contains(u.Host, "@"):
		return "has user information"
	case strings.Contains(endpoint, "#"):
		return "has a fragment"
	case u.Hostname() == "":
		return "has no host"
	case u.Scheme != "http" && u.Scheme != "https":
		return "has another scheme"
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "has a port outside 1 to 65535"
		}
	}
	if u.Scheme == "http" {
		address, err := netip.ParseAddr(u.Hostname())
		loopback := err == nil && (address == netip.IPv6Loopback() || address.Is4() && address.IsLoopback())
		if !loopback {
			return "sends in the clear to something that is not a literal loopback address"
		}
	}
	return ""
}

// checkSpeech is what ties fields of a speech runner together (SPH-01, SPH-02).
func checkSpeech(root place, tree *strictjson.Value, s *Server) {
	format := tree.Lookup("response_format")
	pcm := tree.Lookup("pcm")
	switch {
	case s.ResponseFormat == "pcm" && pcm == nil:
		root.member("pcm").report(tree.Offset, "SPH-01", "is required with response_format pcm and missing")
	case s.ResponseFormat == "wav" && pcm != nil:
		root.member("pcm").report(pcm.Offset, "SPH-01", "is admitted only with response_format pcm")
	}
	if s.Stream && s.ResponseFormat == "wav" {
		root.member("response_format").report(format.Offset, "SPH-02", "is wav; stream = true requires pcm")
	}
}
