package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/denorm-go/denorm/integration/harness/sleep"
)

// Node is a node of a local cluster that a fault test may take away and bring back.
type Node struct {
	localNode
	harness  *Harness
	volatile bool
}

// Nodes returns the nodes of the local cluster that the test runs on, in the order of their addresses. When the test
// ends every node runs again, whatever the test has done to it. A cluster that is not made of local processes fails the
// test. Faults are everybody's: tests that cause some do not run in parallel with others.
func Nodes(tb testing.TB) []*Node {
	tb.Helper()
	h, nodes, err := findNodes(Hosts(tb))
	must(tb, err, "control of nodes")
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if err := h.restoreAll(ctx, nodes); err != nil {
			tb.Errorf("nodes are not well after the test: %v", err)
		}
	})
	return nodes
}

func findNodes(hosts []string) (*Harness, []*Node, error) {
	h, s, err := harnessOf(hosts)
	switch {
	case err != nil:
		return nil, nil, err
	case s.Mode != Local:
		return nil, nil, fmt.Errorf("the test's cluster (%v) is not one of local processes: "+
			"%s=%s go run ./cmd/cluster run -nodes 3 -- go test ./... in integration/", hosts, ModeEnv, Local)
	}
	return h, numbered(s.Nodes, func(number int) *Node {
		return &Node{localNode{home: h.home, number: number}, h, s.Volatile}
	}), nil
}

// harnessOf returns the cluster of these hosts, which the harness has started.
func harnessOf(hosts []string) (*Harness, *state, error) {
	h, err := New(io.Discard) // tests are not to be told of every start
	if err != nil {
		return nil, nil, err
	}
	s, err := loadState(h.home)
	if err == nil && (s == nil || !slices.Equal(hosts, s.Hosts)) {
		err = fmt.Errorf("the test's cluster (%v) was not started by the harness: unset %s", hosts, ExternalEnv)
	}
	return h, s, err
}

// Host returns the node's address.
func (n *Node) Host() string { return loopback(n.number) }

// Pause stops the node's process with SIGSTOP: it keeps its connections and answers nothing.
func (n *Node) Pause(ctx context.Context) error { return n.signal(ctx, syscall.SIGSTOP) }

// Continue lets a paused node go on. It returns at once; [Node.Ready] waits until the node answers.
func (n *Node) Continue(ctx context.Context) error { return n.signal(ctx, syscall.SIGCONT) }

// errVolatile says why a node is not killed: it would lose rows with its schema, and a test would blame the library.
var errVolatile = errors.New("the cluster was started with -volatile: a node that is killed would forget its schema: make down, then make faults")

// Kill ends the node with SIGKILL and returns when it is gone. It keeps its data.
func (n *Node) Kill(ctx context.Context) error {
	if n.volatile {
		return fmt.Errorf("kill %s: %w", n, errVolatile)
	}
	return n.kill(ctx)
}

// Stop ends the node as an operator does, with SIGTERM, and returns when it is gone: it drains, so it loses nothing and
// says goodbye to the others.
func (n *Node) Stop(ctx context.Context) error {
	if n.volatile {
		return fmt.Errorf("stop %s: %w", n, errVolatile)
	}
	return n.end(ctx, syscall.SIGTERM, time.Minute)
}

// Start starts a node that was killed or stopped, with the data it had, and waits until it answers CQL.
func (n *Node) Start(ctx context.Context) error {
	if err := n.launch(ctx); err != nil {
		return err
	}
	return n.Ready(ctx)
}

// Upgrade stops the node as an operator does, and starts it with another version of Cassandra, named as in
// [VersionEnv], and the data it had. Every node that starts later is of this version. It returns at once: [Connected]
// waits until the nodes reach each other.
func (n *Node) Upgrade(ctx context.Context, version string) error {
	if err := n.harness.become(ctx, version); err != nil {
		return fmt.Errorf("upgrade %s: %w", n, err)
	}
	if err := n.Stop(ctx); err != nil {
		return err
	}
	return n.launch(ctx)
}

// become sets the version of nodes that start. Their cassandra.yaml stays, so it is not for one with other settings.
func (h *Harness) become(ctx context.Context, version string) error {
	r, err := findRelease(version)
	if err != nil {
		return err
	}
	return h.withState(ctx, func(s *state) error {
		if s == nil || r.accord != s.release().accord {
			return errors.New("the cluster has been stopped, or has other settings")
		}
		// It verifies jars that are there. The nodes run, so there is a JDK.
		if _, err := r.prepare(ctx, h.home, h.log); err != nil {
			return err
		}
		s.Version = r.version
		return s.save(h.home)
	})
}

func (n *Node) launch(ctx context.Context) error {
	// Whoever stops the cluster must see the node, or it would stay behind.
	return n.harness.withState(ctx, func(s *state) error {
		if s == nil || !s.Ready || s.Mode != Local {
			return fmt.Errorf("start %s: the cluster has been stopped", n)
		}
		return n.restart(ctx, s)
	})
}

// Ready waits until the node answers CQL itself, whatever it knows about the others.
func (n *Node) Ready(ctx context.Context) error {
	return awaitReady(ctx, []localNode{n.localNode}, []string{n.Host()}, 1)
}

// Whole waits until every node answers, sees all others and agrees with them on the schema.
func Whole(ctx context.Context, nodes []*Node) error {
	return awaitReady(ctx, locals(nodes), loopbacks(len(nodes)), len(nodes))
}

// Connected waits until every node reads from all others. Nodes of two versions do, though they do not agree on the
// schema.
func Connected(ctx context.Context, nodes []*Node) error {
	return watch(ctx, locals(nodes), func(ctx context.Context) error {
		for _, n := range nodes {
			if err := sleep.Until(ctx, 200*time.Millisecond, func() error {
				return withProbe(ctx, n.Host(), func(p *Probe) error { return p.ReadAll(ctx) })
			}); err != nil {
				return fmt.Errorf("%s does not reach all nodes: %w", n, err)
			}
		}
		return nil
	})
}

func locals(nodes []*Node) []localNode {
	out := make([]localNode, len(nodes))
	for i, n := range nodes {
		out[i] = n.localNode
	}
	return out
}

// restoreAll brings every node back and waits until the cluster is whole.
func (h *Harness) restoreAll(ctx context.Context, nodes []*Node) error {
	var failed error
	for _, n := range nodes {
		if n.alive(ctx) {
			failed = errors.Join(failed, n.Continue(ctx))
			continue
		}
		failed = errors.Join(failed, n.Start(ctx))
	}
	if failed != nil {
		return failed
	}
	return waitReady(ctx, loopbacks(len(nodes)), len(nodes))
}

// CPU is how much CPU time the nodes of a local cluster have used since they started, in user and kernel mode.
func CPU(ctx context.Context, hosts []string) (used time.Duration, err error) {
	_, nodes, err := findNodes(hosts)
	if err != nil {
		return 0, err
	}
	for _, n := range nodes {
		p, err := n.process(ctx)
		if err != nil {
			return 0, err
		}
		times, err := p.TimesWithContext(ctx)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", n, err)
		}
		used += time.Duration((times.User + times.System) * float64(time.Second))
	}
	return used, nil
}
