// Package document holds the three JSON documents of an experiment: workload,
// runner and deployment; their bounds, their typed serialization and hashes,
// the templates of argv, the order of samples and the wall-clock allowance.
//
// It owns every rule of groups DOC and TPL. A document comes from JSON bytes or
// from an HCL block; both are turned into one tree and checked by one table per
// document kind, so there is one set of bounds and messages. It touches no file
// and starts nothing.
package document

// Kinds of documents (DOC-11, SRV-01).
const (
	WorkloadKind      = "media-workload-v1"
	CLIRunnerKind     = "media-runner-v1"
	SpeechServerKind  = "media-speech-server-v1"
	ImageServerKind   = "media-image-server-v1"
	VideoServerKind   = "media-video-server-v1"
	ComfyUIServerKind = "media-comfyui-server-v1"
)

// MaxBytes bounds each document (DOC-09).
const MaxBytes = 4 << 20

// Arms in capture order (DOC-29, PLN-11).
const (
	ArmA  = "a"
	ArmB  = "b"
	ArmB2 = "b2"
	ArmA2 = "a2"
)

// Metrics of gates (DOC-32).
const (
	EndToEndUS         = "end_to_end_us"
	GenerationUS       = "generation_us"
	LoadToGenerationUS = "load_to_generation_us"
	FirstAudioUS       = "first_audio_us"
	DurationRatio      = "duration_ratio"
)

// Workload is what is asked for, how often, and what decides (DOC-16). Optional
// fields are pointers; presence is kept (DOC-13).
type Workload struct {
	Name     string
	Modality string // image, audio, video
	Request  Request
	Outputs  []Output
	Cells    []Cell
	Slots    []Slot
	Limits   Limits
	Gates    []Gate
}

// Request is one generation request (DOC-18 to DOC-25).
type Request struct {
	Prompt         string
	NegativePrompt *string
	Seeds          []uint64
	GuidanceMilli  *uint64
	Width          *uint64 // pixels
	Height         *uint64
	Frames         *uint64
	FPS            *uint64
	DurationUS     *uint64
	SampleRate     *uint64 // Hz
	Steps          *uint64
	ImagesPerRun   *uint64
}

// Output is one declared output (DOC-35).
type Output struct {
	Placeholder string // output or output_dir
	Container   string // png, jpeg, wav, mp4
	Expect      Expect
}

// Expect is tested by exact equality against checked facts (DOC-37, DOC-38).
type Expect struct {
	Width      *uint64
	Height     *uint64
	Frames     *uint64
	FPS        *uint64
	DurationUS *uint64
	SampleRate *uint64
	Channels   *uint64
	Audio      *bool
}

// Cell is one condition that is measured (DOC-27).
type Cell struct {
	ID                 string
	WarmupRuns         uint64
	MeasuredRuns       uint64
	PauseBetweenRunsMS *uint64
	Request            *Request // replaces the workload's whole request (DOC-28)
}

// Slot is one capture of the experiment (DOC-29).
type Slot struct {
	ID  string
	Arm string
}

// Limits bound every invocation (DOC-30).
type Limits struct {
	RunDeadlineMS   uint64
	SetupDeadlineMS uint64
	OutputBytes     uint64
	StdoutBytes     uint64
	StderrBytes     uint64
}

// Gate is one bound that decides (DOC-31, DOC-33).
type Gate struct {
	Cell                  string
	Metric                string
	MaxAdverseBPS         uint64
	MaxReferenceSpreadBPS uint64
}

// Runner is a runner document of any kind. For kind CLIRunnerKind the fields
// from Program on are those of DOC-40; Server holds the rest for other kinds.
type Runner struct {
	Kind      string
	ID        string
	Program   string
	Args      []string
	Env       []EnvVar // sorted by name
	EnvSecret []string // names only, PLN-07
	Cwd       *string
	Execution string
	Setup     *Setup
	Markers   *string // "file"
	Cache     Cache
	Pins      []Pin
	Arrays    []Array // MED-22
	Server    *Server // nil for CLIRunnerKind
}

// EnvVar is one declared environment variable.
type EnvVar struct {
	Name  string
	Value string
}

// Setup runs once before the samples (DOC-48).
type Setup struct {
	Args       []string
	Program    *string
	DeadlineMS *uint64
}

// Cache is what a runner declares about caches (DOC-49).
type Cache struct {
	DeclaredState string // cold, warm, unknown
	Paths         []string
}

// Pin is a declared file hash, never opened (DOC-50).
type Pin struct {
	Path   string
	SHA256 string
}

// Array is a reference array a runner delivers (MED-22).
type Array struct {
	Name  string
	DType string
	Shape []uint64
}

// Deployment is what is declared to be deployed (DOC-52).
type Deployment struct {
	ModelRevision *string
	Runtime       *string
	Hardware      *string
	Settings      *string
}

// Sample is one planned run (PRE-07, PRE-08).
type Sample struct {
	Index   int
	Cell    string
	Phase   string // warmup, measured
	Seed    uint64
	PauseMS uint64 // after it (CAP-19)
}

// Paths are what the path placeholders render as: capture-relative in
// projections (PRE-11), absolute during capture (CAP-27).
type Paths struct {
	Output     string
	OutputDir  string
	MarkerFile string
	ArrayDir   string
}

// Problem is one violated rule (DOC-15).
type Problem struct {
	Document string // as the caller named it: a path, or a block address
	Path     string // field path such as request.seeds[3]; "" for the whole
	Rule     string // requirement id, e.g. DOC-20
	Message  string // what is wrong and what is admitted; no value of prompts or env
	Offset   int    // position of the offending node in its source tree
}
