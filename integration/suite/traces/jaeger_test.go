package traces

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/jaeger"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
)

func TestTraces(t *testing.T) {
	t.Parallel()
	service := serve(t, jaeger.Serve(t))
	shop := open(t, tracing.New(tracing.WithTracerProvider(service.provider)))
	secrets := new(secrets)

	t.Run("a fan-out", func(t *testing.T) {
		o := newOrder()
		secrets.add(o)
		trace := undisturbed(t, service, shop, secrets, 3, "createOrder", orders.Orders.Insert(o), nil)
		golden.Check(t, "create_order.golden", render(trace, shop.keyspace))
	})
	t.Run("a logged batch", func(t *testing.T) {
		before := shop.create(t)
		after := withStatus(before, orders.Cancelled)
		secrets.add(before)
		trace := undisturbed(t, service, shop, secrets, 1, "cancelOrder", orders.Orders.Update(before, after), nil)
		golden.Check(t, "cancel_order.golden", render(trace, shop.keyspace))
	})
	t.Run("a lost reply", func(t *testing.T) { testLostReply(t, service, shop, secrets) })
	t.Run("several writes", func(t *testing.T) { testSeveralWrites(t, service, shop, secrets) })
	t.Run("calls", func(t *testing.T) { testCalls(t, service.jaeger, secrets) })
	t.Run("a table that is missing", func(t *testing.T) {
		o := newOrder()
		secrets.add(o)
		cluster.ChangeSchema(t, shop.keyspace, `DROP TABLE orders_by_user`)
		trace := undisturbed(t, service, shop, secrets, 3, "createOrder", orders.Orders.Insert(o), writer.ErrPartial)
		golden.Check(t, "missing_table.golden", render(trace, shop.keyspace))
	})
	t.Run("no bound value", func(t *testing.T) {
		traces, err := tracesOf(t.Context(), service.jaeger, service.name, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(traces) < 5 {
			t.Errorf("only %d traces", len(traces))
		}
		secrets.search(t, traces)
	})
}

// undisturbed makes a write of so many paths that ends with an error, or with none, and for which no server was too
// slow. It returns the write's trace.
func undisturbed(
	t *testing.T, service *service, shop *shop, secrets *secrets, paths int, op string, change tables.Change, want error,
) *Trace {
	t.Helper()
	for range 10 {
		attempts, stamp := 0, past(time.Second)
		secrets.values = append(secrets.values, strconv.FormatInt(stamp, 10))
		trace := service.request(t, 2+paths, func(ctx context.Context) {
			res, err := shop.w.With(writer.At(stamp)).Write(ctx, op, change)
			if !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
			attempts = res.Attempts
		})
		if attempts == paths {
			return trace
		}
	}
	t.Fatal("no write went through at once")
	return nil
}

// testLostReply loses a reply. Other requests on the connection are lost with it, so some paths are tried again.
func testLostReply(t *testing.T, service *service, shop *shop, secrets *secrets) {
	t.Helper()
	shop.create(t) // statements are prepared by now, so that the fault meets the write
	o := newOrder()
	secrets.add(o)
	attempts := 0
	shop.dialer.LoseReplies(1)
	trace := service.request(t, 5, func(ctx context.Context) {
		res, err := shop.w.Write(ctx, "createOrder", orders.Orders.Insert(o))
		if err != nil {
			t.Error(err)
		}
		attempts = res.Attempts
	})
	if attempts < 4 || shop.dialer.Left() > 0 {
		t.Fatalf("%d attempts, want at least 4", attempts)
	}
	write := onlyWrite(t, trace)
	wantTags(t, write.Name, write.Tags, map[string]string{
		"denorm.attempts": strconv.Itoa(attempts), "denorm.outcome": "applied", "denorm.mode": "fan-out", "error": "",
	})
	sum := 0
	for _, path := range write.Children {
		sum += 1 + len(path.Events)
		wantTags(t, path.Name, path.Tags, map[string]string{
			"denorm.attempts": strconv.Itoa(1 + len(path.Events)), "denorm.outcome": "applied", "error": "", "error.type": "",
		})
		for i, event := range path.Events {
			if event.Name != "retry" {
				t.Errorf("%s has an event %q", path.Name, event.Name)
			}
			wantTags(t, path.Name, event.Tags, map[string]string{
				"denorm.retry.attempt": strconv.Itoa(i + 1), "denorm.retry.class": "unknown",
			})
			if reason := event.Tags["error.type"]; reason != "eof" && reason != "connection_closed" { // whose reply it was, or not
				t.Errorf("%s was tried again after %s", path.Name, reason)
			}
			wait, err := strconv.ParseFloat(event.Tags["denorm.retry.wait_ms"], 64)
			if err != nil || wait < 0 || wait > 1000 { // the policy's MaxInterval
				t.Errorf("%s waited %q ms before it was tried again", path.Name, event.Tags["denorm.retry.wait_ms"])
			}
			if event.Tags["server.address"] == "" {
				t.Errorf("%s does not say who lost the reply", path.Name)
			}
		}
	}
	if sum != attempts {
		t.Errorf("paths and retries add up to %d attempts, want %d:\n%s", sum, attempts, render(trace, shop.keyspace))
	}
}

// testSeveralWrites makes several writes in one request, also at once: each is one span under that of the request.
func testSeveralWrites(t *testing.T, service *service, shop *shop, secrets *secrets) {
	t.Helper()
	const writes = 4
	trace := service.request(t, 1+writes*4, func(ctx context.Context) {
		done := make(chan error, writes)
		for range writes {
			o := newOrder()
			secrets.add(o)
			go func() {
				_, err := shop.w.Write(ctx, "createOrder", orders.Orders.Insert(o))
				done <- err
			}()
		}
		for range writes {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
	if len(trace.Roots) != 1 || len(trace.Roots[0].Children) != writes {
		t.Fatalf("want %d writes under one request:\n%s", writes, render(trace, shop.keyspace))
	}
	for _, write := range trace.Roots[0].Children {
		if write.Name != "createOrder" || len(write.Children) != 3 {
			t.Errorf("%s has %d paths, want 3", write.Name, len(write.Children))
		}
	}
}

// onlyWrite is the only write of a trace, below the request's span.
func onlyWrite(t *testing.T, trace *Trace) *Span {
	t.Helper()
	if len(trace.Roots) != 1 || len(trace.Roots[0].Children) != 1 {
		t.Fatalf("trace %s does not have one write under one request", trace.ID)
	}
	request := trace.Roots[0]
	wantTags(t, request.Name, request.Tags, map[string]string{"span.kind": "server"})
	return request.Children[0]
}

// wantTags wants tags, and those to be absent that are wanted to be empty.
func wantTags(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s: %s is %q, want %q", what, key, got[key], value)
		}
	}
}

// secrets are values that were bound to statements.
type secrets struct{ values []string }

// add adds the values of an order in the forms they could be written in.
func (s *secrets) add(o orders.Order) {
	for _, id := range []gocql.UUID{o.OrderID, o.UserID} {
		s.values = append(s.values, id.String(), hex.EncodeToString(id[:]), base64.StdEncoding.EncodeToString(id[:]))
	}
	s.values = append(s.values, o.Total.String(), o.Total.UnscaledBig().String())
	if o.UpdatedAt != 0 {
		s.values = append(s.values, strconv.FormatInt(o.UpdatedAt, 10))
	}
}

// search looks for the values in all that Jaeger gives.
func (s *secrets) search(t *testing.T, traces []*Trace) {
	t.Helper()
	if len(s.values) < 20 {
		t.Fatalf("only %d values", len(s.values))
	}
	var statuses []string
	for _, status := range orders.Statuses {
		statuses = append(statuses, string(status))
	}
	status := regexp.MustCompile(`\b(` + strings.Join(statuses, "|") + `)\b`)
	for _, trace := range traces {
		text := strings.ReplaceAll(strings.ToLower(string(trace.JSON)), "denorm.tables.open", "")
		for _, value := range append(status.FindAllString(text, 1), s.values...) {
			if strings.Contains(text, strings.ToLower(value)) {
				t.Errorf("trace %s holds the bound value %s", trace.ID, value)
			}
		}
	}
}
