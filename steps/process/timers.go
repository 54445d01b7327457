package process

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// What happens beside a running child is set going before its start: to arm a
// timer or to start a goroutine wakes threads, and at the start they would take
// the processor from what is measured.

// arm sets the deadline and the cancellation going and gives what takes them
// back. The deadline counts from the start.
func (c *child) arm(ctx context.Context) (release func()) {
	stopContext := context.AfterFunc(ctx, func() { c.stop(stoppedByCancel) })
	if c.command.Deadline <= 0 {
		return func() { stopContext() }
	}
	var timer *time.Timer
	expired := func() {
		if left := c.command.Deadline - c.age(); left > 0 {
			c.again(timer, left)
			return
		}
		c.stop(stoppedByDeadline)
	}
	c.mu.Lock()
	timer = time.AfterFunc(c.command.Deadline, expired)
	c.mu.Unlock()
	return func() {
		stopContext()
		timer.Stop()
	}
}

// age is the time since the start, 0 before it.
func (c *child) age() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.start.IsZero() {
		return 0
	}
	return time.Since(c.start)
}

// again lets a timer that came too early come later, unless all is over.
func (c *child) again(timer *time.Timer, after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.exited {
		timer.Reset(after)
	}
}

// announceAfter lets a child get going before its start is published: writing
// durably at that moment would disturb what is measured. The death of this
// process meanwhile is covered by the token in the child's environment (PLN-26).
const announceAfter = 20 * time.Millisecond

// announcement tells of the start once: when its time has come, or when the child
// has ended. The child is not reaped before, so what is read by its pid is its
// own.
type announcement struct {
	child *child
	timer *time.Timer
	once  sync.Once
}

func (c *child) prepareAnnouncement() *announcement {
	a := &announcement{child: c}
	if c.command.Started != nil {
		c.mu.Lock()
		a.timer = time.AfterFunc(announceAfter, a.due)
		c.mu.Unlock()
	}
	return a
}

func (a *announcement) due() {
	if a.child.age() < announceAfter/2 || !a.child.running() {
		a.child.again(a.timer, announceAfter/2)
		return
	}
	a.make()
}

// make announces, or waits until it has been done.
func (a *announcement) make() {
	if a.timer == nil {
		return
	}
	a.timer.Stop()
	a.once.Do(func() {
		c := a.child
		c.mu.Lock()
		pid := c.pid
		c.mu.Unlock()
		started := Started{PID: pid, Group: pid, StartTime: startTime(pid)}
		if err := c.command.Started(started); err != nil {
			c.fail(fmt.Errorf("record the started process: %w", err))
		}
	})
}

// running says whether the child is known and its exit is not.
func (c *child) running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pid != 0 && !c.exited
}
