package executor

import (
	"bytes"
	"encoding/json"

	"github.com/grill-plan/grill-plan/executor/checkpoint"
	"github.com/grill-plan/grill-plan/plan/graph"
)

// collectorField is the field of a measurement's spec that names the program
// that measures (PLN-41).
const collectorField = "collector"

// keepCollectors looks for groups all of whose measurements were finished with
// one collector that is not the present one.
func (j *judge) keepCollectors() error {
	j.kept = nil
	members := map[string][]*graph.Node{}
	for _, node := range j.graph.Nodes() {
		if node.Effect == graph.Measurement && node.Group != "" && collectorOf(node.Spec) != "" {
			members[node.Group] = append(members[node.Group], node)
		}
	}
	for _, group := range j.graph.Groups() {
		if err := j.keepCollector(members[group]); err != nil {
			return err
		}
	}
	return nil
}

func (j *judge) keepCollector(members []*graph.Node) error {
	made := ""
	for _, node := range members {
		stored, err := j.index.Node(node.Address)
		if err != nil {
			return err
		}
		if !stored.Finished() {
			return nil
		}
		used, err := j.usedCollector(node, stored)
		if err != nil || used == "" || made != "" && used != made {
			return err
		}
		made = used
	}
	for _, node := range members {
		if collectorOf(node.Spec) == made {
			continue
		}
		if j.kept == nil {
			j.kept = map[string]json.RawMessage{}
		}
		j.kept[node.Address] = withCollector(node.Spec, made)
	}
	return nil
}

// usedCollector is the collector that made a finished measurement.
func (j *judge) usedCollector(node *graph.Node, stored *checkpoint.Node) (string, error) {
	record, err := j.run.Record(node.Address, stored.Attempt)
	if err != nil {
		return "", nil // unreadable by now: judged as stale elsewhere
	}
	return collectorOf(record.Input.Spec), nil
}

// dropCollectors gives up keeping where it does not make all measurements of
// the group count, and says whether it did anywhere.
func (j *judge) dropCollectors() bool {
	drop := map[string]bool{}
	for i, node := range j.graph.Nodes() {
		if _, kept := j.kept[node.Address]; kept && j.predicted[i].action != Reuse {
			drop[node.Group] = true
		}
	}
	for address := range j.kept {
		if node, _ := j.graph.Lookup(address); drop[node.Group] {
			delete(j.kept, address)
		}
	}
	return len(drop) > 0
}

func collectorOf(spec json.RawMessage) string {
	if !bytes.Contains(spec, []byte(`"`+collectorField+`"`)) {
		return ""
	}
	var fields struct {
		Collector string `json:"collector"`
	}
	if json.Unmarshal(spec, &fields) != nil {
		return ""
	}
	return fields.Collector
}

// withCollector replaces the value of the top-level field and leaves all other
// bytes as they are, since digests rest on them.
func withCollector(spec json.RawMessage, collector string) json.RawMessage {
	decoder := json.NewDecoder(bytes.NewReader(spec))
	depth := 0
	for key := false; ; {
		token, err := decoder.Token()
		if err != nil {
			return spec
		}
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				depth++
			} else {
				depth--
			}
			key = depth == 1
			continue
		case string:
			if depth == 1 && key && t == collectorField {
				return replaceString(spec, decoder, collector)
			}
		}
		key = depth == 1 && !key
	}
}

// replaceString replaces the string that follows the key just read.
func replaceString(spec json.RawMessage, decoder *json.Decoder, value string) json.RawMessage {
	before := decoder.InputOffset()
	if _, err := decoder.Token(); err != nil {
		return spec
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return spec
	}
	var out bytes.Buffer
	out.Write(spec[:before])
	out.WriteByte(':')
	out.Write(encoded)
	out.Write(spec[decoder.InputOffset():])
	return out.Bytes()
}
