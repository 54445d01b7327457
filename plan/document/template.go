package document

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// piece is a part of a template: literal text, or the name of a placeholder.
type piece struct {
	text        string
	placeholder bool
}

var errUnclosed = errors.New("has a { without a following }; a literal { cannot be written")

// split cuts a template in one pass: a placeholder reaches from { to the next },
// a } elsewhere is text (TPL-02 to TPL-05).
func split(template string) ([]piece, error) {
	var pieces []piece
	for template != "" {
		before, rest, found := strings.Cut(template, "{")
		if before != "" {
			pieces = append(pieces, piece{text: before})
		}
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, errUnclosed
		}
		pieces = append(pieces, piece{text: name, placeholder: true})
		template = after
	}
	return pieces, nil
}

// render substitutes each placeholder by what value gives for its name. What was
// put in is not looked at again (TPL-05), and each template gives exactly one
// element (TPL-06).
func render(templates []string, value func(name string) (string, error)) ([]string, error) {
	argv := make([]string, 0, len(templates))
	for i, template := range templates {
		pieces, err := split(template)
		if err != nil {
			return nil, fmt.Errorf("args[%d] %w", i, err)
		}
		var element strings.Builder
		for _, p := range pieces {
			text := p.text
			if p.placeholder {
				if text, err = value(p.text); err != nil {
					return nil, fmt.Errorf("args[%d]: %w", i, err)
				}
			}
			element.WriteString(text)
		}
		argv = append(argv, element.String())
	}
	return argv, nil
}

// SampleArgv renders the arguments of one sample, without the program. It fails
// only for a pair that Admit refuses.
func SampleArgv(w *Workload, r *Runner, s Sample, p Paths) ([]string, error) {
	request := EffectiveRequest(w, s.Cell)
	return render(r.Args, func(name string) (string, error) {
		if path, ok := pathValue(name, p); ok && slices.Contains(samplePlaceholders(r), name) {
			return path, nil
		}
		if name == "seed" {
			return strconv.FormatUint(s.Seed, 10), nil
		}
		if text, ok := requestValue(name, request); ok {
			return text, nil
		}
		return "", fmt.Errorf("{%s} has no value in cell %s", name, s.Cell)
	})
}

// SetupArgv renders the arguments of the setup, without the program; it is nil
// when none is declared. It fails only for a pair that Admit refuses.
func SetupArgv(w *Workload, r *Runner, p Paths) ([]string, error) {
	if r.Setup == nil {
		return nil, nil
	}
	return render(r.Setup.Args, func(name string) (string, error) {
		if path, ok := pathValue(name, p); ok && slices.Contains(declaredPlaceholders(w), name) {
			return path, nil
		}
		return "", fmt.Errorf("{%s} is not known in setup (TPL-16)", name)
	})
}

func pathValue(name string, p Paths) (string, bool) {
	switch name {
	case "output":
		return p.Output, true
	case "output_dir":
		return p.OutputDir, true
	case "marker_file":
		return p.MarkerFile, true
	case "array_dir":
		return p.ArrayDir, true
	}
	return "", false
}

// requestValue renders a placeholder that stands for a field of the request; it
// is false when the request has no such field (TPL-08 to TPL-11).
func requestValue(name string, request *Request) (string, bool) {
	switch name {
	case "prompt":
		return request.Prompt, true
	case "negative_prompt":
		if request.NegativePrompt == nil {
			return "", true
		}
		return *request.NegativePrompt, true
	case "duration_s":
		if request.DurationUS == nil {
			return "", false
		}
		return DurationSeconds(*request.DurationUS), true
	}
	number := map[string]*uint64{
		"width": request.Width, "height": request.Height, "steps": request.Steps, "frames": request.Frames,
		"fps": request.FPS, "sample_rate": request.SampleRate,
	}[name]
	if number == nil {
		return "", false
	}
	return strconv.FormatUint(*number, 10), true
}

// requestPlaceholders stand for fields of the request and for the seed (TPL-01).
func requestPlaceholders() []string {
	return []string{"prompt", "negative_prompt", "seed", "width", "height", "steps", "frames", "fps", "duration_s", "sample_rate"}
}

// samplePlaceholders is the closed list for the args of a runner (TPL-01).
func samplePlaceholders(r *Runner) []string {
	known := append(requestPlaceholders(), "output", "output_dir")
	if r.Markers != nil {
		known = append(known, "marker_file")
	}
	if r.Arrays != nil {
		known = append(known, "array_dir")
	}
	return known
}

func declaredPlaceholders(w *Workload) []string {
	names := make([]string, len(w.Outputs))
	for i := range w.Outputs {
		names[i] = w.Outputs[i].Placeholder
	}
	return names
}

// DurationSeconds writes microseconds as decimal seconds, exactly and in the
// shortest form: 1500000 is 1.5, 10000000 is 10 (TPL-11).
func DurationSeconds(us uint64) string {
	whole, fraction := us/1_000_000, us%1_000_000
	if fraction == 0 {
		return strconv.FormatUint(whole, 10)
	}
	return fmt.Sprintf("%d.%s", whole, strings.TrimRight(fmt.Sprintf("%06d", fraction), "0"))
}
