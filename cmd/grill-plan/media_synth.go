package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

// synthFlags are shared by the three kinds.
type synthFlags struct {
	seed    uint64
	work    uint64
	atLeast time.Duration
	out     string
}

func (f *synthFlags) add(cmd *cobra.Command) {
	cmd.Flags().Uint64Var(&f.seed, "seed", 0, "`SEED` of the content; equal arguments give equal bytes")
	cmd.Flags().Uint64Var(&f.work, "work", 0, "`ROUNDS` of arithmetic to spend beside generating")
	cmd.Flags().DurationVar(&f.atLeast, "at-least", 0, "take at least `DURATION`, such as 150ms, sleeping the rest")
	cmd.Flags().StringVar(&f.out, "out", "", "write to `FILE`")
}

func (a *app) newSynth() *cobra.Command {
	synth := a.newGroup("synth", "Makes a small picture, sound or video from a seed",
		`A small deterministic generator in pure Go, so that a first run needs nothing else
installed. Equal arguments give equal bytes on every machine.`)
	synth.AddCommand(a.newSynthImage(), a.newSynthAudio(), a.newSynthVideo())
	return synth
}

type synthImageFlags struct {
	synthFlags
	width, height uint64
	container     string
}

func (a *app) newSynthImage() *cobra.Command {
	var flags synthImageFlags
	cmd := &cobra.Command{
		Use:     "image --out FILE",
		Short:   "Makes a PNG or JPEG picture",
		Example: "  grill-plan media synth image --width 320 --height 180 --seed 7 --out picture.png",
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := requireFlags(cmd, "out"); err != nil {
				return err
			}
			return a.synthImage(cmd.Context(), flags)
		},
	}
	flags.add(cmd)
	cmd.Flags().Uint64Var(&flags.width, "width", 256, "`PIXELS` across")
	cmd.Flags().Uint64Var(&flags.height, "height", 256, "`PIXELS` down")
	cmd.Flags().StringVar(&flags.container, "container", "png", "`CONTAINER`: png or jpeg")
	return cmd
}

type synthAudioFlags struct {
	synthFlags
	duration   time.Duration
	sampleRate uint64
	channels   uint64
}

func (a *app) newSynthAudio() *cobra.Command {
	var flags synthAudioFlags
	cmd := &cobra.Command{
		Use:     "audio --out FILE",
		Short:   "Makes a PCM WAV sound",
		Example: "  grill-plan media synth audio --duration 2s --seed 7 --out sound.wav",
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := requireFlags(cmd, "out"); err != nil {
				return err
			}
			return a.synthAudio(cmd.Context(), flags)
		},
	}
	flags.add(cmd)
	cmd.Flags().DurationVar(&flags.duration, "duration", time.Second, "`DURATION` of the sound, in whole microseconds")
	cmd.Flags().Uint64Var(&flags.sampleRate, "sample-rate", 48000, "frames per second, in `HZ`")
	cmd.Flags().Uint64Var(&flags.channels, "channels", 1, "`NUMBER` of channels")
	return cmd
}

type synthVideoFlags struct {
	synthFlags
	width, height uint64
	frames, fps   uint64
	audio         bool
}

func (a *app) newSynthVideo() *cobra.Command {
	var flags synthVideoFlags
	cmd := &cobra.Command{
		Use:     "video --out FILE",
		Short:   "Makes a Motion-JPEG MP4 video, with sound if wanted",
		Example: "  grill-plan media synth video --width 320 --height 180 --frames 48 --fps 24 --audio --seed 7 --out clip.mp4",
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := requireFlags(cmd, "out"); err != nil {
				return err
			}
			return a.synthVideo(cmd.Context(), flags)
		},
	}
	flags.add(cmd)
	cmd.Flags().Uint64Var(&flags.width, "width", 256, "`PIXELS` across")
	cmd.Flags().Uint64Var(&flags.height, "height", 256, "`PIXELS` down")
	cmd.Flags().Uint64Var(&flags.frames, "frames", 24, "`NUMBER` of frames")
	cmd.Flags().Uint64Var(&flags.fps, "fps", 24, "frames per second, a whole `NUMBER`")
	cmd.Flags().BoolVar(&flags.audio, "audio", false, "add a PCM sound track")
	return cmd
}

func (a *app) synthImage(ctx context.Context, flags synthImageFlags) error { return errNotWired }
func (a *app) synthAudio(ctx context.Context, flags synthAudioFlags) error { return errNotWired }
func (a *app) synthVideo(ctx context.Context, flags synthVideoFlags) error { return errNotWired }
