package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/testutil/shop"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

func (s orderTests) Modify(t *testing.T) {
	o := createOrder(t, s.Writer)
	pay := func(o orders.Order) (orders.Order, error) { o.Status = orders.Paid; return o, nil }
	paid, err := writer.Modify(t.Context(), s.Writer, "payOrder", orders.Orders, orders.Order{OrderID: o.OrderID}, pay)
	must(t, err)
	wrong(t, paid.Status != orders.Paid || paid.UserID != o.UserID || paid.UpdatedAt <= o.UpdatedAt, "modified to %+v, from %+v", paid, o)
	s.WantEverywhere(t, paid)

	_, err = writer.Modify(t.Context(), s.Writer, "payOrder", orders.Orders, shop.NewOrder(), pay)
	wantError(t, "an order that is not there", err, writer.ErrNotFound)
	_, err = writer.Modify(t.Context(), s.Writer, "payOrder", orders.Orders, orders.Order{}, pay)
	wantError(t, "no key", err, writer.ErrInvalid)
	no := errors.New("no")
	_, err = writer.Modify(t.Context(), s.Writer, "payOrder", orders.Orders, o, func(o orders.Order) (orders.Order, error) { return o, no })
	wrong(t, !errors.Is(err, no), "%v, want the caller's own error", err)
	s.WantEverywhere(t, paid)
}

// The batchlog drops batches with a table that keeps deletes for no time, so such a table is in none. Validate names everything that differs
// at once: a table of another shape, one that is missing, one that batches must not touch.
func (s orderTests) Check(t *testing.T) {
	must(t, schema.Validate(t.Context(), s.Session, schema.Sets(orders.Orders)))
	s.Place = s.Open(t, 3, orders.Schema.Statements()...)
	t.Run("no logged batch without grace", s.noLoggedBatchWithoutGrace)
	s.ChangeSchema(t, s.Keyspace,
		`ALTER TABLE orders_by_id WITH gc_grace_seconds = 0`,
		`ALTER TABLE orders_by_id DROP total`,
		`ALTER TABLE orders_by_id ADD note text`, // not declared, and no matter
		`DROP TABLE orders_by_user`,
		`DROP TABLE orders_by_status`,
		`CREATE TABLE orders_by_status (status text, region text, order_id timeuuid, user_id text, total decimal,
			updated_at bigint, PRIMARY KEY (status, region, order_id))`,
	)
	err := schema.Validate(t.Context(), s.Session, schema.Sets(orders.Orders))
	var check *schema.DifferenceError
	if !errors.As(err, &check) {
		t.Fatalf("%v, want a *schema.DifferenceError", err)
	}
	for _, want := range []string{
		"orders_by_id: gc_grace_seconds is 0", "orders_by_id: column total: does not exist", "orders_by_user: does not exist",
		"orders_by_status: column user_id: is text, declared uuid", "orders_by_status: column region: is a clustering column",
		"orders_by_status: column order_id: is clustering column 2, declared 1",
		"orders_by_status: column order_id: is clustered ascending, declared descending",
	} {
		wrong(t, !strings.Contains(err.Error(), want), "no word of: %s", want)
	}
	wrong(t, len(check.Differences) != 7 || strings.Contains(err.Error(), "note"), "too much:\n%v", err)
}

func (s orderTests) noLoggedBatchWithoutGrace(t *testing.T) {
	o := createOrder(t, s.Writer)
	s.ChangeSchema(t, s.Keyspace, `ALTER TABLE orders_by_status WITH gc_grace_seconds = 0`)
	err := try(t.Context(), s.Writer, orders.Orders.Delete(o))
	wrong(t, !errors.Is(err, writer.ErrInvalid) || !strings.Contains(fmt.Sprint(err), "orders_by_status"), "%v, want ErrInvalid naming orders_by_status", err)
	s.WantEverywhere(t, o)
	wantError(t, "write", try(t.Context(), s.Writer.With(writer.Concurrent()), orders.Orders.Delete(o)), nil)
}

// One writer serves tenants with a keyspace each, and none sees another's rows.
func (s orderTests) Keyspaces(t *testing.T) {
	tenant := s.MakeKeyspace(t, 3, orders.Schema.Statements()...)
	o := createOrder(t, s.Writer.With(writer.Session(s.Session.With(session.Keyspaces(map[string]string{"": tenant})))))
	s.wantNowhere(t, o)
	var status string
	wantError(t, "read", s.Session.Reads().Query(`SELECT status FROM `+tenant+`.orders_by_id WHERE order_id = ?`, o.OrderID).Scan(&status), nil)
}

