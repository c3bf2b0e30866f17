package merge_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/denorm-go/denorm/internal/cassandra/merge"
)

func same(a, b merge.Cell) bool {
	return a.Timestamp == b.Timestamp && a.Expires == b.Expires && bytes.Equal(a.Value, b.Value) &&
		(a.Value == nil) == (b.Value == nil)
}

// cells are at least two of every kind, at two timestamps.
func cells() []merge.Cell {
	var all []merge.Cell
	for _, ts := range []int64{10, 11} {
		all = append(all, merge.Cell{Timestamp: ts})
		for _, value := range []string{"", "\x01", "\xff", "\xff\x00"} {
			for _, expires := range []int64{0, 500, 600} {
				all = append(all, merge.Cell{Timestamp: ts, Value: []byte(value), Expires: expires})
			}
		}
	}
	return append(all, merge.Cell{Timestamp: merge.NoTimestamp})
}

func TestResolve(t *testing.T) {
	t.Parallel()
	value := func(ts, expires int64, v string) merge.Cell {
		return merge.Cell{Timestamp: ts, Value: []byte(v), Expires: expires}
	}
	tombstone := func(ts int64) merge.Cell { return merge.Cell{Timestamp: ts} }
	tests := []struct {
		name        string
		wins, loses merge.Cell
	}{
		{"larger timestamp against larger value", value(11, 0, "a"), value(10, 0, "b")},
		{"larger timestamp against tombstone", value(11, 0, "a"), tombstone(10)},
		{"larger timestamp against expiry", value(11, 0, "a"), value(10, 500, "b")},
		{"tombstone against value at a tie", tombstone(10), value(10, 0, "b")},
		{"tombstone against empty value at a tie", tombstone(10), value(10, 0, "")},
		{"tombstone against expiring at a tie", tombstone(10), value(10, 500, "b")},
		{"expiring against larger value at a tie", value(10, 500, "a"), value(10, 0, "b")},
		{"later expiry against larger value at a tie", value(10, 600, "a"), value(10, 500, "b")},
		{"larger value at a tie", value(10, 0, "b"), value(10, 0, "a")},
		{"larger value at a tie of expiries", value(10, 500, "b"), value(10, 500, "a")},
		{"int -1 against 1 at a tie", value(10, 0, "\xff\xff\xff\xff"), value(10, 0, "\x00\x00\x00\x01")},
		{"longer value against its prefix", value(10, 0, "paid!"), value(10, 0, "paid")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, got := range []merge.Cell{merge.Resolve(tt.wins, tt.loses), merge.Resolve(tt.loses, tt.wins)} {
				if !same(got, tt.wins) {
					t.Errorf("got %+v, want %+v", got, tt.wins)
				}
			}
		})
	}
}

// TestResolveIsMaximum proves, over all pairs and triples of kinds of cells, what makes the model independent of order
// and repetition.
func TestResolveIsMaximum(t *testing.T) {
	t.Parallel()
	all := cells()
	for _, a := range all {
		if !same(merge.Resolve(a, a), a) {
			t.Fatalf("not idempotent: %+v", a)
		}
		for _, b := range all {
			ab := merge.Resolve(a, b)
			if !same(ab, a) && !same(ab, b) || !same(ab, merge.Resolve(b, a)) {
				t.Fatalf("not commutative: %+v, %+v", a, b)
			}
			for _, c := range all {
				if !same(merge.Resolve(ab, c), merge.Resolve(a, merge.Resolve(b, c))) {
					t.Fatalf("not associative: %+v, %+v, %+v", a, b, c)
				}
			}
		}
	}
}

func TestSupersedes(t *testing.T) {
	t.Parallel()
	// In rising order.
	rising := []merge.Liveness{
		{Timestamp: merge.NoTimestamp},
		{Timestamp: 10},
		{Timestamp: 10, Expires: 500},
		{Timestamp: 10, Expires: 600},
		{Timestamp: 11},
		{Timestamp: 11, Expires: 400},
	}
	for i, a := range rising {
		for j, b := range rising {
			t.Run(fmt.Sprintf("%d/%d", i, j), func(t *testing.T) {
				t.Parallel()
				if got, want := a.Supersedes(b), i > j; got != want {
					t.Errorf("%+v supersedes %+v: %v, want %v", a, b, got, want)
				}
			})
		}
	}
}
