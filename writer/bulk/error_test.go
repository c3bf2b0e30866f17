package bulk

import (
	"context"
	"fmt"
	"testing"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/writer"
)

// Nothing was sent of an item that is parked, or has not begun, and of a run as a whole nothing can be said.
func TestOutcomeOfItems(t *testing.T) {
	t.Parallel()
	unknown := &writer.Error{Op: "import", Tables: []writer.TableResult{{Table: "notes", Outcome: writer.Unknown}}}
	for name, test := range map[string]struct {
		err  error
		want writer.Outcome
	}{
		"failed":    {unknown, writer.Unknown},
		"parked":    {&unwrittenError{ErrParked, unknown}, writer.NotApplied},
		"not begun": {fmt.Errorf("wrapped: %w", &unwrittenError{fanout.ErrUnbegun, context.Canceled}), writer.NotApplied},
		"run":       {&Error{Failed: 1, Cause: writer.ErrInvalid}, writer.Unknown},
	} {
		if got := writer.OutcomeOf(test.err); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
