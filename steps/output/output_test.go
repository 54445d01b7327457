package output

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/grill-plan/grill-plan/media"
	"github.com/grill-plan/grill-plan/plan/document"
	"github.com/grill-plan/grill-plan/steps/evidence"
)

func pointer[T any](value T) *T { return &value }

func pngBytes(t *testing.T, width, height int) []byte {
	t.Helper()
	var buffer bytes.Buffer
	if err := png.Encode(&buffer, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// wavBytes is 16 bit PCM.
func wavBytes(channels, rate, frames uint32) []byte {
	data := frames * channels * 2
	out := []byte("RIFF")
	out = binary.LittleEndian.AppendUint32(out, 36+data)
	out = append(out, "WAVEfmt "...)
	out = binary.LittleEndian.AppendUint32(out, 16)
	out = binary.LittleEndian.AppendUint16(out, 1)
	out = binary.LittleEndian.AppendUint16(out, uint16(channels))
	out = binary.LittleEndian.AppendUint32(out, rate)
	out = binary.LittleEndian.AppendUint32(out, rate*channels*2)
	out = binary.LittleEndian.AppendUint16(out, uint16(channels*2))
	out = binary.LittleEndian.AppendUint16(out, 16)
	out = append(out, "data"...)
	out = binary.LittleEndian.AppendUint32(out, data)
	return append(out, make([]byte, data)...)
}

func write(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func pngOutput(placeholder string) document.Output {
	return document.Output{Placeholder: placeholder, Container: media.PNG, Expect: document.Expect{Width: pointer[uint64](3), Height: pointer[uint64](2)}}
}

func collect(t *testing.T, dir string, request Request) []evidence.Output {
	t.Helper()
	outputs, err := Collect(t.Context(), dir, request)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Collect(t.Context(), dir, request)
	if err != nil || !reflect.DeepEqual(outputs, again) {
		t.Errorf("the same files give something else the second time: %+v, %+v, %v", outputs, again, err)
	}
	return outputs
}

func reasons(outputs []evidence.Output) string {
	return strings.Join(evidence.SampleReasons(evidence.Invocation{}, outputs), " ")
}

// OUT-01, OUT-02: the extension of {output} follows its own container, also when
// output_dir declares another.
func TestFileName(t *testing.T) {
	both := []document.Output{{Placeholder: Dir, Container: media.JPEG}, {Placeholder: File, Container: media.PNG}}
	if name, ok := fileName(both); !ok || name != "output.png" {
		t.Errorf("got %s", name)
	}
	for _, container := range []string{media.PNG, media.JPEG, media.WAV, media.MP4} {
		if name, ok := fileName([]document.Output{{Placeholder: File, Container: container}}); !ok || name != "output."+container {
			t.Errorf("%s: got %s", container, name)
		}
	}
	if name, ok := fileName(both[:1]); ok {
		t.Errorf("an output that is not declared has the name %s", name)
	}
}

// OUT-03: the directory exists and is empty; the file does not exist.
func TestPrepare(t *testing.T) {
	dir := t.TempDir()
	outputs := []document.Output{pngOutput(File), pngOutput(Dir)}
	if err := Prepare(dir, outputs); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, evidence.OutputDir))
	if err != nil || len(entries) != 0 {
		t.Errorf("entries %v, error %v", entries, err)
	}
	info, err := os.Stat(filepath.Join(dir, evidence.OutputDir))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("PRV-02: mode %v, error %v", info.Mode(), err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("OUT-01: something beside the directory was made: %v", entries)
	}
}

// OUT-06, OUT-09: only a regular file that is not a link is opened.
func TestSingleFile(t *testing.T) {
	good := pngBytes(t, 3, 2)
	for _, c := range []struct {
		name, want, kind string
		make             func(path string) error
	}{
		{"good", "", "", func(path string) error { return os.WriteFile(path, good, 0o600) }},
		{"missing", "output_missing", "", func(string) error { return nil }},
		{"empty", "output_invalid", "", func(path string) error { return os.WriteFile(path, nil, 0o600) }},
		{"wrong size of picture", "expectation_mismatch", "", func(path string) error { return os.WriteFile(path, pngBytes(t, 4, 2), 0o600) }},
		{"directory", "output_entry_type", evidence.TypeDirectory, func(path string) error { return os.Mkdir(path, 0o700) }},
		{"fifo", "output_entry_type", evidence.TypeFIFO, func(path string) error { return syscall.Mkfifo(path, 0o600) }},
		{"link to a good file", "output_entry_type", evidence.TypeSymlink, func(path string) error {
			target := filepath.Join(t.TempDir(), "good")
			if err := os.WriteFile(target, good, 0o600); err != nil {
				return err
			}
			return os.Symlink(target, path)
		}},
		{"dangling link", "output_entry_type", evidence.TypeSymlink, func(path string) error { return os.Symlink("/nothing", path) }},
		{"link to a device", "output_entry_type", evidence.TypeSymlink, func(path string) error { return os.Symlink("/dev/zero", path) }},
		{"socket", "output_entry_type", evidence.TypeSocket, func(path string) error {
			listener, err := net.Listen("unix", path)
			if err == nil {
				t.Cleanup(func() { listener.Close() })
			}
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "o") // short: a socket's path is bounded
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			if err := c.make(filepath.Join(dir, "output.png")); err != nil {
				t.Fatal(err)
			}
			outputs := collect(t, dir, Request{Outputs: []document.Output{pngOutput(File)}, Limit: 1 << 20})
			if got := reasons(outputs); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if absent := outputs[0].State == evidence.OutputAbsent; absent != (c.name == "missing") {
				t.Errorf("state %s", outputs[0].State)
			}
			if len(outputs[0].Files) > 0 && outputs[0].Files[0].Type != c.kind {
				t.Errorf("type %q, want %q", outputs[0].Files[0].Type, c.kind)
			}
			hashed := len(outputs[0].Files) > 0 && outputs[0].Files[0].SHA256 != ""
			if regular := c.kind == "" && c.name != "missing"; hashed != regular {
				t.Errorf("CAP-31: hashed: %v, regular: %v", hashed, regular)
			}
		})
	}
}

