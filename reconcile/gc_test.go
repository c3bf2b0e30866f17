package reconcile_test

import "runtime/debug"

// The nodes of the tests allocate much and keep little: with the default a fifth of the time goes into collecting it.
func init() { debug.SetGCPercent(400) } //nolint:gochecknoinits // before all tests of both packages
