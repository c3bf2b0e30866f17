package reconcile_test

import (
	"errors"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/internal/murmur3"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
)

// The base table is of a backup from before each ticket has moved: its rows are to get the newer keys, and nothing is
// declared wrongly.
func TestBaseTableFromBeforeAllMoves(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		d := newDesk(t, c)
		for n := range 20 {
			row := ticketRow{Owner: "owner", State: "new"}
			row.TicketID[0], row.TicketID[1] = byte(n), 1
			d.write(row.TicketID, &row, newTickets.Insert(row))
		}
		backup := d.rows("tickets")
		<-time.After(time.Hour)
		for _, row := range backup {
			moved := row
			moved.State = "open"
			d.write(row.TicketID, &moved, newTickets.Update(row, moved))
		}
		<-time.After(time.Hour)
		d.exec("TRUNCATE tickets")
		for _, o := range backup {
			d.insert("tickets", o, o.UpdatedAt, o.UpdatedAt)
		}
		if report, err := d.r.Repair(t.Context(), newTickets, handed); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
		if report, err := d.r.Verify(t.Context(), newTickets); err != nil || len(d.rows("tickets")) != 20 || d.rows("tickets")[0].State != "open" {
			t.Errorf("%v\n%v", err, report)
		}
	})
}

// Nearly all rows are in the bucket of an earlier function, where they are left: what is missing is put all the same.
func TestMissingAmongStaleBuckets(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		few := tables.Hash(2, "item_id")
		before, after := inBuckets(few), inBuckets(few, tables.Hash(200, "item_id"))
		s, w, r := openSet(t, c, before, reconcile.Settle(30*time.Second), handed)
		for id := range 40 {
			if _, err := w.Write(t.Context(), "create", before.Insert(crate{ItemID: id, Status: "a"})); err != nil {
				t.Fatal(err)
			}
		}
		for id := 100; id < 103; id++ {
			if err := s.Writes().Query("INSERT INTO items (item_id, status, stamp) VALUES (?, 'a', 9) USING TIMESTAMP 9", id).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(time.Hour)
		report, err := r.Repair(t.Context(), after)
		put := 0
		for f := range report.Findings() {
			if f.Class == reconcile.Missing && f.Outcome == reconcile.Repaired {
				put++
			}
		}
		if put != 3 || !errors.Is(err, reconcile.ErrDrift) || errors.Is(err, reconcile.ErrTooMuch) {
			t.Errorf("%d of 3 missing rows were put: %v\n%v", put, err, report)
		}
	})
}

// A part of the ring in which only small pages can be read, as between many tombstones, does not keep a run from what
// it repairs otherwise.
func TestSampleBetweenTombstones(t *testing.T) {
	t.Parallel()
	either(t, func(t *testing.T, x *world, options ...reconcile.Option) {
		t.Helper()
		for _, o := range x.orders[:5] {
			x.remove("orders_by_status", o, o.UpdatedAt)
		}
		<-time.After(time.Minute)
		rule := x.When(cassandratest.Table("orders_by_status"), scans(murmur3.Token([]byte("open")), 3)).
			Do(cassandratest.Fail(cassandratest.ReadFailure(1, 2, 1)))
		report, err := x.r.Repair(t.Context(), orders.Orders, append(options, handed, reconcile.Rewrite())...)
		repaired := 0
		for f := range report.Findings() {
			if f.Outcome == reconcile.Repaired {
				repaired++
			}
		}
		if err != nil || repaired != 5 || rule.Handled() == 0 {
			t.Errorf("%d of 5 rows were put: %v\n%v", repaired, err, report)
		}
	})
}
