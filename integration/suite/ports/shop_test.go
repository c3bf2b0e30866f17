package ports_test

import (
	"context"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// The shop keeps an order by id, user and status. It holds goods for customers for a while, by id and by article.

var shopTables = []string{
	"CREATE TABLE orders (order_id timeuuid PRIMARY KEY, user_id uuid, status text, total bigint, address text)",
	`CREATE TABLE orders_by_user (user_id uuid, order_id timeuuid, status text, total bigint, address text,
		PRIMARY KEY (user_id, order_id)) WITH CLUSTERING ORDER BY (order_id DESC)`,
	`CREATE TABLE orders_by_status (status text, order_id timeuuid, user_id uuid, total bigint,
		PRIMARY KEY (status, order_id)) WITH CLUSTERING ORDER BY (order_id DESC)`,
	"CREATE TABLE holds (hold_id uuid PRIMARY KEY, sku text, user_id uuid, quantity int, expires_at timestamp)",
	`CREATE TABLE holds_by_sku (sku text, hold_id uuid, user_id uuid, quantity int, expires_at timestamp,
		PRIMARY KEY (sku, hold_id))`,
}

// shopColumns are what an adoption needs: a stamp in each table.
var shopColumns = []string{
	"ALTER TABLE orders ADD updated_at bigint", "ALTER TABLE orders_by_user ADD updated_at bigint",
	"ALTER TABLE orders_by_status ADD updated_at bigint",
	"ALTER TABLE holds ADD updated_at bigint", "ALTER TABLE holds_by_sku ADD updated_at bigint",
}

type order struct {
	OrderID, UserID gocql.UUID
	Status          string
	Total           int64
	Address         string
	UpdatedAt       int64
}

type hold struct {
	HoldID    gocql.UUID
	Sku       string
	UserID    gocql.UUID
	Quantity  int32
	ExpiresAt time.Time
	UpdatedAt int64
}

// shop is what the service does.
type shop interface {
	place(ctx context.Context, o order) error
	move(ctx context.Context, id gocql.UUID, status string) error
	readdress(ctx context.Context, id gocql.UUID, address string) error
	forget(ctx context.Context, id gocql.UUID) error
	hold(ctx context.Context, h hold) error
	extend(ctx context.Context, id gocql.UUID, until time.Time) error
	resize(ctx context.Context, h hold) error
	release(ctx context.Context, id gocql.UUID) error
}

// --- by hand

type shopByHand struct{ *gocql.Session }

func (s shopByHand) place(ctx context.Context, o order) error {
	return s.put(ctx, s.batch(ctx), o)
}

func (s shopByHand) move(ctx context.Context, id gocql.UUID, status string) error {
	o, err := s.order(ctx, id)
	if err != nil {
		return err
	}
	b := s.batch(ctx)
	if o.Status != status {
		b.Query("DELETE FROM orders_by_status WHERE status = ? AND order_id = ?", o.Status, id)
	}
	o.Status = status
	return s.put(ctx, b, o)
}

func (s shopByHand) readdress(ctx context.Context, id gocql.UUID, address string) error {
	o, err := s.order(ctx, id)
	if err != nil {
		return err
	}
	o.Address = address
	return s.put(ctx, s.batch(ctx), o)
}

func (s shopByHand) forget(ctx context.Context, id gocql.UUID) error {
	o, err := s.order(ctx, id)
	if err != nil {
		return err
	}
	b := s.batch(ctx)
	b.Query("DELETE FROM orders WHERE order_id = ?", id)
	b.Query("DELETE FROM orders_by_user WHERE user_id = ? AND order_id = ?", o.UserID, id)
	b.Query("DELETE FROM orders_by_status WHERE status = ? AND order_id = ?", o.Status, id)
	return s.ExecuteBatch(b)
}

func (s shopByHand) hold(ctx context.Context, h hold) error {
	ttl := int(time.Until(h.ExpiresAt).Seconds())
	b := s.batch(ctx)
	b.Query("INSERT INTO holds (hold_id, sku, user_id, quantity, expires_at) VALUES (?, ?, ?, ?, ?) USING TTL ?",
		h.HoldID, h.Sku, h.UserID, h.Quantity, h.ExpiresAt, ttl)
	b.Query("INSERT INTO holds_by_sku (sku, hold_id, user_id, quantity, expires_at) VALUES (?, ?, ?, ?, ?) USING TTL ?",
		h.Sku, h.HoldID, h.UserID, h.Quantity, h.ExpiresAt, ttl)
	return s.ExecuteBatch(b)
}

func (s shopByHand) extend(ctx context.Context, id gocql.UUID, until time.Time) error {
	h, err := s.held(ctx, id)
	if err != nil {
		return err
	}
	h.ExpiresAt = until
	return s.hold(ctx, h)
}

func (s shopByHand) resize(ctx context.Context, h hold) error { return s.hold(ctx, h) }

func (s shopByHand) release(ctx context.Context, id gocql.UUID) error {
	h, err := s.held(ctx, id)
	if err != nil {
		return err
	}
	b := s.batch(ctx)
	b.Query("DELETE FROM holds WHERE hold_id = ?", id)
	b.Query("DELETE FROM holds_by_sku WHERE sku = ? AND hold_id = ?", h.Sku, id)
	return s.ExecuteBatch(b)
}

func (s shopByHand) batch(ctx context.Context) *gocql.Batch {
	return s.NewBatch(gocql.LoggedBatch).WithContext(ctx)
}

func (s shopByHand) put(_ context.Context, b *gocql.Batch, o order) error {
	b.Query("INSERT INTO orders (order_id, user_id, status, total, address) VALUES (?, ?, ?, ?, ?)",
		o.OrderID, o.UserID, o.Status, o.Total, o.Address)
	b.Query("INSERT INTO orders_by_user (user_id, order_id, status, total, address) VALUES (?, ?, ?, ?, ?)",
		o.UserID, o.OrderID, o.Status, o.Total, o.Address)
	b.Query("INSERT INTO orders_by_status (status, order_id, user_id, total) VALUES (?, ?, ?, ?)",
		o.Status, o.OrderID, o.UserID, o.Total)
	return s.ExecuteBatch(b)
}

func (s shopByHand) order(ctx context.Context, id gocql.UUID) (o order, err error) {
	o.OrderID = id
	return o, s.Query("SELECT user_id, status, total, address FROM orders WHERE order_id = ?", id).WithContext(ctx).
		Scan(&o.UserID, &o.Status, &o.Total, &o.Address)
}

func (s shopByHand) held(ctx context.Context, id gocql.UUID) (h hold, err error) {
	h.HoldID = id
	return h, s.Query("SELECT sku, user_id, quantity, expires_at FROM holds WHERE hold_id = ?", id).WithContext(ctx).
		Scan(&h.Sku, &h.UserID, &h.Quantity, &h.ExpiresAt)
}

// --- by the library

// ordersOf declares the orders. Until they are adopted, it is with UnstampedRows.
func ordersOf(options ...tables.Option) *tables.Set[order] {
	return tables.Must(tables.New[order]("order", append([]tables.Option{
		tables.Table{Name: "orders", PartKey: []string{"order_id"}},
		tables.Table{Name: "orders_by_user", PartKey: []string{"user_id"}, SortKey: []string{"order_id DESC"}},
		tables.Table{
			Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id DESC"},
			Columns: []string{"user_id", "total", "updated_at"},
		},
		tables.OneOf("status", "open", "paid", "shipped", "cancelled"),
		tables.Stamp("updated_at"),
		tables.Type("order_id", "timeuuid"),
	}, options...)...))
}

var holds = tables.Must(tables.New[hold]("hold",
	tables.Table{Name: "holds", PartKey: []string{"hold_id"}},
	tables.Table{Name: "holds_by_sku", PartKey: []string{"sku"}, SortKey: []string{"hold_id"}},
	tables.ExpiresAt("expires_at"),
	tables.Stamp("updated_at"),
))

type shopPort struct {
	*writer.Writer
	orders *tables.Set[order]
}

func (s shopPort) place(ctx context.Context, o order) error {
	_, err := s.Write(ctx, "place", s.orders.Insert(o))
	return err
}

func (s shopPort) move(ctx context.Context, id gocql.UUID, status string) error {
	return s.change(ctx, id, func(o *order) { o.Status = status })
}

func (s shopPort) readdress(ctx context.Context, id gocql.UUID, address string) error {
	return s.change(ctx, id, func(o *order) { o.Address = address })
}

func (s shopPort) change(ctx context.Context, id gocql.UUID, change func(*order)) error {
	_, err := writer.Modify(ctx, s.Writer, "change", s.orders, order{OrderID: id}, func(o order) (order, error) {
		change(&o)
		return o, nil
	})
	return err
}

func (s shopPort) forget(ctx context.Context, id gocql.UUID) error {
	return remove(ctx, s.Writer, s.orders, order{OrderID: id})
}

func (s shopPort) hold(ctx context.Context, h hold) error {
	_, err := s.Write(ctx, "hold", holds.Insert(h))
	return err
}

func (s shopPort) extend(ctx context.Context, id gocql.UUID, until time.Time) error {
	_, err := writer.Modify(ctx, s.Writer, "extend", holds, hold{HoldID: id}, func(h hold) (hold, error) {
		h.ExpiresAt = until
		return h, nil
	})
	return err
}

func (s shopPort) resize(ctx context.Context, h hold) error {
	_, err := s.Write(ctx, "resize", holds.Patch(h, tables.Column("quantity")))
	return err
}

func (s shopPort) release(ctx context.Context, id gocql.UUID) error {
	return remove(ctx, s.Writer, holds, hold{HoldID: id})
}

// remove deletes an entity, which it reads first.
func remove[T any](ctx context.Context, w *writer.Writer, set *tables.Set[T], key T) error {
	row, err := writer.Load(ctx, w, "load", set, key)
	if err == nil {
		_, err = w.Write(ctx, "delete", set.Delete(row))
	}
	return err
}

// --- what shows it

func anOrder() order {
	return order{
		OrderID: gocql.TimeUUID(), UserID: gocql.MustRandomUUID(), Status: "open", Total: 1999, Address: "1 High Street",
	}
}

func aHold(minutes time.Duration) hold {
	return hold{
		HoldID: gocql.MustRandomUUID(), Sku: "lamp", UserID: gocql.MustRandomUUID(), Quantity: 2,
		ExpiresAt: time.Now().Add(minutes * time.Minute).Truncate(time.Second),
	}
}

// plantOrders leaves an order by hand in each way in which tables can disagree, and gives what the base table has.
func (p *port) plantOrders() (planted []order) {
	p.Helper()
	hand := shopByHand{p.hand}
	for range 4 {
		o := anOrder()
		p.must(hand.place(p.Context(), o))
		planted = append(planted, o)
	}
	lost, ghost, stale, orphan := planted[1], planted[2], planted[3], anOrder()
	p.by("DELETE FROM orders_by_user WHERE user_id = ? AND order_id = ?", lost.UserID, lost.OrderID)
	const row = "INSERT INTO orders_by_status (status, order_id, user_id, total) VALUES (?, ?, ?, 1)"
	p.by(row, "paid", ghost.OrderID, ghost.UserID)
	p.by(row, "open", orphan.OrderID, orphan.UserID)
	p.by("UPDATE orders_by_user SET address = 'before' WHERE user_id = ? AND order_id = ?", stale.UserID, stale.OrderID)
	return planted
}

const listedColumns, orderColumns = "order_id, user_id, status, total, updated_at", listedColumns + ", address"

// ordersAgree wants so many orders, the same in all tables.
func (p *port) ordersAgree(rows int) {
	p.Helper()
	p.agree(rows, orderColumns, "orders", "orders_by_user")
	p.agree(rows, listedColumns, "orders", "orders_by_status")
}

// Orders that were written by hand, and disagree, are adopted. Each operation of the shop then reaches all tables, and
// goods are held as long as each change says.
func TestShop(t *testing.T) {
	everywhere(t, shopTables, func(p *port) {
		ctx, hand := p.Context(), shopByHand{p.hand}
		planted := p.plantOrders()
		heldByHand, lost := aHold(60), aHold(60)
		p.must(hand.hold(ctx, heldByHand))
		p.must(hand.hold(ctx, lost))
		p.by("DELETE FROM holds_by_sku WHERE sku = ? AND hold_id = ?", lost.Sku, lost.HoldID)
		p.alter(shopColumns...)
		p.valid(ordersOf(tables.UnstampedRows()), holds)
		if found := p.adopt(ordersOf(tables.UnstampedRows()), holds); found != 5 {
			p.Errorf("%d differences were found", found)
		}
		p.ordersAgree(len(planted))
		until := lives{heldByHand.HoldID.String(): 60, lost.HoldID.String(): 60}
		heldAgree := func() {
			p.Helper()
			p.agree(len(until), "hold_id, sku, user_id, quantity, expires_at", "holds", "holds_by_sku")
			for _, column := range []string{"quantity", "expires_at", "updated_at"} {
				p.ends(until, "hold_id", column, "holds", "holds_by_sku")
			}
		}
		heldAgree()

		s := shopPort{p.Writer, ordersOf()}
		o := anOrder()
		p.must(s.place(ctx, o))
		p.must(s.move(ctx, planted[0].OrderID, "paid"))
		p.must(s.readdress(ctx, planted[1].OrderID, "2 High Street"))
		p.must(s.move(ctx, planted[2].OrderID, "cancelled"))
		p.must(s.forget(ctx, planted[3].OrderID))
		p.must(s.move(ctx, o.OrderID, "shipped"))
		p.ordersAgree(len(planted))
		p.has("orders", "status", "cancelled", "open", "paid", "shipped")
		p.has("orders", "address", "1 High Street", "1 High Street", "1 High Street", "2 High Street")
		h := aHold(15)
		p.must(s.hold(ctx, h))
		p.must(s.extend(ctx, heldByHand.HoldID, aHold(180).ExpiresAt))
		until[h.HoldID.String()], until[heldByHand.HoldID.String()] = 15, 180
		heldAgree()
		h.Quantity = 3
		p.must(s.resize(ctx, h))
		heldAgree()
		p.has("holds", "quantity", 2, 2, 3)
		p.must(s.release(ctx, lost.HoldID))
		delete(until, lost.HoldID.String())
		heldAgree()
		p.verify(s.orders, holds)
	})
}
