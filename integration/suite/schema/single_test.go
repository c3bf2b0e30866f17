package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type note struct {
	ID    int
	Text  string
	Stamp int64
}

type account struct {
	ID      int
	Text    string
	Version gocql.UUID
}

type stock struct {
	ID, Count int
	Text      string
}

var (
	singleNotes    = tables.Must(tables.New[note]("note", tables.Table{Name: "notes", PartKey: []string{"id"}}, tables.Stamp("stamp")))
	singleAccounts = tables.Must(tables.New[account]("account", tables.Table{Name: "accounts", PartKey: []string{"id"}}, tables.Versioned("version")))
	singleSeats    = tables.Must(tables.New[stock]("seat", tables.Table{Name: "seats", PartKey: []string{"id"}}, tables.Compare("count")))
)

// Sets with one table take over rows that were written by hand. The server covers a change with Compare of a row whose
// time is ahead, and finds no null equal to 0: Adopt names such rows.
func TestOneTableIsAdopted(t *testing.T) {
	t.Parallel()
	keyspace := cluster.Keyspace(t, 3, schema.Must(schema.Declare(schema.Sets(singleNotes, singleAccounts, singleSeats))).Statements()...)
	config := gocql.NewCluster(cluster.Hosts(t)...)
	config.Keyspace, config.ConnectTimeout = keyspace, time.Minute
	on, err := session.Open(config, session.Adjust(patient))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(on.Close)
	in := cluster.Session(t, keyspace, patient)
	const rows, null, expires, ahead = 20, 100, 101, 102
	at := time.Now().Add(-time.Hour).UnixMicro()
	exec := func(format string, args ...any) {
		t.Helper()
		if err := in.Query(fmt.Sprintf(format, args...)).DefaultTimestamp(false).Consistency(gocql.All).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	for id := range rows {
		exec("INSERT INTO notes (id, text) VALUES (%d, 'by hand') USING TIMESTAMP %d", id, at)
		exec("INSERT INTO accounts (id, text) VALUES (%d, 'by hand') USING TIMESTAMP %d", id, at)
		exec("INSERT INTO seats (id, text, count) VALUES (%d, 'by hand', 1) USING TIMESTAMP %d", id, at)
	}
	exec("INSERT INTO seats (id, text) VALUES (%d, 'by hand') USING TIMESTAMP %d", null, at)
	exec("INSERT INTO seats (id, text, count) VALUES (%d, 'by hand', 1) USING TIMESTAMP %d AND TTL 86400", expires, at)
	exec("INSERT INTO seats (id, text, count) VALUES (%d, 'by hand', 1) USING TIMESTAMP %d", ahead, time.Now().Add(time.Hour).UnixMicro())

	w := newWriter(t, on)
	r, err := reconcile.New(on, reconcile.Settle(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	name := func(id int) error {
		_, err := writer.Modify(t.Context(), w, "name", singleAccounts, account{ID: id}, func(a account) (account, error) { a.Text = "named"; return a, nil })
		return err
	}
	take := func(id int) error {
		_, err := writer.Modify(t.Context(), w, "take", singleSeats, stock{ID: id}, func(s stock) (stock, error) { s.Count++; return s, nil })
		return err
	}
	if err := name(1); !errors.Is(err, writer.ErrInvalid) || !strings.Contains(err.Error(), "denorm adopt") {
		t.Errorf("a row without a version: %v", err)
	}
	if report, err := r.Verify(t.Context(), singleAccounts); !errors.Is(err, reconcile.ErrIncomplete) || report.Unadopted != rows {
		t.Errorf("%v\n%v", err, report)
	}
	for set, stamped := range map[tables.Described]int{singleNotes: rows, singleAccounts: rows, singleSeats: 0} {
		report, err := r.Adopt(t.Context(), set, reconcile.Writers(time.Now()))
		if report == nil || report.Stamped != stamped || (err != nil) != (set == tables.Described(singleSeats)) {
			t.Fatalf("%v\n%v", err, report)
		}
		for _, want := range []string{"null in column count", "expires", "ahead"} {
			if err != nil && (report.Uncovered != 3 || !strings.Contains(err.Error(), want)) {
				t.Errorf("not named: %s: %v\n%v", want, err, report)
			}
		}
	}
	if err := errors.Join(name(1), take(1), take(ahead)); err != nil {
		t.Error(err)
	}
	if err := take(null); !errors.Is(err, writer.ErrInvalid) {
		t.Errorf("null: %v", err)
	}
	for query, want := range map[string]int{"SELECT count FROM seats WHERE id = 1": 2, fmt.Sprint("SELECT count FROM seats WHERE id = ", ahead): 1} {
		n := 0
		if err := in.Query(query).Consistency(gocql.All).Scan(&n); err != nil || n != want {
			t.Errorf("%s: %d, %v, want %d", query, n, err, want)
		}
	}
	for _, set := range []tables.Described{singleNotes, singleAccounts} {
		if report, err := r.Verify(t.Context(), set); err != nil || report.Unadopted != 0 || report.Tables[0].Rows != rows {
			t.Errorf("%v\n%v", err, report)
		}
		if report, err := r.Repair(t.Context(), set); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
	}
}
