package versioned_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// uniqueRow is a unique table's row that does what it is asked. It notes requests where the entity's store does.
type uniqueRow struct {
	store *script
	claim versioned.Claim
	base  script // of the owner, if that is another entity
	ofID  bool   // it is the key of the ID
	lost  string // the answer to this request is lost once
	steal bool   // another entity has the key as soon as it was fenced
	gone  bool   // a claim prevents the first Take, and is gone when it is looked at
}

func (u *uniqueRow) note(format string, args ...any) error {
	_ = u.store.note(format, args...)
	if last := u.store.asked[len(u.store.asked)-1]; last == u.lost {
		u.lost = ""
		return errLost
	}
	return nil
}

func (*uniqueRow) Self() string { return "me" }

func (u *uniqueRow) OfID() bool { return u.ofID }

func (u *uniqueRow) Read(context.Context) (versioned.Claim, error) {
	return u.claim, u.note("read key")
}

func (u *uniqueRow) Take(_ context.Context, token gocql.UUID) (versioned.Claim, error) {
	if u.gone {
		u.gone = false
		return versioned.Claim{}, u.note("take %d", token)
	}
	if u.claim.Owner == "" {
		u.claim = versioned.Claim{Owner: "me", Token: token}
	}
	now := u.claim
	if err := u.note("take %d", token); err != nil {
		return versioned.Claim{}, err
	}
	return now, nil
}

func (u *uniqueRow) Replace(_ context.Context, seen, token gocql.UUID) (gocql.UUID, error) {
	if u.claim.Token == seen {
		u.claim = versioned.Claim{Owner: "me", Token: token}
	}
	now := u.claim.Token
	if err := u.note("replace %d by %d", seen, token); err != nil {
		return gocql.UUID{}, err
	}
	return now, nil
}

func (u *uniqueRow) Free(_ context.Context, token gocql.UUID) error {
	if u.claim.Token == token {
		u.claim = versioned.Claim{}
	}
	return u.note("free %d", token)
}

func (u *uniqueRow) Base(string) versioned.Store {
	if u.steal {
		u.steal, u.claim = false, versioned.Claim{Owner: "it", Token: at(90)}
	}
	return &u.base
}

func (*uniqueRow) String() string { return "key" }

func (*uniqueRow) Held(row versioned.Row) bool { return row.Columns == "has it" }

