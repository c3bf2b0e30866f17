package simulation

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// process is a client with sessions, a writer and a clock of its own, which can be killed: from then on it sends
// nothing, and whatever it is told is not heard.
type process struct {
	ctx     context.Context
	cancel  context.CancelFunc
	session *session.Session
	writer  *writer.Writer
	dialer  faulty.Dialer
	ahead   atomic.Int64 // of the true time, nanoseconds

	mu    sync.Mutex
	acked map[gocql.UUID]int64 // the largest timestamp of an acknowledged write of a row
}

// now is the time by the clock of the process.
func (p *process) now() time.Time { return time.Now().Add(time.Duration(p.ahead.Load())) }

// acknowledged is the largest timestamp of an acknowledged write of a row so far, 0 if none is known or if the clock
// has been set back to more than [writer.MaxClockSkew] before it.
func (p *process) acknowledged(row gocql.UUID) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.acked[row]; at <= p.now().Add(maxSkew).UnixMicro() {
		return at
	}
	return 0
}

func (p *process) acknowledge(row gocql.UUID, at int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acked[row] = max(p.acked[row], at)
}

// maxSkew is the default of [writer.MaxClockSkew].
const maxSkew = 10 * time.Second

// boot starts a process whose clock is ahead.
func boot(ctx context.Context, c *cassandratest.Cluster, keyspace string, ahead time.Duration, mode writer.Option) (*process, error) {
	p := &process{acked: make(map[gocql.UUID]int64)}
	p.ahead.Store(int64(ahead))
	p.ctx, p.cancel = context.WithCancel(ctx)
	config := c.Config()
	p.dialer.Configure(config)
	config.Keyspace = keyspace
	config.Events.DisableSchemaEvents = true
	var err error
	if p.session, err = session.Open(config, session.LocalDC("dc1"), session.Budget(retry.NewBudget(1<<30, 0))); err != nil {
		p.cancel()
		return nil, err
	}
	p.writer, err = writer.New(p.session, writer.WithClock(writer.NewClock(p.now)), writer.ClaimGrace(2*time.Second), mode)
	return p, err
}

// kill ends the process where it is.
func (p *process) kill() {
	p.dialer.DieAfter(0)
	p.cancel()
	go p.close() // it must not go on trying to connect
}

func (p *process) killed() bool { return p.dialer.Dead() }

// close gives back what the process has, when none of its calls is under way.
func (p *process) close() {
	p.cancel()
	p.session.Close()
}
