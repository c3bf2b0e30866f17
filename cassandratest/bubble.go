package cassandratest

import (
	"testing"
	"testing/synctest"
	"time"
)

// Test runs a test in a bubble of testing/synctest, in virtual time, with nodes of its own as those of [Start], and ends it
// properly: it closes the nodes after all that the test has deferred and given to T.Cleanup, and lets virtual time run on until
// gocql, too, has let go of its goroutines. The sessions that the test opens it must close. As with [synctest.Test], test must not
// call T.Run, T.Parallel and T.Deadline.
func Test(t *testing.T, nodes int, test func(t *testing.T, c *Cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		t.Cleanup(func() { <-time.After(10 * time.Minute) }) // first, so that it comes last
		test(t, Start(t, nodes))
	})
}
