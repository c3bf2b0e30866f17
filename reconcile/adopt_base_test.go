package reconcile_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
)

// insert writes a ticket to a table by hand.
func (d *desk) insert(table string, o ticketRow, at int64, stamp any) {
	d.t.Helper()
	if err := d.tryInsert(table, o, at, stamp); err != nil {
		d.t.Error(err)
	}
}

func (d *desk) tryInsert(table string, o ticketRow, at int64, stamp any) error {
	return d.s.Writes().Query("INSERT INTO "+table+" (ticket_id, owner, state, note, updated_at) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?",
		o.TicketID, o.Owner, o.State, o.Note, stamp, at).DefaultTimestamp(false).Exec()
}

func ticketBy(note string) ticketRow {
	return ticketRow{TicketID: gocql.MustRandomUUID(), Owner: "owner", State: "new", Note: &note}
}

// Also in a set whose rows never move the base row is right, though its value is older than that of the query table.
func TestAdoptKeepsValuesOfTheBaseTable(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		still := tables.Must(tables.New[ticketRow]("ticket",
			tables.Table{Name: "tickets", PartKey: []string{"ticket_id"}},
			tables.Table{Name: "tickets_by_owner", PartKey: []string{"owner"}, SortKey: []string{"ticket_id"}},
			tables.Stamp("updated_at")))
		d := &desk{Cluster: c, t: t}
		d.s, d.w, d.r = openSet(t, c, still, reconcile.Settle(30*time.Second))
		now := time.Now().UnixMicro()
		o, other := ticketBy("base"), "query"
		d.insert("tickets", o, now-2000, gocql.UnsetValue)
		o.Note = &other
		d.insert("tickets_by_owner", o, now-1000, gocql.UnsetValue)
		bare := ticketBy("of no base row")
		d.insert("tickets_by_owner", bare, now-1000, gocql.UnsetValue)
		bare.Note = nil
		d.insert("tickets", bare, now-2000, gocql.UnsetValue)
		<-time.After(time.Hour)
		report, err := d.r.Adopt(t.Context(), still, reconcile.Writers(time.Now()), handed)
		if err != nil {
			t.Errorf("%v\n%v", err, report)
		}
		for _, table := range []string{"tickets", "tickets_by_owner"} {
			got := strings.Join(d.table(table), "\n")
			if !strings.Contains(got, "base") || strings.Contains(got, "query") || strings.Contains(got, "of no base row") {
				t.Errorf("%s:\n%s", table, got)
			}
		}
		if report, err := d.r.Verify(t.Context(), still); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
	})
}

// Rows whose timestamps are milliseconds get a stamp that the next write accepts.
func TestAdoptTimesInMilliseconds(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		d := newDesk(t, c)
		o := ticketBy("base")
		for _, table := range handTables {
			d.insert(table, o, time.Now().UnixMilli(), gocql.UnsetValue)
		}
		<-time.After(time.Hour)
		if report, err := d.r.Adopt(t.Context(), foreign, reconcile.Writers(time.Now()), handed); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
		if err := d.s.Reads().Query("SELECT updated_at FROM tickets").Scan(&o.UpdatedAt); err != nil {
			t.Fatal(err)
		}
		after := o
		after.State = "open"
		if _, err := d.w.Write(t.Context(), "write", adopted.Update(o, after)); err != nil {
			t.Errorf("stamp %d: %v", o.UpdatedAt, err)
		}
		if report, err := d.r.Verify(t.Context(), adopted); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
	})
}

// An entity is not written again while a replica that may have a newer write of it, as one of another data centre, does
// not answer.
func TestRewriteNeedsAllReplicas(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		d := newDesk(t, c)
		o, stale := ticketBy("old"), "stale"
		now := time.Now().UnixMicro()
		d.insert("tickets", o, now-3000, gocql.UnsetValue)
		d.insert("tickets_by_owner", o, now-2900, gocql.UnsetValue)
		differing := o
		differing.Note = &stale
		d.insert("tickets_by_state", differing, now-2800, gocql.UnsetValue)
		<-time.After(time.Hour)
		ended := time.Now()
		rule := d.When(cassandratest.Where(func(r cassandratest.Request) bool { return !isRead(r) })).Do(cassandratest.ApplyAt(1))
		acknowledged, note := o, "acknowledged"
		acknowledged.Note = &note
		at := time.Now().UnixMicro()
		for _, table := range handTables {
			_ = d.tryInsert(table, acknowledged, at, at) // acknowledged elsewhere
		}
		rule.End()
		d.Node(1).Stop()
		<-time.After(10 * time.Minute)
		if report, err := d.r.Adopt(t.Context(), foreign, reconcile.Writers(ended), handed); err == nil {
			t.Errorf("with a replica away nothing is left:\n%v", report)
		}
		d.Node(1).Restore()
		<-time.After(10 * time.Minute)
		if report, err := d.r.Adopt(t.Context(), foreign, reconcile.Writers(ended), handed); err != nil {
			t.Errorf("%v\n%v", err, report)
		}
		for _, table := range handTables {
			if got := d.table(table); len(got) != 1 || !strings.Contains(got[0], note) {
				t.Errorf("the acknowledged write is undone in %s: %v", table, got)
			}
		}
	})
}

// The stamp of a row whose time is ahead of the clock does not bring back a base row that a write in flight has deleted
// since it was read.
func TestStampAfterAllWritesThatAreOlder(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		d := newDesk(t, c)
		o, begin := ticketBy("deleted"), time.Now()
		d.insert("tickets", o, begin.UnixMicro(), gocql.UnsetValue)
		for _, table := range handTables[1:] {
			d.insert(table, o, begin.Add(20*time.Second).UnixMicro(), gocql.UnsetValue)
		}
		d.When(cassandratest.Table("tickets_by_owner"), cassandratest.Where(func(r cassandratest.Request) bool {
			return isRead(r) && strings.Contains(r.Statements[0].Text, "ticket_id = ?")
		})).Do(cassandratest.Apply, cassandratest.Delay(5*time.Second))
		var group sync.WaitGroup
		group.Go(func() { // 29 s after it was sent the first look is under way, which would set the stamp 51 s after begin
			<-time.After(48 * time.Second)
			h := &byHand{desk: d, Rand: rand.New(rand.NewPCG(1, 2)), skew: -29 * time.Second}
			for _, table := range handTables {
				h.remove(true, table, o)
			}
		})
		<-time.After(16 * time.Second)
		report, err := d.r.Adopt(t.Context(), foreign, reconcile.Writers(time.Now()), handed)
		group.Wait()
		if err != nil {
			t.Errorf("%v\n%v", err, report)
		}
		for _, table := range handTables {
			if rows := d.table(table); len(rows) > 0 {
				t.Errorf("%s has %v", table, rows)
			}
		}
	})
}
