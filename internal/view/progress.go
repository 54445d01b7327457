package view

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Happening is one event of a run as progress shows it.
type Happening struct {
	Address string // "" for the run as a whole
	What    What
	Attempt int
	// Done and Total count samples; Total is 0 where there is nothing to count.
	Done, Total int
	// Text is what else there is to say: a reason, an outcome, who holds a host.
	Text string
}

// What happened.
type What string

// Kinds of happenings.
const (
	Started     What = "started"
	Advanced    What = "progress" // within a node
	Finished    What = "finished"
	Reused      What = "reused"
	Failed      What = "failed"
	Skipped     What = "skipped"
	Interrupted What = "interrupted"
	Waiting     What = "waiting" // for a host that somebody else holds
	Noted       What = "note"    // anything else worth a line
)

func (w What) ends() bool {
	return w == Finished || w == Reused || w == Failed || w == Skipped || w == Interrupted
}

func (w What) style() string {
	switch w {
	case Finished, Reused:
		return green
	case Failed, Interrupted:
		return red
	case Skipped, Waiting:
		return yellow
	}
	return cyan
}

// Step is one node that a run has before it.
type Step struct {
	Address string
	Group   string // the experiment, whose nodes come in this order
	Samples int    // how many samples it captures, 0 for other nodes
}

// Progress shows a run while it goes on: on a terminal one block that is drawn
// again, with the node running, its sample, elapsed and remaining time and what
// comes next; elsewhere one plain line for each event. It is safe for use by
// several goroutines.
type Progress struct {
	mu      sync.Mutex
	out     *Output
	now     func() time.Time
	steps   []Step
	ended   map[string]bool
	running []string // in order of start
	begun   time.Time
	current map[string]*nodeProgress
	waiting string
	drawn   int // lines of the block on screen

	// What finished samples took, pauses included, from which the remaining
	// time is estimated.
	sampled     int
	sampledTime time.Duration

	stop chan struct{}
	done chan struct{}
}

type nodeProgress struct {
	begun       time.Time
	mark        time.Time // of the latest finished sample
	done, total int
	text        string
}

// NewProgress begins to show a run. now is time.Now but in tests. Close it.
func NewProgress(out *Output, steps []Step, now func() time.Time) *Progress {
	p := &Progress{
		out: out, now: now, steps: steps, ended: map[string]bool{}, begun: now(),
		current: map[string]*nodeProgress{}, stop: make(chan struct{}), done: make(chan struct{}),
	}
	go p.tick()
	return p
}

// tick draws elapsed time anew every second.
func (p *Progress) tick() {
	defer close(p.done)
	if !p.out.Live() {
		return
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.mu.Lock()
			p.erase()
			p.draw()
			p.mu.Unlock()
		case <-p.stop:
			return
		}
	}
}

// Show takes in one event.
func (p *Progress) Show(h Happening) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note(h)
	if !p.out.Live() {
		p.out.Printf("%s\n", plainLine(h))
		return
	}
	p.erase()
	if h.What != Started && h.What != Advanced && h.What != Waiting {
		p.out.Printf("%s %s\n", p.out.paint(h.What.style(), pad(string(h.What), 11)), cut(subject(h), max(20, p.out.Width()-12)))
	}
	p.draw()
}

// Above writes lines that stay, such as a warning, without breaking the block.
func (p *Progress) Above(write func(out *Output)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	write(p.out)
	p.draw()
}

// Close takes the block off the screen.
func (p *Progress) Close() {
	close(p.stop)
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	p.running = nil
}

func (p *Progress) note(h Happening) {
	if h.What == Waiting {
		p.waiting = h.Text
		return
	}
	p.waiting = ""
	if h.Address == "" {
		return
	}
	node := p.current[h.Address]
	switch {
	case h.What == Started:
		p.passEarlier(h.Address)
		p.current[h.Address] = &nodeProgress{begun: p.now(), mark: p.now(), total: p.samplesOf(h.Address)}
		p.running = append(p.running, h.Address)
	case h.What == Advanced && node != nil:
		p.advance(node, h)
	case h.What.ends():
		p.ended[h.Address] = true
		delete(p.current, h.Address)
		p.running = slices.DeleteFunc(p.running, func(address string) bool { return address == h.Address })
	}
}

// passEarlier counts what comes before a node in its experiment as behind: what is
// reused has no event of its own.
func (p *Progress) passEarlier(address string) {
	at := slices.IndexFunc(p.steps, func(step Step) bool { return step.Address == address })
	for i := range max(at, 0) {
		if earlier := p.steps[i]; earlier.Group == p.steps[at].Group && p.current[earlier.Address] == nil {
			p.ended[earlier.Address] = true
		}
	}
}

func (p *Progress) advance(node *nodeProgress, h Happening) {
	node.text = h.Text
	if h.Total > 0 {
		node.total = h.Total
	}
	if h.Done > node.done {
		p.sampled += h.Done - node.done
		p.sampledTime += p.now().Sub(node.mark)
		node.mark, node.done = p.now(), h.Done
	}
}

func (p *Progress) samplesOf(address string) int {
	for _, step := range p.steps {
		if step.Address == address {
			return step.Samples
		}
	}
	return 0
}

// plainLine is an event where nothing can be drawn again.
func plainLine(h Happening) string { return string(h.What) + " " + subject(h) }

// subject is what an event is about, on one line.
func subject(h Happening) string {
	text := Line(h.Address)
	if h.Address == "" {
		text = "run"
	}
	if h.Attempt > 1 {
		text += fmt.Sprintf(" (attempt %d)", h.Attempt)
	}
	switch {
	case h.Text != "": // which says how far it is in better words
		text += ": " + Line(h.Text)
	case h.Total > 0:
		text += fmt.Sprintf(": %d of %d", h.Done, h.Total)
	}
	return text
}
