package process

import (
	"runtime"
	"strings"
	"testing"
)

// PRE-15: linux and macOS, nothing else.
func TestSupported(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", runtime.GOOS} {
		if err := Supported(goos); err != nil {
			t.Errorf("%s is refused: %v", goos, err)
		}
	}
	for _, goos := range []string{"windows", "freebsd", "plan9", "js", ""} {
		if err := Supported(goos); err == nil || !strings.Contains(err.Error(), goos) {
			t.Errorf("%q gives %v", goos, err)
		}
	}
}
