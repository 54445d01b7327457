package checkpoint

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/grill-plan/grill-plan/internal/durable"
)

// What events tell (PLN-27). The list may grow; readers pass over what they do
// not know.
const (
	RunStarted      = "run_started"
	RunFinished     = "run_finished"
	RunStopped      = "run_stopped"
	TakenOverRun    = "run_taken_over" // from a holder on another machine
	NodeStarted     = "node_started"
	NodeDone        = "node_done"
	NodeFailed      = "node_failed"
	NodeInterrupted = "node_interrupted"
	NodeSkipped     = "node_skipped"    // a need failed
	NodeLeft        = "node_left"       // by an early stop of its group
	NodeTaken       = "node_taken_over" // a whole attempt without a checkpoint
	NodeRedo        = "node_redo"       // a finished attempt counts no longer
	HostWaiting     = "host_waiting"
	GroupSwitched   = "group_switched" // durable before the first world node of a group
	GroupRestored   = "group_restored"
)

// Event is one line of events.ndjson. No prompt, no value of an environment
// variable (PRV-05).
type Event struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"`
	Node    string    `json:"node,omitempty"`
	Group   string    `json:"group,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	Code    string    `json:"code,omitempty"`
	Outcome string    `json:"outcome,omitempty"`
	Text    string    `json:"text,omitempty"`
	PID     int       `json:"pid,omitempty"`
}

const eventsHeader = `{"kind":"grill-plan-events","version":1}` + "\n"

// EventLog appends to events.ndjson.
type EventLog struct {
	file *os.File
}

// OpenEvents opens the events for appending. With repair, which needs the lock
// of the run, what a kill tore off at the end is cut away.
func (r *Run) OpenEvents(repair bool) (*EventLog, error) {
	path := filepath.Join(r.Dir, EventsFile)
	file, err := durable.OpenRegular(path, os.O_RDWR|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return nil, fmt.Errorf("open events: %w", err)
	}
	log := &EventLog{file: file}
	if repair {
		if err := log.repair(); err != nil {
			file.Close()
			return nil, fmt.Errorf("repair %s: %w", path, err)
		}
	}
	return log, nil
}

func (l *EventLog) repair() error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	whole, err := lastLineEnd(l.file, size)
	if err != nil {
		return err
	}
	if whole < size {
		if err := l.file.Truncate(whole); err != nil {
			return err
		}
	}
	if whole == 0 {
		_, err = l.file.WriteString(eventsHeader)
	}
	return err
}

// lastLineEnd is the offset behind the last line feed, looked for from the end.
func lastLineEnd(file io.ReaderAt, size int64) (int64, error) {
	buffer := make([]byte, 4096)
	for end := size; end > 0; {
		start := max(0, end-int64(len(buffer)))
		n, err := file.ReadAt(buffer[:end-start], start)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if at := bytes.LastIndexByte(buffer[:n], '\n'); at >= 0 {
			return start + int64(at) + 1, nil
		}
		end = start
	}
	return 0, nil
}

// Append writes one event in one write, so that lines of several processes do
// not mix. With sync it is durable on return. A failed write is cut back by the
// next process that repairs.
func (l *EventLog) Append(event Event, sync bool) error {
	event.Time = event.Time.UTC()
	data, err := encode(event)
	if err == nil {
		_, err = l.file.Write(data)
	}
	if err == nil && sync {
		err = l.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("write event %s: %w", event.Event, err)
	}
	return nil
}

// Close closes the log.
func (l *EventLog) Close() error { return l.file.Close() }

// longestEvent bounds what is read of one line.
const longestEvent = 1 << 20

// ReadEvents reads all events. A torn or unreadable line is passed over and
// counted; a file of a newer version is an error.
func (r *Run) ReadEvents() (events []Event, unreadable int, err error) {
	return r.readEvents("")
}

// GroupEvents reads the events of groups alone, in a tenth of the time.
func (r *Run) GroupEvents() ([]Event, error) {
	events, _, err := r.readEvents(`"event":"group_`)
	return events, err
}

// readEvents reads the lines that hold a text.
func (r *Run) readEvents(holding string) (events []Event, unreadable int, err error) {
	path := filepath.Join(r.Dir, EventsFile)
	file, err := durable.OpenRegular(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read events: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 64<<10), longestEvent)
	for first := true; lines.Scan(); first = false {
		if first {
			if err := checkEventsHeader(lines.Bytes()); err != nil {
				return nil, 0, fmt.Errorf("read %s: %w", path, err)
			}
			continue
		}
		if holding != "" && !bytes.Contains(lines.Bytes(), []byte(holding)) {
			continue
		}
		var event Event
		if json.Unmarshal(lines.Bytes(), &event) != nil || event.Event == "" {
			unreadable++
			continue
		}
		events = append(events, event)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return events, unreadable + 1, nil
	}
	if err := lines.Err(); err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", path, err)
	}
	return events, unreadable, nil
}

func checkEventsHeader(line []byte) error {
	var header struct {
		Kind    string `json:"kind"`
		Version int    `json:"version"`
	}
	if json.Unmarshal(line, &header) != nil || header.Kind == "" {
		return nil // torn at its first line: there is nothing to misread
	}
	if header.Kind != "grill-plan-events" || header.Version != 1 {
		return fmt.Errorf("events of kind %q version %d are not known here (this is version 1): use the newer grill-plan", header.Kind, header.Version)
	}
	return nil
}
