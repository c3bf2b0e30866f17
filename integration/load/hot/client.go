package hot

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/outbox"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// Mode is a way to write that loads are run in.
type Mode string

// The modes.
const (
	FanOut Mode = "fan-out"
	Logged Mode = "logged batch"
	Auto   Mode = "auto"
)

// Option makes a writer write in this mode. It panics if there is no such mode.
func (m Mode) Option() writer.Option {
	switch m {
	case FanOut:
		return writer.Concurrent()
	case Logged:
		return writer.Logged()
	case Auto:
		return writer.Auto()
	}
	panic(fmt.Sprintf("hot: no mode %q", string(m)))
}

// Client is a load for a process of its own, which keeps a journal of what it writes: it can be killed at any moment. All
// fields above Pinned are required.
type Client struct {
	Name     string         `json:"name"`
	Hosts    []string       `json:"hosts"`
	Keyspace string         `json:"keyspace"`
	Mode     Mode           `json:"mode"`
	Journal  string         `json:"journal"`
	First    int64          `json:"first"`
	Writers  int            `json:"writers"`
	Orders   []orders.Order `json:"orders"`

	Pinned    bool          `json:"pinned"`
	Leave     bool          `json:"leave"`
	Impatient bool          `json:"impatient"` // see [Impatient]: every other writer is
	Pause     time.Duration `json:"pause"`
	Length    time.Duration `json:"length"`
	Skew      time.Duration `json:"skew"`   // of its clock
	Outbox    outbox.Box    `json:"outbox"` // takes every other write that failed and is not to be left. Empty: none
}

// Impatient makes a writer give up after one attempt of less than the server's own time limit. What it gave up may still be
// under way.
func Impatient() writer.Option {
	return writer.Retry(retry.Policy{MaxAttempts: 1, AttemptTimeout: 300 * time.Millisecond})
}

// patience is how long a client takes at most to finish its writes after the end of its load.
const patience = 4 * time.Minute

// Until is a context for a client to finish its writes in: it ends a few minutes after the load is over.
func Until(ctx context.Context, over <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-over:
			time.AfterFunc(patience, cancel)
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// Run runs the load until it is over.
func (c *Client) Run(ctx context.Context, over <-chan struct{}) error {
	journal, err := os.OpenFile(c.Journal, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = journal.Close() }()
	ctx, cancel := Until(ctx, over)
	defer cancel()
	s, err := Open(ctx, c.Hosts, c.Keyspace)
	if err != nil {
		return err
	}
	defer s.Close()
	now := func() time.Time { return time.Now().Add(c.Skew) }
	w, err := writer.New(s, writer.WithClock(writer.NewClock(now)), c.Mode.Option())
	if err != nil {
		return err
	}
	load := Load{
		Name: c.Name, Set: orders.Orders, Orders: c.Orders, Reader: orders.NewReader(s.Reads()),
		History: history.New[orders.Order](journal), First: c.First,
		Length: c.Length, Over: over, Pause: c.Pause, Pinned: c.Pinned, Leave: c.Leave, Now: now,
	}
	if c.Outbox != "" {
		load.Store = func(noted int, failed *writer.Error) (bool, error) {
			if rand.IntN(2) == 0 {
				return false, nil
			}
			return true, c.Outbox.Put(history.Place{History: filepath.Base(c.Journal), N: noted}, failed)
		}
	}
	for n := range c.Writers {
		if c.Impatient && n%2 == 1 {
			load.Writers = append(load.Writers, w.With(Impatient()))
			continue
		}
		load.Writers = append(load.Writers, w)
	}
	_, err = load.Run(ctx)
	return err
}

// Open opens the sessions of a service. The driver gives up when the node that it asks first for the others is silent; so it is
// tried again until the context ends, as who runs a service would start it again.
func Open(ctx context.Context, hosts []string, keyspace string) (*session.Session, error) {
	config := gocql.NewCluster(hosts...)
	config.Keyspace = keyspace
	for {
		s, err := session.Open(config)
		if err == nil {
			return s, nil
		}
		if cause := pause(ctx); cause != nil {
			return nil, fmt.Errorf("%w (last: %w)", cause, err)
		}
	}
}
