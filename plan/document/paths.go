package document

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Names inside a run directory that placeholders render to (CAP-06, MRK-01).
const (
	outputDirName  = "output_dir"
	markerFileName = "markers.ndjson"
	arrayDirName   = "array_dir"
)

// RunDirName is the name of the directory of sample i. Ids never become path
// components (DOC-12).
func RunDirName(i int) string { return fmt.Sprintf("run-%06d", i) }

// OutputFileName is the file name of {output}: output.png and so on; "" when
// the workload does not declare that placeholder.
func OutputFileName(w *Workload) string {
	for i := range w.Outputs {
		if w.Outputs[i].Placeholder == "output" {
			return "output." + w.Outputs[i].Container
		}
	}
	return ""
}

// ProjectionPaths are the paths of one invocation relative to a capture
// directory that need not exist, slash separated (PRE-11). dir is the name of
// a run directory or of the setup directory.
func ProjectionPaths(w *Workload, dir string) Paths {
	p := Paths{
		OutputDir:  dir + "/" + outputDirName,
		MarkerFile: dir + "/" + markerFileName,
		ArrayDir:   dir + "/" + arrayDirName,
	}
	if name := OutputFileName(w); name != "" {
		p.Output = dir + "/" + name
	}
	return p
}

// Under gives the paths inside a capture directory of this machine (CAP-27).
func (p Paths) Under(root string) Paths {
	join := func(path string) string {
		if path == "" {
			return ""
		}
		return filepath.Join(root, filepath.FromSlash(path))
	}
	return Paths{
		Output: join(p.Output), OutputDir: join(p.OutputDir),
		MarkerFile: join(p.MarkerFile), ArrayDir: join(p.ArrayDir),
	}
}

// ExpandTilde replaces a leading ~ by home, the value of HOME, where it stands
// alone or before a slash; ~name stays as it is. It is for the paths that
// grill-plan opens itself: program, setup.program, cwd and cache.paths (DOC-44).
func ExpandTilde(path, home string) (string, error) {
	if path != "~" && !strings.HasPrefix(path, "~/") {
		return path, nil
	}
	if home == "" {
		return "", errors.New("expand ~: HOME is not set or empty; set it, or write the path in full")
	}
	return home + path[1:], nil
}
