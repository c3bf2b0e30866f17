package cassandratest_test

import (
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

type seat struct {
	Number    string
	Passenger string
	Version   gocql.UUID
}

// A tenant without tables has an error that names its keyspace: the server's names the table alone, which all tenants
// have.
func TestTenantWithoutTables(t *testing.T) {
	t.Parallel()
	plain := tables.Must(tables.New[record]("record", tables.Table{Name: "records", PartKey: []string{"record_id"}}))
	seats := tables.Must(tables.New[seat]("seat",
		tables.Table{Name: "seats", PartKey: []string{"number"}}, tables.Versioned("version")))
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create("CREATE KEYSPACE t1 WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1}")
		s, err := session.Open(c.Config(), session.Keyspaces(map[string]string{"": "t1"}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		w, err := writer.New(s, writer.WithClock(writer.NewClock(time.Now)))
		if err != nil {
			t.Fatal(err)
		}
		_, wrote := w.Write(t.Context(), "log", plain.Insert(record{gocql.MustRandomUUID(), "ann", time.Unix(0, 0)}))
		_, loaded := writer.Load(t.Context(), w, "log", plain, record{RecordID: gocql.MustRandomUUID()})
		_, booked := w.Write(t.Context(), "book", seats.Insert(seat{Number: "12A"}))
		_, found := writer.Load(t.Context(), w, "book", seats, seat{Number: "12A"})
		for want, err := range map[string]error{
			"denorm: log: single: records not applied: table records does not exist in keyspace t1":   wrote,
			"denorm: log: read of records: table records does not exist in keyspace t1":               loaded,
			"denorm: book: conditional: seats not applied: table seats does not exist in keyspace t1": booked,
			"denorm: book: read of seats: table seats does not exist in keyspace t1":                  found,
		} {
			if err == nil || err.Error() != want {
				t.Errorf("%v\nwant %s", err, want)
			}
		}
	})
}
