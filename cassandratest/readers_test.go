package cassandratest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/drivertest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// What follows is how everybody who reads a schema reads that of the in-process Cassandra.

type address struct {
	City string `cql:"city"`
	Zip  *int32 `cql:"zip"`
}

type shopper struct {
	ShopperID gocql.UUID
	Name      string
	Home      *address
	Tags      []string
	Seen      map[gocql.UUID]time.Time
	Groups    map[string][]int32
	Joined    time.Time
}

type view struct {
	PageID gocql.UUID
	Day    time.Time
	Views  int64
}

var shoppers = tables.Must(tables.New[shopper]("shopper",
	tables.Table{Name: "shoppers", Keyspace: "mall", PartKey: []string{"shopper_id"}},
	tables.Table{Name: "shoppers_by_name", Keyspace: "mall", PartKey: []string{"name"}, SortKey: []string{"joined DESC", "shopper_id"}},
	tables.UserType[address]("address_type"),
	tables.Type("tags", "set<text>"), tables.Type("joined", "date"),
))

var views = tables.Must(tables.New[view]("view",
	tables.Table{Name: "views_by_day", Keyspace: "mall", PartKey: []string{"page_id"}, SortKey: []string{"day DESC"}},
	tables.Type("day", "date"), tables.Type("views", "counter"),
))

// mall has a table without a set too, with what sets do not declare.
var mall = schema.Must(schema.Declare(
	schema.Keyspaces(schema.Keyspace{Name: "mall", Replication: schema.Replication(map[string]int{"dc1": 3})}),
	schema.Sets(shoppers, views),
	schema.With("mall.shoppers", schema.Options{
		Comment: "who's who", GCGrace: time.Hour, TTL: 24 * time.Hour, Compaction: schema.TimeWindow(24 * time.Hour),
		Other: map[string]string{"speculative_retry": "'95p'", "bloom_filter_fp_chance": "0.1", "caching": "{'keys': 'NONE', 'rows_per_partition': '10'}"},
	}),
	schema.With("mall.shoppers_by_name", schema.Options{
		GCGrace: time.Minute, TTL: 24 * time.Hour, Compaction: map[string]string{"class": "LeveledCompactionStrategy"},
		Compression: map[string]string{"enabled": "false"},
	}),
	schema.With("mall.views_by_day", schema.Options{
		Compression: map[string]string{"class": "LZ4Compressor", "chunk_length_in_kb": "4"},
	}),
))

func TestSchemaIsReadAsDeclared(t *testing.T) {
	t.Parallel()
	creates := map[string]func(context.Context, *cassandratest.Cluster, *session.Session) error{
		"created by the test": func(_ context.Context, c *cassandratest.Cluster, _ *session.Session) error {
			c.Create(mall.Statements()...)
			return nil
		},
		"created by schema.Ensure": func(ctx context.Context, _ *cassandratest.Cluster, s *session.Session) error {
			return schema.Ensure(ctx, s, mall)
		},
	}
	for name, create := range creates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				s := connect(t, c, "")
				if err := create(t.Context(), c, s); err != nil {
					t.Fatal(err)
				}
				checkReaders(t, c, s)
			})
		})
	}
}

// checkReaders asks all readers whether the tables are as declared, and again when they are not any more.
func checkReaders(t *testing.T, c *cassandratest.Cluster, s *session.Session) {
	t.Helper()
	found, err := schema.Differences(t.Context(), s, mall)
	if err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
	live, err := schema.Read(t.Context(), s, "mall")
	if err != nil {
		t.Fatal(err)
	}
	// What was read declares a schema that makes the same again.
	again := cassandratest.Start(t, 3)
	again.Create(live.Statements()...)
	copied := connect(t, again, "")
	if found, err := schema.Differences(t.Context(), copied, live); err != nil || len(found) > 0 {
		t.Errorf("made again: %v, %v", found, err)
	}
	if all, err := schema.Read(t.Context(), copied); err != nil || len(all.Keyspaces) != 1 || len(all.Tables) != len(live.Tables) {
		t.Errorf("read without a name: %+v, %v", all, err)
	}
	if len(live.Tables) < 3 || live.Table(schema.ID{Keyspace: "mall", Name: "shoppers"}).TTL() != 24*time.Hour {
		t.Errorf("%+v", live)
	}
	if err := schema.Validate(t.Context(), s, schema.Sets(shoppers, views)); err != nil {
		t.Error(err)
	}
	checkMetadata(t, s.Reads())

	c.Create(`ALTER TABLE mall.shoppers_by_name DROP groups`, `ALTER TABLE mall.views_by_day WITH gc_grace_seconds = 9`)
	var wrong *schema.DifferenceError
	if err := schema.Validate(t.Context(), s, mall); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "groups") {
		t.Errorf("a column was dropped: %v", err)
	}
	if found, err := schema.Differences(t.Context(), s, mall); err != nil || len(found) != 2 {
		t.Errorf("a column was dropped, an option changed: %v, %v", found, err)
	}
	var unfit *schema.DifferenceError
	if err := schema.Validate(t.Context(), s, schema.Sets(shoppers, views)); !errors.As(err, &unfit) || !strings.Contains(err.Error(), "groups") {
		t.Errorf("a column was dropped: %v", err)
	}
}

// checkMetadata asks the driver.
func checkMetadata(t *testing.T, session *gocql.Session) {
	t.Helper()
	<-time.After(2 * time.Second) // it collects the news of the nodes for a second
	ks, err := session.KeyspaceMetadata("mall")
	if err != nil {
		t.Fatal(err)
	}
	if ks.StrategyOptions["dc1"] != "3" || !slices.Equal(drivertest.Fields(ks, "address_type"), []string{"city", "zip"}) {
		t.Errorf("%+v", ks)
	}
	for table, want := range map[string]string{
		// The driver knows user-defined types of columns by no other name.
		"shoppers":         "[shopper_id] []; groups map(text, list(int)) home custom() joined date name text seen map(uuid, timestamp) shopper_id uuid tags set(text)",
		"shoppers_by_name": "[name] [joined desc shopper_id asc]; groups map(text, list(int)) home custom() joined date name text seen map(uuid, timestamp) shopper_id uuid tags set(text)",
		"views_by_day":     "[page_id] [day desc]; day date page_id uuid views counter",
	} {
		if got := describe(ks.Tables[table]); got != want {
			t.Errorf("%s is\n%s, want\n%s", table, got, want)
		}
	}
}

// describe is a table as the driver has it: partition key, clustering columns, and all columns.
func describe(t *gocql.TableMetadata) string {
	if t == nil {
		return "missing"
	}
	var partition, clustering, columns []string
	for _, c := range t.PartitionKey {
		partition = append(partition, c.Name)
	}
	for _, c := range t.ClusteringColumns {
		clustering = append(clustering, c.Name+" "+c.ClusteringOrder)
	}
	for name, c := range t.Columns {
		columns = append(columns, fmt.Sprintf("%s %v", name, c.Type))
	}
	slices.Sort(columns)
	return fmt.Sprintf("%v %v; %s", partition, clustering, strings.Join(columns, " "))
}
