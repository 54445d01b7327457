package process

import (
	"context"
	"fmt"
	"time"

	"github.com/grill-plan/grill-plan/steps/evidence"
)

// leftOverTime bounds the search for and the end of what a killed executor left.
const leftOverTime = 10 * time.Second

// EndLeftOver ends what an executor that was killed left running of one
// invocation (PLN-26). running is nil when it died before it could record the
// start. Only what is known to be that invocation's is signalled:
//
//   - nothing, unless boot and pid namespace are those of the reservation;
//   - a process whose environment carries the reservation's token;
//   - the recorded pid, if its start time is the recorded one;
//   - members of the recorded group while one of the above is among them, since
//     a group's number is not given away while the group has a member.
//
// Each is looked at again just before the signal, through a descriptor of the
// process where the system has such, so that a reused pid is never hit. What hid
// its environment and left the group is out of reach (CAP-15). It returns when
// all of them are gone, and an error if they are not after ten seconds.
func EndLeftOver(ctx context.Context, reservation evidence.Reservation, running *evidence.Process) error {
	here := host()
	if here.BootID == "" || here.BootID != reservation.BootID || pidNamespace() != reservation.PIDNamespace {
		return nil
	}
	left := leftOver{token: reservation.Token, running: running}
	until := time.Now().Add(leftOverTime)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		found, err := left.find()
		if err != nil {
			return fmt.Errorf("look for processes left by a killed run: %w", err)
		}
		if len(found) == 0 {
			return nil
		}
		for _, candidate := range found {
			if err := left.end(candidate); err != nil {
				return fmt.Errorf("end process %d left by a killed run: %w", candidate.pid, err)
			}
		}
		if time.Now().After(until) {
			return fmt.Errorf("processes %v left by a killed run do not end: end them by hand, then go on", pids(found))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// leftOver knows what belongs to one invocation.
type leftOver struct {
	token   string
	running *evidence.Process
}

// suspect is a living process as it was seen.
type suspect struct {
	pid       int
	group     int
	startTime string
}

// choose picks what belongs to the invocation out of what lives.
func (l leftOver) choose(living []suspect, carriesToken func(pid int) bool) []suspect {
	certain := make(map[int]bool)
	groupOurs := false
	for _, each := range living {
		recorded := l.running != nil && l.running.StartTime != "" && each.pid == l.running.PID && each.startTime == l.running.StartTime
		if recorded || l.token != "" && carriesToken(each.pid) {
			certain[each.pid] = true
			groupOurs = groupOurs || l.running != nil && each.group == l.running.Group
		}
	}
	var chosen []suspect
	for _, each := range living {
		if certain[each.pid] || groupOurs && each.group == l.running.Group {
			chosen = append(chosen, each)
		}
	}
	return chosen
}

func pids(of []suspect) []int {
	var numbers []int
	for _, each := range of {
		numbers = append(numbers, each.pid)
	}
	return numbers
}
