package writer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// The outcome of a write with a condition, for what a lightweight transaction can answer.
func TestConditionOutcomes(t *testing.T) {
	t.Parallel()
	before := newItem()
	after := before
	after.Shelf = "b"
	other := entity.Version(time.Now().UnixMicro(), 2)
	gone := scripted{row: map[string]any{"version": other}}
	read := scripted{found: item("c", other)}
	for name, tc := range map[string]struct {
		steps    []scripted
		base     Outcome
		rest     Outcome // of the query table
		conflict bool
		asked    string
	}{
		"applied": {nil, Applied, Applied, false, "UPDATE FINISH"},
		"refused, then applied": {
			[]scripted{{err: errUnavailableAt(gocql.ErrCodeBootstrapping)}},
			Applied,
			Applied, false, "UPDATE UPDATE FINISH",
		},
		"answer lost, another version found": {
			[]scripted{{err: errLost}, gone, read},
			Unknown, Unknown, true,
			"UPDATE UPDATE SELECT",
		},
		"answer lost, and it was not": {
			[]scripted{{err: errLost}, {applied: true}},
			Applied, Applied, false,
			"UPDATE UPDATE FINISH",
		},
		"every answer lost": {
			[]scripted{{err: errLost}, {err: errLost}, {err: errLost}},
			Unknown, Unknown,
			false, "UPDATE UPDATE UPDATE SELECT",
		},
		"no quorum at SERIAL": {
			slices.Repeat([]scripted{{err: errNoSerial}}, 3), NotApplied, NotApplied,
			false, "UPDATE UPDATE UPDATE",
		},
		"no quorum at SERIAL, then applied": {
			[]scripted{{err: errNoSerial}, {applied: true}},
			Applied, Applied, false,
			"UPDATE UPDATE FINISH",
		},
		"no quorum for the commit": {
			slices.Repeat([]scripted{{err: errUnavailable}}, 3), Unknown, Unknown, false,
			"UPDATE UPDATE UPDATE SELECT",
		},
		"answer lost, then no quorum": {
			[]scripted{{err: errLost}, {err: errNoSerial}, {err: errNoSerial}},
			Unknown,
			Unknown, false, "UPDATE UPDATE UPDATE SELECT",
		},
		"another write came first": {[]scripted{gone, read}, NotApplied, NotApplied, true, "UPDATE SELECT"},
		"it, and the row cannot be read": {
			[]scripted{gone, {err: errSyntax}},
			NotApplied, NotApplied, true,
			"UPDATE SELECT",
		},
		"not a valid statement": {[]scripted{{err: errSyntax}}, NotApplied, NotApplied, false, "UPDATE"},
		"answer lost, then not a valid one": {
			[]scripted{{err: errLost}, {err: errSyntax}},
			Unknown, Unknown, false,
			"UPDATE UPDATE SELECT",
		},
		"decided, but not yet seen by reads": {
			[]scripted{{err: errSimple}, {applied: true}},
			Applied, Applied, false,
			"UPDATE UPDATE FINISH",
		},
		"it cannot be said to be done": {
			[]scripted{{applied: true}, {err: errSyntax}},
			Applied, Applied, false,
			"UPDATE FINISH",
		},
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
				if err != nil || len(e.sent()) != 2 || entity.Timestamp(result.Version) != result.Timestamp ||
					result.Mode != Conditional {
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
			if errors.Is(err, ErrConflict) != tc.conflict || failed.NotApplied() != (tc.base == NotApplied) ||
				errors.Is(err, ErrUnknown) != (tc.base == Unknown) {
				t.Errorf("%v: conflict %t, not applied %t, unknown %t", err, errors.Is(err, ErrConflict), failed.NotApplied(),
					errors.Is(err, ErrUnknown))
			}
			if failed.Resumable() == tc.conflict {
				t.Errorf("%v: resumable %t", err, failed.Resumable())
			}
			row, ok := Current[Piece](err)
			if want := tc.conflict && !strings.Contains(name, "cannot be read"); ok != want || ok &&
				(row.Shelf != "c" || row.Count != 7 || row.Version != other) {
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
	if result, err := w.Write(t.Context(), "countItem", itemSet(t).Update(before, before)); err != nil ||
		result.Version != <-recorded {
		t.Errorf("%+v, %v", result, err)
	}
}

// ownVersion answers every swap but the first as a row would that has the version of the first.
type ownVersion struct {
	*fakeTransactor
	version chan gocql.UUID
}

func (x ownVersion) Swap(ctx context.Context, statements []statement.Bound, o decide.Options) (bool, map[string]any,
	error,
) {
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
	fence := entity.Version(time.Now().Add(2*time.Second).UnixMicro(), 3)
	met := scripted{row: map[string]any{"version": fence}}
	read := scripted{found: func(dest []any) { *dest[2].(*gocql.UUID) = fence }} //nolint:forcetypeassert // as above
	w, x, e := conditional([]scripted{met, read, met, read})
	result, err := w.Write(t.Context(), "addItem", itemSet(t).Insert(newItem()))
	if err != nil || entity.Timestamp(result.Version) <= entity.Timestamp(fence) {
		t.Errorf("%+v, %v", result, err)
	}
	_ = w.Wait(t.Context())
	if got := x.asked(); got != "UPDATE SELECT UPDATE SELECT UPDATE FINISH" {
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
	first, second := newItem(), entity.Version(time.Now().UnixMicro(), 9)
	gone := scripted{row: map[string]any{"version": second}}
	for name, tc := range map[string]struct {
		steps []scripted
		want  error
		calls int
	}{
		"and then it applies": {
			[]scripted{{found: item("a", first.Version)}, gone, {found: item("c", second)}},
			nil,
			2,
		},
		"and the row is gone": {[]scripted{{found: item("a", first.Version)}, gone, {}, {}}, ErrNotFound, 1},
		"and the row cannot be read": {[]scripted{
			{found: item("a", first.Version)},
			gone,
			{err: errSyntax},
			{err: errSyntax},
		}, errSyntax, 1},
	} {
		w, x, _ := conditional(tc.steps)
		calls := 0
		row, err := Modify(t.Context(), w, "countItem", itemSet(t), first, func(i Piece) (Piece, error) {
			calls++
			i.Count++
			return i, nil
		})
		if !errors.Is(err, tc.want) || calls != tc.calls || err == nil && (row.Shelf != "c" || row.Count != 8 ||
			row.Version == second) {
			t.Errorf("%s: %+v, %v after %d calls, sent %s", name, row, err, calls, x.asked())
		}
	}
}

// What another client left unfinished, and cannot be finished, is not said to be the outcome of the write that met it.
func TestUnfinishedWriteInTheWay(t *testing.T) {
	t.Parallel()
	before := newItem()
	met := scripted{row: map[string]any{"version": before.Version}}
	read := scripted{found: func(dest []any) {
		item("a", before.Version)(dest)
		*dest[4].(*gocql.UUID) = gocql.UUID{} //nolint:forcetypeassert // it is not done
	}}
	w, _, e := conditional([]scripted{met, read})
	e.answer = fail("", errSyntax, errSyntax, errSyntax, errSyntax)
	_, err := w.Write(t.Context(), "countItem", itemSet(t).Update(before, before))
	var failed *Error
	if !errors.As(err, &failed) || !failed.NotApplied() || errors.Is(err, ErrUnknown) || errors.Is(err, ErrPartial) ||
		!errors.Is(err, errSyntax) {
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
	w, _, _ := conditional(nil, At(entity.Timestamp(before.Version)))
	if _, err := w.Write(t.Context(), "countItem", itemSet(t).Update(before, before)); !errors.Is(err, ErrInvalid) {
		t.Errorf("At that of the before-image: %v", err)
	}
	fence := entity.Version(time.Now().Add(time.Hour).UnixMicro(), 3)
	met := scripted{row: map[string]any{"version": fence}}
	read := scripted{found: func(dest []any) { *dest[2].(*gocql.UUID) = fence }} //nolint:forcetypeassert // as above
	w, x, _ := conditional([]scripted{met, read})
	if _, err := w.Write(t.Context(), "addItem", itemSet(t).Insert(before)); !errors.Is(err, ErrConflict) ||
		x.asked() != "UPDATE SELECT" {
		t.Errorf("over a fence far ahead: %v, sent %s", err, x.asked())
	}
}

// A change of a set with Compare that finds the row as it wanted to make it, after an answer was lost, does not claim
// it: another may have made it so.
func TestCompareAfterALostAnswer(t *testing.T) {
	t.Parallel()
	before := newItem()
	after := before
	after.Count, after.Version = 7, gocql.UUID{}
	made := scripted{found: func(dest []any) {
		item("a", gocql.UUID{})(dest[:2])
		u, _ := dest[2].(gocql.Unmarshaler)
		_ = u.UnmarshalCQL(nil, make([]byte, 16))
	}}
	for name, tc := range map[string]struct {
		steps []scripted
		want  Outcome
	}{
		"it is made":           {[]scripted{{err: errLost}, {}, made}, Unknown},
		"it is made now":       {[]scripted{{err: errLost}, {applied: true}}, Applied},
		"it is made by others": {[]scripted{{}, made}, NotApplied},
		"it is not there":      {[]scripted{{err: errLost}, {}, {}}, Unknown},
	} {
		w, _, _ := conditional(tc.steps)
		_, err := w.Write(t.Context(), "takeSeat", seatSet(t).Update(before, after))
		var failed *Error
		switch {
		case err == nil && tc.want == Applied:
		case !errors.As(err, &failed) || failed.Tables[0].Outcome != tc.want || !errors.Is(err, ErrConflict):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// With a Mark, a change of a set with Compare knows itself again after a lost answer, and nobody else's for its own.
func TestMarkAfterALostAnswer(t *testing.T) {
	t.Parallel()
	before := newItem()
	after := before
	after.Count = 7
	for _, own := range []bool{true, false} {
		w, x, _ := conditional([]scripted{{err: errLost}})
		w.transact = markedRow{x, own, new(atomic.Pointer[[]byte])}
		_, err := w.Write(t.Context(), "takeSeat", markedSet(t).Update(before, after))
		if (err == nil) != own || !own && (!errors.Is(err, ErrConflict) || !errors.Is(err, ErrUnknown)) {
			t.Errorf("the row has the own mark: %t, and Write says %v", own, err)
		}
	}
}

// markedRow rejects every swap after the first, and then has the row that it wanted to make, with its mark or another.
type markedRow struct {
	*fakeTransactor
	own  bool
	mark *atomic.Pointer[[]byte]
}

func (x markedRow) Swap(ctx context.Context, statements []statement.Bound, o decide.Options) (bool, map[string]any,
	error,
) {
	for _, a := range statements[0].Args {
		if v, ok := a.(*cqltype.Value); ok && v.Type.String() == "uuid" && len(x.sentMarks()) == 0 {
			mark := append([]byte{}, v.Data...)
			x.mark.Store(&mark)
		}
	}
	if _, _, err := x.fakeTransactor.Swap(ctx, statements, o); err != nil {
		return false, nil, err
	}
	return false, nil, nil
}

func (x markedRow) sentMarks() []byte {
	if m := x.mark.Load(); m != nil {
		return *m
	}
	return nil
}

func (x markedRow) Read(_ context.Context, _ statement.Bound, dest []any, _ bool, _ decide.Options) (bool, error) {
	mark := x.sentMarks()
	if !x.own {
		mark = make([]byte, 16)
	}
	for i, data := range [][]byte{[]byte("a"), {0, 0, 0, 7}, mark} {
		u, _ := dest[i].(gocql.Unmarshaler)
		_ = u.UnmarshalCQL(nil, data)
	}
	return true, nil
}

// A write whose condition is not known to hold is stored, read back elsewhere and finished there with the same version.
func TestConditionIsStoredAndResumed(t *testing.T) {
	t.Parallel()
	before := newItem()
	after := before
	after.Shelf = "b"
	counted := before
	counted.Count++
	for name, change := range map[string]tables.Change{
		"versioned": itemSet(t).Update(before, after), "delete": itemSet(t).Delete(before), "insert": itemSet(t).
				Insert(before),
		"compare": seatSet(t).Update(before, counted), "mark": markedSet(t).Update(before, counted),
		"compare: insert": seatSet(t).Insert(after),
	} {
		w, _, _ := conditional([]scripted{{err: errLost}, {err: errLost}, {err: errLost}})
		result, err := w.Write(t.Context(), "moveItem", change)
		var failed, stored *Error
		if !errors.As(err, &failed) {
			t.Fatalf("%s: %v", name, err)
		}
		data, err := failed.MarshalBinary()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		stored = new(Error)
		if err := stored.UnmarshalBinary(data); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if stored.Error() != failed.Error() {
			t.Errorf("%s: %v, stored %v", name, failed, stored)
		}
		want, got := failed.decision.First().Statements(), stored.decision.First().Statements()
		if strings.Join(got, "\n") != strings.ReplaceAll(strings.Join(want, "\n"), " = null, ", " = ?, ") {
			// of a delete the types are stored
			t.Errorf("%s: stored as\n%s\nwant\n%s", name, got, want)
		}
		again, _, e := conditional(nil)
		resumed, err := again.Resume(t.Context(), stored)
		if err != nil || resumed.Version != result.Version || resumed.Timestamp != result.Timestamp {
			t.Errorf("%s: resumed as %+v, %v, was %+v", name, resumed, err, result)
		}
		if wantSent := len(failed.requests); len(e.sent()) != wantSent {
			t.Errorf("%s: %d requests after the condition, want %d", name, len(e.sent()), wantSent)
		}
	}
}

// An insert with a condition that is older than deletes are surely remembered for is rejected, by At and by Resume.
func TestOldInsertsAreRefused(t *testing.T) {
	t.Parallel()
	then := time.Now().Add(-oldestInsert - time.Minute)
	w, x, _ := conditional(nil, At(then.UnixMicro()))
	if _, err := w.Write(t.Context(), "addItem", itemSet(t).Insert(newItem())); !errors.Is(err, ErrInvalid) ||
		x.asked() != "" {
		t.Errorf("At: %v, sent %q", err, x.asked())
	}
	lost := []scripted{{err: errLost}, {err: errLost}, {err: errLost}}
	for name, change := range map[string]tables.Change{"insert": itemSet(t).Insert(newItem()), "delete": itemSet(t).
		Delete(newItem())} {
		if name == "delete" { // the version of its before-image has to be older
			before := newItem()
			before.Version = entity.Version(then.Add(-time.Hour).UnixMicro(), 1)
			change = itemSet(t).Delete(before)
		}
		w, _, _ := conditional(lost, WithClock(fixed(then)))
		_, err := w.Write(t.Context(), "addItem", change)
		var failed *Error
		if !errors.As(err, &failed) {
			t.Fatal(err)
		}
		later, _, _ := conditional(nil)
		if _, err := later.Resume(t.Context(), failed); errors.Is(err, ErrExpired) != (name == "insert") {
			t.Errorf("Resume of the %s: %v", name, err)
		}
	}
}

// What is not known of a condition stays so when a Resume cannot even begin: the schema cannot be read.
func TestResumeThatCannotBegin(t *testing.T) {
	t.Parallel()
	w, _, _ := conditional([]scripted{{err: errLost}, {err: errLost}, {err: errLost}})
	_, err := w.Write(t.Context(), "countItem", itemSet(t).Update(newItem(), newItem()))
	var failed *Error
	if !errors.As(err, &failed) {
		t.Fatal(err)
	}
	blind, _, _ := conditional(nil)
	blind.live.read = func(context.Context, string, string) (liveTable, error) { return liveTable{}, errUnavailable }
	_, err = blind.Resume(t.Context(), failed)
	var again *Error
	if !errors.As(err, &again) || again.NotApplied() || !errors.Is(err, ErrUnknown) || len(again.Tables) != 2 ||
		!again.Resumable() {
		t.Fatal(err)
	}
	able, _, _ := conditional(nil)
	if _, err := able.Resume(t.Context(), again); err != nil {
		t.Error(err)
	}
}

// A write to a Versioned set returns before its row says that it is done, and that is sent though the context of the
// write ends. The next change of the entity waits for it, that of another one does not.
func TestDoneAfterTheAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, x, _ := conditional(nil)
		x.hold = make(chan struct{})
		set, row := itemSet(t), newItem()
		write := func(row Piece) error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			moved := row
			moved.Shelf = "b"
			_, err := w.Write(ctx, "moveItem", set.Update(row, moved))
			return err
		}
		if err := write(row); err != nil || x.asked() != "UPDATE" {
			t.Fatalf("sent %s: %v", x.asked(), err)
		}
		other := newItem()
		other.ItemID = gocql.MustRandomUUID()
		if err := write(other); err != nil || x.asked() != "UPDATE UPDATE" {
			t.Fatalf("of another entity: sent %s: %v", x.asked(), err)
		}
		waits, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.Wait(waits); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait returned %v while a last step was under way", err)
		}
		next := make(chan error)
		go func() { next <- write(row) }()
		synctest.Wait()
		if x.asked() != "UPDATE UPDATE" {
			t.Errorf("the next change has not waited: sent %s", x.asked())
		}
		close(x.hold)
		if err := errors.Join(<-next, w.Wait(t.Context())); err != nil {
			t.Error(err)
		}
		if sent := x.asked(); !strings.HasPrefix(sent, "UPDATE UPDATE FINISH ") || strings.Count(sent, "FINISH") != 3 {
			t.Errorf("sent %s", sent)
		}
	})
}

// A last step that takes long holds up the next change of the entity for a moment only, and ends with the writer's
// Timeout.
func TestDoneThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, x, _ := conditional(nil)
		x.hold = make(chan struct{})
		set, row := itemSet(t), newItem()
		moved := row
		moved.Shelf = "b"
		if _, err := w.Write(t.Context(), "moveItem", set.Update(row, moved)); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		// The row is as the script says: whether it is done is a matter of the tests on nodes.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _ = w.Write(ctx, "moveItem", set.Update(row, moved))
		if x.asked() != "UPDATE UPDATE" {
			t.Errorf("sent %s", x.asked())
		}
		if err := w.Wait(t.Context()); err != nil || time.Since(start) > w.timeout {
			t.Errorf("the last step took %v: %v", time.Since(start), err)
		}
	})
}

// Wait waits for the last steps of earlier writes alone, or it would not return next to a writer that goes on.
func TestWaitNextToWriters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, _, _ := conditional(nil)
		earlier, _ := w.ends.Begin("earlier")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		done := make(chan error)
		go func() { done <- w.Wait(ctx) }()
		synctest.Wait()
		if _, ok := w.ends.Begin("later"); !ok {
			t.Fatal("no place")
		}
		earlier()
		if err := <-done; err != nil {
			t.Errorf("%v, though the removals of earlier writes are done", err)
		}
	})
}
