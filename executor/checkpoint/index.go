package checkpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sort"
	"sync"
	"time"

	"github.com/grill-plan/grill-plan/internal/durable"
)

// Index is what checkpoints say, in one file, so that a run with nothing to do
// need not open each of them. It is derived: an entry counts only while the
// node's folder and the checkpoint it was taken from are untouched by their
// stat, everything else is read from the checkpoints, and deleting the file
// changes nothing but the time. Not safe for
// concurrent use.
type Index struct {
	run     *Run
	entries map[string]*indexEntry
	dirty   bool
}

type indexEntry struct {
	folder Stat
	record Stat
	node   *Node
	read   bool // read or written by this process: need not be looked at again
}

// OpenIndex reads the index; one that is missing, torn or of another version is
// empty.
func (r *Run) OpenIndex() *Index {
	index := &Index{run: r, entries: map[string]*indexEntry{}}
	data, err := readSmall(filepath.Join(r.Dir, IndexFile))
	if err != nil || !index.decode(data) {
		index.entries = map[string]*indexEntry{}
	}
	return index
}

// Node gives what stands on disk of a node.
func (x *Index) Node(address string) (*Node, error) {
	entry := x.entries[address]
	if entry != nil && (entry.read || x.untouched(entry, address)) {
		entry.read = true
		return entry.node, nil
	}
	return x.Reread(address)
}

// Prefetch asks for the stat of all entries at once, on all processors: waiting
// for the kernel is most of what a run with nothing to do does.
func (x *Index) Prefetch() {
	entries := make([]*indexEntry, 0, len(x.entries))
	for _, entry := range x.entries {
		entries = append(entries, entry)
	}
	workers := runtime.GOMAXPROCS(0)
	part := (len(entries) + workers - 1) / workers
	var group sync.WaitGroup
	for start := 0; start < len(entries); start += part {
		group.Go(func() {
			for _, entry := range entries[start:min(start+part, len(entries))] {
				entry.read = entry.read || x.untouched(entry, entry.node.Address)
			}
		})
	}
	group.Wait()
}

// Reread reads a node from its folder whatever the index says.
func (x *Index) Reread(address string) (*Node, error) {
	node, err := x.run.ReadNode(address)
	if err != nil {
		return nil, err
	}
	x.Put(node)
	return node, nil
}

// Put notes what this process itself has just published, or found.
func (x *Index) Put(node *Node) {
	x.entries[node.Address] = &indexEntry{node: node, read: true}
	x.dirty = true
}

// Note replaces the noted facts of a node's files after they were hashed again.
func (x *Index) Note(address string, files []File) {
	if entry := x.entries[address]; entry != nil {
		node := *entry.node
		node.Files = files
		x.entries[address] = &indexEntry{folder: entry.folder, record: entry.record, node: &node, read: true}
		x.dirty = true
	}
}

func (x *Index) untouched(entry *indexEntry, address string) bool {
	dir := x.run.NodeDir(address)
	folder, err := lstat(dir)
	if err != nil || *folder != entry.folder {
		return false
	}
	record, err := lstat(dir + "/" + attemptName(entry.node.Attempt) + checkpointSuffix)
	return err == nil && *record == entry.record
}

// settle is how long a folder has to be left alone before its times tell that it
// was: kernels stamp times in ticks of up to 10 ms.
const settle = 20 * time.Millisecond

// Save writes the index if it changed. It needs the lock of the run.
func (x *Index) Save() error {
	if !x.dirty {
		return nil
	}
	time.Sleep(settle) // everything noted below was written before this
	start := time.Now()
	data := []byte(indexHeader)
	addresses := make([]string, 0, len(x.entries))
	for address := range x.entries {
		addresses = append(addresses, address)
	}
	sort.Strings(addresses)
	for _, address := range addresses {
		entry := x.entries[address]
		if x.worthKeeping(entry, address, start) {
			data = entry.append(data)
		}
	}
	sum := sha256.Sum256(data)
	data = append(data, sum[:]...)
	if err := durable.Replace(filepath.Join(x.run.Dir, IndexFile), data); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	x.dirty = false
	return nil
}

// worthKeeping takes the stat of what this process read or wrote.
func (x *Index) worthKeeping(entry *indexEntry, address string, now time.Time) bool {
	node := entry.node
	if node.Attempt == 0 || len(node.Open) > 0 || len(node.Misses) > 0 {
		return false
	}
	if !entry.read || entry.folder != (Stat{}) {
		return true
	}
	dir := x.run.NodeDir(address)
	folder, err := lstat(dir)
	record, recordErr := lstat(dir + "/" + attemptName(node.Attempt) + checkpointSuffix)
	if err != nil || recordErr != nil || folder.CTime > now.Add(-settle/2).UnixNano() {
		return false
	}
	entry.folder, entry.record = *folder, *record
	return true
}

