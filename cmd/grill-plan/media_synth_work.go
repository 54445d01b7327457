package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/grill-plan/grill-plan/internal/view"
	"github.com/grill-plan/grill-plan/media/synth"
)

// synthesise generates one file and then sleeps for what is left of the least
// time. Nothing is written when an option cannot be met; a file that could not be
// finished is removed.
func (a *app) synthesise(ctx context.Context, flags *synthFlags, generate generator) error {
	least := time.NewTimer(flags.least())
	defer least.Stop()
	file := &lazyFile{name: flags.out}
	buffered := bufio.NewWriterSize(file, 1<<16)
	err := generate(ctx, buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err := file.finish(err); err != nil {
		return a.synthError(err)
	}
	select {
	case <-least.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lazyFile creates its file at the first write.
type lazyFile struct {
	name string
	file *os.File
}

func (f *lazyFile) Write(data []byte) (int, error) {
	if f.file == nil {
		file, err := os.Create(f.name)
		if err != nil {
			return 0, view.WithHint(err, "Choose another --out; its folder must exist and be writable.")
		}
		f.file = file
	}
	return f.file.Write(data)
}

func (f *lazyFile) finish(err error) error {
	if f.file == nil {
		return err
	}
	info, statErr := f.file.Stat()
	if closeErr := f.file.Close(); err == nil {
		err = closeErr
	}
	if err != nil && statErr == nil && info.Mode().IsRegular() { // and no device
		os.Remove(f.name)
	}
	return err
}

// synthError shows every option that cannot be met, each by the name of its flag.
func (a *app) synthError(err error) error {
	options := optionErrors(err)
	if len(options) == 0 {
		return err
	}
	for _, option := range options {
		flag := strings.ReplaceAll(strings.TrimSuffix(option.Option, "_us"), "_", "-")
		view.Error(a.err, fmt.Errorf("--%s: %s", flag, option.Message))
	}
	return exitWith(exitError)
}

func optionErrors(err error) []*synth.OptionError {
	if option, ok := err.(*synth.OptionError); ok {
		return []*synth.OptionError{option}
	}
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		var option *synth.OptionError
		if errors.As(err, &option) {
			return []*synth.OptionError{option}
		}
		return nil
	}
	var all []*synth.OptionError
	for _, err := range joined.Unwrap() {
		all = append(all, optionErrors(err)...)
	}
	return all
}

// seconds is a flag value in seconds, kept exactly in whole microseconds.
type seconds struct{ us uint64 }

// String gives the value in the form that Set takes.
func (s *seconds) String() string {
	whole, rest := s.us/1_000_000, s.us%1_000_000
	if rest == 0 {
		return strconv.FormatUint(whole, 10)
	}
	return strings.TrimRight(fmt.Sprintf("%d.%06d", whole, rest), "0")
}

// Type names the value in help.
func (s *seconds) Type() string { return "seconds" }

// Set takes plain decimals, as {duration_s} renders (TPL), and nothing else.
func (s *seconds) Set(text string) error {
	whole, decimals, _ := strings.Cut(text, ".")
	if len(decimals) > 6 || !digits(whole) || (decimals != "" && !digits(decimals)) || strings.HasSuffix(text, ".") {
		return errors.New("must be seconds with up to six decimals, such as 2.5")
	}
	w, err := strconv.ParseUint(whole, 10, 64)
	if err != nil {
		return errors.New("is too large")
	}
	rest, err := strconv.ParseUint(decimals+strings.Repeat("0", 6-len(decimals)), 10, 64)
	high, low := bits.Mul64(w, 1_000_000)
	sum, carry := bits.Add64(low, rest, 0)
	if err != nil || high != 0 || carry != 0 {
		return errors.New("is too large")
	}
	s.us = sum
	return nil
}

func digits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
