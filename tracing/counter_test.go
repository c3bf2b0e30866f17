package tracing_test

import (
	"testing"

	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// counted is a row alongside a counter, which says of itself how it is sent, and of which no answer has come.
func counted(tb testing.TB) told {
	tb.Helper()
	host := coordinator(tb, "10.0.0.1", "dc2")
	visit, views := requestTo(writer.Single, "visits", host), requestTo(writer.Counter, "page_views", host)
	views.start.Statements = []string{"UPDATE shop.page_views SET view_count=view_count+? WHERE page_id=?"}
	views.end.Outcome, views.end.Err, views.end.Reason = writer.Unknown, gocql.ErrTimeoutNoResponse, "no_response"
	w := told{start: session.OperationStart{Op: "viewPage", Changes: 2}, requests: []toldRequest{visit, views}}
	for i := range w.requests {
		w.requests[i].start.Op = "viewPage"
	}
	w.end = session.OperationEnd{
		Op: "viewPage", Timestamp: 1, Mode: writer.Single.String(), Requests: 2, Counters: 1, Attempts: 2,
		Err: &writer.Error{Op: "viewPage", Timestamp: 1, Mode: writer.Single, Tables: []writer.TableResult{
			{Keyspace: keyspace, Table: "visits", Outcome: writer.Applied, Attempts: 1},
			{Keyspace: keyspace, Table: "page_views", Attempts: 1, Err: gocql.ErrTimeoutNoResponse, Counter: true},
		}},
	}
	return w
}
