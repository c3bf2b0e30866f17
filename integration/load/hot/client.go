package hot

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/child"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// Mode is a way to write that loads are run in.
type Mode string

// The modes.
const (
	FanOut  Mode = "fan-out"
	Grouped Mode = "groups"
	Logged  Mode = "logged batch"
	Auto    Mode = "auto"
)

var modes = map[Mode][]writer.Option{
	FanOut:  {writer.Concurrent()},
	Grouped: {writer.Concurrent(), writer.Group(4 << 10)},
	Logged:  {writer.Logged()},
	Auto:    {writer.Auto()},
}

// Options make a writer write in this mode.
func (m Mode) Options() []writer.Option { return modes[m] }

// Process is what each client has that runs in a process of its own.
type Process struct {
	Hosts    []string      `json:"hosts"`
	Keyspace string        `json:"keyspace"`
	Journal  string        `json:"journal"`
	Skew     time.Duration `json:"skew"` // of its clock
	Name     string        `json:"name"`
	First    int64         `json:"first"` // number of a range of writes that no other client makes
	Writers  int           `json:"writers"`
	Pause    time.Duration `json:"pause"`  // of a writer between two writes, on average
	Outbox   history.Queue `json:"outbox"` // of writes that failed
}

// Running is a process that has its journal and its sessions.
type Running struct {
	Journal *os.File
	Session *session.Session
	Writer  *writer.Writer
}

// Now is the time by its clock.
func (p *Process) Now() time.Time { return time.Now().Add(p.Skew) }

// Do runs the process. The context of do ends a few minutes after that of Do.
func (p *Process) Do(over context.Context, do func(context.Context, Running) error, options ...writer.NewOption) error {
	journal, err := os.OpenFile(p.Journal, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = journal.Close() }()
	ctx, cancel := context.WithCancel(context.WithoutCancel(over))
	defer cancel()
	defer context.AfterFunc(over, func() { time.AfterFunc(patience, cancel) })()
	s, err := child.Open(ctx, p.Hosts, p.Keyspace)
	if err != nil {
		return err
	}
	defer s.Close()
	w, err := writer.New(s, append(options, writer.WithClock(writer.NewClock(p.Now)))...)
	if err != nil {
		return err
	}
	return do(ctx, Running{journal, s, w})
}

// Client is a load for a process of its own, which keeps a journal of what it writes: it can be killed at any moment.
// Its outbox takes every other write that failed and is not to be left.
type Client struct {
	Process
	Mode      Mode           `json:"mode"`
	Orders    []orders.Order `json:"orders"`
	Pinned    bool           `json:"pinned"`
	Leave     bool           `json:"leave"`
	Impatient bool           `json:"impatient"` // see [Impatient]: every other writer is
	Length    time.Duration  `json:"length"`
}

// Impatient makes a writer give up after one attempt of less than the server's own time limit. What it gave up may
// still be under way.
func Impatient() writer.Option {
	return writer.Retry(retry.Policy{MaxAttempts: 1, AttemptTimeout: 300 * time.Millisecond})
}

// patience is how long a client takes at most to finish its writes after the end of its load.
const patience = 4 * time.Minute

// Run runs the load until the context ends.
func (c *Client) Run(over context.Context) error {
	return c.Do(over, func(ctx context.Context, p Running) error { return c.run(ctx, over.Done(), p) })
}

func (c *Client) run(ctx context.Context, over <-chan struct{}, p Running) error {
	p.Writer = p.Writer.With(c.Mode.Options()...)
	load := Load{
		Name: c.Name, Set: orders.Orders, Orders: c.Orders, Reader: orders.NewReader(p.Session.Reads()),
		History: history.New[orders.Order](p.Journal), First: c.First,
		Length: c.Length, Over: over, Pause: c.Pause, Pinned: c.Pinned, Leave: c.Leave, Now: c.Now,
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
			load.Writers = append(load.Writers, p.Writer.With(Impatient()))
			continue
		}
		load.Writers = append(load.Writers, p.Writer)
	}
	_, err := load.Run(ctx)
	return err
}
