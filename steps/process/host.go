package process

import "github.com/grill-plan/grill-plan/steps/evidence"

// Host gives the facts of this machine that evidence holds; what the system does
// not say is left empty (PLN-37).
func Host() evidence.Host { return host() }

// Namespace names the namespace in which pids of this process mean something;
// empty where there is only one (PLN-26).
func Namespace() string { return pidNamespace() }
