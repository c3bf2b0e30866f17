package tracing_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
)

func TestSlog(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		least slog.Level
	}{
		"slog":        {least: slog.LevelDebug},
		"slog_info":   {least: slog.LevelInfo},
		"slog_errors": {least: slog.LevelError},
		"slog_off":    {least: slog.LevelError + 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // for its clock
				var out bytes.Buffer
				logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: test.least}))
				tracer := tracing.Slog(logger).(readTracer)
				for _, w := range []func(testing.TB) told{fanOut, failing, resumed, moved, fallenBack, spent, left, rejected} {
					slowly := waits{tracer}
					w(t).to(t.Context(), slowly)
				}
				golden.Check(t, name+".golden", out.String())
			})
		})
	}
}

// waits makes every request take 1.5 ms.
type waits struct{ readTracer }

func (w waits) TraceRequestStart(ctx context.Context, data session.RequestStart) context.Context {
	ctx = w.readTracer.TraceRequestStart(ctx, data)
	time.Sleep(1500 * time.Microsecond)
	return ctx
}

func TestSlogNil(t *testing.T) {
	t.Parallel()
	failing(t).to(t.Context(), tracing.Slog(nil))
}
