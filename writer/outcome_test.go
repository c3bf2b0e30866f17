package writer

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/denorm-go/denorm/internal/driver/drivertest"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// Each error of a table, alone and after others, and what is then known of the table. The other tables are not touched
// by it.
func TestOutcomesOfFanOut(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		errs     []error
		want     Outcome
		attempts int
	}{
		"acknowledged": {want: Applied, attempts: 1},

		// The only attempt.
		"unavailable":        {errs: []error{errUnavailable}, want: NotApplied, attempts: 1},
		"overloaded":         {errs: []error{errOverloaded}, want: NotApplied, attempts: 1},
		"syntax":             {errs: []error{errSyntax}, want: NotApplied, attempts: 1},
		"no connections":     {errs: []error{gocql.ErrNoConnections}, want: NotApplied, attempts: 1},
		"no streams":         {errs: []error{gocql.ErrNoStreams}, want: NotApplied, attempts: 1},
		"session closed":     {errs: []error{gocql.ErrSessionClosed}, want: NotApplied, attempts: 1},
		"marshal":            {errs: []error{drivertest.MarshalError()}, want: NotApplied, attempts: 1},
		"write timeout":      {errs: []error{errSimple}, want: Unknown, attempts: 1},
		"write failure":      {errs: []error{&gocql.RequestErrWriteFailure{WriteType: "SIMPLE"}}, want: Unknown, attempts: 1},
		"connection closed":  {errs: []error{gocql.ErrConnectionClosed}, want: Unknown, attempts: 1},
		"no response":        {errs: []error{gocql.ErrTimeoutNoResponse}, want: Unknown, attempts: 1},
		"EOF":                {errs: []error{io.EOF}, want: Unknown, attempts: 1},
		"server error":       {errs: []error{answer{gocql.ErrCodeServer, ""}}, want: Unknown, attempts: 1},
		"never heard of":     {errs: []error{errors.New("?")}, want: Unknown, attempts: 1},
		"batch, but is none": {errs: []error{errBatch}, want: Unknown, attempts: 1},

		// What may have happened is not washed off.
		"unknown, then clean":       {errs: []error{errSimple, errUnavailable}, want: Unknown, attempts: 2},
		"unknown, then permanent":   {errs: []error{errSimple, errSyntax}, want: Unknown, attempts: 2},
		"clean, then unknown":       {errs: []error{errUnavailable, errSimple}, want: Unknown, attempts: 2},
		"clean, then clean":         {errs: []error{errUnavailable, errOverloaded}, want: NotApplied, attempts: 2},
		"clean, then permanent":     {errs: []error{errUnavailable, errSyntax, nil}, want: NotApplied, attempts: 2},
		"unknown, then applied":     {errs: []error{errSimple, nil}, want: Applied, attempts: 2},
		"clean, then applied":       {errs: []error{errUnavailable, nil}, want: Applied, attempts: 2},
		"a PREPARE, then applied":   {errs: []error{context.Canceled, nil}, want: Applied, attempts: 2}, // whose connection ended
		"one unknown among cleans":  {errs: []error{errUnavailable, io.EOF, errUnavailable, errUnavailable}, want: Unknown, attempts: 4},
		"all that is allowed, then": {errs: []error{io.EOF, io.EOF, io.EOF, io.EOF, nil}, want: Unknown, attempts: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				x := &fakeExecutor{answer: fail("orders_by_user", test.errs...)}
				w := fakeWriter(x)
				if n := len(test.errs); n > 0 { // no attempt after the errors
					w = w.With(Retry(retry.Policy{MaxAttempts: min(n, 4)}))
				}
				res, err := w.Write(t.Context(), "createOrder", orderSet(t).Insert(newOrder(Open)))
				if res.Mode != FanOut || res.Attempts != test.attempts+2 || len(x.sent()) != test.attempts+2 {
					t.Errorf("result %+v, %d sent", res, len(x.sent()))
				}
				if test.want == Applied {
					if err != nil {
						t.Error(err)
					}
					return
				}
				e := asError(t, err)
				for _, r := range e.Tables {
					want, attempts := Applied, 1
					if r.Table == "orders_by_user" {
						want, attempts = test.want, test.attempts
					}
					if r.Outcome != want || r.Attempts != attempts || (r.Err == nil) != (want == Applied) {
						t.Errorf("%+v, want %v", r, want)
					}
				}
				if last := test.errs[test.attempts-1]; !errors.Is(err, last) {
					t.Errorf("%v does not match %v", err, last)
				}
				wantConsistent(t, e)
			})
		})
	}
}

