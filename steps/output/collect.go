package output

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/grill-plan/grill-plan/media"
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
)

// maxListed bounds how many entries of {output_dir} are looked at. At most 64 may
// be delivered (DOC-25); with more than this the count alone is reported.
const maxListed = 1024

// Request is what Collect has to know beside the files.
type Request struct {
	Outputs []document.Output
	// Images is how many files an output_dir holds for an image request:
	// images_per_run; nil for audio and video, which have exactly one (OUT-04).
	Images *uint64
	// Limit bounds the sum over all files of the invocation; equality is
	// admitted (CAP-31).
	Limit uint64
}

// ForSample is the request of a sample of the workload, in the cell named.
// Setup belongs to no cell: with an empty name the workload's own request says
// how many images its output_dir holds.
func ForSample(w *document.Workload, cell string) Request {
	request := &w.Request
	for i := range w.Cells {
		if w.Cells[i].ID == cell && w.Cells[i].Request != nil {
			request = w.Cells[i].Request
		}
	}
	return Request{Outputs: w.Outputs, Images: request.ImagesPerRun, Limit: w.Limits.OutputBytes}
}

// Collect reports what stands in a run directory, {output} before {output_dir}
// (OUT-11). What is wrong with the files is a reason of an output; an error means
// that they could not be read, and nothing is known.
func Collect(ctx context.Context, runDir string, request Request) ([]evidence.Output, error) {
	dir, err := openDir(unix.AT_FDCWD, runDir)
	if err != nil {
		return nil, fmt.Errorf("collect outputs of %s: %w", runDir, err)
	}
	defer dir.Close()
	c := &collector{ctx: ctx, request: request}
	outputs := []evidence.Output{}
	for _, placeholder := range []string{File, Dir} {
		for _, declared := range request.Outputs {
			if declared.Placeholder != placeholder {
				continue
			}
			collected, err := c.collect(dir, declared)
			if err != nil {
				return nil, fmt.Errorf("collect outputs of %s: %w", runDir, err)
			}
			outputs = append(outputs, collected)
		}
	}
	return outputs, nil
}

// collector carries the sum of sizes from file to file.
type collector struct {
	ctx     context.Context
	request Request
	sum     uint64
	over    bool // the sum went beyond the limit and stays there
}

func (c *collector) collect(runDir *os.File, declared document.Output) (evidence.Output, error) {
	out := evidence.Output{Placeholder: declared.Placeholder, State: evidence.OutputPresent, Files: []evidence.File{}}
	var reasons []string
	var err error
	if declared.Placeholder == File {
		name, _ := fileName([]document.Output{declared})
		reasons, err = c.entry(&out, runDir, name, "", declared)
	} else {
		reasons, err = c.directory(&out, runDir, declared)
	}
	if err != nil {
		return evidence.Output{}, err
	}
	if len(out.Files) == 0 && slices.Contains(reasons, evidence.OutputMissing) {
		out.State = evidence.OutputAbsent
	}
	for _, reason := range evidence.Reasons() {
		if slices.Contains(reasons, reason) {
			out.Reasons = append(out.Reasons, reason)
		}
	}
	return out, nil
}

// directory reports the direct entries of {output_dir}. A wrong count makes the
// sample ineligible and no subset is chosen; what is there is hashed all the
// same (OUT-04, CAP-31).
func (c *collector) directory(out *evidence.Output, runDir *os.File, declared document.Output) ([]string, error) {
	kind, _, err := lookAt(runDir, evidence.OutputDir)
	switch {
	case errors.Is(err, unix.ENOENT):
		return []string{evidence.OutputMissing}, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", evidence.OutputDir, err)
	case kind != evidence.TypeDirectory:
		if kind == "" {
			kind = evidence.TypeOther // a file where the directory was
		}
		out.Files = append(out.Files, evidence.File{Name: evidence.OutputDir, Type: kind})
		return []string{evidence.OutputEntryType}, nil
	}
	dir, err := openDir(int(runDir.Fd()), evidence.OutputDir)
	if errors.Is(err, os.ErrPermission) {
		out.Files = append(out.Files, evidence.File{Name: evidence.OutputDir, Type: kind, Problem: unreadable()})
		return []string{evidence.OutputInvalid}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", evidence.OutputDir, err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(maxListed + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", evidence.OutputDir, err)
	}
	reasons := c.count(len(names))
	if len(names) > maxListed {
		return reasons, nil
	}
	slices.Sort(names)
	for _, name := range names {
		found, err := c.entry(out, dir, name, evidence.OutputDir+"/", declared)
		if err != nil {
			return nil, err
		}
		reasons = append(reasons, found...)
	}
	return reasons, nil
}

