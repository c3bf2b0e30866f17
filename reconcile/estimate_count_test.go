package reconcile

import "testing"

// A Verify reads every table in pages of each segment; a Backfill reads the base table and puts each row.
func TestEstimateCounts(t *testing.T) {
	t.Parallel()
	e := Estimate{Tables: make([]TableEstimate, 2)}
	if e.count(10_000, 1000); e.Requests != 532 || e.Puts != 10_266 || e.Spool != 0 || e.Tables[1].Rows != 10_000 {
		t.Errorf("%+v", e)
	}
	if e.count(10_000_000, 1000); e.Requests != 20_512 || e.Puts != 10_010_256 || e.Spool != 240*10_000_000 {
		t.Errorf("%+v", e)
	}
}
