package orders_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/cluster"
	"github.com/denorm-go/denorm/integration/orders"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

func TestModify(t *testing.T) {
	t.Parallel()
	s := open(t, orders.Schema)
	o := create(t, s.w)
	pay := func(o orders.Order) (orders.Order, error) { o.Status = orders.Paid; return o, nil }
	paid, err := writer.Modify(t.Context(), s.w, "payOrder", orders.Orders, orders.Order{OrderID: o.OrderID}, pay)
	if err != nil {
		t.Fatal(err)
	}
	if paid.Status != orders.Paid || paid.UserID != o.UserID || paid.UpdatedAt <= o.UpdatedAt {
		t.Errorf("modified to %+v, from %+v", paid, o)
	}
	s.wantEverywhere(t, paid)

	_, err = writer.Modify(t.Context(), s.w, "payOrder", orders.Orders, newOrder(), pay)
	if !errors.Is(err, writer.ErrNotFound) {
		t.Errorf("an order that is not there: %v, want ErrNotFound", err)
	}
	_, err = writer.Modify(t.Context(), s.w, "payOrder", orders.Orders, orders.Order{}, pay)
	if !errors.Is(err, writer.ErrInvalid) {
		t.Errorf("no key: %v, want ErrInvalid", err)
	}
	no := errors.New("no")
	_, err = writer.Modify(t.Context(), s.w, "payOrder", orders.Orders, o, func(o orders.Order) (orders.Order, error) { return o, no })
	if !errors.Is(err, no) {
		t.Errorf("%v, want the caller's own error", err)
	}
	s.wantEverywhere(t, paid)
}

// Check names everything that differs at once: a table of another shape, one that is missing, one that batches must not
// touch.
func TestCheck(t *testing.T) {
	t.Parallel()
	s := open(t, orders.Schema)
	if err := s.w.Check(t.Context(), orders.Orders); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`ALTER TABLE orders_by_id WITH gc_grace_seconds = 0`,
		`ALTER TABLE orders_by_id DROP total`,
		`ALTER TABLE orders_by_id ADD note text`, // not declared, and no matter
		`DROP TABLE orders_by_user`,
		`DROP TABLE orders_by_status`,
		`CREATE TABLE orders_by_status (status text, region text, order_id timeuuid, user_id text, total decimal,
			updated_at bigint, PRIMARY KEY (status, region, order_id))`,
	} {
		if err := s.read.Query(statement).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	err := s.w.Check(t.Context(), orders.Orders)
	var check *writer.CheckError
	if !errors.As(err, &check) {
		t.Fatalf("%v, want a *writer.CheckError", err)
	}
	for _, want := range []string{
		"orders_by_id: gc_grace_seconds is 0", "orders_by_id: column total: does not exist", "orders_by_user: does not exist",
		"orders_by_status: column user_id: is text, declared uuid", "orders_by_status: column region: is clustering column",
		"orders_by_status: column order_id: is clustering column 2, declared 1",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no word of: %s", want)
		}
	}
	if len(check.Differences) != 6 || strings.Contains(err.Error(), "note") {
		t.Errorf("too much:\n%v", err)
	}
}

// The batchlog drops batches with a table that keeps deletes for no time, so such a table is in none.
func TestNoLoggedBatchWithoutGrace(t *testing.T) {
	t.Parallel()
	s := open(t, orders.Schema)
	o := create(t, s.w)
	if err := s.read.Query(`ALTER TABLE orders_by_status WITH gc_grace_seconds = 0`).Exec(); err != nil {
		t.Fatal(err)
	}
	err := write(t.Context(), s.w, orders.Orders.Delete(o))
	if !errors.Is(err, writer.ErrInvalid) || !strings.Contains(fmt.Sprint(err), "orders_by_status") {
		t.Errorf("%v, want ErrInvalid naming orders_by_status", err)
	}
	s.wantEverywhere(t, o)
	if err := write(t.Context(), s.w.With(writer.Concurrent()), orders.Orders.Delete(o)); err != nil {
		t.Error(err)
	}
}

