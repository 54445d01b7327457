package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sort"

	"golang.org/x/sys/unix"
)

// Node is what stands on disk of one node.
type Node struct {
	Address string
	// Last is the highest number that any attempt has, 0 for none.
	Last int
	// Attempt is the number of the checkpoint that counts, the highest whole
	// one; 0 for none. The fields down to Files are its own.
	Attempt int
	State   State
	Input   string // input digest
	Output  string
	Outcome string
	Stop    string
	Code    string // of the error
	Files   []File
	// Superseded: the attempt was finished and is not to be used any more
	// (PLN-43 and --replan).
	Superseded bool
	// Open are attempts that nobody closed, ascending: a process works on
	// them or died doing so.
	Open []int
	// Misses are checkpoints that do not count, and why.
	Misses []Miss
}

// Miss is a checkpoint that does not count.
type Miss struct {
	Attempt int    `json:"attempt"`
	Reason  string `json:"reason"`
}

// Finished reports whether a finished attempt counts.
func (n *Node) Finished() bool {
	return n.State == Done && !n.Superseded && (len(n.Open) == 0 || n.Open[len(n.Open)-1] < n.Attempt)
}

// ReadNode reads what stands on disk of a node, oddities included; only trouble
// with reading the folder is an error.
func (r *Run) ReadNode(address string) (*Node, error) {
	attempts, err := r.attempts(address)
	if err != nil {
		return nil, err
	}
	node := &Node{Address: address}
	for i := len(attempts) - 1; i >= 0; i-- {
		seen := attempts[i]
		node.Last = max(node.Last, seen.number)
		if !seen.checkpoint {
			if seen.lease || seen.folder {
				node.Open = append(node.Open, seen.number)
			}
			continue
		}
		if node.Attempt > 0 {
			continue
		}
		record, err := r.Record(address, seen.number)
		if err != nil {
			node.Misses = append(node.Misses, Miss{seen.number, err.Error()})
			continue
		}
		node.take(record)
		node.Superseded = seen.superseded
	}
	sort.Ints(node.Open)
	return node, nil
}

func (n *Node) take(record *Record) {
	n.Attempt, n.State, n.Input = record.Attempt, record.State, record.Input.Digest
	n.Output, n.Outcome, n.Stop, n.Files = record.Output, record.Outcome, record.Stop, record.Files
	if record.Error != nil {
		n.Code = record.Error.Code
	}
}

type attemptEntries struct {
	number                                int
	folder, lease, checkpoint, superseded bool
}

// attempts lists what there is of a node's attempts, ascending.
func (r *Run) attempts(address string) ([]attemptEntries, error) {
	entries, err := os.ReadDir(r.NodeDir(address))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read attempts of %s: %w", address, err)
	}
	byNumber := map[int]*attemptEntries{}
	for _, entry := range entries {
		number, suffix, ok := parseAttempt(entry.Name())
		if !ok {
			continue
		}
		seen := byNumber[number]
		if seen == nil {
			seen = &attemptEntries{number: number}
			byNumber[number] = seen
		}
		switch suffix {
		case "":
			seen.folder = true
		case leaseSuffix:
			seen.lease = true
		case checkpointSuffix:
			seen.checkpoint = true
		case supersededSuffix:
			seen.superseded = true
		}
	}
	list := make([]attemptEntries, 0, len(byNumber))
	for _, seen := range byNumber {
		list = append(list, *seen)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].number < list[j].number })
	return list, nil
}

// Record reads the checkpoint of one attempt. The error says why it does not
// count.
func (r *Run) Record(address string, attempt int) (*Record, error) {
	data, err := readSmall(r.AttemptDir(address, attempt) + checkpointSuffix)
	if err != nil {
		return nil, err
	}
	return parseRecord(data, address, attempt)
}

// longestRecord bounds a record: 1 million files of an attempt fit.
const longestRecord = 512 << 20

// readSmall reads one of our own files, which a hostile runner may have
// replaced: no link is followed, nothing but a regular file is read.
func readSmall(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > longestRecord {
		return nil, fmt.Errorf("%s is no record: not a regular file of sensible size", path)
	}
	data := make([]byte, info.Size())
	n, err := readFull(file, data)
	return data[:n], err
}

func readFull(file *os.File, data []byte) (int, error) {
	n := 0
	for n < len(data) {
		read, err := file.Read(data[n:])
		n += read
		if err != nil || read == 0 {
			if n == len(data) {
				return n, nil
			}
			return n, fmt.Errorf("read %s: %w", file.Name(), err)
		}
	}
	return n, nil
}

// Lease reads who began an attempt. A lease that a power cut emptied is an
// error; so is a missing one.
func (r *Run) Lease(address string, attempt int) (*Lease, error) {
	data, err := readSmall(r.AttemptDir(address, attempt) + leaseSuffix)
	if err != nil {
		return nil, err
	}
	var lease Lease
	if err := json.Unmarshal(data, &lease); err != nil {
		return nil, fmt.Errorf("read lease of %s attempt %d: %w", address, attempt, err)
	}
	if lease.Kind != leaseKind || lease.Address != address || lease.Attempt != attempt {
		return nil, fmt.Errorf("read lease of %s attempt %d: it belongs elsewhere", address, attempt)
	}
	return &lease, nil
}
