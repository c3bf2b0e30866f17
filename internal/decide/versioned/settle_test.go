package versioned_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// at is the version of a small time.
func at(n int64) gocql.UUID {
	if n == 0 {
		return gocql.UUID{}
	}
	return entity.Version(n, 7)
}

// script is a store whose answers are written down. It notes what it is asked.
type script struct {
	swaps []any // answers: a Reply or an error
	rows  []versioned.Row
	fails string // this request is rejected
	asked []string
}

func (s *script) note(format string, args ...any) error {
	for i, a := range args {
		if v, ok := a.(gocql.UUID); ok {
			args[i] = entity.Timestamp(v)
		}
	}
	text := fmt.Sprintf(format, args...)
	s.asked = append(s.asked, text)
	if text == s.fails {
		return errRefused
	}
	return nil
}

func (s *script) Read(context.Context) (versioned.Row, error) {
	if err := s.note("read"); err != nil {
		return versioned.Row{}, err
	}
	row := s.rows[0]
	s.rows = s.rows[1:]
	return row, nil
}

func (s *script) Swap(_ context.Context, swap versioned.Swap) (versioned.Reply, error) {
	_ = s.note("swap %d to %d", swap.Before, swap.Version)
	answer := s.swaps[0]
	if len(s.swaps) > 1 {
		s.swaps = s.swaps[1:]
	}
	if err, ok := answer.(error); ok {
		return versioned.Reply{}, err
	}
	return answer.(versioned.Reply), nil
}

func (s *script) ApplyToQueryTables(_ context.Context, row versioned.Row, version gocql.UUID, keys []byte) error {
	return s.note("apply %v at %d [%s]", row.Columns, version, keys)
}

func (s *script) Finish(_ context.Context, version gocql.UUID) error {
	return s.note("finish %d", version)
}

func (s *script) Forget(_ context.Context, p entity.Pending) error {
	return s.note("forget %d", p.Version)
}

// Try makes a second attempt after an answer that was lost.
func (s *script) Try(ctx context.Context, attempt func(context.Context) error) (failed retry.Outcome, err error) {
	failed = retry.NotApplied
	for range 2 {
		if err = attempt(ctx); !errors.Is(err, errLost) {
			break
		}
		failed = retry.Unknown
	}
	return failed, err
}

func refused(version int64) versioned.Reply { return versioned.Reply{Version: at(version)} }

// rowAt is a row with what is pending of a version, 0 if it is finished.
func rowAt(version int64, columns any, pending int64) versioned.Row {
	r := versioned.Row{Version: at(version), Present: columns != nil, Columns: columns, Done: at(version)}
	if pending != 0 {
		r.Pending, r.Done = &entity.Pending{Version: at(pending), Keys: fmt.Appendf(nil, "keys%d", pending)}, gocql.UUID{}
	}
	return r
}

// recent is a row with these of its last versions.
func recent(row versioned.Row, versions ...[]entity.Slot) versioned.Row {
	row.Recent = make(entity.Recent)
	for _, written := range versions {
		for _, s := range written {
			row.Recent[s.Number] = s.Version
		}
	}
	return row
}

// follow is what a change of an entity that is there leaves in recent.
func follow(before, version int64) []entity.Slot {
	r, _ := entity.Follow(at(before), entity.Linked(at(version), at(before)), true, false)
	return r
}

// begin is what an insert leaves there.
func begin(before, version int64) []entity.Slot {
	r, _ := entity.Follow(at(before), at(version), false, false)
	return r
}

