package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gocql/gocql"
	"github.com/scylladb/gocqlx/v2"
	"github.com/scylladb/gocqlx/v2/qb"

	"github.com/denorm-go/denorm/examples/orders"
)

// view reads what is really in the tables of a keyspace.
type view struct{ session gocqlx.Session }

func newView(session *gocql.Session) view { return view{gocqlx.NewSession(session)} }

// row is an order as a table has it.
type row struct {
	orders.Order
	Written int64 // WRITETIME, microseconds
}

// place is a row and where it is.
type place struct {
	table, key string
	row
}

var (
	tableNames = []string{"orders_by_id", "orders_by_user", "orders_by_status"}
	columns    = []string{"order_id", "user_id", "status", "total", "updated_at", "WRITETIME(updated_at) AS written"}
)

// all reads a whole table.
func (v view) all(ctx context.Context, table string) ([]row, error) {
	var rows []row
	err := qb.Select(table).Columns(columns...).QueryContext(ctx, v.session).SelectRelease(&rows)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", table, err)
	}
	return rows, nil
}

// order looks for an order everywhere it could be, under every status too.
func (v view) order(ctx context.Context, o orders.Order) ([]place, error) {
	queries := []struct {
		where []qb.Cmp
		args  []any
	}{
		{[]qb.Cmp{qb.Eq("order_id")}, []any{o.OrderID}},
		{[]qb.Cmp{qb.Eq("user_id"), qb.Eq("order_id")}, []any{o.UserID, o.OrderID}},
		{[]qb.Cmp{qb.In("status"), qb.Eq("order_id")}, []any{orders.Statuses, o.OrderID}},
	}
	var places []place
	for i, q := range queries {
		var rows []row
		table := tableNames[i]
		err := qb.Select(table).Columns(columns...).Where(q.where...).QueryContext(ctx, v.session).Bind(q.args...).SelectRelease(&rows)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", table, err)
		}
		for _, r := range rows {
			keys := []string{
				"order " + short(r.OrderID), "user " + short(r.UserID) + ", order " + short(r.OrderID),
				string(r.Status) + ", order " + short(r.OrderID),
			}
			places = append(places, place{table, keys[i], r})
		}
	}
	return places, nil
}

// short is enough of a UUID to tell it from others on a page.
func short(id gocql.UUID) string { return id.String()[:8] }

// show prints, between blank lines, where the order is, and fails unless that is as it has to be: one row a table, all with the values of
// o, all written at its stamp.
func (v view) show(ctx context.Context, out *screen, o orders.Order) error {
	places, err := v.order(ctx, o)
	if err != nil {
		return err
	}
	var rows [][]cell
	for _, p := range places {
		rows = append(rows, []cell{
			{p.table, plain},
			{p.key, plain},
			{string(p.Status), bold},
			{p.Total.String(), plain},
			{strconv.FormatInt(p.Written, 10), plain},
		})
	}
	out.blank()
	if len(rows) > 0 {
		out.table([]string{"table", "key", "status", "total", "WRITETIME"}, []bool{3: true, 4: true}, rows)
	}
	out.blank()
	if len(places) != len(tableNames) {
		return fmt.Errorf("order %v has %d rows in %d tables", o.OrderID, len(places), len(tableNames))
	}
	want := row{Order: o, Written: o.UpdatedAt}
	for i, p := range places {
		if p.table != tableNames[i] || !same(p.row, want) {
			return fmt.Errorf("order %v in %s is not as it was written, at %d", o.OrderID, p.table, o.UpdatedAt)
		}
	}
	return nil
}

func same(a, b row) bool {
	if (a.Total == nil) != (b.Total == nil) || a.Total != nil && a.Total.Cmp(b.Total) != 0 {
		return false
	}
	a.Total, b.Total = nil, nil
	return a == b
}