// TestChangeClaims is what a change from 10 to 20 asks of a unique table on its way. Tokens are 101, 102 and so on, the
// time of a claim is that of its token, in microseconds, and the grace is 50 of them.
func TestChangeClaims(t *testing.T) {
	t.Parallel()
	applied, conflict := []any{versioned.Reply{Applied: true}}, []any{refused(15)}
	claim := func(owner string, token int64) versioned.Claim {
		return versioned.Claim{Owner: owner, Token: at(token)}
	}
	tests := []struct {
		name  string
		swaps []any
		key   uniqueRow
		want  string
		asked []string // of the unique table and the own base row
		base  []string // of the base row of the owner
		left  versioned.Claim
	}{
		{
			"a key that nobody has", applied,
			uniqueRow{},
			"applied",
			[]string{"take 101", "swap 10 to 20"},
			nil, claim("me", 101),
		},
		{
			"the answer is lost", applied,
			uniqueRow{lost: "take 101"},
			"applied",
			[]string{"take 101", "take 101", "swap 10 to 20"},
			nil, claim("me", 101),
		},
		{
			"a key that was freed meanwhile", applied,
			uniqueRow{gone: true},
			"applied",
			[]string{"take 101", "take 102", "swap 10 to 20"},
			nil, claim("me", 102),
		},
		{
			"given back", conflict,
			uniqueRow{},
			"not applied, conflict with 15",
			[]string{"take 101", "swap 10 to 20", "read", "free 101"},
			nil,
			versioned.Claim{},
		},
		{
			"not given back while the swap may be under way",
			[]any{errLost, errRefused},
			uniqueRow{},
			"unknown, refused",
			[]string{"take 101", "swap 10 to 20", "swap 10 to 20", "read"},
			nil, claim("me", 101),
		},
		{
			"claimed for the same entity before", applied,
			uniqueRow{claim: claim("me", 7)},
			"applied",
			[]string{"take 101", "replace 7 by 101", "swap 10 to 20"},
			nil, claim("me", 101),
		},
		{
			"not given back, as that other write may rely on it", conflict,
			uniqueRow{claim: claim("me", 7)},
			"not applied, conflict with 15",
			[]string{"take 101", "replace 7 by 101", "swap 10 to 20", "read"},
			nil, claim("me", 101),
		},
		{
			"the answer to a replacement is lost", applied,
			uniqueRow{claim: claim("me", 7), lost: "replace 7 by 101"},
			"applied",
			[]string{"take 101", "replace 7 by 101", "replace 7 by 101", "swap 10 to 20"},
			nil, claim("me", 101),
		},
		{
			"another entity has it", applied,
			uniqueRow{claim: claim("it", 7), base: script{rows: []versioned.Row{rowAt(5, "has it", 0)}}},
			"not applied, " + versioned.ErrTaken.Error(),
			[]string{"take 101"},
			[]string{"read"},
			claim("it", 7),
		},
		{
			"another entity has just claimed it", applied,
			uniqueRow{claim: claim("it", 60), base: script{rows: []versioned.Row{rowAt(5, "x", 0)}}},
			"not applied, " + versioned.ErrTaken.Error(),
			[]string{"take 101"},
			[]string{"read"},
			claim("it", 60),
		},
		{
			"another entity has claimed it, by a clock ahead", applied,
			uniqueRow{claim: claim("it", 5000), base: script{rows: []versioned.Row{rowAt(5, "x", 0)}}},
			"not applied, " + versioned.ErrTaken.Error(),
			[]string{"take 101"},
			[]string{"read"},
			claim("it", 5000),
		},
		{
			"another entity has left it", applied,
			uniqueRow{claim: claim("it", 7), base: script{rows: []versioned.Row{rowAt(5, "x", 0)}, swaps: applied}},
			"applied",
			[]string{"take 101", "replace 7 by 101", "swap 10 to 20"},
			[]string{"read", "swap 5 to 102", "apply x at 102 []", "finish 102"},
			claim("me", 101),
		},
		{
			"another entity has never been", conflict,
			uniqueRow{claim: claim("it", 7), base: script{rows: []versioned.Row{{}}, swaps: applied}},
			"not applied, conflict with 15",
			[]string{"take 101", "replace 7 by 101", "swap 10 to 20", "read", "free 101"},
			[]string{"read", "swap 0 to 102"},
			versioned.Claim{},
		},
		{
			"another entity was deleted long ago, and that is not finished", applied,
			uniqueRow{claim: claim("it", 7), base: script{rows: []versioned.Row{rowAt(0, nil, 200)}, swaps: applied}},
			"applied",
			[]string{"take 101", "replace 7 by 101", "swap 10 to 20"},
			[]string{"read", "swap 0 to 201"},
			claim("me", 101),
		},
		{
			"another entity was written meanwhile, and has it", applied,
			uniqueRow{claim: claim("it", 7), base: script{
				rows: []versioned.Row{rowAt(5, "x", 0), rowAt(6, "y", 0), rowAt(6, "has it", 0)}, swaps: []any{refused(6)},
			}},
			"not applied, " + versioned.ErrTaken.Error(),
			[]string{"take 101", "take 103"},
			[]string{"read", "swap 5 to 102", "read", "read"},
			claim("it", 7),
		},
		{
			"another entity claims it again meanwhile", applied,
			uniqueRow{claim: claim("it", 7), steal: true, base: script{
				rows: []versioned.Row{rowAt(5, "x", 0), rowAt(102, "x", 0)}, swaps: applied,
			}},
			"not applied, " + versioned.ErrTaken.Error(),
			[]string{"take 101", "replace 7 by 101", "take 103"},
			[]string{"read", "swap 5 to 102", "apply x at 102 []", "finish 102", "read"},
			claim("it", 90),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := script{swaps: tt.swaps, rows: []versioned.Row{rowAt(15, "x", 0)}}
			key, token := tt.key, int64(100)
			key.store = &store
			c := versioned.Change{
				Store: &store, Swap: versioned.Swap{Before: at(10), Live: true, Version: at(20), After: "y"},
				Claims: []versioned.Key{&key},
				Next:   func(above int64) gocql.UUID { token = max(token, above) + 1; return at(token) },
				Grace:  50 * time.Microsecond,
			}
			r := c.Commit(t.Context())
			if got := result(&r); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if taken := new(versioned.TakenError); errors.As(r.Err, &taken) && (taken.Owner != "it" || taken.Key != &key) {
				t.Errorf("taken by %q", taken.Owner)
			}
			if !slices.Equal(store.asked, tt.asked) {
				t.Errorf("asked %q, want %q", store.asked, tt.asked)
			}
			if !slices.Equal(key.base.asked, tt.base) {
				t.Errorf("of the owner, asked %q, want %q", key.base.asked, tt.base)
			}
			if key.claim != tt.left {
				t.Errorf("left %q's, token %d, want %q's, %d", key.claim.Owner, entity.Timestamp(key.claim.Token),
					tt.left.Owner, entity.Timestamp(tt.left.Token))
			}
		})
	}
}

