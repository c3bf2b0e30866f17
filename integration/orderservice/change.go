package orderservice

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/denorm-go/denorm/examples/orders"
)

// next are the statuses that may follow a status.
var next = map[orders.Status][]orders.Status{
	orders.Open: {orders.Paid, orders.Cancelled},
	orders.Paid: {orders.Shipped, orders.Cancelled},
}

// ops name the writes in traces and errors, by the status that an order gets.
var ops = map[orders.Status]string{
	orders.Paid: "payOrder", orders.Shipped: "shipOrder", orders.Cancelled: "cancelOrder",
}

// changeStatus answers PUT /orders/{id}/status.
func (s *Service) changeStatus(w http.ResponseWriter, r *http.Request) *Problem {
	var body struct {
		Status orders.Status `json:"status"`
	}
	if p := decode(w, r, &body); p != nil {
		return p
	}
	if p := checkStatus(body.Status); p != nil {
		return p
	}
	return s.change(w, r, body.Status)
}

// cancel answers POST /orders/{id}/cancel. A cancelled order stays, in its status.
func (s *Service) cancel(w http.ResponseWriter, r *http.Request) *Problem {
	return s.change(w, r, orders.Cancelled)
}

// change moves an order to another status, at the timestamp of the key.
func (s *Service) change(w http.ResponseWriter, r *http.Request, to orders.Status) *Problem {
	id, p := orderID(r)
	if p != nil {
		return p
	}
	k, given, p := s.keyOf(r)
	if p != nil {
		return p
	}
	before, p := s.read(r, id)
	if p != nil {
		return p
	}
	if !given {
		k = s.newKey(before.UpdatedAt)
	}
	if p := allowed(before, to, k.timestamp()); p != nil {
		return p
	}
	// If an earlier try has been here, before is what it wrote. The update is the same write all the same: the whole
	// row to every table, and deletes under all other statuses, at this timestamp.
	after := before
	after.Status = to
	if p := s.write(w, r, k, ops[to], s.Orders.Update(before, after)); p != nil {
		return p
	}
	after.UpdatedAt = k.timestamp()
	respond(w, http.StatusOK, Show(after))
	return nil
}

// allowed says whether the order, as it is, may be moved by a write with this timestamp.
func allowed(current orders.Order, to orders.Status, timestamp int64) *Problem {
	switch {
	case current.UpdatedAt > timestamp:
		return conflict(Superseded, current, "the order was changed after the key was made: look at it, and make a new key for a new change")
	case current.UpdatedAt == timestamp && current.Status == to:
		return nil // this very write
	case current.UpdatedAt == timestamp:
		return conflict(KeyReused, current, "the order was written by another request with this key: each request needs its own")
	case !slices.Contains(next[current.Status], to):
		return conflict(Transition, current, fmt.Sprintf("an order that is %s cannot become %s", current.Status, to))
	}
	return nil
}
