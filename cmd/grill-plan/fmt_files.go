package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/grill-plan/grill-plan/internal/view"
	"github.com/grill-plan/grill-plan/plan"
)

// planFiles gives the files a PATH stands for.
func planFiles(path string) ([]string, error) {
	if path == standardInput {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, view.WithHint(fmt.Errorf("format: %w", err), "Name a plan file, a folder of .hcl files, or \"-\".")
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	files, err := filepath.Glob(filepath.Join(escapeGlob(path), "*.hcl"))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", path, err)
	}
	if len(files) == 0 {
		return nil, view.WithHint(fmt.Errorf("format %s: no .hcl files in this folder", path), "Name the folder of the plan; folders below are not looked into.")
	}
	slices.Sort(files)
	return files, nil
}

// escapeGlob makes a folder name match itself only.
func escapeGlob(path string) string {
	var out []byte
	for _, b := range []byte(path) {
		if bytes.IndexByte([]byte(`*?[\`), b) >= 0 {
			out = append(out, '\\')
		}
		out = append(out, b)
	}
	return string(out)
}

func readPlanFile(path string, stdin io.Reader) ([]byte, error) {
	if path == standardInput {
		source, err := io.ReadAll(stdin)
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return source, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("format: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, view.WithHint(fmt.Errorf("format %s: not a regular file", path), "Name a plan file, or \"-\" for standard input.")
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("format: %w", err)
	}
	return source, nil
}

// syntaxError carries the diagnostics of a file that does not parse.
type syntaxError struct {
	diags  hcl.Diagnostics
	name   string
	source []byte
}

func (e *syntaxError) Error() string { return e.diags.Error() }

// formatSource gives the canonical form, or why the text does not parse.
func formatSource(name string, source []byte) ([]byte, error) {
	formatted, diags := plan.Format(name, source)
	if diags.HasErrors() {
		return nil, &syntaxError{diags: diags, name: name, source: source}
	}
	return formatted, nil
}

// replaceFile writes a file anew under its name, with its permissions, through
// symbolic links. A kill leaves the old file or the new one.
func replaceFile(path string, data []byte) (err error) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("format: %w", err)
	}
	info, err := os.Stat(target)
	if err != nil {
		return fmt.Errorf("format: %w", err)
	}
	temporary, err := os.CreateTemp(filepath.Dir(target), ".grill-fmt-*")
	if err != nil {
		return fmt.Errorf("format %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			os.Remove(temporary.Name())
			err = fmt.Errorf("format %s: %w", path, err)
		}
	}()
	if _, err = temporary.Write(data); err == nil {
		err = temporary.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = temporary.Sync()
	}
	if closeErr := temporary.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), target)
}
