package command

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
)

// Orders that were written by hand, each table with a time of its own, are adopted. A row that the base row does not name is removed once
// there is a file for it; then the tables agree.
func TestAdopt(t *testing.T) {
	t.Parallel()
	startSignals()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newShopOfOrders(t, c)
		byHand := func(at time.Duration, table string, o orders.Order) {
			if err := x.session.Query("INSERT INTO "+table+" (order_id,user_id,status,total) VALUES (?,?,?,?) USING TIMESTAMP ?", o.OrderID, o.UserID,
				string(o.Status), o.Total, time.Now().Add(at-time.Hour).UnixMicro()).DefaultTimestamp(false).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 3 {
			o := orders.New(gocql.MustRandomUUID(), nil)
			byHand(0, "orders_by_id", o)
			byHand(time.Second, "orders_by_user", o)
			byHand(2*time.Second, "orders_by_status", o)
			if o.Status = orders.Paid; n == 0 {
				byHand(3*time.Second, "orders_by_status", o)
			}
		}
		adopt := []string{"adopt", "order", "--writers", time.Now().Add(-time.Minute).Format(time.RFC3339)}
		want := func(step string, code int, more ...string) { x.want(step, code, append(adopt, more...)...) }
		want("adopt_dry_run.text", ExitFound, "--dry-run")
		want("adopt_left.text", ExitFound)
		want("adopted.json", ExitFine, "--format", "json", "--removed", filepath.Join(t.TempDir(), "removed.jsonl"))
		want("adopted.text", ExitFine)
		x.want("adopted_agree.text", ExitFine, "verify", "order")
	})
}
