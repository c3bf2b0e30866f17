package load

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/orderservice"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// fate is what becomes of a write, and what is said of it.
type fate struct {
	lands bool
	said  writer.Outcome
}

// lie gives the fate of write n.
type lie func(n int, op string) fate

func honest(int, string) fate { return fate{true, writer.Applied} }

// some gives about half of the writes of an op, or a fifth of all, another fate. Half of the clients repeat a write that
// is said to be not applied, and so do not see that it was: fewer lies are not always found.
func some(op string, other fate) lie {
	return func(n int, now string) fate {
		if op == now && n%2 == 0 || op == "" && n%5 == 0 {
			return other
		}
		return honest(n, now)
	}
}

// store is a database of one table, which a test can make lie.
type store struct {
	lie lie

	mu     sync.Mutex
	writes int
	rows   []orders.Order
	hides  orders.Status // its list is empty
}

type storeWriter struct {
	*store
	at int64
}

func (w storeWriter) Write(_ context.Context, op string, changes ...tables.Change) (writer.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	f := w.lie(w.writes, op)
	row := changes[0].After().(orders.Order)
	row.UpdatedAt = w.at
	i := slices.IndexFunc(w.rows, func(o orders.Order) bool { return o.OrderID == row.OrderID })
	switch {
	case f.lands && i < 0:
		w.rows = append(w.rows, row)
	case f.lands && w.rows[i].UpdatedAt <= w.at:
		w.rows[i] = row
	}
	if f.said == writer.Applied {
		return writer.Result{Timestamp: w.at}, nil
	}
	return writer.Result{}, &writer.Error{Op: op, Tables: []writer.TableResult{{Outcome: f.said}}}
}

func (s *store) find(is func(orders.Order) bool) (found []orders.Order) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range s.rows {
		if is(row) {
			found = append(found, row)
		}
	}
	return found
}

func (s *store) ByID(_ context.Context, id gocql.UUID) (orders.Order, error) {
	if found := s.find(func(o orders.Order) bool { return o.OrderID == id }); len(found) > 0 {
		return found[0], nil
	}
	return orders.Order{}, gocql.ErrNotFound
}

func (s *store) ByUser(_ context.Context, user gocql.UUID, _ uint) ([]orders.Order, error) {
	return s.find(func(o orders.Order) bool { return o.UserID == user }), nil
}

func (s *store) ByStatus(_ context.Context, status orders.Status, _ uint) ([]orders.Order, error) {
	return s.find(func(o orders.Order) bool { return o.Status == status && status != s.hides }), nil
}

const testOrders = 100

// run puts a service on the store under load.
func (s *store) run(t *testing.T) *Load {
	t.Helper()
	service := orderservice.Service{WriterAt: func(at int64) orderservice.Writer { return storeWriter{s, at} }, Reader: s}
	l := New(4, 1, time.Minute)
	t.Cleanup(l.Close)
	var targets []Target
	for range 2 {
		server := httptest.NewServer(service.Handler())
		t.Cleanup(server.Close)
		targets = append(targets, Target{URL: server.URL})
	}
	l.Ask(targets...)
	l.Live(t.Context(), testOrders, time.Minute)
	return l
}

// A service that is in trouble, and says so truthfully, gives no wrong answer.
func TestHonestService(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lie      lie
		definite bool // all answers
	}{
		"all is well":          {honest, true},
		"lost replies":         {some("", fate{true, writer.Unknown}), false},
		"lost requests":        {some("", fate{false, writer.Unknown}), false},
		"refused by all nodes": {some("createOrder", fate{false, writer.NotApplied}), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := (&store{lie: test.lie}).run(t)
			if report.Wrong() > 0 || report.checks < 2*testOrders {
				t.Errorf("%v", report)
			}
			if share, _ := report.Definite(time.Time{}, time.Time{}); (share == 1) != test.definite {
				t.Errorf("%.2f of the answers are definite", share)
			}
		})
	}
}

// Every kind of wrong answer is found.
func TestLiars(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*store{
		"an order that is acknowledged and not there": {lie: some("createOrder", fate{false, writer.Applied})},
		"an order that is not applied and there":      {lie: some("createOrder", fate{true, writer.NotApplied})},
		"a change that is acknowledged and not there": {lie: some("payOrder", fate{false, writer.Applied})},
		"a change that is not applied and there":      {lie: some("payOrder", fate{true, writer.NotApplied})},
		"a list that lacks orders":                    {lie: honest, hides: orders.Shipped},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if report := s.run(t); report.Wrong() == 0 {
				t.Errorf("not found:\n%v", report)
			}
		})
	}
}

// mute loses the answer to the first try of every write. It gives repeats of a method another answer than the service,
// if status is not 0.
type mute struct {
	*store
	service http.Handler
	method  string
	status  int
	enough  int // writes that came in
	over    chan struct{}

	mu    sync.Mutex
	tries map[string]int // by key
}

func (m *mute) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		m.service.ServeHTTP(w, r)
		return
	}
	m.mu.Lock()
	key := r.Header.Get(orderservice.KeyHeader)
	m.tries[key]++
	try, last := m.tries[key], len(m.tries) == m.enough
	m.mu.Unlock()
	if last && try == 1 {
		close(m.over)
	}
	if try > 1 && r.Method == m.method && m.status != 0 {
		w.WriteHeader(m.status)
		return
	}
	if try == 1 {
		m.carryOut(httptest.NewRecorder(), r)
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	m.carryOut(w, r)
}

// carryOut deletes an order, which is not the service's, or has the service do what is asked for.
func (m *mute) carryOut(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodDelete {
		m.service.ServeHTTP(w, r)
		return
	}
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	m.rows = slices.DeleteFunc(m.rows, func(o orders.Order) bool { return r.URL.Path == "/orders/"+o.OrderID.String() })
	w.WriteHeader(http.StatusNoContent)
}

// Clients that ask only for what is allowed find a repeated write that is rejected.
func TestRejectedRepeats(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		method string
		status int
	}{
		"none":                {},
		"a create, with 409":  {http.MethodPost, http.StatusConflict},
		"a change, with 404":  {http.MethodPut, http.StatusNotFound},
		"a change, with 409":  {http.MethodPut, http.StatusConflict},
		"a removal, with 404": {http.MethodDelete, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &store{lie: honest}
			service := orderservice.Service{WriterAt: func(at int64) orderservice.Writer { return storeWriter{s, at} }, Reader: s}
			m := &mute{
				store: s, service: service.Handler(), method: test.method, status: test.status,
				enough: 200, over: make(chan struct{}), tries: make(map[string]int),
			}
			server := httptest.NewServer(m)
			t.Cleanup(server.Close)
			l := New(9, 1, time.Minute)
			t.Cleanup(l.Close)
			l.Ask(Target{URL: server.URL, Stage: Today})
			l.Work(t.Context(), 1000, 0, m.over)
			if (l.Wrong() > 0) != (test.status != 0) {
				t.Errorf("found: %v\n%v", l.Wrong() > 0, l)
			}
		})
	}
}

// No answer is no answer that is right.
func TestNoService(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	l := New(2, 1, 50*time.Millisecond)
	t.Cleanup(l.Close)
	l.Ask(Target{URL: server.URL})
	l.Live(t.Context(), 2, time.Minute)
	if text := l.String(); l.Wrong() == 0 || !strings.Contains(text, "0.00 % of the answers") {
		t.Error(text)
	}
}
