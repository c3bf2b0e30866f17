package fanout

import (
	"context"
	"errors"
	"testing"
	"time"
)

// ending is a context of a caller's own, of which the end is seen in two steps, as it is of any while it ends.
type ending struct {
	context.Context
	done chan struct{}
	err  error
}

func (e *ending) Done() <-chan struct{} { return e.done }
func (e *ending) Err() error            { return e.err }

// A call has ended as soon as the caller's context has: gocql returns what Err says, and nil would be no error and no
// answer.
func TestCallEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	parent := &ending{Context: context.Background(), done: make(chan struct{})}
	ctx, call := Deadline(parent, time.Minute)
	defer call.End()
	if ctx.Done() == nil || ctx.Err() != nil { // which makes its timer
		t.Fatal("ended before it began")
	}
	parent.err = context.Canceled
	if err := ctx.Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("Err is %v, and the caller's %v", err, parent.err)
	}
	close(parent.done)
	<-ctx.Done()
}
