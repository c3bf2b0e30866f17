package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
)

// place is the keyspace of a run.
type place struct {
	hosts    int
	replicas int
	admin    *session.Session // waits long, as all but who measures latencies do
	session  *session.Session
	keyspace string
	drop     bool
	answers  answers
}

// answers counts the answers of the nodes. Those to heartbeats, events and such are none.
type answers struct{ atomic.Int64 }

// ObserveFrameHeader implements [gocql.FrameHeaderObserver].
func (a *answers) ObserveFrameHeader(_ context.Context, header gocql.ObservedFrameHeader) {
	const failure, result = 0x00, 0x08
	if header.Opcode == failure || header.Opcode == result {
		a.Add(1)
	}
}

func open(ctx context.Context, hosts []string, keyspace string, replicas int, declared *schema.Schema) (p *place, err error) {
	p = &place{hosts: len(hosts), replicas: min(replicas, len(hosts)), keyspace: keyspace}
	if keyspace == "" {
		p.keyspace, p.drop = fmt.Sprintf("bench_%d_%d", os.Getpid(), time.Now().Unix()), true
	}
	connect := func(keyspace string, timeout time.Duration) (s *session.Session) {
		if err == nil {
			config := gocql.NewCluster(hosts...)
			config.Keyspace, config.FrameHeaderObserver = keyspace, &p.answers
			s, err = session.Open(config, session.Adjust(func(c *gocql.ClusterConfig) {
				c.ConnectTimeout, c.Timeout = time.Minute, max(c.Timeout, timeout)
			}))
		}
		return s
	}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if creating := connect("", time.Minute); err == nil {
		err = creating.Reads().Query(fmt.Sprintf(`CREATE KEYSPACE IF NOT EXISTS %s WITH replication =
			{'class': 'NetworkTopologyStrategy', 'replication_factor': %d}`, p.keyspace, p.replicas)).WithContext(ctx).Exec()
		creating.Close()
	}
	p.admin, p.session = connect(p.keyspace, 30*time.Second), connect(p.keyspace, 0)
	if err == nil {
		err = schema.Ensure(ctx, p.admin, declared)
	}
	return p, err
}

func (p *place) close() {
	if p.session != nil {
		p.session.Close()
	}
	if p.admin == nil {
		return
	}
	if p.drop {
		if err := p.admin.Reads().Query(`DROP KEYSPACE IF EXISTS ` + p.keyspace).Exec(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: drop keyspace:", err)
		}
	}
	p.admin.Close()
}
