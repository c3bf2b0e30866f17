package reconcile_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
)

// fmt calls no Format of fields that are not exported, so a Report without its own showed the keys of its findings.
func TestReportShowsNoKeysOfFindings(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 1)
		x.remove("orders_by_user", x.orders[0], x.orders[0].UpdatedAt+9)
		report, err := x.r.Verify(t.Context(), orders.Orders)
		if !errors.Is(err, reconcile.ErrDrift) || len(slices.Collect(report.Findings())) != 1 {
			t.Fatalf("%v, %v", report, err)
		}
		for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			if text := fmt.Sprintf(format, report); text != report.String() {
				t.Errorf("%s: %s", format, text)
			}
		}
	})
}
