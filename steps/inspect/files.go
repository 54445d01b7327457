package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
)

// open reads the completion and checks its seal, and that the capture directory
// holds nothing that has no place there (INS-05).
func open(ctx context.Context, dir string) (*verifier, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		if err == nil {
			err = fmt.Errorf("%s is not a directory", dir)
		}
		return nil, &Error{"", CodeNotADirectory, err}
	}
	data, err := evidence.ReadBytes(filepath.Join(dir, evidence.CompletionFile), evidence.MaxRecordBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, wrong(evidence.CompletionFile, CodeIncomplete, "there is none: the capture was not completed, and cannot be")
	}
	if err != nil {
		return nil, &Error{evidence.CompletionFile, CodeUnreadable, err}
	}
	completion, err := evidence.Read[evidence.Completion](data)
	if err != nil {
		return nil, &Error{evidence.CompletionFile, CodeRecordInvalid, err}
	}
	if err := evidence.CheckSeal(completion); err != nil {
		return nil, &Error{evidence.CompletionFile, CodeDigestMismatch, err}
	}
	v := &verifier{
		ctx: ctx, dir: dir, result: &Result{Completion: completion},
		listed: make(map[string]evidence.EvidenceFile, len(completion.Files)),
		inDir:  map[string][]string{}, used: map[string]bool{},
	}
	last := ""
	for _, file := range completion.Files {
		if file.Path <= last {
			return nil, wrong(evidence.CompletionFile, CodeRecordInvalid, "its files are not in order, or one is listed twice: %.200q", file.Path)
		}
		last = file.Path
		v.listed[file.Path] = file
		if top, rest, below := strings.Cut(file.Path, "/"); below {
			v.inDir[top] = append(v.inDir[top], rest)
		}
	}
	return v, v.checkNames()
}

// checkNames refuses what has no place in a capture directory. Names are read in
// portions, so that a directory of any size costs no memory.
func (v *verifier) checkNames() error {
	root, err := os.Open(v.dir)
	if err != nil {
		return &Error{"", CodeNotADirectory, err}
	}
	defer root.Close()
	for {
		entries, err := root.ReadDir(256)
		for _, entry := range entries {
			if err := v.checkName(entry); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return &Error{"", CodeUnreadable, err}
		}
	}
}

// checkName admits the completion, what it lists and the directories that hold
// what it lists.
func (v *verifier) checkName(entry fs.DirEntry) error {
	name := entry.Name()
	_, listed := v.listed[name]
	switch {
	case name == evidence.CompletionFile || listed:
		if !entry.Type().IsRegular() {
			return wrong(name, CodeUnreadable, "it is not a regular file")
		}
	case len(v.inDir[name]) > 0:
		if !entry.IsDir() {
			return wrong(name, CodeUnreadable, "it is not a directory")
		}
	default:
		return wrong(name, CodeUnexpected, "it has no place in this capture; a run's own leftovers are admitted in its run directory only")
	}
	return nil
}

// lookUp finds what the completion says of a file that has to exist.
func (v *verifier) lookUp(name string) (evidence.EvidenceFile, error) {
	file, ok := v.listed[name]
	if !ok {
		if _, err := os.Lstat(v.path(name)); err == nil {
			return file, wrong(name, CodeUnexpected, "the completion does not list it")
		}
		return file, wrong(name, CodeMissing, "the completion does not list it")
	}
	v.used[name] = true
	return file, nil
}

func (v *verifier) path(name string) string { return filepath.Join(v.dir, filepath.FromSlash(name)) }

// read gives the bytes of a listed file, which have to be those recorded.
func (v *verifier) read(name string, limit int64) ([]byte, error) {
	file, err := v.lookUp(name)
	if err != nil {
		return nil, err
	}
	data, err := evidence.ReadBytes(v.path(name), limit)
	if err != nil {
		return nil, unreadable(name, err)
	}
	if uint64(len(data)) != file.Bytes || evidence.Digest(data) != file.SHA256 {
		return nil, wrong(name, CodeDigestMismatch, "its bytes are not those that were recorded (INS-04)")
	}
	return data, nil
}

// small files are read whole: the buffers of reading ahead would cost more.
const small = 64 << 10

// hash checks a listed file that is not parsed.
func (v *verifier) hash(name string) (evidence.EvidenceFile, error) {
	listed, err := v.lookUp(name)
	if err != nil {
		return listed, err
	}
	if listed.Bytes <= small {
		if info, err := os.Lstat(v.path(name)); err == nil && info.Mode().IsRegular() && info.Size() > small {
			return listed, wrong(name, CodeDigestMismatch, "it has %d bytes; %d were recorded", info.Size(), listed.Bytes)
		}
		_, err := v.read(name, small)
		return listed, err
	}
	file, err := openRegular(v.path(name))
	if err != nil {
		return listed, unreadable(name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return listed, unreadable(name, err)
	}
	if uint64(info.Size()) != listed.Bytes {
		return listed, wrong(name, CodeDigestMismatch, "it has %d bytes; %d were recorded", info.Size(), listed.Bytes)
	}
	digest, _, err := evidence.Hash(v.ctx, file, info.Size())
	switch {
	case v.ctx.Err() != nil:
		return listed, fmt.Errorf("inspect %s: %w", v.dir, context.Cause(v.ctx))
	case err != nil:
		return listed, unreadable(name, err)
	case digest != listed.SHA256:
		return listed, wrong(name, CodeDigestMismatch, "its bytes are not those that were recorded (INS-04)")
	}
	return listed, nil
}

func unreadable(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return wrong(name, CodeMissing, "the completion lists it and it is not there")
	}
	return &Error{name, CodeUnreadable, err}
}

// record reads a listed record and gives the digest of its bytes.
func record[T evidence.Record](v *verifier, name string) (T, string, error) {
	var none T
	data, err := v.read(name, evidence.MaxRecordBytes)
	if err != nil {
		return none, "", err
	}
	found, err := evidence.Read[T](data)
	if err != nil {
		return none, "", &Error{name, CodeRecordInvalid, err}
	}
	return found, evidence.Digest(data), nil
}

// readDocuments parses the three documents by the rules they were admitted by.
func (v *verifier) readDocuments() error {
	var err error
	if v.result.Workload, err = readDocument(v, evidence.WorkloadFile, document.ParseWorkload); err != nil {
		return err
	}
	if v.result.Runner, err = readDocument(v, evidence.RunnerFile, document.ParseRunner); err != nil {
		return err
	}
	v.result.Deployment, err = readDocument(v, evidence.DeploymentFile, document.ParseDeployment)
	return err
}

func readDocument[T any](v *verifier, name string, parse func(string, []byte) (*T, []document.Problem)) (*T, error) {
	data, err := v.read(name, document.MaxBytes)
	if err != nil {
		return nil, err
	}
	parsed, problems := parse(name, data)
	if len(problems) > 0 {
		return nil, wrong(name, CodeDocumentInvalid, "%s", describe(problems))
	}
	return parsed, nil
}

func describe(problems []document.Problem) string {
	first := problems[0]
	return strings.TrimSpace(fmt.Sprintf("%s %s (%s); %d problems in all", first.Path, first.Message, first.Rule, len(problems)))
}

// nothingElse refuses a listed file that has no place in the capture (INS-05).
func (v *verifier) nothingElse() error {
	for _, file := range v.result.Completion.Files {
		if !v.used[file.Path] {
			return wrong(file.Path, CodeUnexpected, "the completion lists it, and no record accounts for it")
		}
	}
	return nil
}
