package history

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/sleep"
)

// Quiesce waits until nothing of the time since then can still change a table by itself: every node answers and reaches
// all others, no node has a batch of that time in its batchlog, and none has hints to deliver. It asks each host by
// itself. When the context ends before, the error says what was left.
//
// A node that was silent may keep batches that it got too late: no replay takes them up before its restart, so after a
// minute restart is called for such a node, if it is not nil.
//
// A hint is not seen before the node that holds it has written it to disk, which takes up to 10 s. On a cluster in
// which every node is a replica that node has the write itself, and a read at ALL shows it.
func Quiesce(ctx context.Context, hosts []string, since time.Time, restart func(ctx context.Context, host string) error) error {
	nodes := make([]*node, len(hosts))
	for i, host := range hosts {
		nodes[i] = &node{host: host}
		defer nodes[i].close()
	}
	patient := time.Now().Add(time.Minute)
	var last error
	for {
		var stuck []string
		var unrest []error
		for _, n := range nodes {
			batches, err := n.look(ctx, since)
			if err != nil {
				unrest = append(unrest, fmt.Errorf("%s: %w", n.host, err))
			}
			if batches {
				stuck = append(stuck, n.host)
			}
		}
		if unrest == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil { // else this look was cut off
			last = fmt.Errorf("the cluster is not quiet: %w", errors.Join(unrest...))
		}
		if restart != nil && time.Now().After(patient) {
			for _, host := range stuck {
				if err := restart(ctx, host); err != nil {
					return fmt.Errorf("restart %s, as batches stay in its batchlog: %w", host, err)
				}
			}
			restart = nil
		}
		if cause := sleep.For(ctx, 250*time.Millisecond); cause != nil {
			return fmt.Errorf("%w (%w)", last, cause)
		}
	}
}

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

// look says why a node is not quiet, and whether its batchlog has batches of the time since then.
func (n *node) look(ctx context.Context, since time.Time) (stuck bool, err error) {
	if n.probe == nil {
		patient := func(config *gocql.ClusterConfig) { config.Timeout = 10 * time.Second }
		if n.probe, err = cluster.OpenProbe(ctx, n.host, patient); err != nil {
			n.probe = nil
			return false, fmt.Errorf("it does not answer CQL: %w", err)
		}
	}
	if err = n.probe.ReadAll(ctx); err != nil {
		n.close() // its only connection may be broken for good
		return false, fmt.Errorf("it does not reach all nodes: %w", err)
	}
	batches, hints := 0, 0
	iter := n.probe.Session.Query(`SELECT id FROM system.batches`).WithContext(ctx).Iter()
	for id := (gocql.UUID{}); iter.Scan(&id); {
		if !id.Time().Before(since) {
			batches++
		}
	}
	err = iter.Close()
	iter = n.probe.Session.Query(`SELECT files FROM system_views.pending_hints`).WithContext(ctx).Iter()
	for files := 0; iter.Scan(&files); {
		hints += files
	}
	if err = errors.Join(err, iter.Close()); err != nil {
		n.close()
	} else if batches > 0 || hints > 0 {
		err = fmt.Errorf("it has %d batches and %d files of hints", batches, hints)
	}
	return batches > 0, err
}
