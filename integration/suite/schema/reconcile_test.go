package schema_test

import (
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/integration/load/drift"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

// line is a line of an order: the base table has several in a partition.
type line struct {
	OrderID gocql.UUID
	Line    int
	Product string
	Stamp   int64
}

var lines = tables.Must(tables.New[line]("line",
	tables.Table{Name: "lines", PartKey: []string{"order_id"}, SortKey: []string{"line"}},
	tables.Table{Name: "lines_by_product", PartKey: []string{"product"}, SortKey: []string{"order_id", "line"}},
	tables.Stamp("stamp")))

// What a run over tables would read is what nodes report, once they have files.
func TestReconcileEstimate(t *testing.T) {
	t.Parallel()
	const count, each = 20_000, 4
	keyspace := cluster.Keyspace(t, 3, schema.Add(orders.Schema, schema.Must(schema.Declare(schema.Sets(lines)))).Statements()...)
	config := gocql.NewCluster(cluster.Hosts(t)...)
	config.Keyspace, config.ConnectTimeout = keyspace, time.Minute
	on, err := session.Open(config, session.Adjust(patient))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(on.Close)
	in := cluster.Session(t, keyspace, patient)
	at := time.Now().Add(-time.Hour).UnixMicro()
	if err := drift.Load(t.Context(), in, count, at, drift.Tables...); err != nil {
		t.Fatal(err)
	}
	if err := parallel.Do(32, count/each, func(i int) error {
		batch := in.NewBatch(gocql.UnloggedBatch).WithTimestamp(at)
		for n := range each {
			batch.Query("INSERT INTO lines (order_id, line, product, stamp) VALUES (?, ?, ?, ?)", drift.Order(i, at).OrderID, n, "tea", at)
		}
		return in.ExecuteBatch(batch)
	}); err != nil {
		t.Fatal(err)
	}
	r, err := reconcile.New(on)
	if err != nil {
		t.Fatal(err)
	}
	flush(t, keyspace, "orders_by_id", "orders_by_user", "orders_by_status", "lines")
	ticker := time.NewTicker(2 * time.Second)
	defer ticker.Stop()
	for deadline := time.Now().Add(3 * time.Minute); ; <-ticker.C {
		o, errOrders := r.Estimate(t.Context(), orders.Orders)
		l, errLines := r.Estimate(t.Context(), lines)
		good := errOrders == nil && errLines == nil && near(l.Tables[0].Rows, count) && l.Tables[1].Bytes == 0
		for _, table := range o.Tables {
			good = good && near(table.Rows, count)
			switch table.Table {
			case keyspace + ".orders_by_status": // too few partitions
				good = good && table.Bytes == 0
			default:
				good = good && table.Bytes > 30*count && table.Bytes < 300*count
			}
		}
		if good {
			t.Logf("%+v\n%+v", o, l)
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v, %v\n%+v, %v", o, errOrders, l, errLines)
		}
	}
}

// near says whether a number of rows is about what it should be: nodes count partitions by a sample of them.
func near(rows int64, want int) bool { return rows > int64(want)/2 && rows < int64(want)*2 }

// What a repair puts into a table that has got a default_time_to_live since does not expire if the base row does not.
func TestRepairOfARowFromBeforeADefaultTTL(t *testing.T) {
	t.Parallel()
	keyspace := cluster.Keyspace(t, 3, schema.Must(schema.Declare(schema.Sets(lines))).Statements()...)
	config := gocql.NewCluster(cluster.Hosts(t)...)
	config.Keyspace, config.ConnectTimeout = keyspace, time.Minute
	on, err := session.Open(config, session.Adjust(patient))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(on.Close)
	in := cluster.Session(t, keyspace, patient)
	id, at := gocql.MustRandomUUID(), time.Now().Add(-time.Hour).UnixMicro()
	insert := "INSERT INTO lines (order_id, line, product, stamp) VALUES (?, 1, 'tea', ?) USING TIMESTAMP ?"
	if err := in.Query(insert, id, at, at).Exec(); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"lines", "lines_by_product"} {
		if err := in.Query("ALTER TABLE " + table + " WITH default_time_to_live = 86400").Exec(); err != nil {
			t.Fatal(err)
		}
	}
	r, err := reconcile.New(on, reconcile.Settle(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if report, err := r.Repair(t.Context(), lines); err != nil {
		t.Fatal(err, report)
	}
	for _, query := range []string{"SELECT TTL(stamp) FROM lines WHERE order_id = ?", "SELECT TTL(stamp) FROM lines_by_product WHERE product = 'tea' AND order_id = ?"} {
		var ttl *int
		if err := in.Query(query, id).Scan(&ttl); err != nil || ttl != nil {
			t.Errorf("%s: %v, %v", query, ttl, err)
		}
	}
}