func TestSettle(t *testing.T) {
	t.Parallel()
	applied := versioned.Reply{Applied: true}
	other := entity.Version(20, 8)
	// Updates are from 10 to 20, inserts to 20.
	tests := []struct {
		name   string
		insert bool
		store  script
		renew  error
		want   string
		asked  []string
	}{
		{
			"applied", false,
			script{swaps: []any{applied}},
			nil, "applied",
			[]string{"swap 10 to 20"},
		},
		{
			"the answer is lost, the own version found", false,
			script{swaps: []any{errLost, refused(20)}},
			nil, "applied",
			[]string{"swap 10 to 20", "swap 10 to 20"},
		},
		{
			"the own version found in pending, a fence expired", false,
			script{swaps: []any{errLost, refused(0)}, rows: []versioned.Row{rowAt(0, nil, 20)}},
			nil, "applied",
			[]string{"swap 10 to 20", "swap 10 to 20", "read"},
		},
		{
			"conflict", false,
			script{swaps: []any{refused(15)}, rows: []versioned.Row{rowAt(15, "x", 0)}},
			nil, "not applied, conflict with 15",
			[]string{"swap 10 to 20", "read"},
		},
		{
			"conflict with an unfinished write", false,
			script{swaps: []any{refused(15)}, rows: []versioned.Row{rowAt(15, "x", 15)}},
			nil, "not applied, conflict with 15",
			[]string{"swap 10 to 20", "read", "apply x at 15 [keys15]", "finish 15"},
		},
		{
			"conflict after an answer was lost", false,
			script{swaps: []any{errLost, refused(25)}, rows: []versioned.Row{rowAt(25, "x", 0)}},
			nil, "unknown, conflict with 25",
			[]string{"swap 10 to 20", "swap 10 to 20", "read"},
		},
		{
			"conflict, the row cannot be read", false,
			script{swaps: []any{refused(15)}, fails: "read"},
			nil,
			"not applied, conflict with 0, refused",
			[]string{"swap 10 to 20", "read"},
		},
		{
			"conflict by the reply, applied by the row", false,
			script{swaps: []any{errLost, refused(15)}, rows: []versioned.Row{rowAt(20, "x", 20)}},
			nil, "applied",
			[]string{"swap 10 to 20", "swap 10 to 20", "read"},
		},
		{
			"the answer is lost, and another change followed the version before", false,
			script{
				swaps: []any{errLost, errLost},
				rows:  []versioned.Row{recent(rowAt(15, "x", 0), begin(0, 10), follow(10, 15))},
			},
			nil, "never applied, conflict with 15",
			[]string{"swap 10 to 20", "swap 10 to 20", "read"},
		},
		{
			"a conflict after a lost answer, and another change followed the version before", false,
			script{
				swaps: []any{errLost, refused(25)},
				rows:  []versioned.Row{recent(rowAt(25, "x", 0), begin(0, 10), follow(10, 25))},
			},
			nil, "never applied, conflict with 25",
			[]string{"swap 10 to 20", "swap 10 to 20", "read"},
		},
		{
			"the own version found among the last ones", false,
			script{
				swaps: []any{errLost, refused(25)},
				rows:  []versioned.Row{recent(rowAt(25, "x", 0), begin(10, 20), follow(20, 25))},
			},
			nil, "applied",
			[]string{"swap 10 to 20", "swap 10 to 20", "read"},
		},
		{
			"another change is in the slot, of before the version before", false,
			script{
				swaps: []any{errLost, errLost},
				rows:  []versioned.Row{recent(rowAt(10, "x", 0), begin(0, 10), follow(10, 5))},
			},
			nil, "unknown, lost",
			[]string{"swap 10 to 20", "swap 10 to 20", "read"},
		},
		{
			"the version before has been overwritten", false,
			script{
				swaps: []any{errLost, refused(25)},
				rows:  []versioned.Row{recent(rowAt(25, "x", 0), follow(10, 15), begin(0, 25))},
			},
			nil, "unknown, conflict with 25",
			[]string{"swap 10 to 20", "swap 10 to 20", "read"},
		},
		{
			"the answer to an insert is lost, and another one was first", true,
			script{swaps: []any{errLost, errLost}, rows: []versioned.Row{recent(rowAt(15, "x", 0), begin(0, 15))}},
			nil, "never applied, conflict with 15",
			[]string{"swap 0 to 20", "swap 0 to 20", "read"},
		},
		{
			"the answer to an insert is lost, and another one followed a delete", true,
			script{swaps: []any{errLost, errLost}, rows: []versioned.Row{recent(rowAt(30, "x", 0), begin(25, 30))}},
			nil, "unknown, lost",
			[]string{"swap 0 to 20", "swap 0 to 20", "read"},
		},
		{"refused", false, script{swaps: []any{errRefused}}, nil, "not applied, refused", []string{"swap 10 to 20"}},
		{
			"lost, then refused", false,
			script{swaps: []any{errLost, errRefused}, rows: []versioned.Row{rowAt(10, "x", 0)}},
			nil, "unknown, refused",
			[]string{"swap 10 to 20", "swap 10 to 20", "read"},
		},
		{
			"lost", false,
			script{swaps: []any{errLost}, rows: []versioned.Row{rowAt(10, "x", 0)}},
			nil, "unknown, lost",
			[]string{"swap 10 to 20", "swap 10 to 20", "read"},
		},
		{
			"an unfinished write", false,
			script{swaps: []any{refused(10), applied}, rows: []versioned.Row{rowAt(10, "x", 10)}},
			nil, "applied",
			[]string{"swap 10 to 20", "read", "apply x at 10 [keys10]", "finish 10", "swap 10 to 20"},
		},
		{
			"an unfinished write that cannot be finished", false,
			script{swaps: []any{refused(10)}, rows: []versioned.Row{rowAt(10, "x", 10)}, fails: "finish 10"},
			nil,
			"not applied, refused",
			[]string{"swap 10 to 20", "read", "apply x at 10 [keys10]", "finish 10"},
		},
		{
			"an insert over a fence", true,
			script{swaps: []any{refused(15), applied}, rows: []versioned.Row{rowAt(15, nil, 0)}},
			nil, "applied",
			[]string{"swap 0 to 20", "read", "renew", "swap 15 to 20"},
		},
		{
			"an insert over an unfinished fence", true,
			script{swaps: []any{refused(15), applied}, rows: []versioned.Row{rowAt(15, nil, 15)}},
			nil, "applied",
			[]string{"swap 0 to 20", "read", "apply <nil> at 15 [keys15]", "forget 15", "renew", "swap 15 to 20"},
		},
		{
			"an insert over an unfinished fence that has expired", true,
			script{swaps: []any{refused(0), applied}, rows: []versioned.Row{rowAt(0, nil, 15)}},
			nil, "applied",
			[]string{"swap 0 to 20", "read", "apply <nil> at 15 [keys15]", "forget 15", "renew", "swap 0 to 20"},
		},
		{
			"an insert behind a fence", true,
			script{swaps: []any{refused(20_000)}, rows: []versioned.Row{rowAt(20_000, nil, 0)}},
			nil,
			"not applied, behind 20000",
			[]string{"swap 0 to 20", "read"},
		},
		{
			"an insert at the very time of a fence", true,
			script{swaps: []any{versioned.Reply{Version: other}}, rows: []versioned.Row{{Version: other}}},
			nil,
			"not applied, behind 20",
			[]string{"swap 0 to 20", "read"},
		},
		{
			"an insert behind a fence that has expired", true,
			script{swaps: []any{refused(0)}, rows: []versioned.Row{rowAt(0, nil, 30)}},
			nil,
			"not applied, behind 30",
			[]string{"swap 0 to 20", "read"},
		},
		{
			"an insert that may have been deleted", true,
			script{swaps: []any{errLost, refused(30)}, rows: []versioned.Row{rowAt(30, nil, 0)}},
			nil, "unknown, conflict with 30",
			[]string{"swap 0 to 20", "swap 0 to 20", "read"},
		},
		{
			"an insert of what is there", true,
			script{swaps: []any{refused(15)}, rows: []versioned.Row{rowAt(15, "x", 0)}},
			nil,
			"not applied, conflict with 15",
			[]string{"swap 0 to 20", "read"},
		},
		{
			"an insert whose claims are gone", true,
			script{swaps: []any{refused(15)}, rows: []versioned.Row{rowAt(15, nil, 0)}},
			versioned.ErrTaken,
			"not applied, " + versioned.ErrTaken.Error(),
			[]string{"swap 0 to 20", "read", "renew"},
		},
		{
			"an insert, the row cannot be read", true,
			script{swaps: []any{refused(15)}, fails: "read"},
			nil,
			"not applied, refused",
			[]string{"swap 0 to 20", "read"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			swap := versioned.Swap{Before: at(10), Live: !tt.insert, Version: at(20), After: "y"}
			if tt.insert {
				swap.Before = gocql.UUID{}
			}
			r := versioned.Settle(t.Context(), &tt.store, swap, tt.insert, func(context.Context) error {
				_ = tt.store.note("renew")
				return tt.renew
			})
			if got := result(&r); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if !slices.Equal(tt.store.asked, tt.asked) {
				t.Errorf("asked %q, want %q", tt.store.asked, tt.asked)
			}
		})
	}
}

