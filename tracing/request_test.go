package tracing_test

import (
	"slices"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// calls are the spans of kind CLIENT, in the order of their ends, and forgets all spans.
func (s *traced) calls() (calls tracetest.SpanStubs) {
	for _, span := range s.exporter.GetSpans() {
		if span.SpanKind == trace.SpanKindClient {
			calls = append(calls, span)
		}
	}
	s.exporter.Reset()
	return calls
}

// want compares attributes, of which those that are wanted to be empty must be absent.
func want(t *testing.T, span tracetest.SpanStub, attributes map[string]string) {
	t.Helper()
	for key, value := range attributes {
		if got := text(span, key); got != value {
			t.Errorf("%s: %s is %q, want %q", span.Name, key, got, value)
		}
	}
}

const (
	threeMemos = `["memos","memos_by_author","memos_of_today"]`
	grouping   = 4 << 10
)

// A group is one call, which names its tables and what is known of each. If it fails, each of its requests is a call
// after it.
func TestGroupsAreCalls(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := openTraced(t, c)
		w := s.w.With(writer.Group(grouping))
		for name, test := range map[string]struct {
			w     *writer.Writer
			calls int
		}{"alone": {s.w, 3}, "grouped": {w, 1}} {
			if _, err := test.w.Write(t.Context(), "addMemo", memos.Insert(newMemo())); err != nil {
				t.Fatal(err)
			}
			calls := s.calls()
			if len(calls) != test.calls {
				t.Fatalf("%s: %d calls", name, len(calls))
			}
			if name == "alone" {
				want(t, calls[0], map[string]string{
					"denorm.tables.outcomes": "", "denorm.partitions": "",
					"denorm.outcome": "applied",
				})
				continue
			}
			want(t, calls[0], map[string]string{
				"denorm.tables": threeMemos, "denorm.tables.outcomes": `["applied","applied","applied"]`, "denorm.partitions": "3",
				"denorm.outcome": "applied", "denorm.attempts": "1", "db.operation.batch.size": "3",
				"cassandra.query.idempotent": "true",
			})
		}

		rule := c.When(cassandratest.Batch).Do(cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1)))
		if _, err := w.Write(t.Context(), "addMemo", memos.Insert(newMemo())); err != nil {
			t.Fatal(err)
		}
		rule.End()
		calls := s.calls()
		if len(calls) != 4 {
			t.Fatalf("%d calls of a group that fails", len(calls))
		}
		want(t, calls[0], map[string]string{
			"denorm.tables": threeMemos, "denorm.tables.outcomes": `["unknown","unknown","unknown"]`, "denorm.partitions": "3",
			"denorm.outcome": "unknown", "error.type": "unavailable", "denorm.attempts": "1",
		})
		for _, call := range calls[1:] {
			want(t, call, map[string]string{
				"denorm.tables.outcomes": "", "denorm.partitions": "", "denorm.outcome": "applied", "error.type": "",
				"denorm.attempts": "1",
			})
			if call.Parent.SpanID() != calls[0].Parent.SpanID() || call.StartTime.Before(calls[0].EndTime) {
				t.Errorf("%s does not follow the group within its write", call.Name)
			}
		}
	})
}

// What the retry budget does not allow after a group has failed is a request without an attempt, so that it is counted
// as given up.
func TestGroupsAreGivenUp(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := openTraced(t, c)
		meters, metrics := meter(t)
		w := s.w.With(writer.Group(grouping), s.by(
			tracing.Multi(tracing.New(tracing.WithTracerProvider(s.provider)), tracing.New(tracing.WithMeterProvider(meters))),
			session.Budget(retry.NewBudget(2, 0.001))))
		c.When(cassandratest.Batch).Do(cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1)))
		if _, err := w.Write(t.Context(), "addMemo", memos.Insert(newMemo())); writer.OutcomeOf(err) != writer.Unknown {
			t.Fatal(err)
		}
		var unsent []string
		for _, call := range s.calls() {
			if text(call, "denorm.retry.budget_spent") == "true" {
				unsent = append(unsent, text(call, "denorm.attempts")+" "+text(call, "denorm.outcome")+" "+text(call, "error.type"))
			}
		}
		if !slices.Equal(unsent, []string{"0 unknown unavailable"}) {
			t.Errorf("given up: %q", unsent)
		}
		if got := byName(collect(t, metrics))["denorm.retry.rejections"]; len(got) < 4 || got[:4] != "  1 " {
			t.Errorf("rejections:\n%s", got)
		}
	})
}

