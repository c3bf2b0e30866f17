package command

import (
	"errors"
	"fmt"
	"testing"

	"github.com/denorm-go/denorm/reconcile"
)

// What a run has found exits with 1, unless its error also says that the run did not end.
func TestExitCodeOfWhatWasFound(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, ExitFine},
		{fmt.Errorf("%w: 3", reconcile.ErrDrift), ExitFound},
		{errors.Join(reconcile.ErrDrift, reconcile.ErrIncomplete), ExitError},
		{errors.Join(errors.New("state not stored"), fmt.Errorf("%w: 3", reconcile.ErrDrift)), ExitError},
		{fmt.Errorf("run: %w", errors.Join(fmt.Errorf("%w: 3", reconcile.ErrDrift))), ExitFound},
		{reconcile.ErrRunning, ExitError},
	} {
		if code := ExitCode(found(test.err)); code != test.want {
			t.Errorf("%v exits with %d, want %d", test.err, code, test.want)
		}
	}
}
