package traces

import (
	"bytes"
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
)

// ended hands out spans as they end.
type ended chan sdktrace.ReadOnlySpan

func (ended) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (e ended) OnEnd(s sdktrace.ReadOnlySpan)                 { e <- s }
func (ended) Shutdown(context.Context) error                  { return nil }
func (ended) ForceFlush(context.Context) error                { return nil }

// next waits for the end of a span.
func (e ended) next(t *testing.T) sdktrace.ReadOnlySpan {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case s := <-e:
		return s
	case <-timer.C:
		t.Fatal("no span has ended")
		return nil
	}
}

// untilWrite are the spans that end up to that of the write, which is the last.
func (e ended) untilWrite(t *testing.T) (paths []sdktrace.ReadOnlySpan, write sdktrace.ReadOnlySpan) {
	t.Helper()
	for {
		s := e.next(t)
		if s.Name() == "createOrder" {
			return paths, s
		}
		paths = append(paths, s)
	}
}

// attributeOf is the value of an attribute of a span; the zero Value if it has none.
func attributeOf(s sdktrace.ReadOnlySpan, key attribute.Key) attribute.Value {
	set := attribute.NewSet(s.Attributes()...)
	value, _ := set.Value(key)
	return value
}

// followed is a tracer, the spans it has ended and the metrics it has recorded.
func followed() (session.Tracer, ended, sdkmetric.Reader) {
	spans, reader := make(ended, 100), sdkmetric.NewManualReader()
	return tracing.New(
		tracing.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))),
		tracing.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))), spans, reader
}

// Replies are lost, and the budget holds one retry: some path is given up, and error, span and metric agree on which.
func TestRefusedRetries(t *testing.T) {
	t.Parallel()
	tracer, spans, reader := followed()
	shop := open(t, tracer, session.Budget(retry.NewBudget(1, 0.001)))
	shop.create(t) // statements are prepared by now, so that the fault meets the write
	spans.untilWrite(t)
	shop.dialer.LoseReplies(1000)
	defer shop.dialer.LoseReplies(0)
	_, err := shop.w.Write(t.Context(), "createOrder", orders.Orders.Insert(newOrder()))
	var failed *writer.Error
	if !errors.As(err, &failed) || !errors.Is(err, retry.ErrBudget) {
		t.Fatalf("%v, want an error of the budget", err)
	}
	want := make(map[string]bool)
	for _, r := range failed.Tables {
		want[r.Table] = errors.Is(r.Err, retry.ErrBudget)
	}
	paths, _ := spans.untilWrite(t)
	rejections := collect(t, reader)["denorm.retry.rejections"]
	if rejections.unit != "{request}" {
		t.Errorf("unit %q", rejections.unit)
	}
	for _, p := range paths {
		table := attributeOf(p, "db.collection.name").AsString()
		if got := attributeOf(p, "denorm.retry.budget_spent").AsBool(); got != want[table] {
			t.Errorf("%s: refused %v, want %v", table, got, want[table])
		}
		got := rejections.count("db.namespace", shop.keyspace, "db.collection.name", table, "denorm.op", "createOrder",
			"error.type", attributeOf(p, "error.type").AsString())
		if (got == 1) != want[table] {
			t.Errorf("%s: %d rejections in\n%v", table, got, rejections)
		}
	}
	if len(paths) != 3 {
		t.Errorf("%d paths", len(paths))
	}
}

// stuckDialer makes connections that do not take the writes of one order, as sockets whose buffers are full. The
// driver's own requests go through: it does watch the context while it prepares a statement or reads the schema.
type stuckDialer struct {
	net   net.Dialer
	order gocql.UUID
	held  chan struct{} // told of every request that is stuck
	freed chan struct{}
}

func (d *stuckDialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := d.net.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &stuckConn{Conn: c, dialer: d}, nil
}

type stuckConn struct {
	net.Conn
	dialer *stuckDialer
}

func (c *stuckConn) Write(frame []byte) (int, error) {
	if bytes.Contains(frame, c.dialer.order[:]) {
		c.dialer.held <- struct{}{}
		<-c.dialer.freed
	}
	return c.Conn.Write(frame)
}

// The driver hangs in its sockets: the call leaves when its context ends, and its stragglers are told of when they
// return.
func TestStragglers(t *testing.T) {
	t.Parallel()
	tracer, spans, reader := followed()
	shop := open(t, tracer)
	order := newOrder()
	dialer := &stuckDialer{order: order.OrderID, held: make(chan struct{}, 100), freed: make(chan struct{})}
	writes := cluster.Session(t, shop.keyspace, func(c *gocql.ClusterConfig) {
		session.Configure(c, "")
		c.Timeout, c.Dialer = patience, dialer
	})
	w, err := writer.New(testsession.New(t, writes, shop.reads, session.Trace(tracer)), writer.Timeout(patience),
		writer.Retry(retry.Policy{AttemptTimeout: patience / 2, MaxElapsedTime: patience}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	go func() {
		<-dialer.held
		cancel()
	}()
	_, err = w.Write(ctx, "createOrder", orders.Orders.Insert(order))
	if !errors.Is(err, writer.ErrUnknown) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that of a canceled call", err)
	}
	inTime, write := spans.untilWrite(t)
	left := int(attributeOf(write, "denorm.stragglers").AsInt64())
	late := 3 - len(inTime)
	if late == 0 || left < late { // those that waited for their turn have returned; a straggler may end before the write's span
		t.Errorf("%d stragglers beside %d paths that ended in time", left, len(inTime))
	}
	if got := attributeOf(write, "error.type").AsString(); got != "canceled" {
		t.Errorf("error.type %q", got)
	}
	before := collect(t, reader)
	if i := before["denorm.stragglers"]; i.unit != "{request}" || i.count("denorm.op", "createOrder") != left {
		t.Errorf("the metric is %v, want %d", i, left)
	}
	close(dialer.freed)
	for range late {
		if s := spans.next(t); s.Parent().SpanID() != write.SpanContext().SpanID() || s.EndTime().Before(write.EndTime()) {
			t.Errorf("%s is not a straggler of the write", s.Name())
		}
	}
	after := collect(t, reader)
	for end := time.Now().Add(patience); after["db.client.operation.duration"].count() < 3 && time.Now().Before(end); after = collect(t, reader) {
		time.Sleep(time.Millisecond) // a span ends before its request is counted
	}
	if got := after["db.client.operation.duration"].count(); got != 3 {
		t.Errorf("%d paths recorded, want 3", got)
	}
	for _, name := range []string{"denorm.write.duration", "denorm.outcomes", "denorm.stragglers"} {
		if was, is := before[name].count(), after[name].count(); was == 0 || was != is {
			t.Errorf("%s counted %d and counts %d", name, was, is)
		}
	}
}
