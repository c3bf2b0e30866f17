package main

import (
	"math/rand/v2"
	"testing"

	"github.com/denorm-go/denorm/examples/orders"
)

func TestParseActivity(t *testing.T) {
	t.Parallel()
	for activity, want := range map[string]seen{
		"Read 20 live rows and 19980 tombstone cells": {live: 20, tombstones: 19980},
		"Read 1 live rows and 0 tombstone cells":      {live: 1},
	} {
		if got, ok := parseActivity(activity); !ok || got != want {
			t.Errorf("%q: %+v, %v", activity, got, ok)
		}
	}
	if got, ok := parseActivity("Executing single-partition query on orders_by_status"); ok {
		t.Errorf("%+v of a line that says nothing of it", got)
	}
}

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
	if got, want := float64(changes)/draws, changesPerOrder(); got < want-0.01 || got > want+0.01 {
		t.Errorf("%v changes an order, want %v", got, want)
	}
}
