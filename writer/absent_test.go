package writer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

// An update of an entity that does not exist is a conflict that says so, and not that another write came first.
func TestUpdateOfAnAbsentRow(t *testing.T) {
	t.Parallel()
	seats := tables.Must(tables.New[seat]("seat", tables.Table{Name: "seats", PartKey: []string{"seat_id"}}, tables.Compare("price")))
	members := memberSet(false, tables.Versioned("version"))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, seats, members)
		w, _ := open(t, c)
		s, m := seat{SeatID: gocql.MustRandomUUID(), Price: 1}, newMember()
		dearer, renamed := s, m
		m.Version = gocql.TimeUUID()
		dearer.Price, renamed.Name = 2, "B"
		for name, change := range map[string]tables.Change{"Compare": seats.Update(s, dearer), "Versioned": members.Update(m, renamed)} {
			_, err := w.Write(t.Context(), "change", change)
			if !errors.Is(err, writer.ErrConflict) || !failedWrite(t, err).NotApplied() || !strings.Contains(err.Error(), "the entity does not exist") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
