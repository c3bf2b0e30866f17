package traced

import "testing"

func TestParse(t *testing.T) {
	t.Parallel()
	for activity, want := range map[string]int{
		"Read 20 live rows and 19980 tombstone cells": 19980,
		"Read 1 live rows and 0 tombstone cells":      0,
	} {
		if got, ok := parse(activity); !ok || got != want {
			t.Errorf("%q: %d, %v", activity, got, ok)
		}
	}
	for _, activity := range []string{
		"Executing single-partition query on orders_by_status", "Read 20 live rows and 3 expired cells",
	} {
		if got, ok := parse(activity); ok {
			t.Errorf("%d of %q, which says nothing of it", got, activity)
		}
	}
}