// TestChangeLost gives up a key by the token that it had before the swap, if it was the entity's at all.
func TestChangeLost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		owner string
		asked []string
	}{
		{"me", []string{"read key", "swap 10 to 20", "forget 20", "free 7"}},
		{"it", []string{"read key", "swap 10 to 20", "forget 20"}},
		{"", []string{"read key", "swap 10 to 20", "forget 20"}},
	} {
		store := script{swaps: []any{versioned.Reply{Applied: true}}}
		key := uniqueRow{store: &store}
		if tt.owner != "" {
			key.claim = versioned.Claim{Owner: tt.owner, Token: at(7)}
		}
		c := versioned.Change{
			Store: &store, Swap: versioned.Swap{Before: at(10), Live: true, Version: at(20)},
			Releases: []versioned.Key{&key},
		}
		if r := c.Commit(t.Context()); r.Outcome != retry.Applied {
			t.Fatal(result(&r))
		}
		c.Finish(t.Context())
		if !slices.Equal(store.asked, tt.asked) {
			t.Errorf("%q: asked %q, want %q", tt.owner, store.asked, tt.asked)
		}
	}
}

// TestChangeRenews claims again what an insert has claimed before it met a fence, and still gives it back.
func TestChangeRenews(t *testing.T) {
	t.Parallel()
	store := script{swaps: []any{refused(15), refused(17)}, rows: []versioned.Row{rowAt(15, nil, 0), rowAt(17, "x", 0)}}
	key, token := uniqueRow{store: &store}, int64(100)
	c := versioned.Change{
		Store: &store, Swap: versioned.Swap{Version: at(20), After: "y"}, Insert: true, Claims: []versioned.Key{&key},
		Next: func(int64) gocql.UUID { token++; return at(token) },
	}
	r := c.Commit(t.Context())
	if got, want := result(&r), "not applied, conflict with 17"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want := []string{
		"take 101", "swap 0 to 20", "read", "take 102", "replace 101 by 102", "swap 15 to 20", "read",
		"free 102",
	}
	if !slices.Equal(store.asked, want) {
		t.Errorf("asked %q, want %q", store.asked, want)
	}
}

