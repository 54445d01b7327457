package main

import "github.com/spf13/cobra"

// newMedia holds the commands that work on captures and media files without a
// plan.
func (a *app) newMedia() *cobra.Command {
	media := a.newGroup("media", "Captures, verifies and compares without a plan; checks and makes media files",
		`The commands for one capture or one file, without a plan. Their JSON documents are
those that a plan compiles to, so any slot of a plan can be repeated by hand.`)
	media.AddCommand(a.newPreflight(), a.newCapture(), a.newInspect(), a.newCompare(), a.newCheck(), a.newSynth())
	return media
}
