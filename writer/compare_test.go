package writer

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/gocql/gocql"
)

// A change of a set with Compare that finds the row as it wanted to make it, after an answer was lost, does not claim it: another
// may have made it so.
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

func (x markedRow) Swap(ctx context.Context, statements []statement.Bound, o decide.Options) (bool, map[string]any, error) {
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
