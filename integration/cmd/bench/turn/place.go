package turn

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// Place is a keyspace of its own, and what uses it.
type Place struct {
	Hosts, Replicas int
	Session         *session.Session
	Writer          *writer.Writer
	Reader          *reader.Reader
	Servers         func(context.Context) (time.Duration, error) // CPU that all nodes have used; 0 where it is not known
	keyspace        string
	answers         answers
	replay          replay // if there are no nodes
	end             []func()
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

// Open makes the keyspace. Without hosts the nodes are in this process, and only seem to do what they did once before:
// see replay.
func Open(ctx context.Context, hosts []string) (p *Place, err error) {
	p = &Place{Hosts: len(hosts), Replicas: min(3, cmp.Or(len(hosts), 3)), keyspace: fmt.Sprintf("bench_%d_%d", os.Getpid(), time.Now().Unix())}
	p.Servers = func(context.Context) (time.Duration, error) { return 0, nil }
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	config := func() *gocql.ClusterConfig { return gocql.NewCluster(hosts...) }
	if len(hosts) == 0 {
		c := cassandratest.New(3)
		p.end = append(p.end, c.Close)
		config = func() *gocql.ClusterConfig {
			config := c.Config()
			config.Dialer, config.WriteCoalesceWaitTime = replayDialer{config.Dialer, &p.replay}, 0 // nothing waits for a timer
			return config
		}
	}
	creating, err := p.connect(config(), "")
	if err != nil {
		return p, err
	}
	err = creating.Reads().Query(fmt.Sprintf(`CREATE KEYSPACE %s WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': %d}`,
		p.keyspace, p.Replicas)).WithContext(ctx).Exec()
	creating.Close()
	if err == nil {
		p.Session, err = p.connect(config(), p.keyspace)
	}
	if err == nil {
		p.end = append(p.end, p.Session.Close, p.drop)
		p.Writer, err = writer.New(p.Session)
	}
	if err == nil {
		p.Reader, err = reader.New(p.Session)
	}
	return p, err
}

func (p *Place) connect(config *gocql.ClusterConfig, keyspace string) (*session.Session, error) {
	config.Keyspace, config.FrameHeaderObserver = keyspace, &p.answers
	return session.Open(config, session.Adjust(func(c *gocql.ClusterConfig) { c.ConnectTimeout, c.Timeout = time.Minute, time.Minute }))
}

// Ensure creates the tables of sets.
func (p *Place) Ensure(ctx context.Context, of schema.Declaration) error {
	declared, err := schema.Declare(of)
	if err != nil {
		return err
	}
	return schema.Ensure(ctx, p.Session, declared)
}

func (p *Place) drop() {
	if err := p.Session.Reads().Query(`DROP KEYSPACE IF EXISTS ` + p.keyspace).Exec(); err != nil {
		fmt.Fprintln(os.Stderr, "bench: drop keyspace:", err)
	}
}

// Close drops the keyspace.
func (p *Place) Close() {
	for i := len(p.end) - 1; i >= 0; i-- {
		p.end[i]()
	}
}
