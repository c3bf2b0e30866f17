package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/sleep"
)

// ChangeSchema executes statements that change the schema, in a keyspace unless it is empty, and returns when every
// node has applied them. A session of gocql waits after each statement until one node has heard of all others by
// gossip, which takes a second. Here each node is asked for its own schema, once.
func ChangeSchema(tb testing.TB, keyspace string, statements ...string) {
	tb.Helper()
	share(tb)
	ctx, cancel := context.WithTimeout(tb.Context(), 2*time.Minute)
	defer cancel()
	must(tb, changeSchema(ctx, tb, change{keyspace, statements}), "change the schema")
}

// change is statements that change the schema, in a keyspace unless it is empty.
type change struct {
	keyspace   string
	statements []string
}

// changeSchema makes changes by the first node, and waits for the others once.
func changeSchema(ctx context.Context, tb testing.TB, changes ...change) error {
	tb.Helper()
	probes, err := openStarted(ctx, Hosts(tb))
	defer closeProbes(probes)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if err := c.make(ctx, probes[0].Host); err != nil {
			return err
		}
	}
	v, err := probes[0].view(ctx)
	if err != nil {
		return err
	}
	if v.nodes > len(probes) { // a cluster of which not every node was named
		return Session(tb, "").AwaitSchemaAgreement(ctx)
	}
	return waitSchema(ctx, probes[0], probes[1:])
}

func (c change) make(ctx context.Context, host string) error {
	return withProbe(ctx, host, func(p *Probe) error { return p.execute(ctx, c.statements...) }, inKeyspace(c.keyspace))
}

// inKeyspace is for a session that changes the schema.
func inKeyspace(keyspace string) func(*gocql.ClusterConfig) {
	return func(c *gocql.ClusterConfig) {
		c.Keyspace = keyspace
		c.Timeout = 5 * time.Minute // to drop a keyspace of many tables, or until the context ends
		c.MaxWaitSchemaAgreement = 1
	}
}

// waitSchema waits until the others have had a schema that the changed node has had since its change. Others may change
// theirs all the time, so that there is seldom a moment in which all have the same.
func waitSchema(ctx context.Context, changed *Probe, others []*Probe) error {
	had := make(map[string]bool)
	for asked := time.Now(); ; {
		v, err := changed.schema(ctx)
		if err != nil {
			return err
		}
		had[v] = true
		var behind []*Probe
		for _, p := range others {
			v, err := p.schema(ctx)
			if err != nil {
				return err
			}
			if !had[v] {
				behind = append(behind, p)
			}
		}
		if others = behind; len(others) == 0 {
			return nil
		}
		if time.Since(asked) > behindFor {
			if err := changed.announce(ctx); err != nil {
				return err
			}
			asked = time.Now()
		}
		if cause := sleep.For(ctx, 20*time.Millisecond); cause != nil {
			return errors.Join(cause, fmt.Errorf("%s has not got the schema of %s", others[0].Host, changed.Host))
		}
	}
}

// behindFor is how long a node may be without a change of the schema before another change is made. A node that has
// just started may miss one, and does not ask for it until versions of the schema are announced again.
const behindFor = 20 * time.Second

// announce makes a change, so that each node announces its version of the schema, and those that differ ask for it.
func (p *Probe) announce(ctx context.Context) error {
	return p.execute(ctx,
		`CREATE KEYSPACE IF NOT EXISTS schema_announced WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}`,
		`DROP KEYSPACE IF EXISTS schema_announced`)
}

func (p *Probe) execute(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		err := p.Session.Query(statement).WithContext(ctx).Exec()
		for again := recycling(err) || unconfirmed(err); again; { // it is done, or not: once more it is rejected, or done
			err = p.Session.Query(statement).WithContext(ctx).Exec()
			var rejected gocql.RequestError
			again = unconfirmed(err)
			if recycling(err) || !again && errors.As(err, &rejected) &&
				(rejected.Code() == gocql.ErrCodeAlreadyExists || rejected.Code() == gocql.ErrCodeInvalid || rejected.Code() == gocql.ErrCodeConfig) {
				err = nil
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// unconfirmed says whether the metadata service of Cassandra 6 did not confirm a change in time: a busy one does not.
func unconfirmed(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "TCM_COMMIT_REQ") || strings.Contains(err.Error(), "Could not perform commit"))
}

// started is how long after its start a node is left alone: one of Cassandra 5.0 that meets a change of the schema
// while it still gets its own may go on to tell the former version, and then there is no agreement any more ("Schema
// version was different to what we expected").
const started = 15 * time.Second

// openStarted opens a probe of each node, and waits until nodes that have just started have their schema.
func openStarted(ctx context.Context, hosts []string) (probes []*Probe, err error) {
	for _, host := range hosts {
		p, err := OpenProbe(ctx, host, inKeyspace(""))
		if err != nil {
			return probes, err
		}
		probes = append(probes, p)
		var generation int64 // seconds since the epoch
		if err := p.Session.Query(`SELECT gossip_generation FROM system.local`).WithContext(ctx).Scan(&generation); err != nil {
			return probes, err
		}
		if cause := sleep.For(ctx, time.Until(time.Unix(generation, 0).Add(started))); cause != nil {
			return probes, cause
		}
	}
	return probes, nil
}

func closeProbes(probes []*Probe) {
	for _, p := range probes {
		p.Close()
	}
}
