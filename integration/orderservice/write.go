package orderservice

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
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

// write carries out a change at the timestamp of the key. It tells the client the key in any case, as a request that
// came without one can be repeated with it.
func (s *Service) write(w http.ResponseWriter, r *http.Request, k key, op string, change tables.Change) *Problem {
	w.Header().Set(KeyHeader, k.String())
	// A client that hangs up does not interrupt the write: it would leave it half done, with nobody to repeat it. The
	// writer has a time limit of its own.
	_, err := s.WriterAt(k.timestamp()).Write(context.WithoutCancel(r.Context()), op, change)
	switch outcome := writer.OutcomeOf(err); {
	case outcome == writer.Applied:
		return nil
	case outcome == writer.Invalid, errors.Is(err, writer.ErrTooLarge):
		return invalid("the order cannot be written like this: %v", err)
	case outcome == writer.NotApplied && change.Internal().StampOf() != k.timestamp():
		return notApplied
	}
	// Some tables have it, or may have it: from this try, or from an earlier one, whose timestamp the row has. The set has
	// no conditions, so it is no conflict.
	return unknown
}
