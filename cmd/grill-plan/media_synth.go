package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/grill-plan/grill-plan/media/synth"
)

// synthFlags are shared by the three kinds.
type synthFlags struct {
	seed    uint64
	work    uint64
	atLeast time.Duration
	jitter  time.Duration
	out     string
}

func (f *synthFlags) add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.Uint64Var(&f.seed, "seed", 0, "`SEED` of the content")
	set.Uint64Var(&f.work, "work", 0, "units of computation to spend, `NUMBER`; they change no byte")
	set.DurationVar(&f.atLeast, "at-least", 0, "take at least `DURATION`, such as 150ms, sleeping the rest")
	set.DurationVar(&f.jitter, "jitter", 0, "add (SEED mod 4) quarters of `DURATION` to --at-least")
	set.StringVar(&f.out, "out", "", "write to `FILE`, replacing it")
}

// least is how long the command takes at least. The share of the jitter is plain
// to predict, so that examples can say what they will show.
func (f *synthFlags) least() time.Duration {
	return f.atLeast + f.jitter/4*time.Duration(f.seed%4)
}

// check rejects what the shared flags cannot mean.
func (f *synthFlags) check(cmd *cobra.Command) error {
	if err := requireFlags(cmd, "out"); err != nil {
		return err
	}
	const most = 24 * time.Hour
	for name, value := range map[string]time.Duration{"at-least": f.atLeast, "jitter": f.jitter} {
		if value < 0 || value > most {
			return usageError("Give a duration between 0s and 24h.", "%s--%s cannot be %s", prefix(cmd), name, value)
		}
	}
	return nil
}

func (a *app) newSynth() *cobra.Command {
	group := a.newGroup("synth", "Makes a small picture, sound or video from a seed",
		`A small deterministic generator in pure Go, so that a first run needs nothing else
installed. Equal arguments give equal bytes on every machine.`)
	group.AddCommand(a.newSynthImage(), a.newSynthAudio(), a.newSynthVideo())
	return group
}

// newSynthKind is what the three kinds have in common: generate is called once
// flags have been parsed.
func (a *app) newSynthKind(cmd *cobra.Command, flags *synthFlags, generate generator) *cobra.Command {
	cmd.Args = exactArgs()
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := flags.check(cmd); err != nil {
			return err
		}
		return a.synthesise(cmd.Context(), flags, generate)
	}
	flags.add(cmd)
	return cmd
}

// generator writes one media file.
type generator func(ctx context.Context, w io.Writer) error

func (a *app) newSynthImage() *cobra.Command {
	var flags synthFlags
	var options synth.ImageOptions
	cmd := a.newSynthKind(&cobra.Command{
		Use:     "image --out FILE",
		Short:   "Makes a PNG or JPEG picture",
		Example: "  grill-plan media synth image --width 320 --height 180 --seed 7 --out picture.png",
	}, &flags, func(ctx context.Context, w io.Writer) error {
		options.Seed, options.Work = flags.seed, flags.work
		return synth.Image(ctx, w, options)
	})
	cmd.Flags().StringVar(&options.Format, "format", synth.PNG, "`FORMAT`: png or jpeg")
	cmd.Flags().Uint64Var(&options.Width, "width", 256, "`PIXELS` across")
	cmd.Flags().Uint64Var(&options.Height, "height", 256, "`PIXELS` down")
	cmd.Flags().Uint64Var(&options.Quality, "quality", 90, "`QUALITY` of JPEG, 90 to 100")
	return cmd
}

func (a *app) newSynthAudio() *cobra.Command {
	var flags synthFlags
	var options synth.AudioOptions
	duration := seconds{us: 1_000_000}
	cmd := a.newSynthKind(&cobra.Command{
		Use:     "audio --out FILE",
		Short:   "Makes a PCM WAV sound",
		Example: "  grill-plan media synth audio --duration 2.5 --seed 7 --out sound.wav",
	}, &flags, func(ctx context.Context, w io.Writer) error {
		options.DurationUS, options.Seed, options.Work = duration.us, flags.seed, flags.work
		return synth.Audio(ctx, w, options)
	})
	cmd.Flags().Var(&duration, "duration", "length of the sound in `SECONDS`, up to six decimals, as {duration_s} gives it")
	cmd.Flags().Uint64Var(&options.SampleRate, "sample-rate", 48000, "sample frames per second, `HZ`")
	cmd.Flags().Uint64Var(&options.Channels, "channels", 1, "`NUMBER` of channels")
	return cmd
}

func (a *app) newSynthVideo() *cobra.Command {
	var flags synthFlags
	var options synth.VideoOptions
	var sound synth.VideoAudio
	var audio bool
	cmd := a.newSynthKind(&cobra.Command{
		Use:     "video --out FILE",
		Short:   "Makes a Motion-JPEG MP4 video, with sound if wanted",
		Example: "  grill-plan media synth video --width 320 --height 180 --frames 48 --fps 24 --audio --seed 7 --out clip.mp4",
	}, &flags, func(ctx context.Context, w io.Writer) error {
		options.Seed, options.Work = flags.seed, flags.work
		if audio {
			options.Audio = &sound
		}
		return synth.Video(ctx, w, options)
	})
	set := cmd.Flags()
	set.Uint64Var(&options.Width, "width", 256, "`PIXELS` across")
	set.Uint64Var(&options.Height, "height", 256, "`PIXELS` down")
	set.Uint64Var(&options.Frames, "frames", 24, "`NUMBER` of frames")
	set.Uint64Var(&options.FPS, "fps", 24, "frames per second, a whole `NUMBER`")
	set.Uint64Var(&options.Quality, "quality", 90, "`QUALITY` of the pictures, 90 to 100")
	set.BoolVar(&audio, "audio", false, "add a PCM sound track as long as the video")
	set.Uint64Var(&sound.SampleRate, "sample-rate", 48000, "with --audio: sample frames per second, `HZ`")
	set.Uint64Var(&sound.Channels, "channels", 1, "with --audio: `NUMBER` of channels")
	return cmd
}
