package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/denorm-go/denorm/integration/harness/sleep"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/integration/load/hot"
	"github.com/denorm-go/denorm/writer"
)

// ConsumerService is what the processes are called that resume what the clients have stored.
const ConsumerService = "consumers of stored errors"

// Consumer resumes writes that other processes have failed with, in a process of its own that can be killed at any
// moment. Its journal is of deliveries.
type Consumer struct{ hot.Process }

// Run resumes until it is over. What is left then stays stored.
func (c *Consumer) Run(over context.Context) error {
	return c.Do(over, func(ctx context.Context, p hot.Running) error {
		noted := history.NewDeliveries(p.Journal)
		for n := 0; !sleep.Unless(over.Done(), rand.N(2*c.Pause)); n++ {
			m, ok, err := c.Outbox.Take()
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			with := p.Writer
			if n%2 == 1 {
				with = with.With(hot.Impatient())
			}
			if _, err := Deliver(ctx, with, c.Outbox, m, noted, rand.IntN(3) == 0); err != nil {
				return err
			}
		}
		return nil
	}, writer.ClaimGrace(Grace))
}

// Deliver resumes a stored write once, and takes it out of the queue when nothing is left to be done, but for one that
// is to be delivered more often than it has to be. It says whether nothing is left.
func Deliver(
	ctx context.Context, w *writer.Writer, box history.Queue, m history.Message, noted history.Deliveries, twice bool,
) (done bool, err error) {
	noted.Again(m.Of)
	result, told := w.Resume(ctx, m.Failed)
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
