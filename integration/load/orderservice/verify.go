package load

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/orderservice"
)

// verify reads all orders of the run, by id, by user and by status, and holds them against what the clients know.
func (l *load) verify(ctx context.Context, customers []*customer) error {
	v := &verifier{reader: newCustomer(l, 0), byUser: make(map[gocql.UUID][]*order)}
	for _, c := range customers {
		for _, user := range c.users {
			v.byUser[user] = nil
		}
		for _, o := range c.orders {
			v.byUser[o.user] = append(v.byUser[o.user], o)
		}
	}
	for user, list := range v.byUser {
		for _, o := range list {
			if err := v.id(ctx, o); err != nil {
				return err
			}
		}
		if err := v.user(ctx, user, list); err != nil {
			return err
		}
	}
	for _, status := range orders.Statuses {
		if err := v.status(ctx, status); err != nil {
			return err
		}
	}
	return nil
}

type verifier struct {
	reader *customer
	byUser map[gocql.UUID][]*order
}

func (v *verifier) wrong(format string, args ...any) { v.reader.report.wrong(format, args...) }

// get reads until there is an answer.
func (v *verifier) get(ctx context.Context, path string) (answer, error) {
	a, _ := v.reader.resolve(ctx, Request{Method: http.MethodGet, Path: path})
	if !a.success() && a.status != http.StatusNotFound {
		return a, fmt.Errorf("load: the orders cannot be checked: GET %s: %v", path, a)
	}
	return a, ctx.Err()
}

func (v *verifier) id(ctx context.Context, o *order) error {
	if o.exists != yes { // without an id, the lists have to show it
		return nil
	}
	a, err := v.get(ctx, "/orders/"+o.id.String())
	if err == nil {
		v.reader.expect(o, "in the end", a)
	}
	return err
}

func (v *verifier) user(ctx context.Context, user gocql.UUID, own []*order) error {
	a, err := v.get(ctx, fmt.Sprintf("/users/%v/orders?limit=%d", user, orderservice.MaxLimit))
	if err != nil {
		return err
	}
	seen := v.listed("user", a.list)
	for _, o := range own {
		if o.exists == yes && !seen[o] {
			v.wrong("order %v is not in the list of its user", o.id)
		}
	}
	return nil
}

func (v *verifier) status(ctx context.Context, status orders.Status) error {
	a, err := v.get(ctx, fmt.Sprintf("/orders?status=%s&limit=%d", status, orderservice.MaxLimit))
	if err != nil {
		return err
	}
	seen := v.listed("status", a.list)
	for _, o := range a.list.Orders {
		if o.Status != status {
			v.wrong("order %v is %s in the list of %s", o.OrderID, o.Status, status)
		}
	}
	cut := len(a.list.Orders) == orderservice.MaxLimit // by what others write; newest come first
	for _, list := range v.byUser {
		for _, o := range list {
			beyond := cut && o.made.Before(a.list.Orders[len(a.list.Orders)-1].OrderID.Time())
			if o.exists == yes && o.known() && o.now.status == status && !seen[o] && !beyond {
				v.wrong("order %v is not in the list of %s", o.id, status)
			}
		}
	}
	return nil
}

// listed checks the orders in a list, and returns those of this run.
func (v *verifier) listed(of string, list orderservice.List) map[*order]bool {
	seen := make(map[*order]bool)
	for _, shown := range list.Orders {
		own, ours := v.byUser[shown.UserID]
		if !ours {
			continue
		}
		o := find(own, shown.OrderID)
		if o == nil {
			v.wrong("order %v is in the list of a %s, and nobody created it", shown.OrderID, of)
			continue
		}
		if seen[o] {
			v.wrong("order %v is twice in the list of a %s", shown.OrderID, of)
		}
		seen[o] = true
		v.reader.report.check()
		if fault := o.wrong(shown); fault != "" {
			v.wrong("order %v in the list of a %s: %s", shown.OrderID, of, fault)
		}
	}
	return seen
}

// find finds an order by the time in its id, which that of its key is too, as only orders that exist for sure have a known
// id. A client makes one key at a time.
func find(list []*order, id gocql.UUID) *order {
	for _, o := range list {
		if o.made.Equal(id.Time()) {
			return o
		}
	}
	return nil
}
