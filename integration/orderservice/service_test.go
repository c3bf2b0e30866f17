package orderservice_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	load "github.com/denorm-go/denorm/integration/load/orderservice"
	"github.com/denorm-go/denorm/integration/orderservice"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/tracing"
)

// instance is one instance of the service, on the cluster.
type instance struct {
	url    string
	client *http.Client
	writes *faulty.Dialer // of the session that writes
	spans  *tracetest.SpanRecorder
}

// start starts an instance of the service, whose tables are there.
func start(t *testing.T, keyspace string) *instance {
	t.Helper()
	return startOn(t, orderservice.Cassandra{Keyspace: keyspace})
}

func startOn(t *testing.T, c orderservice.Cassandra) *instance {
	t.Helper()
	i := &instance{writes: &faulty.Dialer{}, spans: tracetest.NewSpanRecorder()}
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(i.spans))
	c.Hosts, c.Trace = cluster.Hosts(t), tracing.New(tracing.WithTracerProvider(tracers))
	c.Change = func(c *gocql.ClusterConfig) {
		c.Events.DisableSchemaEvents = true  // package cluster says why
		if c.RetryPolicy == driver.NoRetry { // the session of the reads has another
			i.writes.Configure(c)
		}
	}
	database, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(database.Close)
	server := httptest.NewServer(orderservice.Service{WriterAt: database.WriterAt, Reader: database.Reader, Tracers: tracers}.Handler())
	t.Cleanup(server.Close)
	i.url, i.client = server.URL, server.Client()
	return i
}

// do sends a request and reads the answer into v.
func (i *instance) do(t *testing.T, method, path, key, body string, v any) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, i.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set(orderservice.KeyHeader, key)
	}
	got, err := i.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close() //nolint:errcheck // it was read
	var text bytes.Buffer
	if _, err := text.ReadFrom(got.Body); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text.Bytes(), v); err != nil {
		t.Fatalf("%s %s: %d %q: %v", method, path, got.StatusCode, text.String(), err)
	}
	return got.StatusCode
}

// want sends a request that gets this order.
func (i *instance) want(t *testing.T, status int, method, path, key, body string, want orderservice.Order) {
	t.Helper()
	var got orderservice.Order
	if s := i.do(t, method, path, key, body, &got); s != status || got != want {
		t.Errorf("%s %s: %d %+v, want %d %+v", method, path, s, got, status, want)
	}
}

// wantRefused sends a request that gets 409 for this reason, with this order.
func (i *instance) wantRefused(t *testing.T, path, key, body string, reason orderservice.Reason, order orderservice.Order) {
	t.Helper()
	var got orderservice.Problem
	s := i.do(t, "PUT", path, key, body, &got)
	if s != http.StatusConflict || got.Reason != reason || got.Order == nil || *got.Order != order {
		t.Errorf("PUT %s: %d %+v, want %d %s", path, s, got, http.StatusConflict, reason)
	}
}

func key() string { return gocql.TimeUUID().String() }

func body(user gocql.UUID) string { return fmt.Sprintf(`{"user_id": %q, "total": "19.95"}`, user) }

// The life of an order, every request sent twice, to two instances of the service.
func TestLifeOfAnOrder(t *testing.T) {
	t.Parallel()
	cluster.Need(t, 3)
	keyspace := cluster.Keyspace(t, 3)
	both := []*instance{startOn(t, orderservice.Cassandra{Keyspace: keyspace, CreateSchema: true}), start(t, keyspace)}
	user := gocql.MustRandomUUID()

	created := key()
	var o orderservice.Order
	if s := both[0].do(t, "POST", "/orders", created, body(user), &o); s != http.StatusCreated || o.UserID != user || o.Status != orders.Open {
		t.Fatalf("create: %d %+v", s, o)
	}
	path := "/orders/" + o.OrderID.String()
	both[1].want(t, http.StatusCreated, "POST", "/orders", created, body(user), o)
	wantListed(t, both, o)

	both[0].wantRefused(t, path+"/status", key(), `{"status": "shipped"}`, orderservice.Transition, o)
	paid := key()
	o = changed(t, o, orders.Paid, paid)
	for _, i := range both {
		i.want(t, http.StatusOK, "PUT", path+"/status", paid, `{"status": "paid"}`, o)
	}
	wantListed(t, both, o)

	cancelled := key()
	o = changed(t, o, orders.Cancelled, cancelled)
	for _, i := range both {
		i.want(t, http.StatusOK, "POST", path+"/cancel", cancelled, "", o)
		i.wantRefused(t, path+"/status", paid, `{"status": "paid"}`, orderservice.Superseded, o)
	}
	if s := both[1].do(t, "POST", "/orders", created, body(user), new(orderservice.Order)); s != http.StatusCreated {
		t.Errorf("created once more: %d", s)
	}
	wantListed(t, both, o) // which undid nothing
}

