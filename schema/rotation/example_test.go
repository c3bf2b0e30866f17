package rotation_test

import (
	"context"
	"fmt"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema/rotation"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

type visit struct {
	Page string
	At   time.Time
}

var visits = tables.Must(tables.New[visit]("visit",
	tables.Table{Name: "visits", PartKey: []string{"page"}, SortKey: []string{"at"}, Rotate: tables.Month("at")},
))

// What a nightly job does: it creates the tables of the months to come, and drops those of a year ago.
func ExampleTables_Plan() {
	cluster := cassandratest.New(1)
	defer cluster.Close()
	cluster.Create("CREATE KEYSPACE site WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1}")
	config := cluster.Config()
	config.Keyspace = "site"
	s, err := session.Open(config)
	if err != nil {
		panic(err)
	}
	defer s.Close()

	months, err := rotation.New(s, "", visits, "visits")
	if err != nil {
		panic(err)
	}
	now := time.Date(2024, 5, 20, 3, 0, 0, 0, time.UTC) // in production: time.Now()
	window := rotation.Window{Ahead: 31 * 24 * time.Hour, Retain: 365 * 24 * time.Hour}
	plan, err := months.Plan(context.Background(), now, window)
	if err != nil {
		panic(err)
	}
	fmt.Println("create", plan.Create, "drop", plan.Drop)
	if err := plan.Apply(context.Background()); err != nil {
		panic(err)
	}
	fmt.Println(months.Plan(context.Background(), now, window))
	// Output:
	// create [visits_2024_05 visits_2024_06] drop []
	// nothing to do <nil>
}