// PNG-08: facts, hash and size of a good file, and the refusal of a JPEG that is
// named .png.
func TestWhatAFileSays(t *testing.T) {
	dir := t.TempDir()
	good := pngBytes(t, 3, 2)
	write(t, dir, "output.png", good)
	request := Request{Outputs: []document.Output{pngOutput(File)}, Limit: 1 << 20}
	file := collect(t, dir, request)[0].Files[0]
	want := evidence.File{Name: "output.png", Bytes: uint64(len(good)), SHA256: evidence.Digest(good), Facts: &media.Facts{
		Container: media.PNG, Bytes: int64(len(good)), Validation: media.ContainerChecked, Image: &media.ImageFacts{Width: 3, Height: 2}}}
	if !reflect.DeepEqual(file, want) {
		t.Errorf("got %+v, want %+v", file, want)
	}
	write(t, dir, "output.png", []byte("\xff\xd8\xff\xe0 no picture"))
	file = collect(t, dir, request)[0].Files[0]
	if file.Problem == nil || file.Problem.Code == "" || file.Facts != nil {
		t.Errorf("a JPEG named .png gave %+v", file)
	}
	write(t, dir, "output.png", pngBytes(t, 2, 3))
	file = collect(t, dir, request)[0].Files[0]
	if want := []evidence.Mismatch{{Field: "width", Expected: "3", Found: "2"}, {Field: "height", Expected: "2", Found: "3"}}; !slices.Equal(file.Mismatches, want) {
		t.Errorf("got %+v, want %+v", file.Mismatches, want)
	}
}

// OUT-04, OUT-05, OUT-07, OUT-08, OUT-10: the directory holds exactly the
// declared number of regular files with UTF-8 names, each of which is checked.
func TestDirectory(t *testing.T) {
	good, other := pngBytes(t, 3, 2), pngBytes(t, 5, 5)
	for _, c := range []struct {
		name   string
		images *uint64
		files  map[string][]byte
		more   func(dir string) error
		want   string
	}{
		{"one of one", nil, map[string][]byte{"x.bin": good}, nil, ""},
		{"two of two", pointer[uint64](2), map[string][]byte{"a": good, "b": good}, nil, ""},
		{"none", pointer[uint64](2), nil, nil, "output_missing output_count"},
		{"fewer", pointer[uint64](2), map[string][]byte{"a": good}, nil, "output_count"},
		{"more", nil, map[string][]byte{"a": good, "b": good}, nil, "output_count"},
		{"hidden file counts", nil, map[string][]byte{"a": good, ".DS_Store": good}, nil, "output_count"},
		{"hidden file is no picture", nil, map[string][]byte{"a": good, ".DS_Store": nil}, nil, "output_count output_invalid"},
		{"each must match", pointer[uint64](2), map[string][]byte{"a": good, "b": other}, nil, "expectation_mismatch"},
		{"a name that is not UTF-8", nil, map[string][]byte{"\xff": good}, nil, "output_name"},
		{"subdirectory", pointer[uint64](2), map[string][]byte{"a": good}, func(dir string) error { return os.Mkdir(filepath.Join(dir, "b"), 0o700) }, "output_entry_type"},
		{"link", nil, nil, func(dir string) error { return os.Symlink("/etc/hostname", filepath.Join(dir, "b")) }, "output_entry_type"},
		{"fifo", nil, nil, func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "b"), 0o600) }, "output_entry_type"},
		{"removed", nil, nil, os.Remove, "output_missing"},
		{"replaced by a link", nil, nil, func(dir string) error {
			elsewhere := t.TempDir()
			write(t, elsewhere, "a", good)
			if err := os.Remove(dir); err != nil {
				return err
			}
			return os.Symlink(elsewhere, dir)
		}, "output_entry_type"},
		{"replaced by a file", nil, nil, func(dir string) error {
			if err := os.Remove(dir); err != nil {
				return err
			}
			return os.WriteFile(dir, good, 0o600)
		}, "output_entry_type"},
		{"thousands of entries", nil, nil, func(dir string) error {
			for i := range maxListed + 1 {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
					return err
				}
			}
			return nil
		}, "output_count"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			declared := []document.Output{pngOutput(Dir)}
			if err := Prepare(dir, declared); err != nil {
				t.Fatal(err)
			}
			inside := filepath.Join(dir, evidence.OutputDir)
			for name, data := range c.files {
				write(t, inside, name, data)
			}
			if c.more != nil {
				if err := c.more(inside); err != nil {
					t.Fatal(err)
				}
			}
			outputs := collect(t, dir, Request{Outputs: declared, Images: c.images, Limit: 1 << 20})
			if got := reasons(outputs); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// OUT-07, OUT-11: byte order of names, {output} before {output_dir}.
