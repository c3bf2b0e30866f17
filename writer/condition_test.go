package writer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// The outcome of a write with a condition, for what a lightweight transaction can answer.
func TestConditionOutcomes(t *testing.T) {
	t.Parallel()
	before := newItem()
	after := before
	after.Shelf = "b"
	other := decide.Version(time.Now().UnixMicro(), 2)
	gone := scripted{row: map[string]any{"version": other}}
	read := scripted{found: item("c", other)}
	for name, tc := range map[string]struct {
		steps    []scripted
		base     Outcome
		rest     Outcome // of the query table
		conflict bool
		asked    string
	}{
		"applied":                            {nil, Applied, Applied, false, "UPDATE DELETE"},
		"refused, then applied":              {[]scripted{{err: errUnavailableAt(gocql.ErrCodeBootstrapping)}}, Applied, Applied, false, "UPDATE UPDATE DELETE"},
		"answer lost, another version found": {[]scripted{{err: errLost}, gone, read}, Unknown, Unknown, true, "UPDATE UPDATE SELECT"},
		"answer lost, and it was not":        {[]scripted{{err: errLost}, {applied: true}}, Applied, Applied, false, "UPDATE UPDATE DELETE"},
		"every answer lost":                  {[]scripted{{err: errLost}, {err: errLost}, {err: errLost}}, Unknown, Unknown, false, "UPDATE UPDATE UPDATE"},
		"another write came first":           {[]scripted{gone, read}, NotApplied, NotApplied, true, "UPDATE SELECT"},
		"it, and the row cannot be read":     {[]scripted{gone, {err: errSyntax}}, NotApplied, NotApplied, true, "UPDATE SELECT"},
		"not a valid statement":              {[]scripted{{err: errSyntax}}, NotApplied, NotApplied, false, "UPDATE"},
		"answer lost, then not a valid one":  {[]scripted{{err: errLost}, {err: errSyntax}}, Unknown, Unknown, false, "UPDATE UPDATE"},
		"decided, but not yet seen by reads": {[]scripted{{err: errSimple}, {applied: true}}, Applied, Applied, false, "UPDATE UPDATE DELETE"},
		"the entry cannot be cleared":        {[]scripted{{applied: true}, {err: errSyntax}}, Applied, Applied, false, "UPDATE DELETE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, x, e := conditional(tc.steps)
			result, err := w.Write(t.Context(), "moveItem", itemSet(t).Update(before, after))
			_ = w.Wait(t.Context())
			if got := x.asked(); got != tc.asked {
				t.Errorf("sent %s, want %s", got, tc.asked)
			}
			if tc.base == Applied {
				if err != nil || len(e.sent()) != 2 || decide.Timestamp(result.Version) != result.Timestamp || result.Mode != Conditional {
					t.Errorf("%+v, %v, %d requests to the query table", result, err, len(e.sent()))
				}
				return
			}
			var failed *Error
			if !errors.As(err, &failed) || len(failed.Tables) != 2 {
				t.Fatalf("%v", err)
			}
			if failed.Tables[0].Outcome != tc.base || failed.Tables[1].Outcome != tc.rest || len(e.sent()) > 0 {
				t.Errorf("%v, and %d requests to the query table", failed, len(e.sent()))
			}
			if errors.Is(err, ErrConflict) != tc.conflict || failed.NotApplied() != (tc.base == NotApplied) || errors.Is(err, ErrUnknown) != (tc.base == Unknown) {
				t.Errorf("%v: conflict %t, not applied %t, unknown %t", err, errors.Is(err, ErrConflict), failed.NotApplied(), errors.Is(err, ErrUnknown))
			}
			if failed.Resumable() == tc.conflict {
				t.Errorf("%v: resumable %t", err, failed.Resumable())
			}
			row, ok := Current[Piece](err)
			if want := tc.conflict && !strings.Contains(name, "cannot be read"); ok != want || ok && (row.Shelf != "c" || row.Count != 7 || row.Version != other) {
				t.Errorf("the row as it is: %+v, %t", row, ok)
			}
		})
	}
}

func errUnavailableAt(code int) error { return answer{code, "bootstrapping"} }