// A single request carries all tables, so one error is that of all of them.
func TestOutcomesOfOneRequest(t *testing.T) {
	t.Parallel()
	open, paid := move()
	batch, note := orderSet(t).Update(open, paid), noteSet(t).Insert(newNote())
	for name, test := range map[string]struct {
		change tables.Change
		errs   []error
		mode   Mode
		want   Outcome
	}{
		"note: unavailable":     {note, []error{errUnavailable}, SamePartition, NotApplied},
		"note: overloaded":      {note, []error{errOverloaded}, SamePartition, NotApplied},
		"note: timeout":         {note, []error{errSimple}, SamePartition, Unknown},
		"note: sticky":          {note, []error{errSimple, errUnavailable}, SamePartition, Unknown},
		"note: applied":         {note, []error{errSimple, nil}, SamePartition, Applied},
		"batch: unavailable":    {batch, []error{errUnavailable}, LoggedBatch, NotApplied},
		"batch: too large":      {batch, []error{answer{gocql.ErrCodeInvalid, "Batch too large"}}, LoggedBatch, NotApplied},
		"batch: overloaded":     {batch, []error{errOverloaded}, LoggedBatch, Unknown},
		"batch: no connections": {batch, []error{gocql.ErrNoConnections}, LoggedBatch, NotApplied},
		"batch: EOF":            {batch, []error{io.EOF}, LoggedBatch, Unknown},
		"batch: stored":         {batch, []error{errBatch}, LoggedBatch, Pending},
		"batch: stored twice":   {batch, []error{errBatch, errBatch}, LoggedBatch, Pending},
		"batch: stored, clean":  {batch, []error{errBatch, errUnavailable}, LoggedBatch, Pending},
		"batch: EOF, stored":    {batch, []error{io.EOF, errBatch}, LoggedBatch, Pending},
		"batch: stored, done":   {batch, []error{errBatch, nil}, LoggedBatch, Applied},
		"batch: EOF, clean":     {batch, []error{io.EOF, errUnavailable}, LoggedBatch, Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				x := &fakeExecutor{answer: fail("", test.errs...)}
				w := fakeWriter(x, Retry(retry.Policy{MaxAttempts: len(test.errs)}))
				res, err := w.Write(t.Context(), "op", test.change)
				if res.Mode != test.mode || res.Attempts != len(test.errs) {
					t.Errorf("result %+v", res)
				}
				if test.want == Applied {
					if err != nil {
						t.Error(err)
					}
					return
				}
				e := asError(t, err)
				for _, r := range e.Tables {
					if r.Outcome != test.want || r.Attempts != len(test.errs) {
						t.Errorf("%+v, want %v", r, test.want)
					}
				}
				wantConsistent(t, e)
			})
		})
	}
}

// The coordinator makes a logged batch of a statement for a table with a view or trigger. OVERLOADED then comes after
// the batchlog was stored, and "not applied" would be a lie.
func TestOverloadedTableWithView(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		live liveTable
		err  error
		want Outcome
	}{
		"plain":    {live: liveTable{gcGrace: tenDays}, want: NotApplied},
		"view":     {live: liveTable{gcGrace: tenDays, derived: true}, want: Unknown},
		"not read": {err: gocql.ErrNoConnections, want: Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				x := &fakeExecutor{answer: fail("orders_by_user", errOverloaded, errUnavailable)}
				read := func(context.Context, string, string) (liveTable, error) { return test.live, test.err }
				w := newWriter(x, "shop", read, Retry(retry.Policy{MaxAttempts: 2}))
				e := failed(t, w, orderSet(t).Insert(newOrder(Open)))
				if got := outcomes(e)["orders_by_user"]; got != test.want {
					t.Errorf("%v, want %v", got, test.want)
				}
			})
		})
	}
}

