package tracing

import (
	"context"

	"github.com/denorm-go/denorm/reader"
)

// MultiReads is [Multi] for tracers of reads, for [reader.Trace].
func MultiReads(tracers ...reader.Tracer) reader.Tracer {
	var m multiReads
	for _, t := range tracers {
		if t != nil {
			m = append(m, t)
		}
	}
	switch len(m) {
	case 0:
		return nil
	case 1:
		return m[0]
	}
	return m
}

// multiReads implements all of the interfaces: what a reader gathers for tracers of partitions and retries it has at hand.
type multiReads []reader.Tracer

var (
	_ reader.Tracer          = multiReads(nil)
	_ reader.PartitionTracer = multiReads(nil)
	_ reader.RetryTracer     = multiReads(nil)
)

func (m multiReads) TraceReadStart(ctx context.Context, data reader.ReadStart) context.Context {
	for _, t := range m {
		ctx = orOuter(ctx, t.TraceReadStart(ctx, data)) //nolint:fatcontext // one within the other is meant
	}
	return ctx
}

func (m multiReads) TraceReadEnd(ctx context.Context, data reader.ReadEnd) {
	for i := len(m) - 1; i >= 0; i-- {
		m[i].TraceReadEnd(ctx, data)
	}
}

func (m multiReads) TracePartitionStart(ctx context.Context, data reader.PartitionStart) context.Context {
	for _, t := range m {
		if p, ok := t.(reader.PartitionTracer); ok {
			ctx = orOuter(ctx, p.TracePartitionStart(ctx, data)) //nolint:fatcontext // one within the other is meant
		}
	}
	return ctx
}

func (m multiReads) TracePartitionEnd(ctx context.Context, data reader.PartitionEnd) {
	for i := len(m) - 1; i >= 0; i-- {
		if p, ok := m[i].(reader.PartitionTracer); ok {
			p.TracePartitionEnd(ctx, data)
		}
	}
}

func (m multiReads) TraceReadRetry(ctx context.Context, data reader.RetryData) {
	for _, t := range m {
		if r, ok := t.(reader.RetryTracer); ok {
			r.TraceReadRetry(ctx, data)
		}
	}
}
