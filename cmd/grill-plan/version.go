package main

import (
	"context"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionInfo is what the build says of itself.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from changed files
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Prints version, revision and platform",
		Example: "  grill-plan version",
		Args:    exactArgs(),
		RunE: work(func(context.Context, []string) error {
			info := buildVersion()
			if asJSON {
				return a.printJSON(info)
			}
			a.out.Printf("%s", info)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// buildVersion reads what the Go tool stamped into the binary, so that there is
// no number to forget.
func buildVersion() versionInfo {
	info := versionInfo{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	if build.Main.Version != "" {
		info.Version = build.Main.Version
	}
	for _, setting := range build.Settings {
		switch setting.Key {
		case "vcs.revision":
			info.Revision = setting.Value
		case "vcs.modified":
			info.Modified = setting.Value == "true"
		}
	}
	return info
}

// String is the version for people.
func (v versionInfo) String() string {
	text := "grill-plan " + v.Version + "\n"
	if v.Revision != "" {
		text += "revision " + v.Revision
		if v.Modified {
			text += ", with changes"
		}
		text += "\n"
	}
	return text + v.Go + " " + v.Platform + "\n"
}
