package decide

import (
	"testing"
)

// There is a limit to the ends in flight: beyond it a write waits for its own, as it does for one of the same entity.
func TestEndsAreBounded(t *testing.T) {
	t.Parallel()
	var e Ends
	var ends []func()
	for i := range mostEnds {
		end, ok := e.Begin(string(rune(i)))
		if !ok {
			t.Fatalf("%d were too many", i)
		}
		ends = append(ends, end)
	}
	if _, ok := e.Begin("one more"); ok {
		t.Error("one more than the limit")
	}
	ends[0]()
	if _, ok := e.Begin("one more"); !ok {
		t.Error("no place after one had ended")
	}
	if _, ok := e.Begin("one more"); ok {
		t.Error("two for one entity")
	}
}
