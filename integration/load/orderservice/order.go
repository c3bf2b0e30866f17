package load

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/orderservice"
)

// order is what its client knows of an order.
type order struct {
	user   gocql.UUID
	total  string
	made   time.Time // the time of the key that it was created with, and so that of its id
	exists answerable
	id     gocql.UUID // if it exists for sure
	now    state
	open   []state // that it may be in as well, because no definite answer could be had
}

// answerable is a question that may have no answer.
type answerable string

const (
	yes   answerable = "yes"
	no    answerable = "no"
	maybe answerable = "maybe"
)

// state is a status since a time.
type state struct {
	status orders.Status
	since  time.Time
}

// known is whether all that was asked for has been answered.
func (o *order) known() bool { return o.exists != maybe && len(o.open) == 0 }

// wrong says what is wrong with an order as it is shown, or nothing.
func (o *order) wrong(shown orderservice.Order) string {
	var faults []string
	check := func(ok bool, what string, got, want any) {
		if !ok {
			faults = append(faults, fmt.Sprintf("%s is %v, want %v", what, got, want))
		}
	}
	check(o.exists != no, "an order that was not applied", "there", "nothing")
	check(o.id == shown.OrderID || o.exists != yes, "id", shown.OrderID, o.id)
	check(o.user == shown.UserID, "user", shown.UserID, o.user)
	check(o.total == shown.Total, "total", shown.Total, o.total)
	got, states := state{shown.Status, shown.UpdatedAt}, append([]state{o.now}, o.open...)
	check(slices.Contains(states, got), "state", got, states)
	return strings.Join(faults, ", ")
}

func (s state) String() string {
	return fmt.Sprintf("%s since %s", s.status, s.since.Format("15:04:05.000000"))
}

// moved is the order after a change that was acknowledged. What was open is older and gone.
func (o *order) moved(to state) { o.now, o.open = to, nil }

// allows is whether the service has to allow the change.
func (o *order) allows(to orders.Status) bool {
	switch to {
	case orders.Paid:
		return o.now.status == orders.Open
	case orders.Shipped:
		return o.now.status == orders.Paid
	case orders.Cancelled:
		return o.now.status == orders.Open || o.now.status == orders.Paid
	default:
		return false
	}
}

// KeyTime is the time of a key as orders show it.
func KeyTime(key gocql.UUID) time.Time { return time.UnixMicro(key.Time().UnixMicro()).UTC() }