// A repeated transaction that finds its own version was applied the first time.
func TestOwnVersionIsApplied(t *testing.T) {
	t.Parallel()
	w, x, _ := conditional(nil)
	own := scripted{err: errLost}
	x.steps = []scripted{own}
	recorded := make(chan gocql.UUID, 1)
	w.transact = ownVersion{x, recorded}
	before := newItem()
	if result, err := w.Write(t.Context(), "countItem", itemSet(t).Update(before, before)); err != nil || result.Version != <-recorded {
		t.Errorf("%+v, %v", result, err)
	}
}

// ownVersion answers every swap but the first as a row would that has the version of the first.
type ownVersion struct {
	*fakeTransactor
	version chan gocql.UUID
}

func (x ownVersion) Swap(ctx context.Context, statements []statement.Bound, o decide.Options) (bool, map[string]any, error) {
	if applied, row, err := x.fakeTransactor.Swap(ctx, statements, o); err != nil {
		return applied, row, err
	}
	for _, a := range statements[0].Args {
		if v, ok := a.(*cqltype.Value); ok && v.Type.String() == "timeuuid" {
			id, err := gocql.UUIDFromBytes(v.Data)
			x.version <- id
			return false, map[string]any{"version": id}, err
		}
	}
	return false, nil, errors.New("no version in the statement")
}

// An insert that meets the fence of a delete as young as itself is made again above it.
func TestInsertOverAFence(t *testing.T) {
	t.Parallel()
	fence := decide.Version(time.Now().Add(2*time.Second).UnixMicro(), 3)
	met := scripted{row: map[string]any{"version": fence}}
	read := scripted{found: func(dest []any) { *dest[2].(*gocql.UUID) = fence }} //nolint:forcetypeassert // as above
	w, x, e := conditional([]scripted{met, read, met, read})
	result, err := w.Write(t.Context(), "addItem", itemSet(t).Insert(newItem()))
	if err != nil || decide.Timestamp(result.Version) <= decide.Timestamp(fence) {
		t.Errorf("%+v, %v", result, err)
	}
	_ = w.Wait(t.Context())
	if got := x.asked(); got != "UPDATE SELECT UPDATE SELECT UPDATE DELETE" {
		t.Errorf("sent %s", got)
	}
	if want := 5 + len(e.sent()); result.Attempts != want { // what comes after the query tables is not counted
		t.Errorf("%d attempts, want %d", result.Attempts, want)
	}
	w, x, e = conditional([]scripted{met, read, met, read, {err: errSyntax}})
	result, err = w.Write(t.Context(), "addItem", itemSet(t).Insert(newItem()))
	if failed := asError(t, err); failed.Tables[0].Attempts != 5 || result.Attempts != 5 || len(e.sent()) > 0 {
		t.Errorf("%d and %d attempts, sent %s: %v", result.Attempts, failed.Tables[0].Attempts, x.asked(), err)
	}
	w, _, _ = conditional([]scripted{met, read}, At(time.Now().UnixMicro()))
	if _, err := w.Write(t.Context(), "addItem", itemSet(t).Insert(newItem())); !errors.Is(err, ErrConflict) {
		t.Errorf("at a timestamp that is pinned: %v", err)
	}
}

// A transaction that ignores its context does not keep the call.
func TestConditionEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, x, _ := conditional(nil)
		x.block = make(chan struct{})
		defer close(x.block)
		before := newItem()
		over, cancel := context.WithCancel(t.Context())
		cancel()
		ends, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, test := range []struct {
			name string
			ctx  context.Context
			want Outcome
		}{{"cancelled before", over, NotApplied}, {"in the middle", ends, Unknown}} {
			_, err := w.Write(test.ctx, "countItem", itemSet(t).Update(before, before))
			if e := asError(t, err); e.Tables[0].Outcome != test.want {
				t.Errorf("%s: %v", test.name, err)
			}
		}
	})
}

