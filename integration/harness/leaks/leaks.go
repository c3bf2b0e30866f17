// Package leaks finds goroutines that tests against real nodes leave behind, and waits for those that gocql ends late.
package leaks

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long goroutines of the driver may take to end. gocql 1.7 sleeps ten seconds before it uses a node
// that is back, also when the session was closed in the meantime (Session.handleNodeUp; its exception for newer nodes,
// CASSANDRA-8236, takes 4.0 and 5.0 for older than 2.2), and takes its time over nodes that it cannot connect to.
const patience = time.Minute

// ours is in the stack of every goroutine that this project has begun, or that runs its code.
const ours = "github.com/denorm-go/denorm"

// Wait waits until no goroutines are left but those that others ignores. Its error names what there is, as soon as that
// includes any of this project, which have a second to end.
func Wait(others ...goleak.Option) error {
	var err error
	for began := time.Now(); time.Since(began) < patience; time.Sleep(100 * time.Millisecond) { //nolint:forbidigo // nothing tells of the end of a goroutine
		if err = goleak.Find(others...); err == nil || strings.Contains(err.Error(), ours) {
			return err
		}
	}
	return err
}

// M is the tests of a package. They fail if they leave goroutines behind.
type M struct{ *testing.M }

// Run runs the tests.
func (m M) Run() int {
	code := m.M.Run()
	if code == 0 {
		if err := Wait(); err != nil {
			fmt.Fprintln(os.Stderr, "the tests passed and left behind:", err)
			code = 1
		}
	}
	return code
}

// Main is for the TestMain of such a package.
func Main(m *testing.M) { os.Exit(M{m}.Run()) }
