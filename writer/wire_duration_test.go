package writer_test

import (
	"errors"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

type lease struct {
	ID, UserID string
	Term       gocql.Duration
	Notice     []gocql.Duration
}

// The server rejects a duration of mixed signs. Sent to it, the row would be in the table that lacks the column, and not in the base table.
func TestWireDurationOfMixedSigns(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[lease]("lease",
		tables.Table{Name: "leases", PartKey: []string{"id"}},
		tables.Table{Name: "leases_by_user", PartKey: []string{"user_id"}, SortKey: []string{"id"}, Columns: []string{}},
		tables.Type("notice", "frozen<list<duration>>")))
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		w, reads := open(t, c)
		monthAndDays := gocql.Duration{Months: 1, Days: -3}
		for _, row := range []lease{
			{ID: "1", UserID: "ann", Term: monthAndDays},
			{ID: "1", UserID: "ann", Term: gocql.Duration{Months: -1, Nanoseconds: 1}},
			{ID: "1", UserID: "ann", Notice: []gocql.Duration{{Days: 1}, monthAndDays}},
		} {
			if _, err := w.Write(t.Context(), "insert", set.Insert(row)); !errors.Is(err, writer.ErrInvalid) {
				t.Errorf("%v: %v", row, err)
			}
		}
		var n int
		if err := reads.Query("SELECT count(*) FROM leases_by_user").Scan(&n); err != nil || n != 0 {
			t.Errorf("%d rows in the query table: %v", n, err)
		}
		for _, d := range []gocql.Duration{
			{}, {Months: 1<<31 - 1, Days: 1<<31 - 1, Nanoseconds: 1<<63 - 1}, {Months: -1 << 31, Days: -1 << 31, Nanoseconds: -1 << 63}, {Days: -3},
		} {
			if _, err := w.Write(t.Context(), "insert", set.Insert(lease{ID: "2", UserID: "ann", Term: d})); err != nil {
				t.Errorf("%v: %v", d, err)
			}
		}
	})
}
