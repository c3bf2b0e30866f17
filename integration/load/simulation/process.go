package simulation

import (
	"context"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/faulty"
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
	dialer  faulty.Dialer
}

// boot starts a process.
func boot(ctx context.Context, c *cassandratest.Cluster, keyspace string, skew time.Duration, mode writer.Option) (*process, error) {
	p := new(process)
	p.ctx, p.cancel = context.WithCancel(ctx)
	config := c.Config()
	p.dialer.Configure(config)
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
