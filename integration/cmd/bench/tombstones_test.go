package main

import (
	"math/rand/v2"
	"testing"

	"github.com/denorm-go/denorm/examples/orders"
)

// The lives are what the table says of the shares.
func TestLives(t *testing.T) {
	t.Parallel()
	const draws = 1_000_000
	random := rand.New(rand.NewPCG(1, 2))
	ends := map[orders.Status]int{}
	changes := 0
	for range draws {
		life := append([]orders.Status{orders.Open}, drawLife(random)...)
		ends[life[len(life)-1]]++
		changes += len(life) - 1
	}
	for _, status := range orders.Statuses {
		want := stay(status) * draws
		if got := float64(ends[status]); got < 0.8*want || got > 1.2*want || want == 0 {
			t.Errorf("%s: %v of %d orders, want about %v", status, got, draws, want)
		}
	}
	if got := chunks * ordersPerWrite * float64(changes) / draws; got < 0.99*moves || got > 1.01*moves {
		t.Errorf("%v changes, want about %v", got, moves)
	}
}
