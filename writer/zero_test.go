package writer

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/session"
)

// A write that a zero writer cannot resume is still to be finished: the error says so, and another writer resumes it.
func TestZeroWriterKeepsTheError(t *testing.T) {
	t.Parallel()
	w := fakeWriter(&fakeExecutor{answer: fail("", errSyntax)}, once())
	e := failed(t, w, orderSet(t).Insert(newOrder(Open)))
	_, err := new(Writer).Resume(t.Context(), e)
	var kept *Error
	if !errors.As(err, &kept) || !errors.Is(err, errUnmade) || !kept.Resumable() || kept.NotApplied() {
		t.Fatalf("%v", err)
	}
	if _, err := fakeWriter(&fakeExecutor{}).Resume(t.Context(), kept); err != nil {
		t.Error(err)
	}
}

// Nothing is known of a write of which there is no error, whatever else keeps Resume from it.
func TestResumeOfNothingIsUnknown(t *testing.T) {
	t.Parallel()
	w := fakeWriter(&fakeExecutor{})
	var none context.Context
	for name, resume := range map[string]func() error{
		"by itself":         func() error { _, err := w.Resume(t.Context(), nil); return err },
		"without a context": func() error { _, err := w.Resume(none, nil); return err },
		"a bad option":      func() error { _, err := w.With(Timeout(-1)).Resume(t.Context(), nil); return err },
		"not decoded":       func() error { _, err := w.With(Timeout(-1)).Resume(t.Context(), new(Error)); return err },
		"a zero writer":     func() error { _, err := new(Writer).Resume(t.Context(), nil); return err },
	} {
		err := resume()
		var failed *Error
		if !errors.As(err, &failed) || failed.NotApplied() || OutcomeOf(err) != Unknown {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := OutcomeOf((*Error)(nil)); got != Unknown {
		t.Errorf("an error that holds nothing: %v", got)
	}
}

// A nil *Error, as errors.As wants it, is nothing to decode into.
func TestUnmarshalIntoNil(t *testing.T) {
	t.Parallel()
	w := fakeWriter(&fakeExecutor{answer: fail("", errSyntax)}, once())
	data, err := failed(t, w, orderSet(t).Insert(newOrder(Open))).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var none *Error
	err = none.UnmarshalBinary(data)
	if err == nil || !strings.HasSuffix(err.Error(), "is nil: declare a value, var failed writer.Error") {
		t.Errorf("%v", err)
	}
}

// lost is a tracer that returns no context.
type lost struct{ recorder }

func (l *lost) TraceStart(ctx context.Context, d session.OperationStart) context.Context {
	l.recorder.TraceStart(ctx, d)
	return nil
}

func (l *lost) TraceRequestStart(ctx context.Context, d session.RequestStart) context.Context {
	l.recorder.TraceRequestStart(ctx, d)
	return nil
}

// Where a tracer returns a nil context, the call goes on with that of the caller, down to its requests.
func TestTracerWithoutContext(t *testing.T) {
	t.Parallel()
	l := &lost{}
	w := fakeWriter(&fakeExecutor{}, traced(l))
	caller := into(t.Context(), "caller")
	if _, err := w.Write(caller, "op", orderSet(t).Insert(newOrder(Open))); err != nil {
		t.Fatal(err)
	}
	withCondition, _, _ := conditional(nil, traced(l))
	if _, err := withCondition.Write(caller, "op", itemSet(t).Insert(newItem())); err != nil {
		t.Fatal(err)
	}
	if ctx := w.tracer.TraceStart(caller, session.OperationStart{Operation: session.OperationModify, Op: "op"}); ctx != caller {
		t.Errorf("the context of Modify is %v", ctx)
	}
	for _, line := range l.lines {
		if !strings.HasPrefix(line, "caller: ") {
			t.Errorf("not in the caller's context: %s", line)
		}
	}
	if len(l.lines) != 15 {
		t.Errorf("told\n%s", strings.Join(l.lines, "\n"))
	}
}

// Two Adds of a row are one: a counter has no timestamp at which they could mix.
func TestTwoAddsOfOneRow(t *testing.T) {
	t.Parallel()
	add := viewSet(t).Add(newView())
	_, err := fakeWriter(&fakeExecutor{}).Write(t.Context(), "op", add, add)
	if !errors.Is(err, ErrInvalid) || !strings.HasSuffix(err.Error(), ": two Adds of one row in one write: add them up in one Add") {
		t.Errorf("%v", err)
	}
}
