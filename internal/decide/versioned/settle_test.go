package versioned_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// at is the version of a small time.
func at(n int64) gocql.UUID {
	if n == 0 {
		return gocql.UUID{}
	}
	return decide.Version(n, 7)
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
			args[i] = decide.Timestamp(v)
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

func (s *script) ApplyToQueryTables(_ context.Context, row versioned.Row, version gocql.UUID, keys [][]byte) error {
	return s.note("apply %v at %d %s", row.Columns, version, keys)
}

func (s *script) Clear(_ context.Context, versions []gocql.UUID) error {
	times := make([]int64, len(versions))
	for i, v := range versions {
		times[i] = decide.Timestamp(v)
	}
	return s.note("clear %d", times)
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

func refused(version int64, pending ...int64) versioned.Reply {
	r := versioned.Reply{Version: at(version)}
	for _, p := range pending {
		r.Pending = append(r.Pending, at(p))
	}
	return r
}

func rowAt(version int64, columns any, pending ...int64) versioned.Row {
	r := versioned.Row{Version: at(version), Present: columns != nil, Columns: columns}
	for _, p := range pending {
		if r.Pending == nil {
			r.Pending = make(map[gocql.UUID][]byte)
		}
		r.Pending[at(p)] = fmt.Appendf(nil, "keys%d", p)
	}
	return r
}

func TestSettle(t *testing.T) {
	t.Parallel()
	applied := versioned.Reply{Applied: true}
	other := decide.Version(20, 8)
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
			script{swaps: []any{errLost, refused(20, 20)}},
			nil, "applied",
			[]string{"swap 10 to 20", "swap 10 to 20"},
		},
		{
			"the own version found in pending, a fence expired", false,
			script{swaps: []any{errLost, refused(0, 20)}},
			nil, "applied",
			[]string{"swap 10 to 20", "swap 10 to 20"},
		},
		{
			"conflict", false,
			script{swaps: []any{refused(15)}, rows: []versioned.Row{rowAt(15, "x")}},
			nil, "not applied, conflict with 15",
			[]string{"swap 10 to 20", "read"},
		},
		{
			"conflict with an unfinished write", false,
			script{swaps: []any{refused(15, 15)}, rows: []versioned.Row{rowAt(15, "x", 15)}},
			nil, "not applied, conflict with 15",
			[]string{"swap 10 to 20", "read", "apply x at 15 [keys15]", "clear [15]"},
		},
		{
			"conflict after an answer was lost", false,
			script{swaps: []any{errLost, refused(25)}, rows: []versioned.Row{rowAt(25, "x")}},
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
		{"refused", false, script{swaps: []any{errRefused}}, nil, "not applied, refused", []string{"swap 10 to 20"}},
		{
			"lost, then refused", false,
			script{swaps: []any{errLost, errRefused}},
			nil, "unknown, refused",
			[]string{"swap 10 to 20", "swap 10 to 20"},
		},
		{
			"lost", false,
			script{swaps: []any{errLost}},
			nil, "unknown, lost",
			[]string{"swap 10 to 20", "swap 10 to 20"},
		},
		{
			"an unfinished write, and what is left of an older one", false,
			script{swaps: []any{refused(10, 10, 5), applied}, rows: []versioned.Row{rowAt(10, "x", 10, 5)}},
			nil, "applied",
			[]string{"swap 10 to 20", "read", "apply x at 10 [keys5 keys10]", "clear [5 10]", "swap 10 to 20"},
		},
		{
			"an unfinished write that cannot be finished", false,
			script{swaps: []any{refused(10, 10)}, rows: []versioned.Row{rowAt(10, "x", 10)}, fails: "clear [10]"},
			nil,
			"not applied, refused",
			[]string{"swap 10 to 20", "read", "apply x at 10 [keys10]", "clear [10]"},
		},
		{
			"an insert over a fence", true,
			script{swaps: []any{refused(15), applied}, rows: []versioned.Row{rowAt(15, nil)}},
			nil, "applied",
			[]string{"swap 0 to 20", "read", "renew", "swap 15 to 20"},
		},
		{
			"an insert over an unfinished fence", true,
			script{swaps: []any{refused(15, 15), applied}, rows: []versioned.Row{rowAt(15, nil, 15)}},
			nil, "applied",
			[]string{"swap 0 to 20", "read", "apply <nil> at 15 [keys15]", "clear [15]", "renew", "swap 15 to 20"},
		},
		{
			"an insert over an unfinished fence that has expired", true,
			script{swaps: []any{refused(0, 12, 15), applied}, rows: []versioned.Row{rowAt(0, nil, 12, 15)}},
			nil, "applied",
			[]string{"swap 0 to 20", "read", "apply <nil> at 15 [keys12 keys15]", "clear [12 15]", "renew", "swap 0 to 20"},
		},
		{
			"an insert behind a fence", true,
			script{swaps: []any{refused(20_000)}, rows: []versioned.Row{rowAt(20_000, nil)}},
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
			script{swaps: []any{refused(0, 30)}, rows: []versioned.Row{rowAt(0, nil, 30)}},
			nil,
			"not applied, behind 30",
			[]string{"swap 0 to 20", "read"},
		},
		{
			"an insert that may have been deleted", true,
			script{swaps: []any{errLost, refused(30)}, rows: []versioned.Row{rowAt(30, nil)}},
			nil, "unknown, conflict with 30",
			[]string{"swap 0 to 20", "swap 0 to 20", "read"},
		},
		{
			"an insert of what is there", true,
			script{swaps: []any{refused(15)}, rows: []versioned.Row{rowAt(15, "x")}},
			nil,
			"not applied, conflict with 15",
			[]string{"swap 0 to 20", "read"},
		},
		{
			"an insert whose claims are gone", true,
			script{swaps: []any{refused(15)}, rows: []versioned.Row{rowAt(15, nil)}},
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
			swap := versioned.Swap{Before: at(10), Version: at(20), After: "y"}
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
	if r.Conflict {
		out += fmt.Sprintf(", conflict with %d", decide.Timestamp(r.Row.Version))
	}
	if r.Behind != (gocql.UUID{}) {
		out += fmt.Sprintf(", behind %d", decide.Timestamp(r.Behind))
	}
	if r.Err != nil {
		out += ", " + r.Err.Error()
	}
	return out
}

// TestSettleEnds wants an end where other writers are always first, where nothing that is removed goes, and where the call is over.
func TestSettleEnds(t *testing.T) {
	t.Parallel()
	swap := versioned.Swap{Before: at(10), Version: at(20)}
	var others []versioned.Row // each of which has left something else
	for n := range int64(100) {
		others = append(others, rowAt(10, "x", 30+n))
	}
	s := script{swaps: []any{refused(10, 10)}, rows: others}
	r := versioned.Settle(t.Context(), &s, swap, false, nil)
	if r.Outcome != retry.NotApplied || !errors.Is(r.Err, decide.ErrRounds) {
		t.Errorf("%s", result(&r))
	}
	s = script{swaps: []any{refused(10, 10)}, rows: slices.Repeat([]versioned.Row{rowAt(10, "x", 10)}, 100)}
	r = versioned.Settle(t.Context(), &s, swap, false, nil)
	if r.Outcome != retry.NotApplied || !errors.Is(r.Err, versioned.ErrKept) {
		t.Errorf("what is removed is there again: %s", result(&r))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s = script{swaps: []any{refused(10, 10)}}
	r = versioned.Settle(ctx, &s, swap, false, nil)
	if r.Outcome != retry.NotApplied || !errors.Is(r.Err, context.Canceled) || s.asked != nil {
		t.Errorf("%s, asked %q", result(&r), s.asked)
	}
}

// TestRollForwardOrder wants entries to stay until what they stand for is done.
func TestRollForwardOrder(t *testing.T) {
	t.Parallel()
	s := script{fails: "apply x at 10 [keys10]"}
	if err := versioned.RollForward(t.Context(), &s, rowAt(10, "x", 10)); !errors.Is(err, errRefused) || len(s.asked) != 1 {
		t.Errorf("%v, asked %q", err, s.asked)
	}
	s = script{}
	if err := versioned.RollForward(t.Context(), &s, rowAt(10, "x")); err != nil || s.asked != nil {
		t.Errorf("%v, asked %q", err, s.asked)
	}
}

// Entries that others have written, of any number, are rolled forward some at a time: what is in flight for them is bounded. The last one, which
// is the version of a row that has expired, goes last.
func TestRollForwardOfManyEntries(t *testing.T) {
	t.Parallel()
	var pending []int64
	for v := range int64(100) {
		pending = append(pending, v+1)
	}
	var s script
	if err := versioned.RollForward(t.Context(), &s, rowAt(0, nil, pending...)); err != nil {
		t.Fatal(err)
	}
	var cleared []string
	for i := 0; i+1 < len(s.asked); i += 2 {
		apply, removal := s.asked[i], s.asked[i+1]
		entries := strings.Fields(strings.Trim(strings.TrimPrefix(removal, "clear "), "[]"))
		if !strings.HasPrefix(apply, "apply <nil> at 100 [keys"+entries[0]+" ") || !strings.HasSuffix(apply, "keys"+entries[len(entries)-1]+"]") ||
			len(entries) > 50 {
			t.Errorf("%s; %s", apply, removal)
		}
		cleared = append(cleared, entries...)
	}
	if want := strings.Fields(strings.Trim(fmt.Sprint(pending), "[]")); !slices.Equal(cleared, want) {
		t.Errorf("cleared %v", cleared)
	}
	if len(s.asked) < 4 {
		t.Fatalf("asked %q", s.asked)
	}
	s = script{fails: s.asked[2]}
	if err := versioned.RollForward(t.Context(), &s, rowAt(0, nil, pending...)); !errors.Is(err, errRefused) || len(s.asked) != 3 {
		t.Errorf("%v, asked %q", err, s.asked)
	}
}