func (c *collector) count(entries int) []string {
	expected := uint64(1)
	if c.request.Images != nil {
		expected = *c.request.Images
	}
	switch {
	case uint64(entries) == expected:
		return nil
	case entries == 0:
		return []string{evidence.OutputMissing, evidence.OutputCount}
	}
	return []string{evidence.OutputCount}
}

// entry reports one name of a directory.
func (c *collector) entry(out *evidence.Output, dir *os.File, name, prefix string, declared document.Output) ([]string, error) {
	file := evidence.File{Name: prefix + name}
	var reasons []string
	if !utf8.ValidString(name) {
		file.Name = prefix + "hex:" + hex.EncodeToString([]byte(name))
		reasons = append(reasons, evidence.OutputName)
	}
	kind, size, err := lookAt(dir, name)
	switch {
	case errors.Is(err, unix.ENOENT):
		return append(reasons, evidence.OutputMissing), nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", file.Name, err)
	case kind != "":
		file.Type = kind
		out.Files = append(out.Files, file)
		return append(reasons, evidence.OutputEntryType), nil
	}
	file.Bytes = uint64(size)
	if c.tooMuch(file.Bytes) {
		out.Files = append(out.Files, file)
		return append(reasons, evidence.OutputOversized), nil
	}
	found, err := c.judge(&file, dir, name, declared)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name, err)
	}
	out.Files = append(out.Files, file)
	return append(reasons, found...), nil
}

// tooMuch adds a file's size to the sum. The file that goes beyond the limit and
// all after it are oversized, so that never more than the limit is read.
func (c *collector) tooMuch(bytes uint64) bool {
	if c.over || bytes > c.request.Limit-c.sum {
		c.over = true
		return true
	}
	c.sum += bytes
	return false
}

// judge hashes a regular file, checks its container and compares the facts.
func (c *collector) judge(file *evidence.File, dir *os.File, name string, declared document.Output) ([]string, error) {
	opened, err := openFile(dir, name)
	if errors.Is(err, os.ErrPermission) {
		file.Problem = unreadable()
		return []string{evidence.OutputInvalid}, nil
	}
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	digest, read, err := evidence.Hash(c.ctx, opened, int64(file.Bytes))
	if err != nil {
		return nil, err
	}
	if read != int64(file.Bytes) {
		file.Problem = &evidence.Problem{Kind: "truncated", Code: "changed_while_read", Offset: read,
			Message: "the file became shorter while it was read: something that left the process group still writes it"}
		return []string{evidence.OutputInvalid}, nil
	}
	file.SHA256 = digest
	facts, err := media.Check(opened, int64(file.Bytes), declared.Container)
	if err != nil {
		var refusal *media.Refusal
		if !errors.As(err, &refusal) {
			return nil, err
		}
		file.Problem = &evidence.Problem{Kind: string(refusal.Kind), Code: refusal.Code, Offset: refusal.Offset, Message: refusal.Message}
		return []string{evidence.OutputInvalid}, nil
	}
	file.Facts = facts
	if file.Mismatches = mismatches(declared.Expect, facts); len(file.Mismatches) > 0 {
		return []string{evidence.ExpectationMismatch}, nil
	}
	return nil, nil
}

// unreadable: a program may take the permission to read away from what it
// delivers. That is its failure and not one of the capture.
func unreadable() *evidence.Problem {
	return &evidence.Problem{Kind: "unreadable", Code: "permission_denied", Message: "its permissions do not let its owner read it"}
}