// TestChangeOfAnID claims the keys of an insert before its version is made, and keeps them for the change with that. A
// fence is no obstacle only if it is earlier than the claims, and they are still there: otherwise another entity may
// have had the ID since.
func TestChangeOfAnID(t *testing.T) {
	t.Parallel()
	applied := versioned.Reply{Applied: true}
	for _, tt := range []struct {
		name  string
		swaps []any
		rows  []versioned.Row
		other int64 // takes the claim over for the entity before the second change
		over  bool  // the call ends before the second change
		want  string
		asked []string
		id    decide.IDClaim
	}{
		{
			"applied",
			[]any{applied},
			nil, 0, false, "applied",
			[]string{"swap 0 to 110"},
			decide.Claimed,
		},
		{
			"given back",
			[]any{refused(15)},
			[]versioned.Row{rowAt(15, "x", 0)},
			0, false, "not applied, conflict with 15",
			[]string{"swap 0 to 110", "read", "free 101"},
			decide.Unclaimed,
		},
		{
			"kept while the swap may be under way",
			[]any{errLost, errRefused},
			[]versioned.Row{{}},
			0, false, "unknown, refused",
			[]string{"swap 0 to 110", "swap 0 to 110", "read"},
			decide.Claimed,
		},
		{
			"left after the end of the call", nil, nil, 0, true, "not applied, context canceled",
			nil, decide.Unclaimed,
		},
		{
			"over an earlier fence",
			[]any{refused(15), applied},
			[]versioned.Row{rowAt(15, nil, 0)},
			0, false, "applied",
			[]string{
				"swap 0 to 110", "read", "take 103", "replace 101 by 103", "take 104", "replace 102 by 104", "swap 15 to 110",
			},
			decide.Claimed,
		},
		{
			"a fence between claim and version",
			[]any{refused(105)},
			[]versioned.Row{rowAt(105, nil, 0)},
			0, false, "not applied, behind 105",
			[]string{"swap 0 to 110", "read", "free 101"},
			decide.Unclaimed,
		},
		{
			"a claim that was lost",
			[]any{refused(15)},
			[]versioned.Row{rowAt(15, nil, 0)},
			102, false, "not applied, behind 104, " + earlier,
			[]string{
				"swap 0 to 110", "read", "take 103", "replace 102 by 103", "take 104", "replace 102 by 104",
			},
			decide.Claimed,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := script{swaps: tt.swaps, rows: tt.rows}
			gained, own := uniqueRow{store: &store}, uniqueRow{store: &store, claim: versioned.Claim{Owner: "me", Token: at(7)}}
			token := int64(100)
			change := func(version int64, id decide.IDClaim, held []decide.Held) versioned.Change {
				return versioned.Change{
					Store: &store, Swap: versioned.Swap{Version: at(version), After: "y"}, Insert: true, ID: id, Held: held,
					Claims: []versioned.Key{&gained, &own},
					Next:   func(above int64) gocql.UUID { token = max(token, above) + 1; return at(token) },
				}
			}
			first := change(20, decide.Unclaimed, nil)
			r := first.Commit(t.Context())
			if got, want := result(&r), "not applied, behind 102, "+earlier; got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if want := []string{"take 101", "take 102", "replace 7 by 102"}; !slices.Equal(store.asked, want) {
				t.Errorf("asked %q, want %q", store.asked, want)
			}
			if want := []decide.Held{{Token: at(101), Alone: true}, {Token: at(102)}}; !slices.Equal(first.Held, want) {
				t.Errorf("held %v, want %v", first.Held, want)
			}
			if store.asked = nil; tt.other != 0 {
				gained.claim.Token = at(tt.other)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.over {
				cancel()
			}
			second := change(110, first.ID, first.Held)
			r = second.Commit(ctx)
			if got := result(&r); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if !slices.Equal(store.asked, tt.asked) {
				t.Errorf("asked %q, want %q", store.asked, tt.asked)
			}
			if second.ID != tt.id || (second.Held == nil) == (tt.other != 0) {
				t.Errorf("claim of the ID: %v, want %v; held %v", second.ID, tt.id, second.Held)
			}
		})
	}
}

