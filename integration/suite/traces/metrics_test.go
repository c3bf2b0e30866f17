package traces

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
)

var buckets = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}

// instrument is a metric as an SDK reader gives it, with the number of recordings in each of its series.
type instrument struct {
	unit   string
	series map[attribute.Set]uint64
}

// count adds up the series that have all of the attributes, given as key and value.
func (i instrument) count(pairs ...string) (sum int) {
	for set, n := range i.series {
		matches := true
		for p := range slices.Chunk(pairs, 2) {
			value, _ := set.Value(attribute.Key(p[0]))
			matches = matches && value.AsString() == p[1]
		}
		if matches {
			sum += int(n)
		}
	}
	return sum
}

// collect reads all instruments of package tracing.
func collect(t *testing.T, reader sdkmetric.Reader) map[string]instrument {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	instruments := make(map[string]instrument)
	for _, scope := range all.ScopeMetrics {
		if scope.Scope.Name != tracing.Scope || scope.Scope.SchemaURL != semconv.SchemaURL {
			t.Errorf("scope %+v", scope.Scope)
		}
		for _, m := range scope.Metrics {
			i := instrument{unit: m.Unit, series: make(map[attribute.Set]uint64)}
			switch data := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					if !slices.Equal(p.Bounds, buckets) {
						t.Errorf("%s has the buckets %v, want %v", m.Name, p.Bounds, buckets)
					}
					i.series[p.Attributes] = p.Count
				}
			case metricdata.Sum[int64]:
				if !data.IsMonotonic {
					t.Errorf("%s is no counter", m.Name)
				}
				for _, p := range data.DataPoints {
					i.series[p.Attributes] = uint64(p.Value)
				}
			default:
				t.Errorf("%s is a %T", m.Name, data)
			}
			instruments[m.Name] = i
		}
	}
	return instruments
}

// business makes 5 orders, one of them in spite of a lost reply, cancels one, and is rejected once. Then a table is
// missing, and an order is in the other two.
func business(t *testing.T, shop *shop) {
	t.Helper()
	write := func(op string, change tables.Change, want error) {
		t.Helper()
		if _, err := shop.w.Write(t.Context(), op, change); !errors.Is(err, want) {
			t.Fatalf("%s: %v, want %v", op, err, want)
		}
	}
	for range 4 {
		shop.create(t)
	}
	shop.dialer.LoseReplies(1)
	before := shop.create(t)
	write("cancelOrder", orders.Orders.Update(before, withStatus(before, orders.Cancelled)), nil)
	write("createOrder", orders.Orders.Insert(orders.Order{}), writer.ErrInvalid)
	cluster.ChangeSchema(t, shop.keyspace, `DROP TABLE orders_by_user`)
	write("createOrder", orders.Orders.Insert(newOrder()), writer.ErrPartial)
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	reader := sdkmetric.NewManualReader()
	shop := open(t, tracing.New(tracing.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))))
	business(t, shop)
	got := collect(t, reader)
	for name, unit := range map[string]string{
		"db.client.operation.duration": "s", "denorm.write.duration": "s",
		"denorm.retries": "{retry}", "denorm.outcomes": "{table}",
	} {
		if i, ok := got[name]; !ok || i.unit != unit {
			t.Errorf("%s is in %q, want %q", name, i.unit, unit)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d instruments, want 4", len(got))
	}
	paths, writes := got["db.client.operation.duration"], got["denorm.write.duration"]
	retries, outcomes := got["denorm.retries"], got["denorm.outcomes"]
	for what, test := range map[string]struct{ got, want int }{
		"paths":               {paths.count(), 6*3 + 1},
		"paths of a keyspace": {paths.count("db.namespace", shop.keyspace, "db.system.name", "cassandra"), 6*3 + 1},
		"paths to a table": {paths.count("db.collection.name", "orders_by_id", "db.operation.name", "INSERT",
			"db.query.summary", "INSERT orders_by_id", "denorm.op", "createOrder"), 6},
		"paths that are batches": {paths.count("db.operation.name", "BATCH", "denorm.op", "cancelOrder"), 1},
		"paths that failed": {paths.count("db.collection.name", "orders_by_user", "db.response.status_code", "0x2200",
			"error.type", "invalid"), 1},
		"paths that failed otherwise": {paths.count("error.type", ""), 6 * 3},

		"writes": {writes.count("db.system.name", "cassandra"), 8},
		"fan-outs": {writes.count("denorm.op", "createOrder", "denorm.mode", "fan-out",
			"denorm.outcome", "applied", "error.type", ""), 5},
		"logged batches": {writes.count("denorm.op", "cancelOrder", "denorm.mode", "logged-batch",
			"denorm.outcome", "applied"), 1},
		"rejected writes":   {writes.count("denorm.outcome", "rejected", "error.type", "denorm.invalid"), 1},
		"partial writes":    {writes.count("denorm.outcome", "partial", "error.type", "invalid"), 1},
		"tables":            {outcomes.count("db.namespace", shop.keyspace), 7 * 3},
		"tables applied":    {outcomes.count("denorm.outcome", "applied"), 7*3 - 1},
		"tables without it": {outcomes.count("denorm.outcome", "not applied", "db.collection.name", "orders_by_user"), 1},
	} {
		if test.got != test.want {
			t.Errorf("%d %s, want %d", test.got, what, test.want)
		}
	}
	ofLoss := []string{"db.system.name", "cassandra", "denorm.op", "createOrder", "denorm.retry.class", "unknown", "error.type"}
	lost := retries.count(append(ofLoss, "eof")...) + retries.count(append(ofLoss, "connection_closed")...)
	if lost < 1 || lost > 3 { // those that shared the connection
		t.Errorf("%d retries after one lost reply", lost)
	}
	if t.Failed() {
		for name, i := range got {
			for set, n := range i.series {
				t.Logf("%s %d %v", name, n, set.ToSlice())
			}
		}
	}
}

// A service that puts ids into the names of its writes does not make a series of each: beyond the limit names are lost,
// and nothing is lost of the counts.
func TestCardinalityIsBounded(t *testing.T) {
	t.Parallel()
	const (
		limit   = 7
		ops     = 100
		clients = 4
	)
	reader := sdkmetric.NewManualReader()
	shop := open(t, tracing.New(tracing.WithMaxSeries(limit),
		tracing.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))))
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			for n := client; n < ops; n += clients {
				if _, err := shop.w.Write(context.WithoutCancel(t.Context()), fmt.Sprintf("createOrder%d", n),
					orders.Orders.Insert(newOrder())); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got := collect(t, reader)
	for name, want := range map[string]struct{ recordings, others int }{
		// Beyond the limit is one series each, unless a server was slow and there are errors too.
		"db.client.operation.duration": {3 * ops, 1}, "denorm.write.duration": {ops, 1}, "denorm.outcomes": {3 * ops, 1},
	} {
		i := got[name]
		if len(i.series) != limit+want.others {
			t.Errorf("%s has %d series, want %d", name, len(i.series), limit+want.others)
		}
		if n := i.count(); n != want.recordings {
			t.Errorf("%s counts %d, want %d", name, n, want.recordings)
		}
		if n := i.count("denorm.op", "_OTHER"); n != want.recordings-limit {
			t.Errorf("%s counts %d without a name, want %d", name, n, want.recordings-limit)
		}
		if n := i.count("otel.metric.overflow", "true"); n > 0 {
			t.Errorf("%s went over the limit of the SDK", name)
		}
	}
}