const indexHeader = "grill-plan index 1\n"

func (e *indexEntry) append(data []byte) []byte {
	n := e.node
	data = appendString(data, n.Address)
	data = appendStat(appendStat(data, &e.folder), &e.record)
	data = binary.AppendUvarint(data, uint64(n.Last))
	data = binary.AppendUvarint(data, uint64(n.Attempt))
	superseded := uint64(0)
	if n.Superseded {
		superseded = 1
	}
	data = binary.AppendUvarint(data, superseded)
	for _, text := range []string{string(n.State), n.Input, n.Output, n.Outcome, n.Stop, n.Code} {
		data = appendString(data, text)
	}
	data = binary.AppendUvarint(data, uint64(len(n.Files)))
	for i := range n.Files {
		file := &n.Files[i]
		data = appendString(appendString(appendString(data, file.Path), file.Type), file.SHA256)
		data = binary.AppendUvarint(data, uint64(file.Size))
		noted := file.Noted
		if noted == nil {
			noted = &Stat{}
		}
		data = appendStat(data, noted)
	}
	return data
}

func appendString(data []byte, text string) []byte {
	return append(binary.AppendUvarint(data, uint64(len(text))), text...)
}

func appendStat(data []byte, stat *Stat) []byte {
	data = binary.AppendVarint(data, stat.MTime)
	data = binary.AppendVarint(data, stat.CTime)
	data = binary.AppendUvarint(data, stat.Dev)
	return binary.AppendUvarint(data, stat.Inode)
}

func (x *Index) decode(data []byte) bool {
	body := len(data) - sha256.Size
	if body < len(indexHeader) || string(data[:len(indexHeader)]) != indexHeader {
		return false
	}
	if sum := sha256.Sum256(data[:body]); string(sum[:]) != string(data[body:]) {
		return false
	}
	// One string for all texts: entries share its bytes instead of copying.
	reader := indexReader{data: data[:body], text: string(data[:body]), at: len(indexHeader)}
	for reader.at < body && reader.err == nil {
		entry := reader.entry()
		if reader.err == nil {
			x.entries[entry.node.Address] = entry
		}
	}
	return reader.err == nil
}

// indexReader reads with bounds; its first error sticks.
type indexReader struct {
	data []byte
	text string
	at   int
	err  error
}

var errIndex = errors.New("the index is damaged")

func (r *indexReader) entry() *indexEntry {
	node := &Node{Address: r.string()}
	entry := &indexEntry{folder: r.stat(), record: r.stat(), node: node}
	node.Last, node.Attempt = int(r.unsigned()), int(r.unsigned())
	node.Superseded = r.unsigned() == 1
	node.State = State(r.string())
	for _, text := range []*string{&node.Input, &node.Output, &node.Outcome, &node.Stop, &node.Code} {
		*text = r.string()
	}
	count := r.unsigned()
	if count > uint64(len(r.data)-r.at) {
		r.err = errIndex
		return entry
	}
	if count > 0 {
		node.Files = make([]File, count)
	}
	for i := range node.Files {
		file := &node.Files[i]
		file.Path, file.Type, file.SHA256 = r.string(), r.string(), r.string()
		file.Size = int64(r.unsigned())
		if stat := r.stat(); stat != (Stat{}) {
			file.Noted = &stat
		}
	}
	return entry
}

func (r *indexReader) unsigned() uint64 {
	if r.err != nil {
		return 0
	}
	value, n := binary.Uvarint(r.data[r.at:])
	if n <= 0 {
		r.err = errIndex
		return 0
	}
	r.at += n
	return value
}

func (r *indexReader) signed() int64 {
	if r.err != nil {
		return 0
	}
	value, n := binary.Varint(r.data[r.at:])
	if n <= 0 {
		r.err = errIndex
		return 0
	}
	r.at += n
	return value
}

func (r *indexReader) string() string {
	length := r.unsigned()
	if r.err != nil || length > uint64(len(r.data)-r.at) {
		r.err = errIndex
		return ""
	}
	start := r.at
	r.at += int(length)
	return r.text[start:r.at]
}

func (r *indexReader) stat() Stat {
	return Stat{MTime: r.signed(), CTime: r.signed(), Dev: r.unsigned(), Inode: r.unsigned()}
}
