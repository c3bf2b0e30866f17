package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/denorm-go/denorm/integration/harness/sleep"
)

// Extra is one more node, a cluster by itself alongside the shared one, for tests that need a configuration which that
// one cannot have. It is a local process in every [Mode].
type Extra struct {
	Number     int      // it is at 127.0.0.Number; 1 to 6 are the shared cluster's
	Settings   string   // added to its cassandra.yaml
	Properties []string // added to its command line: -Dname=value
	Ports      []int    // those that Settings make it listen on besides 7000 and 9042
	// Ready returns nil when the node does what the tests need. It is called again and again while the node starts.
	Ready func(ctx context.Context) error
}

// Host returns the node's address.
func (e Extra) Host() string { return loopback(e.Number) }

// Version returns the version of Cassandra that the node is of, or nothing if the environment names one that is not
// known.
func (Extra) Version() string {
	r, _ := wantedRelease() // Start returns the error
	return r.version
}

// Start starts the node from nothing and stops it when the lease is closed, or when this process is killed: the program
// must start a guard when its only argument is [GuardCommand]. There is one node of a number at a time: another process
// that wants it waits.
func (e Extra) Start(ctx context.Context, out io.Writer) (*Lease, error) {
	shared, err := New(out)
	if err != nil {
		return nil, err
	}
	home := filepath.Join(shared.home, "extra-"+strconv.Itoa(e.Number))
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("directory of an extra node: %w", err)
	}
	log := shared.log
	only, err := acquireLock(ctx, filepath.Join(home, "only.lock"), func() { log.say("waiting for another run that uses %s ...", e.Host()) })
	if err != nil {
		return nil, err
	}
	own := machine{home: home, log: log}
	h := &Harness{home: home, log: log, backend: extraNode{machine: own, extra: e, shared: shared}, guard: spawnGuard}
	lease, err := h.lease(ctx, 1, false)
	if err != nil {
		only.close()
		return nil, err
	}
	lease.only = only
	return lease, nil
}

// extraNode is the backend of an [Extra].
type extraNode struct {
	machine
	extra  Extra
	shared *Harness // whose jars it takes
}

func (extraNode) choose(context.Context) (Mode, error) { return Local, nil }

// check is asked about a node of a run that was killed.
func (extraNode) check(context.Context, *state) error {
	return errors.New("it was configured for a run that has ended")
}

func (b extraNode) start(ctx context.Context, s *state) error {
	// The jars are the shared cluster's, whose lock keeps two processes from getting them at once.
	transition, err := b.shared.transition(ctx)
	if err != nil {
		return err
	}
	t, err := prepareLocal(ctx, b.shared.home, b.log)
	transition.close()
	if err != nil {
		return err
	}
	return b.startLocal(ctx, s, t, []localNode{{home: b.home, number: b.extra.Number}}, b.extra, func(ctx context.Context) error {
		return sleep.Until(ctx, 100*time.Millisecond, func() error { return b.extra.Ready(ctx) })
	})
}
