package cassandratest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

type stay struct {
	StayID, Guest gocql.UUID
	Day           time.Time
	Tier          string
}

type untiered struct {
	StayID, Guest gocql.UUID
	Day           time.Time
	Tier          string `db:"-"`
}

// A live column that is static is left out of the table of a set that declares it. So declared Validate passes, and no
// difference says to name the column after all.
func TestStaticAdvice(t *testing.T) {
	t.Parallel()
	base := tables.Table{Name: "stays", Keyspace: "mall", PartKey: []string{"guest"}, SortKey: []string{"stay_id"}}
	query := tables.Table{Name: "stays_by_day", Keyspace: "mall", PartKey: []string{"day"}, SortKey: []string{"guest", "stay_id"}}
	less := query
	less.Columns = []string{}
	const advice = "column tier: is a static column, declared regular\n\t\tno statement fixes it: a set has no static columns, and a column cannot " +
		"cease to be one: leave it out of this table, in a query table by Table.Columns and in the base table by db:\"-\" at the field, and write it " +
		"by a statement of the service's own; or give the field a column of another name"
	for name, test := range map[string]struct {
		inBase, inQuery string
		wrong, right    tables.Described
	}{
		"query table": {
			"", "static", tables.Must(tables.New[stay]("stay", base, query)), tables.Must(tables.New[stay]("stay", base, less)),
		},
		"base table": {
			"static", "", tables.Must(tables.New[stay]("stay", base, less)), tables.Must(tables.New[untiered]("stay", base, less)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				c.Create("CREATE KEYSPACE mall WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}",
					"CREATE TABLE mall.stays (guest uuid, stay_id uuid, day timestamp, tier text "+test.inBase+", PRIMARY KEY (guest, stay_id))",
					"CREATE TABLE mall.stays_by_day (day timestamp, guest uuid, stay_id uuid, tier text "+test.inQuery+
						", PRIMARY KEY (day, guest, stay_id))")
				p := startProcess(t, c)
				p.differs(test.wrong, advice)
				notes, err := schema.Differences(t.Context(), p.session, schema.Sets(test.right))
				if err != nil || slices.ContainsFunc(notes, func(d schema.Difference) bool { return d.Column == "tier" && !d.Extra }) {
					t.Errorf("Differences: %v, %v", notes, err)
				}
				if err := schema.Validate(t.Context(), p.session, schema.Sets(test.right)); err != nil {
					t.Errorf("Validate: %v", err)
				}
			})
		})
	}
}
