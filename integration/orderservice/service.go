package orderservice

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/gocql/gocql"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Writer is what the service needs of a *writer.Writer. With one method it is easy to fake in a test, which sees in the
// changes what was asked for.
type Writer interface {
	Write(ctx context.Context, op string, changes ...tables.Change) (writer.Result, error)
}

// Reader is what the service needs of an orders.Reader.
type Reader interface {
	// ByID gives an order, or gocql.ErrNotFound.
	ByID(ctx context.Context, id gocql.UUID) (orders.Order, error)
	ByUser(ctx context.Context, user gocql.UUID, limit uint) ([]orders.Order, error)
	ByStatus(ctx context.Context, status orders.Status, limit uint) ([]orders.Order, error)
}

var (
	_ Writer = (*writer.Writer)(nil)
	_ Reader = orders.Reader{}
)

// Service is the handlers and what they need.
type Service struct {
	// WriterAt gives a writer whose writes have this timestamp, in microseconds: w.With(writer.At(timestamp)).
	WriterAt func(timestamp int64) Writer
	Reader   Reader
	// Orders is the set that is written. Nil is orders.Orders.
	Orders *tables.Set[orders.Order]

	// Log gets a line for each request. Nil logs nothing.
	Log *slog.Logger
	// Tracers makes the span of each request. Nil makes none.
	Tracers trace.TracerProvider

	now func() time.Time // for tests
}

// Handler returns the service as one handler.
func (s Service) Handler() http.Handler {
	s.Log = cmp.Or(s.Log, slog.New(slog.DiscardHandler))
	s.Tracers = cmp.Or[trace.TracerProvider](s.Tracers, noop.NewTracerProvider())
	s.Orders = cmp.Or(s.Orders, orders.Orders)
	if s.now == nil {
		s.now = time.Now
	}
	api := http.NewServeMux()
	for pattern, h := range map[string]handler{
		"POST /orders":             s.create,
		"PUT /orders/{id}/status":  s.changeStatus,
		"POST /orders/{id}/cancel": s.cancel,
		"GET /orders/{id}":         s.get,
		"GET /orders":              s.listByStatus,
		"GET /users/{user}/orders": s.listByUser,
	} {
		api.Handle(pattern, h)
	}
	all := http.NewServeMux()
	all.HandleFunc("GET /healthz", s.alive)
	all.HandleFunc("GET /readyz", s.ready)
	all.Handle("/", s.observe(sameSite(api))) // so that probes are neither traced nor logged
	return all
}

// sameSite turns away what a browser sends for a page of another site, other than reads: it would be sent with the
// rights of whoever sits at the browser, or of its network.
func sameSite(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(handler(func(http.ResponseWriter, *http.Request) *Problem {
		return &Problem{Status: http.StatusForbidden, Outcome: Refused, Error: "a browser sent this for a page of another site"}
	}))
	return protection.Handler(next)
}

// handler answers a request, or returns what is to be answered in place of success.
type handler func(w http.ResponseWriter, r *http.Request) *Problem

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p := h(w, r); p != nil {
		p.answer(w)
	}
}
