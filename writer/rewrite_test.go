package writer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	testshop "github.com/denorm-go/denorm/internal/testutil/shop"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// A Modify that changes nothing repairs an entity, as the runbook says: rows that are missing, differ, are newer than the base row or
// are under another status become what the base row says.
func TestModifyOfNothingRepairs(t *testing.T) {
	t.Parallel()
	set := testshop.Orders(t)
	for name, damage := range map[string]string{
		"missing":   "DELETE FROM orders_by_user WHERE user_id = %[2]v AND order_id = %[1]v",
		"differing": "DELETE total FROM orders_by_user WHERE user_id = %[2]v AND order_id = %[1]v",
		"ghost":     "INSERT INTO orders_by_status (status, order_id, user_id, updated_at) VALUES ('paid', %[1]v, %[2]v, 1)",
		"newer":     "UPDATE orders_by_user SET total = 7 WHERE user_id = %[2]v AND order_id = %[1]v",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				create(c, set)
				w, session := open(t, c)
				order := testshop.NewOrder()
				if _, err := w.Write(t.Context(), "createOrder", set.Insert(order)); err != nil {
					t.Fatal(err)
				}
				agree := func() string {
					t.Helper()
					base := fmt.Sprint(rows(t, session, "orders_by_id", "*"))
					for _, table := range []string{"orders_by_user", "orders_by_status"} {
						if got := fmt.Sprint(rows(t, session, table, "*")); got != base {
							return fmt.Sprintf("%s has %s, the base table %s", table, got, base)
						}
					}
					return ""
				}
				if err := session.Query(fmt.Sprintf(damage, order.OrderID, order.UserID)).Exec(); err != nil {
					t.Fatal(err)
				}
				if agree() == "" {
					t.Fatal("nothing was damaged")
				}
				same := func(o orders.Order) (orders.Order, error) { return o, nil }
				if _, err := writer.Modify(t.Context(), w, "repair", set, order, same); err != nil {
					t.Fatal(err)
				}
				if problem := agree(); problem != "" {
					t.Error(problem)
				}
				if got := rows(t, session, "orders_by_status", "status"); len(got) != 1 || !strings.Contains(got[0], "open") {
					t.Errorf("statuses %v", got)
				}
			})
		})
	}
}

// In other sets a ghost is deleted by hand at its own time, as the runbook says: nothing that is written later under its key is hidden,
// also if it arrives before the delete.
func TestGhostIsDeletedAtItsOwnTime(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[orders.Order]("order",
		tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
		tables.Table{Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id"}},
		tables.SingleWriter("status"), tables.Stamp("updated_at")))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		create(c, set)
		w, session := open(t, c)
		write := func(change tables.Change) {
			t.Helper()
			if _, err := w.Write(t.Context(), "change", change); err != nil {
				t.Fatal(err)
			}
		}
		order := testshop.NewOrder()
		write(set.Insert(order))
		paid, shipped := order, order
		paid.Status, shipped.Status = orders.Paid, orders.Shipped
		write(set.Update(order, paid))
		write(set.Update(order, shipped)) // from a before-image that paid has overtaken
		var at int64
		if err := session.Query("SELECT updated_at FROM orders_by_status WHERE status = 'paid'").Scan(&at); err != nil {
			t.Fatal("there is no ghost:", err)
		}
		remove := func() {
			t.Helper()
			if err := session.Query("DELETE FROM orders_by_status USING TIMESTAMP ? WHERE status = 'paid' AND order_id = ?", at, order.OrderID).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		remove()
		if got := rows(t, session, "orders_by_status", "status"); len(got) != 1 || !strings.Contains(got[0], "shipped") {
			t.Errorf("statuses %v", got)
		}
		write(set.Update(shipped, paid))
		remove()
		if got := rows(t, session, "orders_by_status", "status"); len(got) != 1 || !strings.Contains(got[0], "paid") {
			t.Errorf("paid again, statuses %v", got)
		}
	})
}
