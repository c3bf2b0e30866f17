package orderservice

import (
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
)

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