// Modify begins again after a conflict, from the row as it is then, and ends if it cannot be read.
func TestModifyAfterAConflict(t *testing.T) {
	t.Parallel()
	first, second := newItem(), decide.Version(time.Now().UnixMicro(), 9)
	gone := scripted{row: map[string]any{"version": second}}
	for name, tc := range map[string]struct {
		steps []scripted
		want  error
		calls int
	}{
		"and then it applies":        {[]scripted{{found: item("a", first.Version)}, gone, {found: item("c", second)}}, nil, 2},
		"and the row is gone":        {[]scripted{{found: item("a", first.Version)}, gone, {}, {}}, ErrNotFound, 1},
		"and the row cannot be read": {[]scripted{{found: item("a", first.Version)}, gone, {err: errSyntax}, {err: errSyntax}}, errSyntax, 1},
	} {
		w, x, _ := conditional(tc.steps)
		calls := 0
		row, err := Modify(t.Context(), w, "countItem", itemSet(t), first, func(i Piece) (Piece, error) {
			calls++
			i.Count++
			return i, nil
		})
		if !errors.Is(err, tc.want) || calls != tc.calls || err == nil && (row.Shelf != "c" || row.Count != 8 || row.Version == second) {
			t.Errorf("%s: %+v, %v after %d calls, sent %s", name, row, err, calls, x.asked())
		}
	}
}

// What another client left unfinished, and cannot be finished, is not said to be the outcome of the write that met it.
func TestUnfinishedWriteInTheWay(t *testing.T) {
	t.Parallel()
	before := newItem()
	met := scripted{row: map[string]any{"version": before.Version, "pending": map[gocql.UUID][]byte{before.Version: nil}}}
	read := scripted{found: func(dest []any) {
		item("a", before.Version)(dest)
		*dest[3].(*map[gocql.UUID][]byte) = map[gocql.UUID][]byte{before.Version: nil} //nolint:forcetypeassert // as Select gives
	}}
	w, _, e := conditional([]scripted{met, read})
	e.answer = fail("", errSyntax, errSyntax, errSyntax, errSyntax)
	_, err := w.Write(t.Context(), "countItem", itemSet(t).Update(before, before))
	var failed *Error
	if !errors.As(err, &failed) || !failed.NotApplied() || errors.Is(err, ErrUnknown) || errors.Is(err, ErrPartial) || !errors.Is(err, errSyntax) {
		t.Errorf("%v", err)
	}
	if n := len(e.sent()); n != 1 {
		t.Errorf("%d requests to the query table", n)
	}
}

// Two versions never have one timestamp, and nothing is written above a clock that is far ahead.
func TestVersionsAreApart(t *testing.T) {
	t.Parallel()
	before := newItem()
	w, _, _ := conditional(nil, At(decide.Timestamp(before.Version)))
	if _, err := w.Write(t.Context(), "countItem", itemSet(t).Update(before, before)); !errors.Is(err, ErrInvalid) {
		t.Errorf("At that of the before-image: %v", err)
	}
	fence := decide.Version(time.Now().Add(time.Hour).UnixMicro(), 3)
	met := scripted{row: map[string]any{"version": fence}}
	read := scripted{found: func(dest []any) { *dest[2].(*gocql.UUID) = fence }} //nolint:forcetypeassert // as above
	w, x, _ := conditional([]scripted{met, read})
	if _, err := w.Write(t.Context(), "addItem", itemSet(t).Insert(before)); !errors.Is(err, ErrConflict) || x.asked() != "UPDATE SELECT" {
		t.Errorf("over a fence far ahead: %v, sent %s", err, x.asked())
	}
}

// Explain says of a versioned write that a condition comes first, however few requests follow.
func TestExplainConditions(t *testing.T) {
	t.Parallel()
	w, _, _ := conditional(nil)
	var b strings.Builder
	for _, changes := range [][]tables.Change{
		{itemSet(t).Insert(newItem())},
		{itemSet(t).Delete(newItem())},
		{seatSet(t).Insert(newItem())},
		{benchSet(t).Insert(bench{Hall: "a", Seat: 1}), benchSet(t).Delete(bench{Hall: "a", Seat: 2})},
		{itemSet(t).Insert(newItem()), orderSet(t).Insert(newOrder(Open))},
	} {
		p, err := w.Explain("changeItem", changes...)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(p.String() + "\n")
	}
	golden.Check(t, "conditions.golden", b.String())
}
