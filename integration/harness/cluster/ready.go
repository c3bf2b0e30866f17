package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/sleep"
)

// Probe is a session with one node and no other: it must answer for itself.
type Probe struct {
	Host    string
	Session *gocql.Session
}

// OpenProbe opens a session with a node, and lets the driver look for no other. Each change is applied to its
// configuration before.
func OpenProbe(ctx context.Context, host string, changes ...func(*gocql.ClusterConfig)) (*Probe, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", address(host)) // cheap, as long as nobody listens
	if err != nil {
		return nil, err
	}
	_ = conn.Close()

	config := gocql.NewCluster(host)
	config.ProtoVersion = 4
	config.NumConns = 1
	config.Timeout = 3 * time.Second
	config.ConnectTimeout = 3 * time.Second
	config.DisableInitialHostLookup = true
	config.Events.DisableNodeStatusEvents = true
	config.Events.DisableSchemaEvents = true
	config.Events.DisableTopologyEvents = true
	config.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 1, Interval: 100 * time.Millisecond}
	config.Logger = stdlog.New(io.Discard, "", 0)
	for _, change := range changes {
		change(config)
	}
	session, err := config.CreateSession()
	if err != nil {
		return nil, err
	}
	return &Probe{Host: host, Session: session}, nil
}

// withProbe does something with a probe of a node.
func withProbe(ctx context.Context, host string, do func(*Probe) error, changes ...func(*gocql.ClusterConfig)) error {
	p, err := OpenProbe(ctx, host, changes...)
	if err != nil {
		return err
	}
	defer p.Close()
	return do(p)
}

// Close closes the session.
func (p *Probe) Close() { p.Session.Close() }

// view is what a node says about the cluster.
type view struct {
	nodes  int // itself included
	schema string
}

// schema returns the version of the node's own schema.
func (p *Probe) schema(ctx context.Context) (version string, err error) {
	err = p.Session.Query(`SELECT schema_version FROM system.local`).WithContext(ctx).Scan(&version)
	return version, err
}

// look asks a node for its view.
func look(ctx context.Context, host string) (v view, err error) {
	err = withProbe(ctx, host, func(p *Probe) (err error) {
		v, err = p.view(ctx)
		return err
	})
	return v, err
}

func (p *Probe) view(ctx context.Context) (view, error) {
	v := view{nodes: 1}
	var err error
	if v.schema, err = p.schema(ctx); err != nil {
		return view{}, err
	}
	rows := p.Session.Query(`SELECT schema_version FROM system.peers`).WithContext(ctx).Iter()
	for schema := ""; rows.Scan(&schema); {
		v.nodes++
		if schema != v.schema {
			v.schema = "" // this node itself knows of a disagreement
		}
	}
	return v, rows.Close()
}

// ReadAll reads from all replicas of a table that is on three nodes. It succeeds only where the coordinator holds every
// node for up and every node answers it.
func (p *Probe) ReadAll(ctx context.Context) error {
	return p.Session.Query(`SELECT view_name FROM system_distributed.view_build_status
		WHERE keyspace_name = 'denorm' AND view_name = 'ready'`).
		Consistency(gocql.All).WithContext(ctx).Iter().Close()
}

// waitReady waits until every host answers CQL, sees all nodes and agrees with the others on the schema. The error says
// what was missing last.
func waitReady(ctx context.Context, hosts []string, nodes int) error {
	err := sleep.Until(ctx, 100*time.Millisecond, func() error { return checkReady(ctx, hosts, nodes) })
	if err != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return context.Cause(ctx) // what has ended the wait says it all
	}
	return err
}

// checkReady looks once.
func checkReady(ctx context.Context, hosts []string, nodes int) error {
	schema := ""
	for _, host := range hosts {
		v, err := look(ctx, host)
		switch {
		case err != nil:
			return fmt.Errorf("%s does not answer CQL: %w", host, err)
		case v.nodes < nodes:
			return fmt.Errorf("%s sees %d node(s) of %d", host, v.nodes, nodes)
		case v.schema == "", schema != "" && v.schema != schema:
			return fmt.Errorf("%s: no agreement on the schema yet", host)
		}
		schema = v.schema
	}
	if nodes < 3 {
		return nil
	}
	for _, host := range hosts {
		if err := withProbe(ctx, host, func(p *Probe) error { return p.ReadAll(ctx) }); err != nil {
			return fmt.Errorf("%s does not reach all nodes: %w", host, err)
		}
	}
	return nil
}
