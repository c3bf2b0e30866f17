package reconcile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
)

// A node that reports nothing has not said that a table is empty.
func TestEstimateOfWhatNobodyReports(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 5)
		e, err := x.r.Estimate(t.Context(), orders.Orders)
		if !errors.Is(err, reconcile.ErrUnknown) || !strings.Contains(err.Error(), "shop.orders_by_id") || len(e.Tables) != 0 {
			t.Errorf("%+v, %v", e, err)
		}
		_, err = x.r.Estimate(t.Context(), orders.Orders, reconcile.Tables("orders_by_nobody"))
		if !errors.Is(err, reconcile.ErrInvalid) {
			t.Error(err)
		}
	})
}
