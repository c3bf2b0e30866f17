package drift

import (
	"errors"
	"fmt"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
)

// Planted is a difference that was planted.
type Planted struct {
	kind

	ID     gocql.UUID
	Status orders.Status // of an order that is there afterwards
}

// kind is one of the kinds of differences between the tables of a set.
type kind struct {
	Set  string
	Name string
	// Found is what is found of the entity: for each row its table, and in what way it disagrees with the base row. It is
	// sorted.
	Found   []string
	does    []string          // see [planter.statements]
	Outcome reconcile.Outcome // of a repair while all nodes are up
	moves   bool              // the status is the status of moved afterwards
	Gone    bool              // there is no base row afterwards
	created bool              // the order is not one of those that were loaded
}

// kinds of differences: what is sent, mostly at a time above that of the order.
var kinds = []kind{
	{
		Name:    "a move that wrote the base table alone",
		Found:   []string{"orders_by_status ghost", "orders_by_status missing", "orders_by_user differing"},
		does:    []string{put("orders_by_id", "{moved}", now)},
		Outcome: reconcile.Repaired, moves: true,
	},
	{
		Name: "a move that left an old row under the same key", Found: []string{"orders_by_user differing"},
		does:    []string{put("orders_by_id", "{moved}", now), put("orders_by_status", "{moved}", now), remove("orders_by_status", "status = {status} AND order_id = {id}")},
		Outcome: reconcile.Repaired, moves: true,
	},
	{
		Name: "a move that left the row under the former key", Found: []string{"orders_by_status ghost"},
		does:    []string{put("orders_by_id", "{moved}", now), put("orders_by_user", "{moved}", now), put("orders_by_status", "{moved}", now)},
		Outcome: reconcile.Repaired, moves: true,
	},
	{
		Name: "a delete that wrote the base table alone", Found: []string{"orders_by_status orphan", "orders_by_user orphan"},
		does:    []string{remove("orders_by_id", "order_id = {id}")},
		Outcome: reconcile.Repaired, Gone: true,
	},
	{
		Name: "a create that did not write the base table", Found: []string{"orders_by_status orphan", "orders_by_user orphan"},
		does:    []string{put("orders_by_user", "{status}", now), put("orders_by_status", "{status}", now)},
		Outcome: reconcile.Repaired, created: true,
	},
	{
		Name: "a move that wrote a query table alone", Found: []string{"orders_by_status newer"},
		does:    []string{put("orders_by_status", "{moved}", now)},
		Outcome: reconcile.Repaired, moves: true,
	},
	{
		Name: "an old row under a status that is none of the declared", Found: []string{"orders_by_status ghost"},
		does:    []string{put("orders_by_status", "'lost'", before)},
		Outcome: reconcile.Repaired,
	},
	{
		Name: "a newer row under a status that is none of the declared", Found: []string{"orders_by_status newer"},
		does:    []string{put("orders_by_status", "'lost'", now)},
		Outcome: reconcile.Found,
	},
	{
		Name: "a row that a delete of a lost write covers", Found: []string{"orders_by_user missing"},
		does:    []string{remove("orders_by_user", "user_id = {user} AND order_id = {id}")},
		Outcome: reconcile.Shadowed,
	},
	{
		Name: "a key alone, without a base row", Found: []string{"orders_by_user undatable"},
		does:    []string{"INSERT INTO orders_by_user (user_id, order_id) VALUES ({user}, {id}) USING TIMESTAMP {" + now},
		Outcome: reconcile.Found, Gone: true, created: true,
	},
}

// put puts a row into a table at a time, as a part of a write does.
func put(table, status, at string) string {
	return fmt.Sprintf("INSERT INTO %s (order_id, user_id, status, total, updated_at) VALUES ({id}, {user}, %s, {total}, {%s) USING TIMESTAMP {%[3]s",
		table, status, at)
}

// remove removes the row of an order from a table.
func remove(table, where string) string {
	return "DELETE FROM " + table + " USING TIMESTAMP {" + now + " WHERE " + where
}

// created is the first number of the orders that are planted, and were not loaded.
const created = 1 << 30

// planter sends parts of writes: loaded is the time of what was there before, at that of what is planted.
type planter struct {
	s          *gocql.Session
	loaded, at int64
	errs       []error
}

// Plant plants so many differences of all kinds on the first orders of those loaded, and on new ones, and as many of
// each kind in the tables of [Small].
func Plant(s *gocql.Session, count int, loaded, at int64) ([]Planted, error) {
	p := &planter{s: s, loaded: loaded, at: at}
	var out []Planted
	for i := range count {
		k := kinds[i%len(kinds)]
		n := i
		if k.created {
			n += created
		}
		o := Order(n, loaded)
		moved := orders.Statuses[(i+1)%len(orders.Statuses)]
		p.statements(k, o.OrderID, "{user}", o.UserID.String(), "{total}", o.Total.String(), "{status}", "'"+string(o.Status)+"'", "{moved}", "'"+string(moved)+"'")
		k.Set = "order"
		d := Planted{kind: k, ID: o.OrderID}
		switch {
		case k.moves:
			d.Status = moved
		case !k.Gone:
			d.Status = o.Status
		}
		out = append(out, d)
		if err := errors.Join(p.errs...); err != nil {
			return nil, err
		}
	}
	for _, k := range smallKinds {
		for range max(1, count/len(kinds)) {
			id := gocql.MustRandomUUID()
			p.statements(k, id)
			out = append(out, Planted{kind: k, ID: id})
		}
	}
	return out, errors.Join(p.errs...)
}
