package writer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// requestEnds is a tracer that keeps how requests have begun and ended.
type requestEnds struct {
	session.Tracer

	begun int
	ends  []session.RequestEnd
}

func (r *requestEnds) TraceStart(ctx context.Context, _ session.OperationStart) context.Context {
	return ctx
}
func (r *requestEnds) TraceEnd(context.Context, session.OperationEnd) {}

func (r *requestEnds) TraceRequestStart(ctx context.Context, _ session.RequestStart) context.Context {
	r.begun++
	return ctx
}

func (r *requestEnds) TraceRequestEnd(_ context.Context, d session.RequestEnd) {
	r.ends = append(r.ends, d)
}

// A tracer is told of a conflict also where all rows are as they were read again.
func TestTracerOfConflictThatIsOver(t *testing.T) {
	t.Parallel()
	set := mustSet[Piece](t, "seat", tables.Table{Name: "seats", PartKey: []string{"shelf"}, SortKey: []string{"item_id"}},
		tables.Compare("count"))
	one, two := newItem(), newItem()
	two.ItemID = gocql.MustRandomUUID()
	one.Count, two.Count = 7, 7
	taken := func(p Piece) Piece { p.Count++; return p }
	read := scripted{found: func(dest []any) {
		u, _ := dest[0].(gocql.Unmarshaler)
		_ = u.UnmarshalCQL(nil, []byte{0, 0, 0, 7})
	}}
	told := &requestEnds{}
	w, _, _ := conditional([]scripted{{}, read, read}, traced(told))
	_, err := w.Write(t.Context(), "take", set.Update(one, taken(one)), set.Update(two, taken(two)))
	if !errors.Is(err, ErrConflict) || !errors.Is(err, decide.ErrChanged) {
		t.Fatal(err)
	}
	if len(told.ends) != 1 || told.ends[0].Reason != "conflict" || !errors.Is(told.ends[0].Err, decide.ErrChanged) {
		t.Errorf("told %+v", told.ends)
	}
}

// While a change waits for what the one before has left to its end, nothing has begun, and no request is timed.
func TestNothingBeginsWhileAChangeWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told := &requestEnds{}
		w, x, _ := conditional(nil)
		x.hold = make(chan struct{})
		set, row := itemSet(t), newItem()
		moved := row
		moved.Shelf = "b"
		if _, err := w.Write(t.Context(), "move", set.Update(row, moved)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := w.With(traced(told)).Write(ctx, "move", set.Update(row, moved))
		if !errors.Is(err, fanout.ErrUnbegun) || OutcomeOf(err) != NotApplied || told.begun != 0 {
			t.Errorf("%d requests begun: %v", told.begun, err)
		}
		close(x.hold)
		if err := w.Wait(t.Context()); err != nil || slices.Contains(strings.Fields(x.asked())[1:], "UPDATE") {
			t.Errorf("sent %s: %v", x.asked(), err)
		}
	})
}
