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
			a.printVersion(info)
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

func (a *app) printVersion(info versionInfo) {
	a.out.Printf("grill-plan %s\n", info.Version)
	if info.Revision != "" {
		changed := ""
		if info.Modified {
			changed = ", with changes"
		}
		a.out.Printf("revision %s%s\n", info.Revision, changed)
	}
	a.out.Printf("%s %s\n", info.Go, info.Platform)
}
