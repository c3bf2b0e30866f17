package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

const (
	costCalls = 500
	costTime  = 8 * time.Second // on a slow machine there are fewer calls
)

// showCost measures createOrder in both of its modes, in turns, so that both meet the same machine.
func showCost(ctx context.Context, out *screen, s *shop) error {
	out.heading("What a write costs", "A fan-out sends its inserts at the same time, so it takes as long as the slowest of them. "+
		"A logged batch goes through Cassandra's batchlog, and is completed even if the client dies.")
	inserts := new(slowest)
	fanOut, logged := s.w.With(writer.Session(s.own.With(session.Trace(inserts)))), s.w.With(writer.Logged())
	var whole, slowest, rest, batches []time.Duration
	for began := time.Now(); len(whole) < costCalls && time.Since(began) < costTime; {
		inserts.took = 0
		start := time.Now()
		if _, err := createOrder(ctx, fanOut); err != nil {
			return err
		}
		took := time.Since(start)
		whole, slowest, rest = append(whole, took), append(slowest, inserts.took), append(rest, took-inserts.took)
		start = time.Now()
		if _, err := createOrder(ctx, logged); err != nil {
			return err
		}
		batches = append(batches, time.Since(start))
	}
	row := func(what string, values []time.Duration) []string {
		slices.Sort(values)
		return []string{what, milliseconds(values[len(values)/2]), milliseconds(values[len(values)*99/100])}
	}
	out.table([]string{"", "p50", "p99"}, row("createOrder as a fan-out", whole), row("  its slowest insert", slowest),
		row("  everything else", rest), row("createOrder as a logged batch", batches))
	out.blank()
	out.say("Measured now: %s calls of each, one at a time, in turns.", number(len(whole)))
	return nil
}

// slowest is a tracer of one write at a time: how long its slowest request took.
type slowest struct {
	mu   sync.Mutex
	took time.Duration
}

var _ session.RequestTracer = (*slowest)(nil)

type beganKey struct{}

// TraceStart implements session.Tracer.
func (*slowest) TraceStart(ctx context.Context, _ session.OperationStart) context.Context { return ctx }

// TraceEnd implements session.Tracer.
func (*slowest) TraceEnd(context.Context, session.OperationEnd) {}

// TraceRequestStart implements session.RequestTracer.
func (*slowest) TraceRequestStart(ctx context.Context, _ session.RequestStart) context.Context {
	return context.WithValue(ctx, beganKey{}, time.Now())
}

// TraceRequestEnd implements session.RequestTracer.
func (s *slowest) TraceRequestEnd(ctx context.Context, _ session.RequestEnd) {
	began, _ := ctx.Value(beganKey{}).(time.Time)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took = max(s.took, time.Since(began))
}
