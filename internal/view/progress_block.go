package view

import (
	"fmt"
	"time"
	"unicode/utf8"
)

// erase takes the block off the screen, so that lines that stay can be written
// where it was.
func (p *Progress) erase() {
	if p.drawn > 0 {
		p.out.Printf("\x1b[%dA\x1b[J", p.drawn)
		p.drawn = 0
	}
}

// draw writes the block. Its lines are cut to the width of the terminal: one that
// wraps could not be erased.
func (p *Progress) draw() {
	if !p.out.Live() {
		return
	}
	width := p.out.Width() - 1
	for _, line := range p.block() {
		p.out.Printf("%s\n", cut(line, width))
		p.drawn++
	}
}

// block is the node running, its sample, elapsed and remaining time, and what is
// next.
func (p *Progress) block() []string {
	if len(p.running) == 0 && p.waiting == "" {
		return nil
	}
	first := "waiting: " + Line(p.waiting)
	if p.waiting == "" {
		first = p.runningLine()
	}
	second := "elapsed " + seconds(p.now().Sub(p.begun))
	if left, known := p.remaining(); known {
		second += ", about " + seconds(left) + " left"
	}
	if next := p.next(); next != "" {
		second += ", next " + Line(next)
	}
	return []string{first, second}
}

func (p *Progress) runningLine() string {
	address := p.running[len(p.running)-1]
	node := p.current[address]
	line := "running " + Line(address)
	switch {
	case node.text != "":
		line += ", " + Line(node.text)
	case node.total > 0:
		line += fmt.Sprintf(", sample %d of %d", min(node.done+1, node.total), node.total)
	}
	line += ", " + seconds(p.now().Sub(node.begun))
	if more := len(p.running) - 1; more > 0 {
		line += fmt.Sprintf(" (and %d more)", more)
	}
	return line
}

// remaining estimates from finished samples what the ones ahead will take. It is
// not known before the first has finished.
func (p *Progress) remaining() (time.Duration, bool) {
	if p.sampled == 0 {
		return 0, false
	}
	ahead := 0
	for _, step := range p.steps {
		if p.ended[step.Address] {
			continue
		}
		if node := p.current[step.Address]; node != nil {
			ahead += node.total - node.done
		} else {
			ahead += step.Samples
		}
	}
	return p.sampledTime / time.Duration(p.sampled) * time.Duration(ahead), true
}

// next is the first node ahead that is neither running nor ended.
func (p *Progress) next() string {
	for _, step := range p.steps {
		if !p.ended[step.Address] && p.current[step.Address] == nil {
			return step.Address
		}
	}
	return ""
}

// seconds shows a duration in whole seconds.
func seconds(d time.Duration) string { return d.Truncate(time.Second).String() }

// Table writes rows in columns, each as wide as its widest cell but the last. Cells
// are safe lines.
func Table(out *Output, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			if i == len(row)-1 {
				out.Printf("%s\n", cell)
			} else {
				out.Printf("%s  ", pad(cell, widths[i]))
			}
		}
	}
}
