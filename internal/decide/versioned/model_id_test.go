package versioned_test

import (
	"testing"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/testutil/length"
)

// The entities of a model with an ID have one row in the second query table, and claim one key of the first unique
// table.
const (
	sharedPlace = 9
	sharedKey   = 1
)

// idPlan says what inserts know of their claims of the ID.
type idPlan struct {
	early  bool // their versions are made before the claims
	forget bool // what is known is not kept with them
}

// begin is what an insert knows first.
func (p *idPlan) begin(held []decide.Held) decide.IDClaim {
	switch {
	case p == nil || p.early:
		return decide.NoIDClaim
	case held != nil:
		return decide.Claimed
	}
	return decide.Unclaimed
}

// end is what is kept with an insert after its first call, which may have died.
func (p *idPlan) end(before, after decide.IDClaim, dead bool) decide.IDClaim {
	switch {
	case p == nil || p.early:
		return decide.NoIDClaim
	case p.forget:
		return decide.Claimed
	case dead:
		return min(before, decide.Unclaimed)
	}
	return after
}

// TestConvergenceOfAnID lets two entities with one ID live one after the other, with the clock of one process. The row
// that they share in a query table is the one of the entity that is there.
func TestConvergenceOfAnID(t *testing.T) {
	cases := length.Of(t, 300_000)
	for _, tt := range []struct {
		name  string
		wrong bool
		plan  idPlan
	}{
		{"as it is", false, idPlan{}},
		{"versions are made before the claims", true, idPlan{early: true}},
		{"any claim counts for an insert that is sent again", true, idPlan{forget: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := cases
			if tt.wrong {
				n = 20_000
			}
			r := runModel(&modelPlan{keys: 1, id: &tt.plan}, n, !tt.wrong)
			t.Logf("%d of %d runs go wrong", r.wrong, r.cases)
			if tt.wrong != (r.wrong > 0) {
				t.Errorf("unexpected; %s", r.report)
			}
		})
	}
}
