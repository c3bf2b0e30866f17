package reader_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// A query and its rows end in logs, and show no values there.
func TestQueriesShowNoValues(t *testing.T) {
	t.Parallel()
	type note struct{ ID, Text string }
	set := tables.Must(tables.New[note]("note", tables.Table{Name: "notes", PartKey: []string{"id"}}))
	const secret = "Kreuzspinne4711"
	q := reader.From(set, "notes").Eq("id", secret)
	rows := reader.Read(context.Background(), new(reader.Reader), "op", q)
	for name, thing := range map[string]any{
		"query": q, "*query": &q, "rows": *rows, "*rows": rows,
		"slice": []any{q, rows},
	} {
		for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			if text := fmt.Sprintf(format, thing); strings.Contains(text, secret) ||
				strings.Contains(text, fmt.Sprintf("%x", secret)) ||
				strings.Contains(text, "75 114 101 117") {
				t.Errorf("%s as %s: %s", name, format, text)
			}
		}
		if data, err := json.Marshal(thing); err != nil || strings.Contains(string(data), secret) {
			t.Errorf("%s as JSON: %s, %v", name, data, err)
		}
	}
}

// Where a live table is not as it is declared, what is read may not fit. The errors then name column and types, and no
// value.
func TestErrorsOfDecodingShowNoValues(t *testing.T) {
	t.Parallel()
	type row struct {
		ID  string
		Seq int32
		N   int32
	}
	type counted struct {
		ID string
		N  int32
	}
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create("CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}",
			"CREATE TABLE shop.rows (id text, seq bigint, n int, PRIMARY KEY (id, seq))",
			"CREATE TABLE shop.sums (id text PRIMARY KEY, n bigint)")
		config := session.Configure(c.Config(), "dc1")
		config.Keyspace = "shop"
		reads, err := config.CreateSession()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(reads.Close)
		config = session.Configure(c.Config(), "dc1")
		config.Keyspace = "shop"
		writes, err := config.CreateSession()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(writes.Close)
		const value int64 = 4711471147114711
		for _, table := range []string{"rows (id, seq, n) VALUES ('a', ?, 1)", "sums (id, n) VALUES ('a', ?)"} {
			if err := reads.Query("INSERT INTO "+table, value).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		s := testsession.New(t, writes, reads)
		r, err := reader.New(s)
		if err != nil {
			t.Fatal(err)
		}
		w, err := writer.New(s, writer.WithClock(writer.NewClock(time.Now)))
		if err != nil {
			t.Fatal(err)
		}
		set := tables.Must(tables.New[row]("row", tables.Table{
			Name: "rows", PartKey: []string{"id"},
			SortKey: []string{"seq"},
		}))
		sums := tables.Must(tables.New[counted]("sum", tables.Table{Name: "sums", PartKey: []string{"id"}}))
		compared := tables.Must(tables.New[counted]("sum", tables.Table{Name: "sums", PartKey: []string{"id"}},
			tables.Compare("n")))
		_, _, read := reader.List(t.Context(), r, "list", reader.From(set, "rows").Eq("id", "a"))
		_, load := writer.Load(t.Context(), w, "load", sums, counted{ID: "a"})
		_, modify := writer.Modify(t.Context(), w, "modify", sums, counted{ID: "a"}, func(s counted) (counted, error) {
			return s, nil
		})
		_, conditional := writer.Load(t.Context(), w, "load", compared, counted{ID: "a"})
		for name, err := range map[string]error{
			"read": read, "Load": load, "Modify": modify,
			"Load of a conditional set": conditional,
		} {
			if err == nil || strings.Contains(err.Error(), fmt.Sprint(value)) ||
				!strings.Contains(err.Error(), "cannot be decoded into") {
				t.Errorf("%s: %v", name, err)
			}
			for cause := err; cause != nil; cause = errors.Unwrap(cause) {
				if text := fmt.Sprintf("%+v %#v %d", cause, cause, cause); strings.Contains(text, fmt.Sprint(value)) {
					t.Errorf("%s: a cause is %s", name, text)
				}
			}
		}
		if !strings.Contains(read.Error(), "column seq of CQL type bigint cannot be decoded into Go type *int32") {
			t.Errorf("%v", read)
		}
	})
}