// One writer serves tenants with a keyspace each, and none sees another's rows.
func TestKeyspaces(t *testing.T) {
	t.Parallel()
	s := open(t, orders.Schema)
	tenant := cluster.Keyspace(t, 3)
	for _, statement := range orders.Schema {
		statement = strings.Replace(statement, "EXISTS ", "EXISTS "+tenant+".", 1)
		if err := s.read.Query(statement).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	o := create(t, s.w.With(writer.Keyspaces(map[string]string{"": tenant})))
	s.wantNowhere(t, o)
	var status string
	if err := s.read.Query(`SELECT status FROM `+tenant+`.orders_by_id WHERE order_id = ?`, o.OrderID).Scan(&status); err != nil {
		t.Error(err)
	}
}

// The status table in buckets: a status change moves the row within its bucket, and all buckets together have it once.
func TestBucketedOrders(t *testing.T) {
	t.Parallel()
	s := open(t, orders.BucketedSchema)
	if err := s.w.Check(t.Context(), orders.Bucketed); err != nil {
		t.Fatal(err)
	}
	o := orders.NewBucketed(newOrder())
	res, err := s.w.Write(t.Context(), "createOrder", orders.Bucketed.Insert(o))
	if err != nil {
		t.Fatal(err)
	}
	o.UpdatedAt = res.Timestamp
	paid := o
	paid.Status = orders.Paid
	if _, err := s.w.Write(t.Context(), "payOrder", orders.Bucketed.Update(o, paid)); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, status := range orders.Statuses {
		for bucket := range int8(orders.Buckets) {
			var n int
			if err := s.read.Query(`SELECT count(*) FROM orders_by_status WHERE status = ? AND status_bucket = ? AND order_id = ?`,
				status, bucket, o.OrderID).Scan(&n); err != nil {
				t.Fatal(err)
			}
			if n > 0 && (status != orders.Paid || bucket != o.StatusBucket) {
				t.Errorf("a row under status %s, bucket %d", status, bucket)
			}
			found += n
		}
	}
	if found != 1 {
		t.Errorf("%d rows, want 1", found)
	}
}

// The server refuses batches above batch_size_fail_threshold. The library refuses them before, and what it lets through
// the server takes: its estimate is from above, and not by much.
func TestBatchLimitIsTheServers(t *testing.T) {
	t.Parallel()
	type note struct {
		NoteID gocql.UUID
		Author string
		Text   string
	}
	set := tables.Must(tables.New[note]("note",
		tables.Table{Name: "notes", PartKey: []string{"note_id"}},
		tables.Table{Name: "notes_by_author", PartKey: []string{"author"}, SortKey: []string{"note_id"}},
	))
	s := open(t, []string{
		`CREATE TABLE notes (note_id uuid PRIMARY KEY, author text, text text)`,
		`CREATE TABLE notes_by_author (author text, note_id uuid, text text, PRIMARY KEY (author, note_id))`,
	})
	logged := s.w.With(writer.Logged())
	try := func(w *writer.Writer, size int) error {
		n := note{gocql.MustRandomUUID(), "anna", strings.Repeat("x", size)}
		return write(context.WithoutCancel(t.Context()), w, set.Insert(n))
	}
	largest := 0 // text that the library lets through
	for low, high := 0, 64<<10; low < high; {
		middle := (low + high + 1) / 2
		n := note{gocql.MustRandomUUID(), "anna", strings.Repeat("x", middle)}
		if _, err := logged.Explain("write", set.Insert(n)); err == nil {
			largest, low = middle, middle
		} else {
			high = middle - 1
		}
	}
	if err := try(logged, largest); err != nil {
		t.Errorf("the server refuses what the library lets through, a text of %d bytes: %v", largest, err)
	}
	if err := try(logged, largest+1); !errors.Is(err, writer.ErrInvalid) {
		t.Errorf("one byte more: %v, want ErrInvalid", err)
	}
	unguarded := logged.With(writer.BatchLimit(1 << 30))
	if err := try(unguarded, largest*11/10); err == nil || errors.Is(err, writer.ErrInvalid) {
		t.Errorf("a text of 10 %% more, unguarded: %v, want the server's refusal; the estimate is too high", err)
	} else if failed := new(writer.Error); !errors.As(err, &failed) || !failed.NotApplied() {
		t.Errorf("the server's refusal is %v, want not applied", err)
	}
}
