// Package media says what a delivered file is: container checks for PNG, JPEG,
// WAV and MP4 that read bytes and report facts, or name the reason and the byte
// offset of a refusal.
//
// It owns judgement about bytes and nothing else: no plans, no processes, no
// paths. Everything it reads is hostile; memory is bounded whatever a file
// claims. Facts are labelled container_checked and never speak of decoding
// (MP4-26).
package media

// Containers that can be checked (DOC-36).
const (
	PNG  = "png"
	JPEG = "jpeg"
	WAV  = "wav"
	MP4  = "mp4"
)

// ContainerChecked is the validation label of every fact here (PNG-07, MP4-26).
const ContainerChecked = "container_checked"

// Facts are what a container check found. Exactly one of Image, Audio and
// Video is set. The JSON form is part of the evidence format: field order and
// names are fixed.
type Facts struct {
	Container  string      `json:"container"`
	Bytes      int64       `json:"bytes"`
	Validation string      `json:"validation"`
	Image      *ImageFacts `json:"image,omitempty"`
	Audio      *AudioFacts `json:"audio,omitempty"`
	Video      *VideoFacts `json:"video,omitempty"`
}

// ImageFacts of PNG and JPEG, in pixels (PNG-07, JPG-07).
type ImageFacts struct {
	Width  uint64 `json:"width"`
	Height uint64 `json:"height"`
}

// AudioFacts of WAV (WAV-09).
type AudioFacts struct {
	Format        string `json:"format"` // pcm or float
	BitsPerSample uint64 `json:"bits_per_sample"`
	Channels      uint64 `json:"channels"`
	SampleRate    uint64 `json:"sample_rate"` // Hz
	Frames        uint64 `json:"frames"`
	DurationUS    uint64 `json:"duration_us"` // floor(frames*1e6/rate), WAV-08
}

// VideoFacts of MP4 (MP4-25). Durations are whole microseconds, rounded down.
type VideoFacts struct {
	Layout          string       `json:"layout"` // progressive or fragmented
	Width           uint64       `json:"width"`  // coded
	Height          uint64       `json:"height"`
	DisplayWidth    Fixed1616    `json:"display_width_16_16"`
	DisplayHeight   Fixed1616    `json:"display_height_16_16"`
	Frames          uint64       `json:"frames"`
	FPSNumerator    uint64       `json:"fps_numerator"` // lowest terms, MP4-16
	FPSDenominator  uint64       `json:"fps_denominator"`
	MediaDurationUS uint64       `json:"media_duration_us"`
	DurationUS      uint64       `json:"duration_us"` // presentation, MP4-19
	MdhdDurationUS  uint64       `json:"mdhd_duration_us"`
	FragmentGaps    uint64       `json:"fragment_gaps,omitempty"` // later tfdt than the end before, MP4-13
	Tracks          []AudioTrack `json:"audio,omitempty"`
}

// Fixed1616 is a 16.16 fixed point number as stored.
type Fixed1616 uint32

// AudioTrack is one soun track of an MP4 (MP4-23).
type AudioTrack struct {
	Codec           string `json:"codec"` // sample entry type
	Channels        uint64 `json:"channels"`
	SampleRate      uint64 `json:"sample_rate"`
	Samples         uint64 `json:"samples"`
	Bytes           uint64 `json:"bytes"`
	MediaDurationUS uint64 `json:"media_duration_us"`
}
