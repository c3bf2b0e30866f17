package suite

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/scylladb/gocqlx/v2"
	"github.com/scylladb/gocqlx/v2/qb"
	"github.com/scylladb/gocqlx/v2/table"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/examples/users"
	"github.com/denorm-go/denorm/internal/testutil/shop"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// gocqlxTable is a table of a set as gocqlx has it.
func gocqlxTable[T any](set *tables.Set[T], name string) *table.Table {
	return table.New(tables.Must(set.Metadata(name)))
}

// wantOrders compares what a query of gocqlx found.
func wantOrders(t *testing.T, what string, q *gocqlx.Queryx, want ...orders.Order) {
	t.Helper()
	var got []orders.Order
	err := q.Select(&got)
	wrong(t, err != nil || !slices.EqualFunc(got, want, sameOrder),
		"%s: %v, %v, want %v", what, got, err, want)
}

// What the writer has written, gocqlx reads by the tables of the same declaration: by key, by partition and with
// builders.
func (s orderTests) ReadWithGocqlx(t *testing.T) {
	byID, byUser := gocqlxTable(orders.Orders, "orders_by_id"), gocqlxTable(orders.Orders, "orders_by_user")
	byStatus := gocqlxTable(orders.Orders, "orders_by_status")
	session := gocqlx.NewSession(s.Session.Reads())
	user, start := gocql.MustRandomUUID(), time.Now()
	var made []orders.Order // oldest first
	for i := range 3 {
		o := shop.NewOrder()
		o.OrderID, o.UserID = gocql.UUIDFromTime(start.Add(time.Duration(i)*time.Second)), user
		o.UpdatedAt = Write(t, s.Writer, "createOrder", orders.Orders.Insert(o)).Timestamp
		made = append(made, o)
	}
	paid := value(writer.Modify(t.Context(), s.Writer, "payOrder", orders.Orders, made[0], pay))(t)
	Write(t, s.Writer, "deleteOrder", orders.Orders.Delete(made[1]))

	for _, columns := range [][]string{nil, byID.Metadata().Columns} { // SELECT *, and by name
		get := func(of *table.Table, o orders.Order) *gocqlx.Queryx {
			return of.GetQueryContext(t.Context(), session, columns...).BindStruct(o)
		}
		var one orders.Order
		wantError(t, "by id, alone", get(byID, paid).Get(&one), nil)
		wrong(t, !sameOrder(one, paid), "by id, alone: %v, want %v", one, paid)
		wantOrders(t, "by id", get(byID, paid), paid)
		wantError(t, "a deleted order", get(byID, made[1]).Get(&one), gocql.ErrNotFound)
		newest := byUser.SelectQueryContext(t.Context(), session, columns...).Bind(user)
		wantOrders(t, "by user, the newest first", newest, made[2], paid)
		wantOrders(t, "under its new status", get(byStatus, paid), paid)
		wantOrders(t, "under its old status", get(byStatus, made[0]))
	}
	wantOrders(t, "before the newest", byUser.SelectBuilder(byUser.Metadata().Columns...).Where(qb.Lt("order_id")).
		OrderBy("order_id", qb.ASC).Limit(5).
		QueryContext(t.Context(), session).BindStruct(made[2]), paid)
	read := List(t, s.Place, reader.From(orders.Orders, "orders_by_user").Eq("user_id", user))
	wrong(t, !slices.EqualFunc(read, []orders.Order{made[2], paid}, sameOrder), "by reader: %v", read)
}

// A bucket that is no field is a value to bind, and has no place in a row of SELECT *.
func (s orderTests) BucketsWithGocqlx(t *testing.T) {
	s.Place = s.bucketed.Place
	byStatus := gocqlxTable(orders.Bucketed, "orders_by_status")
	session := gocqlx.NewSession(s.Session.Reads())
	want := make(map[gocql.UUID]bool)
	for range 10 {
		o := shop.NewOrder()
		o.Status = orders.Shipped // the other test has none of them
		want[o.OrderID] = true
		must(t, try(t.Context(), s.Writer, orders.Bucketed.Insert(o)))
	}
	var got, star []orders.Order
	for bucket := range orders.Buckets {
		partition := qb.M{"status": orders.Shipped, "status_bucket": bucket}
		var rows []orders.Order
		must(t, byStatus.SelectQueryContext(t.Context(), session, byStatus.Metadata().Columns...).BindMap(partition).
			Select(&rows))
		err := byStatus.SelectQueryContext(t.Context(), session).BindMap(partition).Select(&star)
		wrong(t, len(rows) > 0 && (err == nil || !strings.Contains(err.Error(), `missing destination name "status_bucket"`)),
			"SELECT * into a struct without the bucket: %v", err)
		got = append(got, rows...)
	}
	for _, o := range got {
		wrong(t, !want[o.OrderID] || o.Status != orders.Shipped || o.UpdatedAt == 0, "%+v", o)
	}
	wrong(t, len(got) != len(want), "%d rows of %d orders", len(got), len(want))
}

// The columns that are the library's own, and rows of deleted entities, are there for gocqlx.
func (p userTests) ReadWithGocqlx(t *testing.T) {
	byID, byEmail := gocqlxTable(users.Users, "users"), gocqlxTable(users.Users, "users_by_email")
	session := gocqlx.NewSession(p.Session.Reads())
	u := p.signUp(t, "gocqlx")
	get := func(of *table.Table, columns ...string) (got users.User, err error) {
		err = of.GetQueryContext(t.Context(), session, columns...).BindStruct(u).Get(&got)
		return got, err
	}
	got := value(get(byID, byID.Metadata().Columns...))(t)
	wrong(t, got != u, "%+v, want %+v", got, u)
	got = value(get(byEmail, byEmail.Metadata().Columns...))(t)
	wrong(t, got != (users.User{UserID: u.UserID, Email: u.Email}), "by email: %+v", got)
	for own, of := range map[string]*table.Table{"done": byID, "claim": byEmail} {
		_, err := get(of)
		wrong(t, err == nil || !strings.Contains(err.Error(), `missing destination name "`+own+`"`), "SELECT * from %s: %v",
			of.Name(), err)
	}

	must(t, users.Leave(t.Context(), p.Writer, u))
	got = value(get(byID, byID.Metadata().Columns...))(t)
	wrong(t, got.UserID != u.UserID || got.Name != "" || got.Version == (gocql.UUID{}), "of a deleted user: %+v", got)
	wantError(t, "Load of a deleted user", errorOf(users.ByID(t.Context(), p.Writer, u.UserID)), writer.ErrNotFound)
	wantError(t, "the address of a deleted user", errorOf(get(byEmail, "user_id")), gocql.ErrNotFound)
}
