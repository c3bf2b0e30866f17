package hosts

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/denorm-go/denorm/internal/undecoded"
	"github.com/gocql/gocql"
)

// A context.Canceled of no context of the caller's is a connection that ended, and the caller is not told of a context.
func TestCause(t *testing.T) {
	t.Parallel()
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		want Result
	}{
		"of the connection":           {context.Background(), context.Canceled, Lost},
		"of the connection, wrapped":  {context.Background(), fmt.Errorf("scan: %w", context.Canceled), Lost},
		"of the connection, twice":    {context.Background(), errors.Join(context.Canceled, context.Canceled), Lost},
		"of the caller":               {gone, context.Canceled, Cancelled},
		"connection, while cancelled": {gone, gocql.ErrConnectionClosed, Lost},
		"deadline":                    {context.Background(), context.DeadlineExceeded, TimedOut},
		"undecoded":                   {context.Background(), &undecoded.Error{Column: "total"}, Answered},
		"none":                        {gone, nil, Answered},
	} {
		err := Cause(c.ctx, c.err)
		if got := ResultOf(err); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if told := errors.Is(err, context.Canceled); told != (c.want == Cancelled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
