package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/internal/view"
	"github.com/grill-plan/grill-plan/media"
)

type checkFlags struct {
	as     string
	sha256 bool
	json   bool
}

func (a *app) newCheck() *cobra.Command {
	var flags checkFlags
	cmd := &cobra.Command{
		Use:   "check [--as CONTAINER] [--sha256] FILE...",
		Short: "Checks media files: facts, or the reason of a refusal",
		Long: `Checks the container of PNG, JPEG, WAV and MP4 files by content; the name is never
asked. It prints the facts of a file, or why it is refused and at which byte.
Nothing is decoded. It exits 0 when every file passes.`,
		Example: "  grill-plan media check --sha256 testdata/corpus/generated/mp4_h264_aac.mp4",
		Args:    atLeastOne("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch flags.as {
			case "", media.PNG, media.JPEG, media.WAV, media.MP4:
			default:
				return usageError("Give png, jpeg, wav or mp4, or leave it out.", "%s--as cannot be %q", prefix(cmd), flags.as)
			}
			return a.check(args, flags)
		},
	}
	cmd.Flags().StringVar(&flags.as, "as", "", "check as `CONTAINER`: png, jpeg, wav or mp4 (default: what the content starts like)")
	cmd.Flags().BoolVar(&flags.sha256, "sha256", false, "print the SHA-256 of each file as well")
	cmd.Flags().BoolVar(&flags.json, "json", false, "print one JSON document")
	return cmd
}

// check looks at every file, whatever the ones before it gave.
func (a *app) check(paths []string, flags checkFlags) error {
	code := exitOK
	checked := []view.CheckedFile{}
	for _, path := range paths {
		file := checkFile(path, flags)
		if file.Facts == nil {
			code = exitError
		}
		checked = append(checked, file)
	}
	if flags.json {
		if err := a.printJSON(view.Checked{Kind: "media-check", Version: 1, Files: checked}); err != nil {
			return err
		}
		return exitWith(code)
	}
	for _, file := range checked {
		if file.Error != "" {
			view.Error(a.err, errors.New(file.Error))
			continue
		}
		view.WriteChecked(a.out, file)
	}
	return exitWith(code)
}

// checkFile judges one file by its content.
func checkFile(path string, flags checkFlags) view.CheckedFile {
	checked := view.CheckedFile{Path: path}
	file, size, err := openMedia(path)
	if err != nil {
		checked.Error = err.Error()
		return checked
	}
	defer file.Close()
	checked.Bytes = size
	if flags.sha256 {
		if checked.SHA256, err = hashOf(io.NewSectionReader(file, 0, size)); err != nil {
			checked.Error = fmt.Sprintf("hash %s: %v", path, err)
			return checked
		}
	}
	facts, err := checkContent(file, size, flags.as)
	var refusal *media.Refusal
	switch {
	case err == nil:
		checked.Facts = facts
	case errors.As(err, &refusal):
		checked.Problem = &view.Refusal{Kind: string(refusal.Kind), Code: refusal.Code, Offset: refusal.Offset, Message: refusal.Message}
	default:
		checked.Error = fmt.Sprintf("%s: %v", path, err)
	}
	return checked
}

// openMedia opens a regular file without waiting for a writer where the name is
// a pipe.
func openMedia(path string) (*os.File, int64, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("check %s: not a regular file", path)
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

func checkContent(file io.ReaderAt, size int64, as string) (*media.Facts, error) {
	if as != "" {
		return media.Check(file, size, as)
	}
	start := make([]byte, media.SniffLen)
	n, err := file.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read: %w", err)
	}
	container, ok := media.Sniff(start[:n])
	if !ok {
		return nil, &media.Refusal{Kind: "unsupported", Code: "unknown_container",
			Message: "content starts like none of png, jpeg, wav, mp4; --as says which it should be"}
	}
	return media.Check(file, size, container)
}

func hashOf(r io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
