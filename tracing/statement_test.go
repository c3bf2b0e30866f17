package tracing_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// memo may expire.
type memo struct {
	MemoID gocql.UUID
	Author string
	Text   *string
	Tags   map[string]string
	Ends   *time.Time
}

var memos = tables.Must(tables.New[memo]("memo",
	tables.Table{Name: "memos", PartKey: []string{"memo_id"}},
	tables.Table{Name: "memos_by_author", PartKey: []string{"author"}, SortKey: []string{"memo_id"}},
	tables.Table{Name: "memos_of_today", PartKey: []string{"memo_id", "author"}},
	tables.ExpiresAt("ends"),
))

type hits struct {
	Page string
	Hits int64
}

var pageHits = tables.Must(tables.New[hits]("hits",
	tables.Table{Name: "page_hits", PartKey: []string{"page"}}, tables.Type("hits", "counter"),
))

// traced is a session on a cluster with the tables of this package's tests, and the spans of what is done with it.
type traced struct {
	*cassandratest.Cluster
	session  *session.Session
	w        *writer.Writer
	provider *sdktrace.TracerProvider
	exporter *tracetest.InMemoryExporter
}

func openTraced(t *testing.T, c *cassandratest.Cluster) *traced {
	t.Helper()
	c.Create(schema.Must(schema.Declare(schema.Sets(memos, guests, pageHits))).In(map[string]string{"": "shop"}).
		Statements()...)
	provider, exporter := recorder(t)
	s := &traced{Cluster: c, provider: provider, exporter: exporter}
	s.session = testsession.New(t, connect(t, c), connect(t, c),
		session.Trace(tracing.New(tracing.WithTracerProvider(provider))))
	var err error
	if s.w, err = writer.New(s.session, writer.WithClock(writer.NewClock(time.Now))); err != nil {
		t.Fatal(err)
	}
	<-time.After(time.Second) // connections are made, keyspaces known
	if err := s.w.Warm(t.Context(), memos, guests, pageHits); err != nil {
		t.Fatal(err)
	}
	return s
}

// by is the option of a writer that reports to another tracer.
func (s *traced) by(tracer session.Tracer, options ...session.Option) writer.Option {
	return writer.Session(s.session.With(append(options, session.Trace(tracer))...))
}

// reader is one whose reads are traced like the writes.
func (s *traced) reader(t *testing.T, tracer session.Tracer, options ...reader.Option) *reader.Reader {
	t.Helper()
	r, err := reader.New(s.session.With(session.Trace(tracer)), options...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// text is the value of an attribute of a span as text; empty if the span has none.
func text(s tracetest.SpanStub, key string) string {
	for _, a := range s.Attributes {
		if string(a.Key) == key {
			return a.Value.String()
		}
	}
	return ""
}

func newMemo() memo {
	body, ends := secret, time.Now().Add(4711*time.Second)
	return memo{
		MemoID: gocql.MustRandomUUID(), Author: secret, Text: &body, Tags: map[string]string{secret: secret}, Ends: &ends,
	}
}

// db.query.text is what was prepared, and has no value of a row, whatever is done: no literal but null.
func TestStatementsHoldNoValue(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := openTraced(t, c)
		m := newMemo()
		forever := newMemo()
		forever.Ends = nil
		ann := guest{GuestID: gocql.MustRandomUUID(), Name: secret, Visits: 1481516234}
		for i, change := range []tables.Change{
			memos.Insert(m), memos.Insert(forever), memos.Update(m, m), memos.Delete(forever),
			pageHits.Add(hits{secret, 1481516234}),
			memos.Patch(m, tables.Column("text"), tables.Elements("tags"), tables.Without("tags", "other"+secret)),
		} {
			if _, err := s.w.Write(t.Context(), "change", change); err != nil {
				t.Fatalf("change %d: %v", i, err)
			}
		}
		result, err := s.w.Write(t.Context(), "addGuest", guests.Insert(ann))
		if err != nil {
			t.Fatal(err)
		}
		ann.Version = result.Version
		bob := ann
		bob.Name = "other" + secret
		if result, err = s.w.Write(t.Context(), "rename", guests.Update(ann, bob)); err != nil {
			t.Fatal(err)
		}
		bob.Version = result.Version
		if _, err = s.w.Write(t.Context(), "drop", guests.Delete(bob)); err != nil {
			t.Fatal(err)
		}
		provider, read := recorder(t)
		r := s.reader(t, tracing.New(tracing.WithTracerProvider(provider)))
		rows, _, err := reader.List(t.Context(), r, "list", reader.From(memos, "memos_by_author").Eq("author", secret).
			Limit(10).Confirm())
		if err != nil || len(rows) == 0 {
			t.Fatal(len(rows), err)
		}

		prepared := make(map[string]bool)
		for _, r := range c.Journal() {
			for _, st := range r.Statements {
				for line := range strings.Lines(st.Text) { // a transaction of several statements has one in each line
					prepared[strings.TrimSuffix(line, ";\n")] = true
				}
			}
		}
		literal, found := regexp.MustCompile(`['"$]|[^\w?][-+]?[0-9]`), make(map[string]bool)
		spans := append(s.exporter.GetSpans(), read.GetSpans()...)
		for _, span := range spans {
			texts := text(span, "db.query.text")
			if texts == "" {
				continue
			}
			for _, st := range strings.Split(texts, "; ") {
				if found[st] = true; !prepared[st] {
					t.Errorf("%s has %s, which was not sent", span.Name, st)
				}
				if literal.MatchString(st) {
					t.Errorf("%s has a literal: %s", span.Name, st)
				}
			}
		}
		all := strings.Join(slices.Sorted(maps.Keys(found)), "\n")
		for _, part := range []string{
			"USING TTL ? AND TIMESTAMP ?", "DELETE", "SELECT", "IF ", "tags=tags+?", "hits=hits+?",
			" = null",
		} {
			if !strings.Contains(strings.ReplaceAll(all, "TIMESTAMP ? AND TTL ?", "TTL ? AND TIMESTAMP ?"), part) {
				t.Errorf("no statement has %s:\n%s", part, all)
			}
		}
		exported, err := json.Marshal(spans)
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range []string{secret, "1481516234", m.MemoID.String(), fmt.Sprint(result.Timestamp)} {
			if strings.Contains(string(exported), value) {
				t.Errorf("a span holds %s", value)
			}
		}
	})
}
