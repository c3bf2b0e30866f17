package versioned_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// TestConvergenceBroken takes one rule after the other out of the protocol. The model must see each of them missing, or
// it would be worth little that it sees nothing else.
func TestConvergenceBroken(t *testing.T) {
	const cases = 20_000
	tests := []struct {
		name string
		plan modelPlan
		says string // what goes wrong at least in the first run that does
	}{
		{"plain compare-and-set, whether the row is finished or not", modelPlan{bare: true}, ""},
		{"rows are finished, not rolled forward", modelPlan{store: without(queryTables)}, ""},
		{"transactions write done", modelPlan{doneBySwap: true}, "stays unfinished"},
		{
			"what is dropped may be of a later delete",
			modelPlan{dropAny: true, chaos: &chaos{lost: 100, delayed: 200, crash: 60, stall: 60, slow: 1000}},
			"",
		},
		{
			"versions have any slot",
			modelPlan{unlinked: true, contended: true, chaos: &chaos{lost: 300, stall: 60}},
			"reported not applied and was",
		},
		{"a change does not write the slot of its writer", modelPlan{
			ownless: true, contended: true,
			chaos: &chaos{lost: 300, stall: 60},
		}, "reported not applied and was"},
		{
			"an insert is judged whatever was there before it",
			modelPlan{recent: withoutBefore, chaos: &chaos{lost: 200, stall: 60}},
			"reported not applied and was",
		},
		{"inserts are older than a fence lives", modelPlan{age: 20 * fenceTTL}, ""},
		{"fences live shorter than requests are delayed", modelPlan{ttl: second}, ""},
		{"not applied after an attempt of which nothing is known", modelPlan{store: without(doubt)}, ""},
		{"what was not applied is delivered again as if never sent", modelPlan{exact: true}, "reported not applied and was"},
		{"a key is taken without a fence", modelPlan{keys: 1, base: without(swap)}, "the claim is"},
		{"a key is taken whether the owner holds it or not", modelPlan{keys: 1, key: withKey(heldByNobody)}, "the claim is"},
		{"a key is taken whatever token it has by now", modelPlan{keys: 1, key: withKey(replaceAny)}, "the claim is"},
		{"a claim of one's own is left as it is", modelPlan{keys: 1, key: withKey(keepOwn)}, "the claim is"},
		{"a claim is not renewed when an insert meets a fence", modelPlan{keys: 1, key: withKey(neverRenew)}, "the claim is"},
		{"a claim is freed whatever token it has by now", modelPlan{keys: 1, key: withKey(freeAny)}, "the claim is"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// At full length it tries all, to see how many go wrong.
			r := runModel(&tt.plan, cases, length.Of(t, cases) < cases)
			if r.wrong == 0 {
				t.Fatalf("seed %d: none of %d runs goes wrong", *modelSeed, r.cases)
			}
			what, _, _ := strings.Cut(r.report, "\n")
			if !strings.Contains(what, tt.says) {
				t.Errorf("it goes wrong in another way: %s", what)
			}
			t.Logf("seed %d: %d of %d runs go wrong, the first is %d: %s", *modelSeed, r.wrong, r.cases, r.first, what)
		})
	}
}

// brokenStore leaves something out.
type brokenStore struct {
	versioned.Store
	part part
}

type part int

const (
	queryTables part = iota
	swap
	doubt
)

func without(p part) func(versioned.Store) versioned.Store {
	return func(s versioned.Store) versioned.Store { return &brokenStore{s, p} }
}

func (s *brokenStore) ApplyToQueryTables(ctx context.Context, row versioned.Row, version gocql.UUID,
	before []byte,
) error {
	if s.part != doubt {
		return nil
	}
	return s.Store.ApplyToQueryTables(ctx, row, version, before)
}

func (s *brokenStore) Swap(ctx context.Context, sw versioned.Swap) (versioned.Reply, error) {
	if s.part == swap {
		return versioned.Reply{Applied: true}, nil
	}
	return s.Store.Swap(ctx, sw)
}

// Finish does nothing where the swap was left out, too.
func (s *brokenStore) Finish(ctx context.Context, version gocql.UUID) error {
	if s.part == swap {
		return nil
	}
	return s.Store.Finish(ctx, version)
}

func (s *brokenStore) Try(ctx context.Context, attempt func(context.Context) error) (retry.Outcome, error) {
	failed, err := s.Store.Try(ctx, attempt)
	if s.part == doubt {
		failed = retry.NotApplied
	}
	return failed, err
}

func withoutBefore(r entity.Recent) entity.Recent {
	r = maps.Clone(r)
	delete(r, -2)
	return r
}

// brokenKey does one thing otherwise.
type brokenKey struct {
	*key
	fault keyFault
	once  bool // this change has claimed it
}

type keyFault int

const (
	heldByNobody keyFault = iota
	replaceAny
	keepOwn
	neverRenew
	freeAny
)

func withKey(f keyFault) func(*key) versioned.Key {
	return func(k *key) versioned.Key { return &brokenKey{key: k, fault: f} }
}

func (k *brokenKey) String() string { return k.key.String() }

func (k *brokenKey) Held(row versioned.Row) bool { return k.fault != heldByNobody && k.key.Held(row) }

func (k *brokenKey) Take(ctx context.Context, token gocql.UUID) (versioned.Claim, error) {
	if k.fault == neverRenew && k.once {
		return versioned.Claim{Owner: k.Self(), Token: token}, nil
	}
	now, err := k.key.Take(ctx, token)
	k.once = k.once || now.Token == token
	if k.fault == keepOwn && now.Owner == k.Self() {
		now.Token = token
	}
	return now, err
}

func (k *brokenKey) Replace(ctx context.Context, seen, token gocql.UUID) (gocql.UUID, error) {
	if now := k.p.w.claims[k.u][k.k]; k.fault == replaceAny && now.Owner != "" {
		seen = now.Token
	}
	now, err := k.key.Replace(ctx, seen, token)
	k.once = k.once || now == token
	return now, err
}

func (k *brokenKey) Free(ctx context.Context, token gocql.UUID) error {
	if now := k.p.w.claims[k.u][k.k]; k.fault == freeAny && now.Owner == k.Self() {
		token = now.Token
	}
	return k.key.Free(ctx, token)
}
