package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/denorm-go/denorm/integration/harness/outbox"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/integration/load/hot"
	"github.com/denorm-go/denorm/writer"
)

// ConsumerService is what the processes are called that resume what the clients have stored.
const ConsumerService = "consumers of stored errors"

// Consumer resumes writes that other processes have failed with, in a process of its own that can be killed at any moment. All
// fields are required.
type Consumer struct {
	Hosts    []string      `json:"hosts"`
	Keyspace string        `json:"keyspace"`
	Outbox   outbox.Box    `json:"outbox"`
	Journal  string        `json:"journal"` // of deliveries
	Pause    time.Duration `json:"pause"`
	Skew     time.Duration `json:"skew"`
}

// Run resumes until it is over. What is left then stays stored.
func (c *Consumer) Run(ctx context.Context, over <-chan struct{}) error {
	journal, err := os.OpenFile(c.Journal, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = journal.Close() }()
	ctx, cancel := hot.Until(ctx, over)
	defer cancel()
	s, err := hot.Open(ctx, c.Hosts, c.Keyspace)
	if err != nil {
		return err
	}
	defer s.Close()
	clock := writer.NewClock(func() time.Time { return time.Now().Add(c.Skew) })
	w, err := writer.New(s, writer.WithClock(clock), writer.ClaimGrace(Grace))
	if err != nil {
		return err
	}
	noted := history.NewDeliveries(journal)
	for n := 0; ; n++ {
		select {
		case <-over:
			return nil
		case <-time.After(rand.N(2 * c.Pause)):
		}
		m, ok, err := c.Outbox.Take()
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		with := w
		if n%2 == 1 {
			with = w.With(hot.Impatient())
		}
		if _, err := Deliver(ctx, with, c.Outbox, m, noted, rand.IntN(3) == 0); err != nil {
			return err
		}
	}
}

// Deliver resumes a stored write once, and takes it out of the queue when nothing is left to be done, but for one that is to be
// delivered more often than it has to be. It says whether nothing is left.
func Deliver(
	ctx context.Context, w *writer.Writer, box outbox.Box, m outbox.Message, noted *history.Deliveries, twice bool,
) (done bool, err error) {
	failed, err := m.Failed()
	if err != nil {
		return false, err
	}
	noted.Again(m.Of)
	result, told := w.Resume(ctx, failed)
	noted.End(m.Of, result.Timestamp, told)
	var left *writer.Error
	switch {
	case told != nil && !errors.As(told, &left) || errors.Is(told, writer.ErrExpired) ||
		errors.Is(told, writer.ErrInvalid) && !errors.Is(told, writer.ErrConflict): // a conflict that was stored is rejected
		return false, fmt.Errorf("resume a stored write of %s: %w", m.Of.History, told)
	case left == nil || !left.Resumable():
		if twice {
			return true, nil
		}
		return true, box.Done(m)
	case rand.IntN(2) == 0:
		return false, box.Again(m, left)
	}
	return false, nil // what was stored is delivered as it is
}