func result(r *versioned.Result) string {
	out := [...]string{"unknown", "applied", "not applied"}[r.Outcome]
	if r.Never {
		out = "never applied"
	}
	if r.Conflict {
		out += fmt.Sprintf(", conflict with %d", entity.Timestamp(r.Row.Version))
	}
	if r.Behind != (gocql.UUID{}) {
		out += fmt.Sprintf(", behind %d", entity.Timestamp(r.Behind))
	}
	if r.Err != nil {
		out += ", " + r.Err.Error()
	}
	return out
}

// TestSettleEnds wants an end where other writers are always first, and where the call is over.
func TestSettleEnds(t *testing.T) {
	t.Parallel()
	swap := versioned.Swap{Before: at(10), Live: true, Version: at(20)}
	s := script{swaps: []any{refused(10)}, rows: slices.Repeat([]versioned.Row{rowAt(10, "x", 10)}, 100)}
	r := versioned.Settle(t.Context(), &s, swap, false, nil)
	if r.Outcome != retry.NotApplied || !errors.Is(r.Err, decide.ErrRounds) {
		t.Errorf("%s", result(&r))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s = script{swaps: []any{refused(10)}}
	r = versioned.Settle(ctx, &s, swap, false, nil)
	if r.Outcome != retry.NotApplied || !errors.Is(r.Err, context.Canceled) || s.asked != nil {
		t.Errorf("%s, asked %q", result(&r), s.asked)
	}
}

// TestRollForwardOrder wants a row to stay unfinished until what is pending is done.
func TestRollForwardOrder(t *testing.T) {
	t.Parallel()
	s := script{fails: "apply x at 10 [keys10]"}
	if err := versioned.RollForward(t.Context(), &s, rowAt(10, "x", 10)); !errors.Is(err, errRefused) ||
		len(s.asked) != 1 {
		t.Errorf("%v, asked %q", err, s.asked)
	}
	s = script{}
	if err := versioned.RollForward(t.Context(), &s, rowAt(10, "x", 0)); err != nil || s.asked != nil {
		t.Errorf("%v, asked %q", err, s.asked)
	}
}
