package writer

import (
	"context"
	"errors"
	"fmt"

	"github.com/denorm-go/denorm/tables"
)

// This file rejects what a caller forgot: the driver and the runtime would panic.

var (
	errNoContext = errors.New("the context is nil: pass the caller's, or context.Background()")
	errNoOp      = errors.New("op is empty: name the write, as in createOrder; errors, spans and metrics show it")
	errUnmade    = errors.New("the writer is nil or a zero value: it is made by writer.New")
)

// made is the writer, or one whose calls say that w was not made.
func (w *Writer) made() *Writer {
	if w != nil && w.live != nil {
		return w
	}
	none := &Writer{config: defaults()}
	none.err = errUnmade
	return none
}

// missing says which argument of a [Modify] or [Load] is nil.
func missing[T any](ctx context.Context, op string, set *tables.Set[T]) error {
	switch {
	case ctx == nil:
		return errNoContext
	case op == "":
		return errNoOp
	case set == nil || set.Internal() == nil:
		return errors.New("the set is nil or a zero value: it is made by tables.New")
	}
	return nil
}

// missingSet says which of the sets is nil.
func missingSet(sets []tables.Described) error {
	for i, set := range sets {
		if set == nil || set.Internal() == nil {
			return fmt.Errorf("set %d is nil or a zero value: it is made by tables.New", i+1)
		}
	}
	return nil
}
