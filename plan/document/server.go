package document

// Server is what a runner of a server kind declares beside its id. Which fields
// a kind admits and requires is said by its table (SPH-01, SRV-01).
type Server struct {
	Endpoint string  // SPH-03
	AuthEnv  *string // name of the variable that holds the token, SPH-27
	Reset    *Reset  // SRV-14; image, video and ComfyUI servers

	Model *string // speech, image and video servers

	// Speech servers (SPH-01, SPH-02, SPH-25, SPH-26).
	ResponseFormat string // wav, pcm
	Stream         bool
	Voice          *string
	PCM            *PCM
	WavSizes       *string // exact, to_end
	StreamFormat   *string // audio, sse

	// ComfyUI servers (SRV-08, SRV-10, SRV-12).
	Workflow string // path of a workflow file in API format
	Bindings []Binding
	Cached   *Cached
	Phases   []Phase
}

// PCM describes raw samples of a speech server (SPH-02).
type PCM struct {
	Channels    uint64
	SampleBytes uint64
}

// Binding puts one field of the request into an input of a workflow node, which
// is named by its id or by a title that occurs once (SRV-08).
type Binding struct {
	Field string // a request field: prompt, seed, width, …
	Node  *string
	Title *string
	Input string
}

// Cached says what may be answered from the server's cache (SRV-10).
type Cached struct {
	Policy  string // forbid, expect, allow
	Nodes   []string
	Classes []string
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
