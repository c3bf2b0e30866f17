package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
)

// view reads what is really in the tables.
type view struct {
	session  *gocql.Session
	keyspace string
}

// row is an order as a table has it.
type row struct {
	orders.Order
	Written int64 // WRITETIME, microseconds
}

var tableNames = []string{"orders_by_id", "orders_by_user", "orders_by_status"}

// rows reads those of a table that match a WHERE clause, or all.
func (v view) rows(ctx context.Context, table, where string, args ...any) (rows []row, err error) {
	iter := v.session.Query("SELECT order_id, user_id, status, total, updated_at, WRITETIME(updated_at) FROM "+v.keyspace+"."+table+where, args...).
		WithContext(ctx).Iter()
	for r := (row{}); iter.Scan(&r.OrderID, &r.UserID, &r.Status, &r.Total, &r.UpdatedAt, &r.Written); r = (row{}) {
		rows = append(rows, r)
	}
	if err := iter.Close(); err != nil {
		return nil, fmt.Errorf("read %s: %w", table, err)
	}
	return rows, nil
}

// show prints where an order is, also looking under all statuses. It fails unless each table has one row, as it was
// written.
func (v view) show(ctx context.Context, out *screen, o orders.Order) error {
	table, found := [][]string{{"table", "key", "status", "total", "WRITETIME"}}, 0
	for i, query := range []struct {
		where string
		args  []any
	}{
		{" WHERE order_id = ?", []any{o.OrderID}},
		{" WHERE user_id = ? AND order_id = ?", []any{o.UserID, o.OrderID}},
		{" WHERE status IN ? AND order_id = ?", []any{orders.Statuses, o.OrderID}},
	} {
		rows, err := v.rows(ctx, tableNames[i], query.where, query.args...)
		if err != nil {
			return err
		}
		for _, r := range rows {
			key := [...]string{"", "user " + r.UserID.String()[:8] + ", ", string(r.Status) + ", "}[i] + "order " + r.OrderID.String()[:8]
			table = append(table, []string{tableNames[i], key, string(r.Status), r.Total.String(), strconv.FormatInt(r.Written, 10)})
		}
		if len(rows) == 1 && same(rows[0], o) {
			found++
		}
	}
	out.blank()
	out.table(table...)
	out.blank()
	if found != len(tableNames) {
		return fmt.Errorf("order %v is not once in each table, as it was written at %d", o.OrderID, o.UpdatedAt)
	}
	return nil
}

// same says whether a row is the order as it was written last.
func same(r row, o orders.Order) bool {
	return r.OrderID == o.OrderID && r.UserID == o.UserID && r.Status == o.Status && r.Total != nil && r.Total.Cmp(o.Total) == 0 &&
		r.UpdatedAt == o.UpdatedAt && r.Written == o.UpdatedAt
}
