package reconcile_test

import (
	"errors"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
)

// A machine whose clock is far from the nodes' repairs and adopts nothing: what it writes at the present time would
// shut out writers until then.
func TestRepairByASkewedClock(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		_, _, r := openSet(t, c, tickets)
		for skew, want := range map[time.Duration]bool{-time.Hour: true, time.Hour: true, 5 * time.Second: false} {
			c.Node(1).Skew(skew)
			_, repair := r.Repair(t.Context(), tickets)
			began := time.Now()
			_, adopt := r.Adopt(t.Context(), tickets, reconcile.Writers(began))
			if waited := time.Since(began); want && waited > time.Minute {
				t.Errorf("%v: Adopt said so after %v", skew, waited)
			}
			if _, err := r.Repair(t.Context(), tickets, reconcile.DryRun()); err != nil {
				t.Errorf("%v: a dry run: %v", skew, err)
			}
			if _, err := r.Verify(t.Context(), tickets); err != nil {
				t.Errorf("%v: verify: %v", skew, err)
			}
			if errors.Is(repair, reconcile.ErrInvalid) != want || errors.Is(adopt, reconcile.ErrInvalid) != want {
				t.Errorf("%v: repair %v, adopt %v", skew, repair, adopt)
			}
		}
	})
}
