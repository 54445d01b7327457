package capture

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/grill-plan/grill-plan/steps/evidence"
)

// CollectorIdentity says who captures: the SHA-256 of the running executable's
// bytes and the platform (CAP-09).
func CollectorIdentity(ctx context.Context) (evidence.Collector, error) {
	file, err := openSelf()
	if err != nil {
		return evidence.Collector{}, fmt.Errorf("identify this program: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return evidence.Collector{}, fmt.Errorf("identify this program: %w", err)
	}
	digest, _, err := evidence.Hash(ctx, file, info.Size())
	if err != nil {
		return evidence.Collector{}, fmt.Errorf("identify this program: %w", err)
	}
	version := "unknown"
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != "" {
		version = build.Main.Version
	}
	return evidence.Collector{SHA256: digest, Version: version, OS: runtime.GOOS, Arch: runtime.GOARCH}, nil
}

// openSelf prefers what runs over what stands at its path now, which a rebuild
// may have replaced.
func openSelf() (*os.File, error) {
	if file, err := os.Open("/proc/self/exe"); err == nil {
		return file, nil
	}
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}
