package versioned_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/retry"
)

// reclaimPlan says what those do who claim keys of rows again.
type reclaimPlan struct {
	lose bool // claims get lost
	idle bool // nothing

	applied, lost atomic.Int64
}

// reclaim claims the keys of an entity in these tables again, at any moment, whether their claims are lost or not.
func (p *process) reclaim(e int, tables ...int) {
	w, plan := p.w, p.w.plan.reclaim
	row, ok := p.look(e)
	c, _ := row.Columns.(*columns)
	if !ok || c == nil || row.Unfinished() {
		return
	}
	var keys []versioned.Key
	for _, u := range tables {
		k := c.keys[u]
		if k == 0 {
			continue
		}
		if plan.lose && !p.calm && w.chance(300) {
			w.logf("the claim of key %d/%d is lost", u, k)
			w.setClaim(u, k, versioned.Claim{})
			plan.lost.Add(1)
		}
		keys = append(keys, p.key(e, u, k))
	}
	if !p.calm && w.chance(256) {
		p.wait(struct{}{})
		p.deadline = w.now + lifetime
	}
	if len(keys) == 0 || plan.idle {
		return
	}
	w.logf("client %d: claims the keys of %d again, version %s", p.number, e, row.Version)
	r := versioned.Reclaim(p, p.store(e), row, keys, p.next, time.Duration(grace)*time.Microsecond)
	w.logf("client %d: claims the keys of %d again: %s", p.number, e, tell(&r))
	if r.Outcome == retry.Applied {
		plan.applied.Add(1)
	}
}

// reclaimAll wants each key that rows have to be claimed for one of them, once all have been claimed again.
func (w *world) reclaimAll(p *process) {
	w.advance(grace + 4*skew)
	for e := range w.rows { // one by one: another row may have one of the keys
		p.reclaim(e, 0)
		p.reclaim(e, 1)
	}
	w.judgeTables()
	for u := range w.claims {
		for k := uint8(1); k <= keys; k++ {
			has := func(r row) bool { return r.columns != nil && r.columns.keys[u] == k }
			if !slices.ContainsFunc(w.rows[:], has) {
				continue
			}
			if e := slices.Index(owners[:], w.claims[u][k].Owner); e < 0 || !has(w.rows[e]) {
				w.failf("key %d of table %d is claimed for %q, who does not have it", k, u, w.claims[u][k].Owner)
			}
		}
	}
}

// TestReclaim lets clients claim keys of rows again among those of the model. No two entities get one key, and nothing
// else is other than without them; and where claims got lost, each key that a row has is claimed afterwards.
func TestReclaim(t *testing.T) {
	cases := length.Of(t, 30_000)
	for _, tt := range []struct {
		name  string
		wrong bool
		plan  modelPlan
	}{
		{"no claim is lost", false, modelPlan{keys: 2, reclaim: new(reclaimPlan)}},
		{"claims are lost", false, modelPlan{keys: 2, reclaim: &reclaimPlan{lose: true}}},
		{
			"claims are lost, and nobody makes them again", true,
			modelPlan{keys: 2, reclaim: &reclaimPlan{lose: true, idle: true}},
		},
		{"a claim is taken from whoever has the key", true, modelPlan{
			keys: 2, reclaim: new(reclaimPlan),
			key: withKey(heldByNobody),
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := cases
			if tt.wrong {
				n = 5_000
			}
			r := runModel(&tt.plan, n, false)
			plan := tt.plan.reclaim
			t.Logf("%d of %d runs go wrong; %d times keys are claimed again, %d claims are lost", r.wrong, n,
				plan.applied.Load(), plan.lost.Load())
			if tt.wrong != (r.wrong > 0) {
				t.Errorf("unexpected; %s", r.report)
			}
			if !plan.idle && plan.applied.Load() == 0 || plan.lose && plan.lost.Load() == 0 {
				t.Error("never")
			}
		})
	}
}
