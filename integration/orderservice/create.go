package orderservice

import (
	"net/http"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
)

// create answers POST /orders. It reads nothing: a repeat is the same insert of the same row at the same timestamp, and
// whatever was done to the order since is later and stays. Its answer is that to the first try.
func (s *Service) create(w http.ResponseWriter, r *http.Request) *Problem {
	k, given, p := s.keyOf(r)
	if p != nil {
		return p
	}
	if !given {
		k = s.newKey(0)
	}
	order, p := newOrder(w, r, k)
	if p != nil {
		return p
	}
	if p := s.write(w, r, k, "createOrder", s.Orders.Insert(order)); p != nil {
		return p
	}
	w.Header().Set("Location", "/orders/"+order.OrderID.String())
	respond(w, http.StatusCreated, Show(order))
	return nil
}

// newOrder is the order that the body asks for.
func newOrder(w http.ResponseWriter, r *http.Request, k key) (orders.Order, *Problem) {
	var body struct {
		UserID gocql.UUID `json:"user_id"`
		Total  *string    `json:"total"`
	}
	if p := decode(w, r, &body); p != nil {
		return orders.Order{}, p
	}
	if body.UserID == (gocql.UUID{}) {
		return orders.Order{}, invalid("user_id is missing")
	}
	total, p := parseTotal(body.Total)
	if p != nil {
		return orders.Order{}, p
	}
	return orders.Order{
		OrderID: k.orderID(body.UserID, total), UserID: body.UserID, Status: orders.Open, Total: total, UpdatedAt: k.timestamp(),
	}, nil
}
