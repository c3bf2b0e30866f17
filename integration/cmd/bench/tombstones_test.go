package main

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/examples/orders"
)

func TestParseActivity(t *testing.T) {
	t.Parallel()
	for activity, want := range map[string]scan{
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

func TestReport(t *testing.T) {
	t.Parallel()
	r := sweeps{tombstoneBench: tombstoneBench{changes: 200_000, rounds: 300}, hosts: 3, busy: "0.10", loaded: time.Minute, results: []listed{
		{set: "OneOf", status: orders.Cancelled, rows: 7, scan: scan{live: 7, tombstones: 5274}, latencies: []time.Duration{
			time.Millisecond, 3 * time.Millisecond, 2 * time.Millisecond,
		}},
	}}
	for _, set := range ways {
		for _, status := range orders.Statuses {
			r.results = append(r.results, listed{set: set.name, status: status, rows: limit, latencies: []time.Duration{time.Second}})
		}
	}
	want := "| cancelled | 0.1 % | 2.0 ms, 3.0 ms | 5274, 7 rows | 1000.0 ms, 1000.0 ms | 0 | 20000 |\n"
	if text := r.text(); !strings.Contains(text, want) || strings.Contains(text, "too high") || strings.Contains(text, "%!") {
		t.Errorf("%s\nwant the line\n%s", text, want)
	}
	if text := r.text(); strings.Contains(text, "timeout") {
		t.Errorf("a run without timeouts speaks of them: %s", text)
	}
	r.confirmed = []confirmedRead{{orders.Cancelled, limit, 7, [3][]time.Duration{{9 * time.Millisecond}, {time.Millisecond}, {5 * time.Millisecond}}}}
	want = "| cancelled | 7 | 9.0 ms, 9.0 ms | 1.0 ms, 1.0 ms | 5.0 ms, 5.0 ms |\n"
	if text := r.text(); !strings.Contains(text, want) || strings.Contains(text, "%!") {
		t.Errorf("%s\nwant the line\n%s", text, want)
	}
	r.results[0].timeouts = 1
	if text := r.text(); !strings.Contains(text, "3.0 ms, timeouts 1 |") || !strings.Contains(text, "A timeout is a read") {
		t.Errorf("a timeout is not told of: %s", text)
	}
	r.busy = "8.50"
	if text := r.text(); !strings.Contains(text, "too high") {
		t.Errorf("a busy machine is not told of: %s", text)
	}
}
