package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

const emptyKey = "column owner: a partition key holds 1 to 65535 bytes, in this row 0"

// A row with an empty value in the key of a new table is named, and the other rows are put. It is corrected through the
// set without the table.
func TestBackfillOfAnEmptyKey(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, w, r := openSet(t, c, newTickets, reconcile.PageSize(2))
		rows := make([]ticketRow, 200)
		for i := range rows {
			if rows[i] = (ticketRow{TicketID: gocql.MustRandomUUID(), Owner: "ann", State: "new"}); i%20 == 0 {
				rows[i].Owner = ""
			}
			if _, err := w.Write(t.Context(), "open", oldTickets.Insert(rows[i])); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(time.Minute)
		fill := func() (put int, err error) {
			_, err = r.Backfill(t.Context(), newTickets, "tickets_by_owner", reconcile.Writers(time.Now()))
			if err := s.Reads().Query("SELECT count(*) FROM tickets_by_owner").Scan(&put); err != nil {
				t.Fatal(err)
			}
			return put, err
		}
		if put, err := fill(); err == nil || !strings.Contains(err.Error(), emptyKey) || put != 190 {
			t.Errorf("%d rows put, of 190: %v", put, err)
		}
		for i := range rows {
			if rows[i].Owner != "" {
				continue
			}
			if _, err := writer.Modify(t.Context(), w, "give", oldTickets, rows[i], func(row ticketRow) (ticketRow, error) {
				row.Owner = "bob"
				return row, nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(time.Minute)
		if put, err := fill(); err != nil || put != 200 {
			t.Errorf("%d rows put, of 200: %v", put, err)
		}
	})
}

type owned struct {
	ID      gocql.UUID
	Owner   string
	Version gocql.UUID
}

var ownedThings = tables.Must(tables.New[owned]("thing",
	tables.Table{Name: "things", PartKey: []string{"id"}},
	tables.Table{Name: "things_by_owner", PartKey: []string{"owner"}, SortKey: []string{"id"}},
	tables.Versioned("version"),
))

// Adopt gives such a row no version: it would stay pending.
func TestAdoptOfAnEmptyKey(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s, _, r := openSet(t, c, ownedThings, handed)
		if err := s.Writes().Query("INSERT INTO things (id, owner) VALUES (?, '')", gocql.MustRandomUUID()).Exec(); err != nil {
			t.Fatal(err)
		}
		<-time.After(5 * time.Minute)
		report, err := r.Adopt(t.Context(), ownedThings, reconcile.Writers(time.Now().Add(-time.Minute)))
		if err == nil || !strings.Contains(err.Error(), emptyKey) {
			t.Errorf("%v\n%v", err, report)
		}
		var pending []byte
		if err := s.Reads().Query("SELECT pending FROM things").Scan(&pending); err != nil || pending != nil {
			t.Errorf("%v, pending: %x", err, pending)
		}
	})
}
