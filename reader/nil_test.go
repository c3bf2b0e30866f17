package reader

import (
	"context"
	"errors"
	"testing"

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
		{t.Context(), r, From(noSet, "logs"), "the set is nil"},
	} {
		_, _, err := List(c.ctx, c.r, "list", c.q)
		var refused *QueryError
		if !errors.As(err, &refused) || !errors.Is(err, ErrInvalid) || refused.Reason != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
