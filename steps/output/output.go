// Package output collects what a program delivered for the placeholders {output}
// and {output_dir}, hashes it, checks its container and compares the facts with
// the expectations.
//
// It owns rules OUT-01 to OUT-11 and the reasons that come from files. What it
// reports is a function of the files alone, so that inspect gets the same from
// retained evidence as capture got. Everything it opens may be hostile: links
// are not followed in any component below the run directory, special files are
// not opened, and no more than the declared bytes are read.
package output

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/grill-plan/grill-plan/internal/durable"
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
)

// Placeholders of outputs (DOC-35).
const (
	File = "output"
	Dir  = "output_dir"
)

// fileName is the name of {output} in a run directory: its extension is the
// container declared for it, whatever output_dir holds (OUT-02). ok is false
// when no output is declared for the placeholder.
func fileName(outputs []document.Output) (name string, ok bool) {
	for _, output := range outputs {
		if output.Placeholder == File {
			return "output." + output.Container, true
		}
	}
	return "", false
}

// Prepare makes what has to exist before a run: the empty directory of
// {output_dir} (OUT-03). The file of {output} does not exist, since the run
// directory is new (OUT-01).
func Prepare(runDir string, outputs []document.Output) error {
	if !declares(outputs, Dir) {
		return nil
	}
	if err := os.Mkdir(filepath.Join(runDir, evidence.OutputDir), durable.DirMode); err != nil {
		return fmt.Errorf("prepare the output directory: %w", err)
	}
	return nil
}

// Used keeps the declared outputs that a template of arguments names; setup may
// use some or none (TPL-16, SET-05).
func Used(outputs []document.Output, args []string) []document.Output {
	var used []document.Output
	for _, output := range outputs {
		placeholder := "{" + output.Placeholder + "}"
		if slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, placeholder) }) {
			used = append(used, output)
		}
	}
	return used
}

func declares(outputs []document.Output, placeholder string) bool {
	return slices.ContainsFunc(outputs, func(output document.Output) bool { return output.Placeholder == placeholder })
}