func TestOrder(t *testing.T) {
	dir := t.TempDir()
	declared := []document.Output{pngOutput(Dir), pngOutput(File)}
	if err := Prepare(dir, declared); err != nil {
		t.Fatal(err)
	}
	names := []string{".a", "10.png", "9.png", "B", "a", "\xc3\xa4"}
	for _, name := range names {
		write(t, filepath.Join(dir, evidence.OutputDir), name, pngBytes(t, 3, 2))
	}
	write(t, dir, "output.png", pngBytes(t, 3, 2))
	outputs := collect(t, dir, Request{Outputs: declared, Images: pointer[uint64](6), Limit: 1 << 20})
	got := []string{}
	for _, output := range outputs {
		for _, file := range output.Files {
			got = append(got, file.Name)
		}
	}
	want := []string{"output.png"}
	for _, name := range names {
		want = append(want, "output_dir/"+name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// CAP-31: the bound is the sum over the invocation, equality is admitted; an
// oversized file is recorded with its size and neither hashed nor judged.
func TestOversized(t *testing.T) {
	dir := t.TempDir()
	declared := []document.Output{pngOutput(File), pngOutput(Dir)}
	if err := Prepare(dir, declared); err != nil {
		t.Fatal(err)
	}
	good := pngBytes(t, 3, 2)
	write(t, dir, "output.png", good)
	write(t, filepath.Join(dir, evidence.OutputDir), "a", good)
	both := uint64(2 * len(good))
	if got := reasons(collect(t, dir, Request{Outputs: declared, Limit: both})); got != "" {
		t.Errorf("exactly the bound: %q", got)
	}
	outputs := collect(t, dir, Request{Outputs: declared, Limit: both - 1})
	if got := reasons(outputs); got != "output_oversized" {
		t.Errorf("one byte above: %q", got)
	}
	first, second := outputs[0].Files[0], outputs[1].Files[0]
	if first.SHA256 == "" || second.SHA256 != "" || second.Facts != nil || second.Bytes != uint64(len(good)) {
		t.Errorf("got %+v and %+v", first, second)
	}
	huge := filepath.Join(dir, "output.png")
	if err := os.Truncate(huge, 1<<40); err != nil {
		t.Skip("no sparse files")
	}
	outputs = collect(t, dir, Request{Outputs: declared, Limit: both})
	if got := reasons(outputs); got != "output_oversized" || outputs[0].Files[0].Bytes != 1<<40 {
		t.Errorf("a file of 1 TiB: %q, %+v", got, outputs[0].Files)
	}
}

// A file whose permissions keep its owner out is the program's failure.
func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := t.TempDir()
	write(t, dir, "output.png", pngBytes(t, 3, 2))
	if err := os.Chmod(filepath.Join(dir, "output.png"), 0); err != nil {
		t.Fatal(err)
	}
	if got := reasons(collect(t, dir, Request{Outputs: []document.Output{pngOutput(File)}, Limit: 1 << 20})); got != "output_invalid" {
		t.Errorf("got %q", got)
	}
}

// An error, not a reason, when the run directory itself is not what it was.
func TestRunDirectoryGone(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "nothing"), link} {
		if _, err := Collect(t.Context(), path, Request{Outputs: []document.Output{pngOutput(File)}, Limit: 1}); err == nil {
			t.Errorf("%s gave no error", path)
		}
	}
}

// OUT-04: the cell's own request says how many images there are, the workload's
// for setup.
func TestForSample(t *testing.T) {
	w := &document.Workload{
		Request: document.Request{ImagesPerRun: pointer[uint64](1)},
		Cells:   []document.Cell{{ID: "own", Request: &document.Request{ImagesPerRun: pointer[uint64](4)}}, {ID: "plain"}},
		Limits:  document.Limits{OutputBytes: 77},
	}
	for cell, want := range map[string]uint64{"own": 4, "plain": 1, "": 1} {
		if got := ForSample(w, cell); *got.Images != want || got.Limit != 77 {
			t.Errorf("%q: got %+v", cell, got)
		}
	}
}

// SET-05, TPL-16: setup has the outputs that its arguments name.
func TestUsed(t *testing.T) {
	declared := []document.Output{pngOutput(File), pngOutput(Dir)}
	if got := Used(declared, []string{"--to={output_dir}/x"}); len(got) != 1 || got[0].Placeholder != Dir {
		t.Errorf("got %+v", got)
	}
	if got := Used(declared, []string{"nothing", "output"}); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}