// changed is an order after a change with this key.
func changed(t *testing.T, o orderservice.Order, to orders.Status, key string) orderservice.Order {
	t.Helper()
	id, err := gocql.ParseUUID(key)
	if err != nil {
		t.Fatal(err)
	}
	o.Status, o.UpdatedAt = to, time.UnixMicro(id.Time().UnixMicro()).UTC()
	return o
}

// wantListed checks that the order is what both instances show, by id, by user and by status, and nothing else.
func wantListed(t *testing.T, instances []*instance, o orderservice.Order) {
	t.Helper()
	for _, i := range instances {
		i.want(t, http.StatusOK, "GET", "/orders/"+o.OrderID.String(), "", "", o)
		i.wantList(t, "/users/"+o.UserID.String()+"/orders", o)
		for _, status := range orders.Statuses {
			var want []orderservice.Order
			if status == o.Status {
				want = append(want, o)
			}
			i.wantList(t, "/orders?status="+string(status), want...)
		}
	}
}

func (i *instance) wantList(t *testing.T, path string, want ...orderservice.Order) {
	t.Helper()
	var got orderservice.List
	if s := i.do(t, "GET", path, "", "", &got); s != http.StatusOK || fmt.Sprint(got.Orders) != fmt.Sprint(want) {
		t.Errorf("GET %s: %d %+v, want %+v", path, s, got.Orders, want)
	}
}

// An instance that hears nothing of its writes says that it does not know, and the repeat finishes them in the other.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	cluster.Need(t, 3)
	keyspace := cluster.Keyspace(t, 3, orders.Schema.Statements()...)
	deaf, other := start(t, keyspace), start(t, keyspace)
	user, key := gocql.MustRandomUUID(), key()
	deaf.writes.LoseReplies(1000)
	var p orderservice.Problem
	if s := deaf.do(t, "POST", "/orders", key, body(user), &p); s != http.StatusAccepted || p.Outcome != orderservice.Unknown {
		t.Fatalf("%d %+v, want 202 unknown", s, p)
	}
	var o orderservice.Order
	if s := other.do(t, "POST", "/orders", key, body(user), &o); s != http.StatusCreated {
		t.Fatalf("repeated: %d %+v", s, o)
	}
	wantListed(t, []*instance{deaf, other}, o)
}

// The spans of a write are below that of the request, in the trace of the client.
func TestTrace(t *testing.T) {
	t.Parallel()
	cluster.Need(t, 3)
	i := start(t, cluster.Keyspace(t, 3, orders.Schema.Statements()...))
	if s := i.do(t, "POST", "/orders", "", body(gocql.MustRandomUUID()), new(orderservice.Order)); s != http.StatusCreated {
		t.Fatal(s)
	}
	parents := make(map[string]string)
	names := make(map[trace.SpanID]string)
	for _, span := range i.spans.Ended() {
		names[span.SpanContext().SpanID()] = span.Name()
	}
	for _, span := range i.spans.Ended() {
		parents[span.Name()] = names[span.Parent().SpanID()]
	}
	want := map[string]string{
		"POST /orders": "", "createOrder": "POST /orders", "INSERT orders_by_id": "createOrder",
		"INSERT orders_by_user": "createOrder", "INSERT orders_by_status": "createOrder",
	}
	if fmt.Sprint(parents) != fmt.Sprint(want) {
		t.Errorf("spans and their parents %v, want %v", parents, want)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	cluster.Need(t, 3)
	keyspace := cluster.Keyspace(t, 3, orders.Schema.Statements()...)
	l := load.New(4, 1, time.Minute)
	t.Cleanup(l.Close)
	l.Ask(load.Target{URL: start(t, keyspace).url}, load.Target{URL: start(t, keyspace).url})
	l.Live(t.Context(), 1000, 3*time.Second)
	t.Log(l)
	if l.Wrong() > 0 {
		t.Errorf("%d wrong answers", l.Wrong())
	}
}
