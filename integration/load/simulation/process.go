package simulation

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// process is a client with sessions, a writer and a clock of its own, which can be killed: from then on it sends nothing, and
// whatever it is told is not heard.
type process struct {
	ctx     context.Context
	cancel  context.CancelFunc
	session *session.Session
	writer  *writer.Writer

	mu    sync.Mutex
	conns map[net.Conn]bool
	dead  bool
}

// boot starts a process.
func boot(ctx context.Context, c *cassandratest.Cluster, keyspace string, skew time.Duration, mode writer.Option) (*process, error) {
	p := &process{conns: make(map[net.Conn]bool)}
	p.ctx, p.cancel = context.WithCancel(ctx)
	config := c.Config()
	config.Dialer = &line{p, config.Dialer}
	config.Keyspace, config.NumConns = keyspace, 1
	config.Events.DisableSchemaEvents = true
	var err error
	if p.session, err = session.Open(config, session.LocalDC("dc1"), session.Budget(retry.NewBudget(1<<30, 0))); err != nil {
		p.cancel()
		return nil, err
	}
	clock := writer.NewClock(func() time.Time { return time.Now().Add(skew) })
	p.writer, err = writer.New(p.session, writer.WithClock(clock), writer.ClaimGrace(2*time.Second), mode)
	return p, err
}

// kill ends the process where it is.
func (p *process) kill() {
	p.mu.Lock()
	p.dead = true
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.cancel()
	go p.close() // it must not go on trying to connect
}

func (p *process) killed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// close gives back what the process has, when none of its calls is under way.
func (p *process) close() {
	p.cancel()
	p.session.Close()
}

// line is a dialer whose connections end with the process.
type line struct {
	*process
	dialer gocql.Dialer
}

// DialContext implements gocql.Dialer.
func (l *line) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if l.killed() {
		return nil, net.ErrClosed
	}
	c, err := l.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	l.conns[c] = true
	return c, nil
}
