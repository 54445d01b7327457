package plan

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxFileBytes bounds plan files, variable files and what file() reads.
const maxFileBytes = 16 << 20

// sourceFile is one file of the plan.
type sourceFile struct {
	name    string // inside the plan folder
	display string // as diagnostics name it: below the path that was given
	data    []byte
}

// errNoPlanFile is what a folder without plan files gives.
var errNoPlanFile = errors.New("holds no .hcl file")

// readPlanFiles reads the plan at path: one file, or every .hcl file of a
// folder in byte order of their names (PLN-01). It gives the folder absolute,
// and as the caller wrote it.
func readPlanFiles(path string) (files []sourceFile, folder, display string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", "", fmt.Errorf("cannot open the plan %s: %w; name a .hcl file or a folder of them", path, plainPathError(err))
	}
	names := []string{filepath.Base(path)}
	display = filepath.Dir(path)
	if info.IsDir() {
		display = path
		if names, err = planNames(path); err != nil {
			return nil, "", "", err
		}
	} else if !strings.HasSuffix(path, ".hcl") {
		return nil, "", "", fmt.Errorf("%s does not end in .hcl; give a plan file or a folder of plan files", path)
	}
	if folder, err = filepath.Abs(display); err != nil {
		return nil, "", "", fmt.Errorf("cannot tell the folder of the plan: %w", err)
	}
	for _, name := range names {
		shown := filepath.Join(display, name)
		data, err := readRegular(shown, maxFileBytes)
		if err != nil {
			return nil, "", "", fmt.Errorf("cannot read %s: %w", shown, err)
		}
		files = append(files, sourceFile{name: name, display: shown, data: data})
	}
	return files, folder, display, nil
}

// planNames lists the plan files of a folder; os.ReadDir sorts by name.
func planNames(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("cannot list the plan folder: %w", plainPathError(err))
	}
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasSuffix(name, ".hcl") && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s %w; a plan is one .hcl file or a folder of them", folder, errNoPlanFile)
	}
	return names, nil
}

// readRegular reads a regular file of at most limit bytes. It does not block on
// a FIFO or device and does not read what is too large (DOC-09, DOC-10).
func readRegular(path string, limit int64) ([]byte, error) {
	file, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", plainPathError(err))
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("is larger than %d bytes", limit)
	}
	return data, nil
}

// openRegular opens without blocking and looks at what was opened, so that the
// file cannot be exchanged between the look and the open.
func openRegular(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, plainPathError(err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, plainPathError(err)
	}
	if !info.Mode().IsRegular() {
		file.Close()
		return nil, errors.New("is not a regular file")
	}
	return file, nil
}

// plainPathError drops the operation and the path of an error whose path the
// caller names already: plan diagnostics show paths as written, and no
// absolute ones.
func plainPathError(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}
