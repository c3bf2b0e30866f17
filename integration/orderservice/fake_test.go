package orderservice

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/leaks"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// shop is a service on a fake database: one map of orders, in which the later timestamp wins, as in Cassandra.
type shop struct {
	Service

	mu     sync.Mutex
	rows   map[gocql.UUID]orders.Order
	script []fault // of the next writes; without one a write is carried out
	writes []write // that were asked for
	broken bool    // reads fail
	clock  time.Time
}

// write is what a handler asked the writer for.
type write struct {
	op string
	at int64
	tables.Change
}

// fault is what becomes of a write.
type fault struct {
	lands bool // it is carried out all the same
	err   error
}

// The faults, as a writer reports them.
var (
	lostReply  = fault{lands: true, err: failure(writer.Unknown, writer.Unknown, writer.Unknown)}
	nothing    = fault{lands: false, err: failure(writer.NotApplied, writer.NotApplied, writer.NotApplied)}
	partial    = fault{lands: true, err: failure(writer.Applied, writer.NotApplied, writer.NotApplied)}
	inBatchlog = fault{lands: false, err: failure(writer.Pending, writer.Pending, writer.Pending)}
	refusal    = fault{err: errors.Join(writer.ErrInvalid, errors.New("no status"))}
	tooLarge   = fault{err: writer.ErrTooLarge}
	strange    = fault{err: errors.New("what is this?")}
)

func failure(outcomes ...writer.Outcome) error {
	e := &writer.Error{Op: "test"}
	for i, o := range outcomes {
		e.Tables = append(e.Tables, writer.TableResult{Table: []string{"orders_by_id", "orders_by_user", "orders_by_status"}[i], Outcome: o})
	}
	return e
}

func newShop(script ...fault) *shop {
	s := &shop{rows: make(map[gocql.UUID]orders.Order), script: script, clock: time.Date(2030, 1, 2, 3, 4, 5, 678900000, time.UTC)}
	s.Service = Service{WriterAt: func(at int64) Writer { return fakeWriter{s, at} }, Reader: s, now: func() time.Time { return s.clock }}
	return s
}

// fakeWriter writes to the map. It is all that a test of the handlers needs of package writer.
type fakeWriter struct {
	*shop
	at int64
}

func (w fakeWriter) Write(ctx context.Context, op string, changes ...tables.Change) (writer.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var f fault
	if len(w.script) > 0 {
		f, w.script = w.script[0], w.script[1:]
	}
	f.lands = f.lands || f.err == nil
	for _, c := range changes {
		w.writes = append(w.writes, write{op, w.at, c})
		row := c.After().(orders.Order)
		row.UpdatedAt = w.at
		if f.lands && w.rows[row.OrderID].UpdatedAt <= w.at {
			w.rows[row.OrderID] = row
		}
	}
	return writer.Result{Timestamp: w.at}, errors.Join(f.err, ctx.Err())
}

var errDown = errors.New("no connection; the value was 4711")

func (s *shop) ByID(_ context.Context, id gocql.UUID) (orders.Order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, ok := s.rows[id]
	switch {
	case s.broken:
		return row, errDown
	case !ok:
		return row, gocql.ErrNotFound
	}
	return row, nil
}

func (s *shop) ByUser(_ context.Context, user gocql.UUID, limit uint) ([]orders.Order, error) {
	return s.list(limit, func(o orders.Order) bool { return o.UserID == user })
}

func (s *shop) ByStatus(_ context.Context, status orders.Status, limit uint) ([]orders.Order, error) {
	return s.list(limit, func(o orders.Order) bool { return o.Status == status })
}

func (s *shop) list(limit uint, wanted func(orders.Order) bool) (found []orders.Order, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		return nil, errDown
	}
	for _, row := range s.rows {
		if wanted(row) && uint(len(found)) < limit {
			found = append(found, row)
		}
	}
	return found, nil
}

// keyAt is a client's key, made this long after the time of the shop.
func (s *shop) keyAt(after time.Duration) string {
	return gocql.UUIDFromTime(s.clock.Add(after)).String()
}

// reply is an answer of the service.
type reply struct {
	status int
	header http.Header
	text   string
	Order
	problem Problem
}

// do sends a request; an empty key is none.
func (s *shop) do(t *testing.T, method, path, key, body string) reply {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, io.NopCloser(strings.NewReader(body)))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set(KeyHeader, key)
	}
	return s.send(t, r)
}

func (s *shop) send(t *testing.T, r *http.Request) reply {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	got := reply{status: w.Code, header: w.Header(), text: w.Body.String()}
	if w.Header().Get("Content-Type") != "application/json" {
		return got
	}
	var v any = &got.problem
	if w.Code == http.StatusOK || w.Code == http.StatusCreated {
		v = &got.Order
	}
	if err := json.NewDecoder(bytes.NewReader(w.Body.Bytes())).Decode(v); err != nil {
		t.Fatalf("answer %q: %v", got.text, err)
	}
	return got
}

const (
	alice     = "6ba7b810-9dad-41d1-80b4-00c04fd430c8"
	orderBody = `{"user_id": "` + alice + `", "total": "19.95"}`
	pay       = `{"status": "paid"}`
	ship      = `{"status": "shipped"}`
)

// create makes an open order, as the shop's first write.
func (s *shop) create(t *testing.T) Order {
	t.Helper()
	got := s.do(t, "POST", "/orders", s.keyAt(0), orderBody)
	if got.status != http.StatusCreated {
		t.Fatalf("create: %d %s", got.status, got.text)
	}
	return got.Order
}

func (s *shop) pay(t *testing.T, o Order, key string) reply {
	t.Helper()
	return s.do(t, "PUT", "/orders/"+o.OrderID.String()+"/status", key, pay)
}
