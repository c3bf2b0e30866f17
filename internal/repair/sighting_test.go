package repair_test

import (
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/repair"
)

func TestSighting(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ghost := func(written int) []repair.Finding { // by so many seconds before the start
		at := start.Add(-time.Duration(written) * time.Second).UnixMicro()
		return []repair.Finding{{Class: repair.Ghost, Table: "t", Key: "k", BaseAt: at, RowAt: at - 1}}
	}
	patience := repair.Patience{Settle: 90 * time.Second, Horizon: time.Hour}
	imports, versioned := patience, patience
	imports.At, versioned.Versioned = true, true
	both := []repair.Finding{
		{Class: repair.Orphan, Table: "a", Key: "k", RowAt: 1},
		{Class: repair.Orphan, Table: "b", Key: "k", RowAt: 1},
	}
	type look struct {
		second   int // it takes one
		findings []repair.Finding
		want     repair.Certainty
		next     int // second, -1: none
	}
	tests := []struct {
		name     string
		patience repair.Patience
		looks    []look
	}{
		{"older than Settle: two looks", patience, []look{
			{0, ghost(91), repair.InFlight, 91},
			{91, ghost(91), repair.Settled, 3600},
		}},
		{"two looks that are too close count as one", patience, []look{
			{0, ghost(91), repair.InFlight, 91}, {90, ghost(91), repair.InFlight, 91},
		}},
		{"younger: three looks", patience, []look{
			{0, ghost(90), repair.InFlight, 91}, {91, ghost(90), repair.InFlight, 182}, {182, ghost(90), repair.Settled, 3600},
		}},
		{"At: three looks", imports, []look{
			{0, ghost(91), repair.InFlight, 91}, {91, ghost(91), repair.InFlight, 182}, {182, ghost(91), repair.Settled, 3600},
		}},
		{"nothing says when: three looks", patience, []look{
			{0, []repair.Finding{{Class: repair.Undatable, Table: "t", Key: "k"}}, repair.InFlight, 91},
			{91, []repair.Finding{{Class: repair.Undatable, Table: "t", Key: "k"}}, repair.InFlight, 182},
		}},
		{"another state begins again", patience, []look{
			{0, ghost(91), repair.InFlight, 91}, {91, ghost(92), repair.InFlight, 182}, {182, ghost(92), repair.Settled, 3691},
		}},
		{"agreement begins again", patience, []look{
			{0, ghost(91), repair.InFlight, 91}, {91, nil, repair.Agrees, -1}, {182, ghost(91), repair.InFlight, 273},
		}},
		{"the horizon is counted from the first look", patience, []look{
			{0, ghost(9999), repair.InFlight, 91},
			{91, ghost(9999), repair.Settled, 3600},
			{3599, ghost(9999), repair.Settled, 3600},
			{3600, ghost(9999), repair.Proven, -1},
		}},
		{"one look, long ago, proves nothing", patience, []look{
			{0, ghost(90), repair.InFlight, 91}, {3601, ghost(90), repair.InFlight, 3692},
		}},
		{"a transaction proves", versioned, []look{{0, ghost(0), repair.InFlight, 1}, {1, ghost(0), repair.Proven, -1}}},
		{"the order of findings does not matter", patience, []look{
			{0, both, repair.InFlight, 91}, {91, []repair.Finding{both[1], both[0]}, repair.Settled, 3600},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s repair.Sighting
			for i, l := range tt.looks {
				began := start.Add(time.Duration(l.second) * time.Second)
				got, next := s.Look(began, began.Add(time.Second), l.findings, tt.patience)
				want := start.Add(time.Duration(l.next) * time.Second)
				if l.next < 0 {
					want = time.Time{}
				}
				if got != l.want || !next.Equal(want) {
					t.Errorf("look %d: %s, next %s; want %s, %s", i, got, next, l.want, want)
				}
			}
		})
	}
}
