package history

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/sleep"
)

// Quiesce waits until nothing of the time since then can still change a table by itself: every node answers and reaches
// all others, no node has a batch of that time in its batchlog, and none has hints to deliver. It asks each host by
// itself. When the context ends before, the error is an [*UnrestError] that says what was left.
//
// A hint is not seen before the node that holds it has written it to disk, which takes up to 10 s. On a cluster in which
// every node is a replica that node has the write itself, and a read at ALL shows it.
func Quiesce(ctx context.Context, hosts []string, since time.Time) error {
	nodes := make([]*node, len(hosts))
	for i, host := range hosts {
		nodes[i] = &node{host: host}
		defer nodes[i].close()
	}
	var before *UnrestError
	for {
		left := new(UnrestError)
		for _, n := range nodes {
			n.look(ctx, since, left)
		}
		if len(left.Nodes) == 0 {
			return nil
		}
		if ctx.Err() != nil && before != nil {
			left = before // this look was cut off
		}
		if cause := sleep.For(ctx, 250*time.Millisecond); cause != nil {
			left.cause = cause
			return left
		}
		before = left
	}
}

// Settle is Quiesce for tests that stop nodes. A node that was silent may keep batches that it got too late: no replay takes
// them up before its restart, so after a minute restart is called for such a node, if it is not nil.
func Settle(ctx context.Context, hosts []string, since time.Time, restart func(ctx context.Context, host string) error) error {
	first, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err := Quiesce(first, hosts, since)
	var unrest *UnrestError
	if !errors.As(err, &unrest) {
		return err
	}
	for _, n := range unrest.Nodes {
		if len(n.Batches) > 0 && restart != nil {
			if err := restart(ctx, n.Host); err != nil {
				return fmt.Errorf("restart %s, as %d batches stay in its batchlog: %w", n.Host, len(n.Batches), err)
			}
		}
	}
	return Quiesce(ctx, hosts, since)
}

// UnrestError says why a cluster is not quiet.
type UnrestError struct {
	Nodes []Unrest
	cause error
}

// Unrest is why one node is not quiet.
type Unrest struct {
	Host    string
	Err     error // it could not be asked; the rest is then not known
	Batches []gocql.UUID
	Hints   int // files of them
}

func (e *UnrestError) Error() string {
	var nodes []string
	for _, n := range e.Nodes {
		if n.Err != nil {
			nodes = append(nodes, fmt.Sprintf("%s: %v", n.Host, n.Err))
			continue
		}
		s := fmt.Sprintf("%s has %d batches", n.Host, len(n.Batches))
		if len(n.Batches) > 0 {
			s += " of " + n.Batches[0].Time().Format(time.TimeOnly)
		}
		nodes = append(nodes, fmt.Sprintf("%s and %d files of hints", s, n.Hints))
	}
	return fmt.Sprintf("the cluster is not quiet: %s (%v)", strings.Join(nodes, "; "), e.cause)
}

func (e *UnrestError) Unwrap() error { return e.cause }

// node is a node, and how it is asked.
type node struct {
	host  string
	probe *cluster.Probe // nil while it cannot be asked
}

func (n *node) close() {
	if n.probe != nil {
		n.probe.Close()
		n.probe = nil
	}
}

// look adds to left what unrest there is on the node.
func (n *node) look(ctx context.Context, since time.Time, left *UnrestError) {
	u := Unrest{Host: n.host}
	if u.Err = n.ask(ctx, since, &u); u.Err != nil {
		n.close() // its only connection may be broken for good
	}
	if u.Err != nil || u.Hints > 0 || len(u.Batches) > 0 {
		left.Nodes = append(left.Nodes, u)
	}
}

func (n *node) ask(ctx context.Context, since time.Time, u *Unrest) error {
	var err error
	if n.probe == nil {
		patient := func(config *gocql.ClusterConfig) { config.Timeout = 10 * time.Second }
		if n.probe, err = cluster.OpenProbe(ctx, n.host, patient); err != nil {
			return fmt.Errorf("it does not answer CQL: %w", err)
		}
	}
	if err := n.probe.ReadAll(ctx); err != nil {
		return fmt.Errorf("it does not reach all nodes: %w", err)
	}
	if u.Batches, err = n.batches(ctx, since); err != nil {
		return err
	}
	iter := n.probe.Session.Query(`SELECT files FROM system_views.pending_hints`).WithContext(ctx).Iter()
	for files := 0; iter.Scan(&files); {
		u.Hints += files
	}
	return iter.Close()
}

// batches is what the node's batchlog has of the time since then.
func (n *node) batches(ctx context.Context, since time.Time) ([]gocql.UUID, error) {
	var found []gocql.UUID
	iter := n.probe.Session.Query(`SELECT id FROM system.batches`).WithContext(ctx).Iter()
	for id := (gocql.UUID{}); iter.Scan(&id); {
		if !id.Time().Before(since) {
			found = append(found, id)
		}
	}
	return found, iter.Close()
}
