package reader

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

// ticket is in three tables, one of them of unique keys.
type ticket struct {
	ID      string
	Queue   string
	Seat    int64
	Note    *string
	Version gocql.UUID
}

func tickets(tb testing.TB, options ...tables.Option) *tables.Set[ticket] {
	tb.Helper()
	set, err := tables.New[ticket]("ticket", append([]tables.Option{
		tables.Table{Name: "tickets", PartKey: []string{"id"}},
		tables.Table{
			Name: "tickets_by_queue", PartKey: []string{"queue"}, SortKey: []string{"id"},
			Columns: []string{"seat"},
		},
		tables.Table{Name: "ticket_of_seat", PartKey: []string{"seat"}, Unique: true},
		tables.Versioned("version"),
	}, options...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// filledTickets has the tickets a and b, and what is left of c, which was deleted.
func filledTickets(t *testing.T) (*tables.Set[ticket], *fakeSource) {
	t.Helper()
	set := tickets(t, tables.Transactional())
	f := newFake(describe.Of(set.Internal()))
	for n, id := range []string{"a", "b"} {
		f.add("tickets", id, fakeRow{
			"id": []byte(id), "queue": []byte("red"), "seat": number(n),
			"version": make([]byte, 16),
		})
		f.add("tickets_by_queue", "red", fakeRow{"queue": []byte("red"), "id": []byte(id), "seat": number(n)})
		f.add("ticket_of_seat", string(number(n)), fakeRow{"id": []byte(id), "seat": number(n)})
	}
	f.add("tickets", "c", fakeRow{"id": []byte("c"), "version": make([]byte, 16)})
	return set, f
}

func number(n int) []byte { return []byte{7: byte(n)} }

// add puts a row into a table whose partition key is one column.
func (f *fakeSource) add(table, key string, row fakeRow) {
	t := f.tables[table]
	t.rows[key] = append(t.rows[key], row)
}

// One request reads all rows, each by its own table and key. Rows that do not exist, and of deleted entities, are nil
// in their places.
func TestTransaction(t *testing.T) {
	t.Parallel()
	set, f := filledTickets(t)
	n := &noting{}
	rows, err := Transaction(t.Context(), newReader(f, "shop", traced(n)), "check",
		From(set, "tickets").Eq("id", "b"),
		From(set, "tickets_by_queue").Eq("queue", "red").Eq("id", "b"),
		From(set, "tickets_by_queue").Eq("queue", "blue").Eq("id", "b"),
		From(set, "ticket_of_seat").Eq("seat", int64(1)),
		From(set, "tickets").Eq("id", "c"),
		From(set, "tickets").Eq("id", "d"))
	if err != nil {
		t.Fatal(err)
	}
	want := []*ticket{
		{ID: "b", Queue: "red", Seat: 1},
		{ID: "b", Queue: "red", Seat: 1},
		nil,
		{ID: "b", Seat: 1},
		nil,
		nil,
	}
	if !slices.EqualFunc(rows, want, func(got, want *ticket) bool {
		return got == nil && want == nil || got != nil && want != nil && *got == *want
	}) {
		t.Errorf("rows %v", rows)
	}
	if len(f.requests) != 1 {
		t.Fatalf("%d requests", len(f.requests))
	}
	const text = `BEGIN TRANSACTION
LET row0 = (SELECT id,queue,seat,note,version FROM shop.tickets WHERE id=?);
LET row1 = (SELECT id,queue,seat FROM shop.tickets_by_queue WHERE queue=? AND id=?);
LET row2 = (SELECT id,queue,seat FROM shop.tickets_by_queue WHERE queue=? AND id=?);
LET row3 = (SELECT seat,id FROM shop.ticket_of_seat WHERE seat=?);
LET row4 = (SELECT id,queue,seat,note,version FROM shop.tickets WHERE id=?);
LET row5 = (SELECT id,queue,seat,note,version FROM shop.tickets WHERE id=?);
SELECT row0.id, row0.queue, row0.seat, row0.note, row0.version, row1.id, row1.queue, row1.seat, row2.id, row2.queue, row2.seat, ` +
		`row3.seat, row3.id, row4.id, row4.queue, row4.seat, row4.note, row4.version, row5.id, row5.queue, row5.seat, row5.note, row5.version;
COMMIT TRANSACTION -- batch
`
	if r := f.requests[0]; r.statement != text || string(r.key) != "b" || r.consistency != gocql.Quorum {
		t.Errorf("key %q, at %v:\n%s", r.key, r.consistency, r.statement)
	}
	if got := strings.Join(n.notes,
		"\n"); got != "read check of tickets, tickets_by_queue, ticket_of_seat, limit 0, continued false\n"+
		"  partition 1 of shop.tickets []\n"+
		"    end of it: 3 rows, 1 pages, 1 attempts, \"\", false\n  end of check: 6 partitions, 3 rows, <nil>" {
		t.Error(got)
	}
}

// It is retried as any read, and its error names the tables and no value.
func TestTransactionFails(t *testing.T) {
	t.Parallel()
	set, f := filledTickets(t)
	r := newReader(f, "shop", quick)
	queries := []Query[ticket]{From(set, "tickets").Eq("id", "a"), From(set, "tickets_by_queue").Eq("queue", "red").
		Eq("id", "a")}
	attempts := 0
	f.before = func(context.Context, attempt) error {
		if attempts++; attempts == 1 {
			return &gocql.RequestErrReadTimeout{}
		}
		return nil
	}
	if rows, err := Transaction(t.Context(), r, "check", queries...); err != nil || len(rows) != 2 || attempts != 2 ||
		rows[0] == nil {
		t.Errorf("%v, %v after %d attempts", rows, err, attempts)
	}
	f.before = func(context.Context, attempt) error {
		return fakeError{gocql.ErrCodeInvalid, "table tickets_by_queue does not exist"}
	}
	rows, err := Transaction(t.Context(), r, "check", queries...)
	var failed *Error
	if !errors.As(err, &failed) || rows != nil ||
		err.Error() != "denorm: check: table shop.tickets, tickets_by_queue not read: "+
			"table tickets_by_queue does not exist in keyspace shop" {
		t.Errorf("%v, %v", rows, err)
	}
	n := &noting{}
	if _, err := Transaction(t.Context(), r.With(traced(n)), "check", queries...); err == nil ||
		strings.Join(n.notes[2:], "\n") !=
			"    end of it: 0 rows, 1 pages, 1 attempts, \"invalid\", true\n  end of check: 2 partitions, 0 rows, "+err.Error() {
		t.Errorf("%v, %q", err, n.notes)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.before = func(ctx context.Context, _ attempt) error { cancel(); <-ctx.Done(); return ctx.Err() }
	if _, err := Transaction(ctx, r, "check", queries...); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// stall is in two keyspaces, and the rows of one of its tables are in partitions by day.
type stall struct {
	ID      string
	Market  string
	At      time.Time
	Version gocql.UUID
}

// A table may be in another keyspace, and its partition follow from a bucket.
func TestTransactionOfBuckets(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[stall]("stall", tables.Table{Name: "stalls", PartKey: []string{"id"}},
		tables.Table{
			Name: "stalls_by_day", Keyspace: "fair", PartKey: []string{"market", "day"},
			SortKey: []string{"at DESC", "id"},
		},
		tables.Derive("day", tables.Day("at")), tables.Versioned("version"), tables.Transactional()))
	f := newFake(describe.Of(set.Internal()))
	f.before = func(context.Context, attempt) error {
		return fakeError{gocql.ErrCodeInvalid, "table stalls_by_day does not exist"}
	}
	_, err := Transaction(t.Context(), newReader(f, "shop"), "check", From(set, "stalls").Eq("id", "a"),
		From(set, "stalls_by_day").Eq("market", "north").Eq("at", midnight.Add(time.Hour)).Eq("id", "a"))
	if err == nil || err.Error() != "denorm: check: table shop.stalls, fair.stalls_by_day not read: table stalls_by_day "+
		"does not exist in keyspace fair" {
		t.Error(err)
	}
	if len(f.requests) != 1 || !strings.Contains(f.requests[0].statement,
		"LET row1 = (SELECT at,id,market,version FROM fair.stalls_by_day WHERE market=? AND day=? AND at=? AND id=?);\n") {
		t.Errorf("%+v", f.requests)
	}
}

// An answer without a row is no row that does not exist.
func TestTransactionWithoutAnswer(t *testing.T) {
	t.Parallel()
	set, f := filledTickets(t)
	rows, err := Transaction(t.Context(), newReader(nothing{f}, "shop"), "check", From(set, "tickets").Eq("id", "a"))
	if err == nil || rows != nil || !strings.Contains(err.Error(), "the answer to the transaction has no row") {
		t.Errorf("%v, %v", rows, err)
	}
}

// nothing answers without rows.
type nothing struct{ *fakeSource }

func (n nothing) page(context.Context, attempt) answer { return &fakeAnswer{fake: n.fakeSource} }

// What one transaction cannot read is rejected, and nothing is sent.
func TestTransactionRejects(t *testing.T) {
	t.Parallel()
	set, f := filledTickets(t)
	r := newReader(f, "shop", Partitions(2))
	base := From(set, "tickets").Eq("id", "a")
	for want, queries := range map[string][]Query[ticket]{
		"there is no query: give one for each row": nil,
		"invalid query: table tickets_by_queue: column id: is missing: a transaction reads single rows, so each query " +
			"gives the whole key with Eq": {
			base, From(set, "tickets_by_queue").Eq("queue", "red"),
		},
		"column id: is missing: a transaction": {From(set, "tickets_by_queue").Eq("queue", "red").Gt("id", "a")},
		"column queue: is missing":             {From(set, "tickets_by_queue").Eq("id", "a")},
		"the set is not Transactional":         {From(tickets(t), "tickets").Eq("id", "a")},
		"Confirm has no place": {From(set, "tickets_by_queue").Eq("queue", "red").Eq("id", "a").
			Confirm()},
		"After, OrderBy and Limit have no place":        {base.After("token")},
		"After, OrderBy and Limit":                      {base.OrderBy("id")},
		"After, OrderBy and":                            {base.Limit(1)},
		"3 queries are more than the option Partitions": {base, base, base},
		"the Query is a zero value":                     {{}},
		"no table of this name":                         {base, From(set, "ticket")},
	} {
		_, err := Transaction(t.Context(), r, "check", queries...)
		var refused *queryError
		if !errors.As(err, &refused) || !errors.Is(err, ErrInvalid) || refused.Op != "check" ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	var none context.Context
	for _, call := range []func() error{
		func() error { _, err := Transaction(none, r, "check", base); return err },
		func() error { _, err := Transaction(t.Context(), nil, "check", base); return err },
		func() error { _, err := Transaction(t.Context(), new(Reader), "check", base); return err },
		func() error { _, err := Transaction(t.Context(), r, "", base); return err },
		func() error { _, err := Transaction(t.Context(), r.With(Parallel(0)), "check", base); return err },
		func() error {
			_, err := Transaction(t.Context(), r.With(Consistency(session.Consistency(99))), "check", base)
			return err
		},
	} {
		if err := call(); !errors.Is(err, ErrInvalid) {
			t.Error(err)
		}
	}
	if len(f.requests) > 0 {
		t.Errorf("%d requests", len(f.requests))
	}
}
