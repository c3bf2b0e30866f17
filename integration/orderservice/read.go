package orderservice

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
)

const readTimeout = 6 * time.Second

// get answers GET /orders/{id}.
func (s *Service) get(w http.ResponseWriter, r *http.Request) *Problem {
	id, p := orderID(r)
	if p != nil {
		return p
	}
	order, p := s.read(r, id)
	if p != nil {
		return p
	}
	respond(w, http.StatusOK, Show(order))
	return nil
}

// read gives an order, or a problem.
func (s *Service) read(r *http.Request, id gocql.UUID) (orders.Order, *Problem) {
	ctx, cancel := context.WithTimeout(r.Context(), readTimeout)
	defer cancel()
	order, err := s.Reader.ByID(ctx, id)
	switch {
	case errors.Is(err, gocql.ErrNotFound):
		return order, notFound
	case err != nil:
		return order, notApplied
	}
	return order, nil
}

// listByUser answers GET /users/{user}/orders.
func (s *Service) listByUser(w http.ResponseWriter, r *http.Request) *Problem {
	user, p := pathID(r, "user")
	if p != nil {
		return p
	}
	return list(w, r, func(ctx context.Context, limit uint) ([]orders.Order, error) {
		return s.Reader.ByUser(ctx, user, limit)
	})
}

// listByStatus answers GET /orders?status=.
func (s *Service) listByStatus(w http.ResponseWriter, r *http.Request) *Problem {
	status := orders.Status(r.URL.Query().Get("status"))
	if p := checkStatus(status); p != nil {
		return p
	}
	return list(w, r, func(ctx context.Context, limit uint) ([]orders.Order, error) {
		return s.Reader.ByStatus(ctx, status, limit)
	})
}

func list(w http.ResponseWriter, r *http.Request, read func(context.Context, uint) ([]orders.Order, error)) *Problem {
	limit, p := limitOf(r)
	if p != nil {
		return p
	}
	ctx, cancel := context.WithTimeout(r.Context(), readTimeout)
	defer cancel()
	found, err := read(ctx, limit)
	if err != nil {
		return notApplied
	}
	answer := List{Orders: make([]Order, len(found))} // never null
	for i, o := range found {
		answer.Orders[i] = Show(o)
	}
	respond(w, http.StatusOK, answer)
	return nil
}

// Order is an order as clients see it.
type Order struct {
	OrderID   gocql.UUID    `json:"order_id"`
	UserID    gocql.UUID    `json:"user_id"`
	Status    orders.Status `json:"status"`
	Total     string        `json:"total,omitempty"` // decimal; a JSON number would be rounded on its way
	UpdatedAt time.Time     `json:"updated_at"`      // the timestamp of its last write
}

// List is several orders.
type List struct {
	Orders []Order `json:"orders"`
}

// Show is how clients see an order.
func Show(o orders.Order) Order {
	shown := Order{OrderID: o.OrderID, UserID: o.UserID, Status: o.Status, UpdatedAt: time.UnixMicro(o.UpdatedAt).UTC()}
	if o.Total != nil {
		shown.Total = o.Total.String()
	}
	return shown
}
