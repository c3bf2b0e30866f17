package tracing_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/settings"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"github.com/gocql/gocql"
)

// The error of a read that was given up holds the last failure and why no attempt followed. Its error.type is the
// failure, also where the tracer is not told of its requests.
func TestReadErrorType(t *testing.T) {
	t.Parallel()
	budget := settings.NewBudget(1, 0)
	budget.Take(1)
	unavailable := func(context.Context, int) error { return &gocql.RequestErrUnavailable{Consistency: gocql.LocalQuorum} }
	limited, unlimited := request.NewRetrier(retry.Policy{}, budget),
		request.NewRetrier(retry.Policy{}, settings.NewBudget(10, 1))
	_, spent := limited.Do(t.Context(), retry.Partition, unavailable, nil)
	ctx, cancel := context.WithCancel(t.Context())
	_, canceled := unlimited.Do(ctx, retry.Partition, func(ctx context.Context, n int) error {
		cancel()
		return unavailable(ctx, n)
	}, nil)
	if !errors.Is(spent, retry.ErrBudget) || !errors.Is(canceled, context.Canceled) {
		t.Fatalf("%v, and %v", spent, canceled)
	}
	for name, err := range map[string]error{"the budget is spent": spent, "the call is canceled": canceled} {
		for _, told := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, requests told %v", name, told), func(t *testing.T) {
				t.Parallel()
				meters, metrics := meter(t)
				tracer := tracing.New(tracing.WithMeterProvider(meters)).(readTracer)
				failed := &reader.Error{Op: "newest", Table: "logs", Err: err}
				ctx := tracer.TraceStart(t.Context(), session.OperationStart{
					Operation: session.OperationRead, Op: "newest",
					Table: "logs",
				})
				want := "unavailable"
				if told {
					want = "reason_of_the_request"
					p := tracer.TraceRequestStart(ctx, session.RequestStart{
						Op: "newest", Keyspace: "shop", Tables: []string{"logs"},
						Partition: 1,
					})
					tracer.TraceRequestEnd(p, session.RequestEnd{Attempts: 1, Reason: want, Err: failed})
				}
				tracer.TraceEnd(ctx, session.OperationEnd{Operation: session.OperationRead, Op: "newest", Err: failed})
				if got := table(collect(t, metrics)); !strings.Contains(got, fmt.Sprintf("error.type=%q", want)) {
					t.Errorf("the read counts as\n%s", got)
				}
			})
		}
	}
}
