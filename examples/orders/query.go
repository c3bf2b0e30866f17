package orders

import (
	"context"

	"github.com/gocql/gocql"
	"github.com/scylladb/gocqlx/v2"
	"github.com/scylladb/gocqlx/v2/qb"
)

// Reader answers the three queries that the tables exist for.
type Reader struct{ session gocqlx.Session }

// NewReader reads through session, which should not be the one of the writer.
func NewReader(session *gocql.Session) Reader { return Reader{gocqlx.NewSession(session)} }

// Columns are listed, not *: a prepared SELECT * keeps the columns it was prepared with.
var columns = []string{"order_id", "user_id", "status", "total", "updated_at"}

// ByID gives an order, or gocql.ErrNotFound.
func (r Reader) ByID(ctx context.Context, id gocql.UUID) (Order, error) {
	var o Order
	err := r.session.Query(Orders.Select()).WithContext(ctx).Bind(id).Get(&o)
	return o, err
}

// ByUser lists the newest orders of a user.
func (r Reader) ByUser(ctx context.Context, user gocql.UUID, limit uint) ([]Order, error) {
	var list []Order
	err := qb.Select("orders_by_user").Columns(columns...).Where(qb.Eq("user_id")).Limit(limit).
		QueryContext(ctx, r.session).Bind(user).Select(&list)
	return list, err
}

// ByStatus lists the newest orders in a status.
func (r Reader) ByStatus(ctx context.Context, status Status, limit uint) ([]Order, error) {
	var list []Order
	err := qb.Select("orders_by_status").Columns(columns...).Where(qb.Eq("status")).Limit(limit).
		QueryContext(ctx, r.session).Bind(status).Select(&list)
	return list, err
}
