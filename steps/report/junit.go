package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/grill-plan/grill-plan/steps/compare"
	"github.com/grill-plan/grill-plan/steps/gate"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Line    int           `xml:"line,attr,omitempty"`
	Failure *junitMessage `xml:"failure"`
	Error   *junitMessage `xml:"error"`
	Skipped *junitMessage `xml:"skipped"`
	us      float64
}

type junitMessage struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// junit has one suite, the plan, and a case for each gate; an experiment whose
// verdict its gates do not show has a case of its own. REGRESSION is a failure,
// ERROR an error, INCONCLUSIVE skipped. The time of a gate is that of the
// eligible measured samples of its cell.
func (r *Run) junit() ([]byte, error) {
	suite := junitSuite{Name: r.Plan}
	var total float64
	for i := range r.Experiments {
		suite.Cases = append(suite.Cases, r.Experiments[i].junitCases()...)
	}
	for _, failure := range r.Problems {
		suite.Cases = append(suite.Cases, junitCase{Class: failure.Address, Name: "node", Time: secondsOf(0),
			Error: &junitMessage{Type: failure.Code, Message: failure.Message}})
	}
	for _, one := range suite.Cases {
		suite.Tests++
		total += one.us
		switch {
		case one.Failure != nil:
			suite.Failures++
		case one.Error != nil:
			suite.Errors++
		case one.Skipped != nil:
			suite.Skipped++
		}
	}
	suite.Time = secondsOf(total)
	var out bytes.Buffer
	out.WriteString(xml.Header)
	encoder := xml.NewEncoder(&out)
	encoder.Indent("", "  ")
	if err := encoder.Encode(suite); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func (e *Experiment) junitCases() []junitCase {
	var cases []junitCase
	worst := gate.Error
	if e.Report != nil {
		worst = e.Report.GateVerdict
		for i, judged := range e.Report.Gates {
			cases = append(cases, e.junitGate(i, judged))
		}
	}
	if e.Report != nil && e.Lowered != nil && e.Lowered.Verdict == worst && len(e.Failures) == 0 {
		return cases
	}
	verdict := junitCase{Class: e.Address, Name: "verdict", Time: secondsOf(0)}
	var said []string
	if e.Lowered != nil {
		for _, reason := range e.Lowered.Reasons {
			said = append(said, reason+": "+compare.Explain(reason))
		}
	}
	for _, failure := range e.Failures {
		said = append(said, failure.Address+": "+failure.Code+": "+failure.Message)
	}
	verdict.outcome(e.verdict(), e.verdict(), strings.Join(said, "\n"))
	return append(cases, verdict)
}

func (e *Experiment) junitGate(i int, judged compare.Gate) junitCase {
	us := measuredUS(e.Report, judged.Cell)
	one := junitCase{Class: e.Address, Name: judged.Cell + " " + judged.Metric, Time: secondsOf(us), us: us}
	text := strings.Join(e.Report.GateLines(judged), "\n")
	if i < len(e.Sources) {
		source := e.Sources[i]
		one.File, one.Line = source.File, source.Line
		text += fmt.Sprintf("\n%s:%d\n%s", source.File, source.Line, source.Snippet)
	}
	message := string(judged.Outcome)
	if judged.Reason != nil {
		message = *judged.Reason
	}
	one.outcome(string(judged.Outcome), message, text)
	return one
}

// outcome files the case; an unfinished one is skipped.
func (c *junitCase) outcome(verdict, message, text string) {
	said := &junitMessage{Type: verdict, Message: message, Text: printable(text)}
	switch verdict {
	case string(gate.Pass):
	case string(gate.Regression):
		c.Failure = said
	case string(gate.Error):
		c.Error = said
	default:
		said.Type = "" // skipped has no type
		c.Skipped = said
	}
}

func measuredUS(report *compare.Report, cell string) float64 {
	var total float64
	for _, described := range report.Cells {
		if described.ID != cell {
			continue
		}
		for _, pool := range described.Pools {
			if mean := pool.EndToEndUS.Mean; mean != nil {
				total += *mean * float64(pool.EndToEndUS.Count)
			}
		}
	}
	return total
}

func secondsOf(us float64) string { return fmt.Sprintf("%.6f", us/1e6) }
