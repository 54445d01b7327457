package view

import (
	"strings"
	"testing"
	"time"
)

// clock is a time that tests move.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }

var ahead = []Step{
	{"e.preflight.reference", "e", 0}, {"e.capture.a", "e", 4}, {"e.inspect.a", "e", 0}, {"e.capture.b", "e", 4},
}

func TestProgressPlain(t *testing.T) {
	var text strings.Builder
	c := &clock{}
	p := NewProgress(NewOutput(&text, nil), ahead, c.now)
	p.Show(Happening{Address: "e.capture.a", What: Started, Attempt: 2})
	p.Show(Happening{Address: "e.capture.a", What: Advanced, Done: 1, Total: 4})
	p.Show(Happening{Address: "e.capture.a", What: Failed, Text: "disk\nfull"})
	p.Show(Happening{What: Waiting, Text: "pid 7 holds the host"})
	p.Close()
	want := "started e.capture.a (attempt 2)\nprogress e.capture.a: 1 of 4\nfailed e.capture.a: disk\\nfull\nwaiting run: pid 7 holds the host\n"
	if text.String() != want {
		t.Errorf("got %q, want %q", text.String(), want)
	}
}

func TestProgressBlock(t *testing.T) {
	var text strings.Builder
	c := &clock{}
	out := NewOutput(&text, nil)
	out.live = true
	p := NewProgress(out, ahead, c.now)
	defer p.Close()
	p.Show(Happening{Address: "e.preflight.reference", What: Finished})
	p.Show(Happening{Address: "e.capture.a", What: Started})
	c.pass(2 * time.Second)
	lines := p.block()
	if want := "running e.capture.a, sample 1 of 4, 2s"; lines[0] != want {
		t.Errorf("got %q, want %q", lines[0], want)
	}
	if want := "elapsed 2s, next e.inspect.a"; lines[1] != want { // nothing to estimate from yet
		t.Errorf("got %q, want %q", lines[1], want)
	}
	p.Show(Happening{Address: "e.capture.a", What: Advanced, Done: 2, Total: 4})
	if lines := p.block(); lines[1] != "elapsed 2s, about 6s left, next e.inspect.a" { // 6 samples of 1 s
		t.Errorf("got %q", lines[1])
	}
	if got := text.String(); !strings.Contains(got, "\x1b[2A\x1b[J") {
		t.Errorf("the block is not drawn over itself: %q", got)
	}
}

func TestProgressWaits(t *testing.T) {
	var text strings.Builder
	out := NewOutput(&text, nil)
	out.live = true
	p := NewProgress(out, ahead, (&clock{}).now)
	p.Show(Happening{What: Waiting, Text: "pid 7 holds the host"})
	if lines := p.block(); lines[0] != "waiting: pid 7 holds the host" {
		t.Errorf("got %q", lines)
	}
	p.Close()
	if !strings.HasSuffix(text.String(), "\x1b[2A\x1b[J") {
		t.Errorf("the block stays on screen: %q", text.String())
	}
}

// What is reused has no event: it is behind once a later node of its experiment
// starts, and other experiments are not.
func TestProgressPassesReused(t *testing.T) {
	var text strings.Builder
	steps := []Step{{"one.capture.a", "one", 4}, {"two.capture.a", "two", 4}, {"two.capture.b", "two", 4}, {"two.compare", "two", 0}}
	c := &clock{}
	p := NewProgress(NewOutput(&text, nil), steps, c.now)
	defer p.Close()
	p.Show(Happening{Address: "two.capture.b", What: Started})
	c.pass(time.Second)
	p.Show(Happening{Address: "two.capture.b", What: Advanced, Done: 1, Total: 4})
	if left, known := p.remaining(); !known || left != 7*time.Second { // 3 here, 4 of the other
		t.Errorf("%v left, %v", left, known)
	}
	if next := p.next(); next != "one.capture.a" {
		t.Errorf("next is %s", next)
	}
}

// A line that is wider than the terminal would wrap and could not be erased.
func TestProgressCutsLines(t *testing.T) {
	var text strings.Builder
	out := NewOutput(&text, nil)
	out.live = true
	long := strings.Repeat("x", 300)
	p := NewProgress(out, nil, (&clock{}).now)
	p.Show(Happening{Address: long, What: Started})
	p.Show(Happening{Address: long, What: Finished})
	p.Close()
	for line := range strings.Lines(text.String()) {
		if n := len([]rune(strings.TrimSpace(line))); n > defaultWidth+8 { // and an escape sequence
			t.Errorf("a line of %d characters", n)
		}
	}
}
