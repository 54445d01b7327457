package main

import (
	"context"

	"github.com/spf13/cobra"

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
Nothing is decoded.`,
		Example: "  grill-plan media check --sha256 testdata/corpus/generated/mp4_h264_aac.mp4",
		Args:    atLeastOne("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch flags.as {
			case "", media.PNG, media.JPEG, media.WAV, media.MP4:
			default:
				return usageError("Give png, jpeg, wav or mp4, or leave it out.", "%s--as cannot be %q", prefix(cmd), flags.as)
			}
			return a.check(cmd.Context(), args, flags)
		},
	}
	cmd.Flags().StringVar(&flags.as, "as", "", "check as `CONTAINER`: png, jpeg, wav or mp4 (default: what the content starts like)")
	cmd.Flags().BoolVar(&flags.sha256, "sha256", false, "print the SHA-256 of each file as well")
	cmd.Flags().BoolVar(&flags.json, "json", false, "print one JSON document")
	return cmd
}

func (a *app) check(ctx context.Context, files []string, flags checkFlags) error {
	return errNotWired
}
