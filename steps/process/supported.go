package process

import "fmt"

// Supported refuses systems on which nothing may be started (PRE-15): there the
// process groups, exit reports and locks that evidence rests on do not exist or
// were never looked at. goos is as runtime.GOOS.
func Supported(goos string) error {
	switch goos {
	case "linux", "darwin":
		return nil
	}
	return fmt.Errorf("grill-plan starts programs on linux and darwin only, and this is %s: plan, validate, inspect and compare work here", goos)
}