// Additions to counters and transactions of conditions are not idempotent, all else is.
func TestIdempotentRequests(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := openTraced(t, c)
		if _, err := s.w.Write(t.Context(), "add", pageHits.Add(hits{"home", 1}), memos.Insert(newMemo())); err != nil {
			t.Fatal(err)
		}
		if _, err := s.w.Write(t.Context(), "add",
			guests.Insert(guest{GuestID: gocql.MustRandomUUID(), Name: "ann"})); err != nil {
			t.Fatal(err)
		}
		idempotent := map[string]string{
			"UPDATE page_hits": "false", "UPDATE guests": "false", "INSERT memos": "true", "INSERT memos_by_author": "true",
			"INSERT memos_of_today": "true",
		}
		seen := 0
		for _, call := range s.calls() {
			if wanted, ok := idempotent[call.Name]; ok {
				seen++
				want(t, call, map[string]string{"cassandra.query.idempotent": wanted})
			}
		}
		if seen != len(idempotent) {
			t.Errorf("%d of %d requests were seen", seen, len(idempotent))
		}
	})
}

// A request that got no answer for a while was sent once more.
func TestHedgesAreCounted(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := openTraced(t, c)
		w := s.w.With(writer.Hedge(50 * time.Millisecond))
		slow := true
		c.When(cassandratest.Table("memos_by_author")).Choose(func(cassandratest.Request) []cassandratest.Step {
			if !slow {
				return nil
			}
			slow = false
			return []cassandratest.Step{cassandratest.Delay(time.Second)}
		})
		if _, err := w.Write(t.Context(), "addMemo", memos.Insert(newMemo())); err != nil {
			t.Fatal(err)
		}
		for _, call := range s.calls() {
			count, attempts := "", "1"
			if text(call, "db.collection.name") == "memos_by_author" {
				count, attempts = "1", "2"
			}
			want(t, call, map[string]string{"cassandra.speculative_execution.count": count, "denorm.attempts": attempts})
		}
	})
}

// A partition that is read says how many rows the server has returned, and how large its pages were at most: a read
// begins with smaller ones, and one that is confirmed asks for base rows.
func TestPagesOfReads(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := openTraced(t, c)
		const rows = 30
		for range rows {
			if _, err := s.w.Write(t.Context(), "addMemo", memos.Insert(newMemo())); err != nil {
				t.Fatal(err)
			}
		}
		s.exporter.Reset()
		r := s.reader(t, tracing.New(tracing.WithTracerProvider(s.provider)), reader.PageSize(20))
		all := reader.From(memos, "memos_by_author").Eq("author", secret)
		for name, test := range map[string]struct {
			query reader.Query[memo]
			calls []map[string]string // in the order of their ends
		}{
			"all": {all, []map[string]string{{
				"cassandra.page.size": "20", "db.response.returned_rows": "30", "denorm.rows": "30", "denorm.pages": "2",
			}}},
			"some": {all.Limit(7), []map[string]string{{
				"cassandra.page.size": "7", "db.response.returned_rows": "7", "denorm.rows": "7", "denorm.pages": "1",
			}}},
			"two pages": {all.Limit(25), []map[string]string{{
				"cassandra.page.size": "20", "db.response.returned_rows": "25", "denorm.rows": "25", "denorm.pages": "2",
			}}},
			"confirmed": {all.Limit(7).Confirm(), []map[string]string{
				{"db.collection.name": "memos", "cassandra.page.size": "101", "db.response.returned_rows": "7", "denorm.rows": "7"},
				{
					"db.collection.name": "memos_by_author", "cassandra.page.size": "7", "db.response.returned_rows": "7",
					"denorm.rows": "7",
				},
			}},
		} {
			if _, _, err := reader.List(t.Context(), r, name, test.query); err != nil {
				t.Fatal(err)
			}
			calls := s.calls()
			if len(calls) != len(test.calls) {
				t.Fatalf("%s: %d calls", name, len(calls))
			}
			for i, call := range calls {
				test.calls[i]["cassandra.query.idempotent"] = "true"
				want(t, call, test.calls[i])
			}
		}
	})
}
