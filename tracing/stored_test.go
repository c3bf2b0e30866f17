package tracing_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// Others may have written the op and the statements of a stored error: a tracer keeps a limited number of bytes of
// them.
func TestTextsThatAreKept(t *testing.T) {
	t.Parallel()
	const series = 10
	meters, reader := meter(t)
	tracer := tracing.New(tracing.WithMeterProvider(meters), tracing.WithMaxSeries(series))
	w := fanOut(t)
	for i := range 2 * series {
		w.start.Op = fmt.Sprint(i, strings.Repeat("x", 10_000))
		w.end.Op = w.start.Op
		for p := range w.requests {
			w.requests[p].start.Op = w.start.Op
		}
		w.to(t.Context(), tracer)
	}
	for _, m := range collect(t, reader)[0].Metrics {
		if _, texts := points(m.Data); len(strings.Join(texts, "")) > 60_000 || len(texts) < 2 {
			t.Errorf("%s: %d series of %d bytes", m.Name, len(texts), len(strings.Join(texts, "")))
		}
	}
}

// An error that Resume rejects, of which others may have written the op and the tables, takes no series from the
// service.
func TestSeriesOfRejectedErrors(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		s := openTraced(t, c)
		meters, reader := meter(t)
		w := s.w.With(s.by(tracing.New(tracing.WithMeterProvider(meters), tracing.WithMaxSeries(10))))
		own := w.With(writer.Resumes(tables.Must(
			tables.New[memo]("other", tables.Table{Name: "others", PartKey: []string{"memo_id"}}))))
		for i := range 20 {
			lost := c.When(cassandratest.Table("memos_by_author")).
				Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeUnauthorized)))
			_, err := s.w.Write(t.Context(), fmt.Sprint("op", i), memos.Insert(newMemo()))
			lost.End()
			if _, err := own.Resume(t.Context(), stored(t, err)); !errors.Is(err, writer.ErrInvalid) {
				t.Fatal(err)
			}
		}
		if _, err := w.Write(t.Context(), "order.paid", memos.Insert(newMemo())); err != nil {
			t.Fatal(err)
		}
		for _, m := range collect(t, reader)[0].Metrics {
			_, texts := points(m.Data)
			if all := strings.Join(texts, "\n"); !strings.Contains(all, "order.paid") || strings.Contains(all, "op1") ||
				m.Name == "denorm.outcomes" && strings.Contains(all, "unknown") {
				t.Errorf("%s:\n%s", m.Name, all)
			}
		}
	})
}