// TestChangeOfAnIDAboveItsFormerOwner evicts the owner of a key, which was deleted by a clock ahead. An insert has to
// be above the delete only if the key is the ID: the insert shares no row with an entity that had its mail.
func TestChangeOfAnIDAboveItsFormerOwner(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"id":   "not applied, behind 200, " + earlier,
		"mail": "not applied, behind 102, " + earlier,
	} {
		var store script
		base := script{rows: []versioned.Row{rowAt(200, nil, 0)}, swaps: []any{versioned.Reply{Applied: true}}}
		id := uniqueRow{store: &store, ofID: true}
		other := uniqueRow{store: &store}
		evicted := &other
		if name == "id" {
			evicted = &id
		}
		evicted.base, evicted.claim = base, versioned.Claim{Owner: "it", Token: at(7)}
		tokens := int64(100)
		c := versioned.Change{
			Store: &store, Swap: versioned.Swap{Version: at(20), After: "y"}, Insert: true, ID: decide.Unclaimed,
			Claims: []versioned.Key{&other, &id}, Grace: 50 * time.Microsecond,
			Next: func(above int64) gocql.UUID {
				if above >= 200 {
					return at(above + 1)
				}
				tokens++
				return at(tokens)
			},
		}
		r := c.Commit(t.Context())
		if got := result(&r); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestClaimOfAnIDAfterTheCall is an insert whose call ends while it claims the ID, or claims it again as it was lost. No
// other change goes on with the claims, so they are left to be given back, and the insert is never sent again.
func TestClaimOfAnIDAfterTheCall(t *testing.T) {
	t.Parallel()
	for _, id := range []decide.IDClaim{decide.Unclaimed, decide.Claimed} {
		ctx, cancel := context.WithCancel(t.Context())
		store := script{swaps: []any{refused(15)}, rows: []versioned.Row{rowAt(15, nil, 0)}}
		key := uniqueRow{store: &store}
		c := versioned.Change{
			Store: &store, Swap: versioned.Swap{Version: at(20), After: "y"}, Insert: true, ID: id,
			Claims: []versioned.Key{endingKey{&key, cancel}},
			Next:   func(int64) gocql.UUID { return at(111) },
		}
		if id == decide.Claimed {
			c.Held, c.Swap.Version = []decide.Held{{Token: at(101)}}, at(110)
			key.claim = versioned.Claim{Owner: "me", Token: at(102)}
		}
		r := c.Commit(ctx)
		if got, want := result(&r), "not applied, context canceled"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if c.ID != decide.Unclaimed || c.Held != nil || key.claim.Token != at(111) {
			t.Errorf("claim of the ID: %v; held %v, and the row has %v", c.ID, c.Held, key.claim)
		}
	}
}

// endingKey is a key whose claim ends the call.
type endingKey struct {
	*uniqueRow
	end func()
}

func (k endingKey) Take(ctx context.Context, token gocql.UUID) (versioned.Claim, error) {
	now, err := k.uniqueRow.Take(ctx, token)
	if now.Token == token {
		k.end()
	}
	return now, err
}

func (k endingKey) Replace(ctx context.Context, seen, token gocql.UUID) (gocql.UUID, error) {
	defer k.end()
	return k.uniqueRow.Replace(ctx, seen, token)
}

// earlier is the error of an insert whose version may be earlier than its claim of the ID.
const earlier = "a unique key was claimed after the timestamp of the insert: make the request again"

// unseen is the error of an insert that is not sent any more, and is not in the row.
const unseen = "the entity does not exist, and this insert is not sent again: read the row, and decide again"

// TestChangeOfAnIDSent is an insert that an earlier call has sent. If its version is not known to be later than its
// claim it is only looked for. If it is, whoever had the ID since then has left a fence, so it is sent over none.
func TestChangeOfAnIDSent(t *testing.T) {
	t.Parallel()
	mine := versioned.Claim{Owner: "me", Token: at(101)}
	for _, tt := range []struct {
		name  string
		id    decide.IDClaim
		swaps []any
		rows  []versioned.Row
		claim versioned.Claim
		want  string
		asked []string
	}{
		{
			"not claimed, nothing there", decide.Unclaimed, nil,
			[]versioned.Row{{}},
			mine, "unknown, conflict with 0, " + unseen,
			[]string{"read"},
		},
		{
			"not claimed, and applied", decide.Unclaimed, nil,
			[]versioned.Row{rowAt(20, "y", 0)},
			mine, "applied",
			[]string{"read"},
		},
		{
			"not claimed, another insert", decide.Unclaimed, nil,
			[]versioned.Row{rowAt(30, "x", 0)},
			mine, "unknown, conflict with 30",
			[]string{"read"},
		},
		{
			"claimed", decide.Claimed,
			[]any{versioned.Reply{Applied: true}},
			nil,
			mine, "applied",
			[]string{"take 111", "replace 101 by 111", "swap 0 to 20"},
		},
		{
			"claimed, and not known again", decide.Claimed,
			[]any{errRefused},
			[]versioned.Row{{}},
			mine, "unknown, refused",
			[]string{"take 111", "replace 101 by 111", "swap 0 to 20", "read"},
		},
		{
			"claimed, and a fence", decide.Claimed,
			[]any{refused(15)},
			[]versioned.Row{rowAt(15, nil, 0)},
			versioned.Claim{},
			"unknown, conflict with 15",
			[]string{"take 111", "swap 0 to 20", "read", "free 111"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := script{swaps: tt.swaps, rows: tt.rows}
			key := uniqueRow{store: &store, claim: tt.claim}
			c := versioned.Change{
				Store: &store, Swap: versioned.Swap{Version: at(20), After: "y"}, Insert: true, Sent: true, ID: tt.id,
				Claims: []versioned.Key{&key},
				Next:   func(int64) gocql.UUID { return at(111) },
			}
			r := c.Commit(t.Context())
			if got := result(&r); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if !slices.Equal(store.asked, tt.asked) {
				t.Errorf("asked %q, want %q", store.asked, tt.asked)
			}
		})
	}
}

// TestChangeSent is a change that an earlier call has sent, with an outcome that is not known. That call's swap may
// have been applied, and have given up a key that a write after it is about to bring back: the claim that is there now
// is that write's, unless the swap is applied by this call. What this call alone has claimed it gives back.
func TestChangeSent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		swaps []any
		claim versioned.Claim
		want  string
		asked []string
	}{
		{
			"applied",
			[]any{refused(20)},
			versioned.Claim{},
			"applied",
			[]string{"read key", "take 101", "swap 0 to 20", "finish 20"},
		},
		{
			"applied by this call",
			[]any{versioned.Reply{Applied: true}},
			versioned.Claim{},
			"applied",
			[]string{"read key", "take 101", "swap 0 to 20", "finish 20", "free 7"},
		},
		{
			"overwritten",
			[]any{refused(30)},
			versioned.Claim{},
			"unknown, conflict with 30",
			[]string{"read key", "take 101", "swap 0 to 20", "read", "free 101"},
		},
		{
			"refused",
			[]any{errRefused},
			versioned.Claim{},
			"unknown, refused",
			[]string{"read key", "take 101", "swap 0 to 20", "read", "free 101"},
		},
		{
			"taken", nil,
			versioned.Claim{Owner: "it", Token: at(90)},
			"unknown, " + versioned.ErrTaken.Error(),
			[]string{"read key", "take 101", "read"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := script{swaps: tt.swaps, rows: []versioned.Row{rowAt(30, nil, 0)}}
			gained, lost := uniqueRow{store: &store, claim: tt.claim},
				uniqueRow{store: &store, claim: versioned.Claim{Owner: "me", Token: at(7)}}
			gained.base.rows = []versioned.Row{rowAt(5, "x", 0)}
			c := versioned.Change{
				Store: &store, Swap: versioned.Swap{Version: at(20), After: "y"}, Insert: true, Sent: true,
				Claims: []versioned.Key{&gained}, Releases: []versioned.Key{&lost},
				Next: func(int64) gocql.UUID { return at(101) },
			}
			r := c.Commit(t.Context())
			if got := result(&r); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if r.Outcome == retry.Applied {
				c.Finish(t.Context())
			}
			if !slices.Equal(store.asked, tt.asked) {
				t.Errorf("asked %q, want %q", store.asked, tt.asked)
			}
		})
	}
}
