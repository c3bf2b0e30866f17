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
	if got, ok := parse("Executing single-partition query on orders_by_status"); ok {
		t.Errorf("%d of a line that says nothing of it", got)
	}
}
