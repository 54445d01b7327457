package document

import "github.com/grill-plan/grill-plan/internal/strictjson"

// SpeechBody is the exact body of one request to a speech server: compact JSON in
// the field order of SPH-08, without HTML escaping. The seed is not sent.
func SpeechBody(s *Server, prompt string) []byte {
	out := []byte{'{'}
	add := func(name, value string) {
		out = strictjson.AppendName(out, name)
		out = strictjson.AppendString(out, value)
	}
	if s.Model != nil {
		add("model", *s.Model)
	}
	add("input", prompt)
	add("response_format", s.ResponseFormat)
	if s.Voice != nil {
		add("voice", *s.Voice)
	}
	if s.Stream {
		out = strictjson.AppendName(out, "stream")
		out = strictjson.AppendBool(out, true)
	}
	if s.StreamFormat != nil { // SPH-26
		add("stream_format", *s.StreamFormat)
	}
	return append(out, '}')
}
