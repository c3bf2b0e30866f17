package simulation_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/integration/load/simulation"
)

// A seed gives the same writes and, but for a few, the same faults once more: the log says how many.
func TestReplay(t *testing.T) {
	t.Parallel()
	met := make(map[string]int)
	for range 2 {
		seen := make(map[string]bool)
		synctest.Test(t, func(t *testing.T) {
			t.Cleanup(func() { <-time.After(10 * time.Minute) })
			for _, r := range (simulation.World{Seed: 5, Writes: 1000}).Run(t).Journal {
				if !r.On("orders_by_id") || len(r.Steps) < 2 {
					continue
				}
				order, _ := r.Statements[0].Value("order_id")
				total, _ := r.Statements[0].Value("total")
				seen[fmt.Sprintf("%s %x %x %v", r.Statements[0].Keyspace, order.Bytes, total.Bytes, r.Steps[1:])] = true
			}
		})
		for s := range seen {
			met[s]++
		}
	}
	both := 0
	for _, n := range met {
		if n == 2 {
			both++
		}
	}
	t.Logf("of %d things that were done with a write of an order, %d were done in both runs", len(met), both)
	if both < len(met)/2 {
		t.Errorf("only %d of %d are the same", both, len(met))
	}
}
