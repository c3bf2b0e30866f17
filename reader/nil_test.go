package reader

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

// What was forgotten is named by an error, and is no nil dereference.
func TestNil(t *testing.T) {
	t.Parallel()
	set, f := filled(t, 1)
	r := newReader(f, "shop")
	var none context.Context
	var noSet *tables.Set[line]
	var noReader *Reader
	for _, c := range []struct {
		ctx  context.Context //nolint:containedctx // it is what is tested
		r    *Reader
		q    Query[line]
		want string
	}{
		{none, r, lastHours(set, 1), "the context is nil: pass the caller's, or context.Background()"},
		{t.Context(), noReader, lastHours(set, 1), "the reader is nil"},
		{t.Context(), new(Reader), lastHours(set, 1), "the reader is a zero value: it is made by reader.New"},
		{
			t.Context(), new(Reader).With(Parallel(1)), lastHours(set, 1),
			"the reader is a zero value: it is made by reader.New",
		},
		{t.Context(), r, From(noSet, "logs"), "the set is nil"},
	} {
		_, _, err := List(c.ctx, c.r, "list", c.q)
		var refused *queryError
		if !errors.As(err, &refused) || !errors.Is(err, ErrInvalid) || refused.Reason != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// Rows that no Read has made say so.
func TestZeroRows(t *testing.T) {
	t.Parallel()
	for _, err := range new(Rows[line]).All() {
		if !errors.Is(err, ErrInvalid) ||
			!strings.Contains(err.Error(), "the Rows are a zero value: they are made by reader.Read") {
			t.Error(err)
		}
	}
}

// Without any keyspace nothing is sent.
func TestNoKeyspace(t *testing.T) {
	t.Parallel()
	set, f := filled(t, 1)
	const want = "no keyspace: the session has none; set ClusterConfig.Keyspace, Table.Keyspace or session.Keyspaces"
	if _, _, err := List(t.Context(), newReader(f, ""), "list", lastHours(set, 1)); !errors.Is(err, ErrInvalid) ||
		!strings.Contains(err.Error(), want) || len(f.requests) > 0 {
		t.Errorf("%v, %d requests", err, len(f.requests))
	}
}

// A read without a name is rejected, as its errors, spans and metrics would have none.
func TestReadWithoutOp(t *testing.T) {
	t.Parallel()
	set, f := filled(t, 1)
	_, _, err := List(t.Context(), newReader(f, "shop"), "", lastHours(set, 1))
	const want = "denorm: invalid query: table logs: op is empty: name the read, as in newestLogs; errors, spans and " +
		"metrics show it"
	if !errors.Is(err, ErrInvalid) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// lost is a tracer that returns no context.
type lost struct{ noting }

func (l *lost) TraceStart(ctx context.Context, d session.OperationStart) context.Context {
	l.noting.TraceStart(ctx, d)
	return nil
}

func (l *lost) TraceRequestStart(ctx context.Context, d session.RequestStart) context.Context {
	l.noting.TraceRequestStart(ctx, d)
	return nil
}

// Where a tracer returns a nil context, the read goes on with that of the caller.
func TestTracerWithoutContext(t *testing.T) {
	t.Parallel()
	set, f := filled(t, 1)
	l := &lost{}
	ctx := context.WithValue(t.Context(), notingKey{}, "caller: ")
	if _, _, err := List(ctx, newReader(f, "shop", traced(l)), "all", lastHours(set, 1)); err != nil {
		t.Fatal(err)
	}
	for _, note := range l.notes {
		if !strings.HasPrefix(note, "caller: ") {
			t.Errorf("not in the caller's context: %s", note)
		}
	}
	if len(l.notes) != 10 {
		t.Errorf("told\n%s", strings.Join(l.notes, "\n"))
	}
}