// Of a table that travelled in two requests of which one failed, neither applied nor not applied is true.
func TestOutcomeOfTableInTwoRequests(t *testing.T) {
	t.Parallel()
	open, paid := move()
	isPut := func(r fanout.Attempt) bool {
		return carries(r, "orders_by_status") && r.Mutations[0].Kind == statement.Put
	}
	for name, test := range map[string]struct {
		put, remove error
		want        Outcome
	}{
		"put fails":   {put: errSyntax, want: Unknown},
		"moves fail":  {remove: errSyntax, want: Unknown},
		"both fail":   {put: errSyntax, remove: errSyntax, want: NotApplied},
		"one unknown": {put: errSimple, remove: errSyntax, want: Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &fakeExecutor{answer: func(_ context.Context, r fanout.Attempt) error {
				switch {
				case isPut(r):
					return test.put
				case carries(r, "orders_by_status"):
					return test.remove
				}
				return nil
			}}
			e := failed(t, fakeWriter(x, Concurrent(), once()), orderSet(t).Update(open, paid))
			if got := outcomes(e)["orders_by_status"]; got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
			wantConsistent(t, e)
		})
	}
}

func TestOutcomeAlgebra(t *testing.T) {
	t.Parallel()
	all := []Outcome{Unknown, Applied, NotApplied, Pending}
	for _, a := range all {
		if got := NotApplied.Then(a); got != a {
			t.Errorf("nothing, then %v: %v", a, got)
		}
		if a.And(a) != a {
			t.Errorf("%v and itself: %v", a, a.And(a))
		}
		for _, b := range all {
			if a.And(b) != b.And(a) {
				t.Errorf("%v and %v depends on the order", a, b)
			}
			if then := a.Then(b); then == NotApplied && (a != NotApplied || b != NotApplied) {
				t.Errorf("%v then %v is %v", a, b, then)
			}
			if and := a.And(b); and == Applied && a != b || and == NotApplied && a != b {
				t.Errorf("%v and %v is %v", a, b, and)
			}
		}
	}
	if new(Error).NotApplied() {
		t.Error("the zero Error says that nothing was applied")
	}
	if Outcome(9).String() != "Outcome(9)" || Mode(9).String() != "Mode(9)" {
		t.Error("unknown values must print as numbers")
	}
}

// wantConsistent says that what an error matches follows from what it says of the tables.
func wantConsistent(t *testing.T, e *Error) {
	t.Helper()
	count := make(map[Outcome]int)
	for _, r := range e.Tables {
		count[r.Outcome]++
	}
	n := len(e.Tables)
	for _, is := range []struct {
		name      string
		got, want bool
	}{
		{"ErrInvalid", errors.Is(e, ErrInvalid), false},
		{"ErrExpired", errors.Is(e, ErrExpired), false},
		{"ErrConflict", errors.Is(e, ErrConflict), false},
		{"ErrPartial", errors.Is(e, ErrPartial), count[Applied] > 0 && count[Applied] < n},
		{"ErrUnknown", errors.Is(e, ErrUnknown), count[Unknown]+count[Pending] > 0},
		{"NotApplied", e.NotApplied(), count[NotApplied] == n},
	} {
		if is.got != is.want {
			t.Errorf("%s is %v of %v", is.name, is.got, e)
		}
	}
	if n == 0 || count[Applied] == n {
		t.Errorf("an error of tables %v", e.Tables)
	}
}