// The status table in buckets: a status change moves the row within its bucket, all buckets together have it once, and a list
// of a status has the orders of all buckets, newest first, page by page.
func (s orderTests) BucketedOrders(t *testing.T) {
	s.Place = s.bucketed.Place
	must(t, schema.Validate(t.Context(), s.Session, schema.Sets(orders.Bucketed)))
	var paid []string // newest first
	buckets := make(map[int]bool)
	start := time.Now()
	for i := range 20 {
		o := shop.NewOrder()
		o.OrderID = gocql.UUIDFromTime(start.Add(time.Duration(i) * time.Second))
		res := Write(t, s.Writer, "createOrder", orders.Bucketed.Insert(o))
		if i%4 == 0 {
			continue
		}
		o.UpdatedAt = res.Timestamp
		next := o
		next.Status = orders.Paid
		Write(t, s.Writer, "payOrder", orders.Bucketed.Update(o, next))
		paid = append([]string{o.OrderID.String()}, paid...)
		if found := s.placesOf(t, o.OrderID); len(found) != 1 || found[0].status != orders.Paid {
			t.Errorf("a paid order stands under %v", found)
		} else {
			buckets[found[0].bucket] = true
		}
	}
	wrong(t, len(buckets) < 3, "15 orders in %d buckets", len(buckets))
	found, _ := pages(t, func(token reader.Token) ([]orders.Order, reader.Token, error) {
		return orders.BucketedByStatus(t.Context(), s.Reader, orders.Paid, 4, token)
	})
	got := each(found, func(o orders.Order) string { return o.OrderID.String() })
	wrong(t, !slices.Equal(got, paid), "paid: %v, want %v", got, paid)
}

// statusBucket is a partition of the bucketed status table.
type statusBucket struct {
	status orders.Status
	bucket int
}

// placesOf are the partitions of the bucketed status table in which an order stands.
func (s Orders) placesOf(t *testing.T, id gocql.UUID) []statusBucket {
	t.Helper()
	var out []statusBucket
	for _, status := range orders.Statuses {
		for bucket := range orders.Buckets {
			if s.count(t, `SELECT count(*) FROM orders_by_status WHERE status = ? AND status_bucket = ? AND order_id = ?`, status, bucket, id) > 0 {
				out = append(out, statusBucket{status, bucket})
			}
		}
	}
	return out
}

var noteTables = []string{
	`CREATE TABLE notes (note_id uuid PRIMARY KEY, author text, text text)`,
	`CREATE TABLE notes_by_author (author text, note_id uuid, text text, PRIMARY KEY (author, note_id))`,
}

// The server rejects batches above batch_size_fail_threshold. The library rejects them before, and what it lets through
// the server takes: its estimate is from above, and not by much.
func (s orderTests) BatchLimitIsTheServers(t *testing.T) {
	type note struct {
		NoteID gocql.UUID
		Author string
		Text   string
	}
	set := tables.Must(tables.New[note]("note",
		tables.Table{Name: "notes", PartKey: []string{"note_id"}},
		tables.Table{Name: "notes_by_author", PartKey: []string{"author"}, SortKey: []string{"note_id"}},
	))
	logged := s.Writer.With(writer.Logged())
	write := func(w *writer.Writer, size int) error {
		n := note{gocql.MustRandomUUID(), "anna", strings.Repeat("x", size)}
		return try(context.WithoutCancel(t.Context()), w, set.Insert(n))
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
	err := write(logged, largest)
	wrong(t, err != nil, "the server refuses what the library lets through, a text of %d bytes: %v", largest, err)
	wantError(t, "one byte more", write(logged, largest+1), writer.ErrInvalid)
	unguarded := logged.With(writer.BatchLimit(1 << 30))
	if err := write(unguarded, largest*11/10); err == nil || errors.Is(err, writer.ErrInvalid) {
		t.Errorf("a text of 10 %% more, unguarded: %v, want the server's refusal; the estimate is too high", err)
	} else if failed := new(writer.Error); !errors.As(err, &failed) || !failed.NotApplied() {
		t.Errorf("the server's refusal is %v, want not applied", err)
	}
}
