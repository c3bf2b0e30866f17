package command

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/denorm-go/denorm/reconcile"
)

// Another engine adds flags to the commands for runs, and is asked first. Its errors give the same exit codes as a run
// here.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	var result error
	option := Elsewhere(func(f *pflag.FlagSet) { f.String("engine", "", "") }, func(c *cobra.Command, _ []string) (bool, error) {
		return c.Flags().Changed("engine"), result
	})
	for _, c := range New(option).Commands() {
		wanted := map[string]bool{"verify": true, "backfill": true, "runs": true, "pause": true, "resume": true, "rate": true, "stop": true}
		if has := c.Flags().Lookup("engine") != nil; has != wanted[c.Name()] {
			t.Errorf("%s has the flag: %v", c.Name(), has)
		}
	}
	for _, test := range []struct {
		err  error
		args []string
		want int
	}{
		{nil, []string{"verify", "--engine", "e"}, ExitFine},
		{nil, []string{"verify"}, ExitError}, // it needs a set
		{fmt.Errorf("%w: 3", reconcile.ErrDrift), []string{"backfill", "--engine", "e"}, ExitFound},
		{errors.Join(reconcile.ErrDrift, reconcile.ErrIncomplete), []string{"verify", "--engine", "e"}, ExitError},
		{errors.Join(errors.New("state not stored"), fmt.Errorf("%w: 3", reconcile.ErrDrift)), []string{"verify", "--engine", "e"}, ExitError},
		{fmt.Errorf("run: %w", errors.Join(fmt.Errorf("%w: 3", reconcile.ErrDrift))), []string{"verify", "--engine", "e"}, ExitFound},
		{reconcile.ErrRunning, []string{"pause", "--engine", "e"}, ExitError},
	} {
		result = test.err
		root := New(option)
		root.SetArgs(test.args)
		root.SetErr(io.Discard)
		if code := ExitCode(root.Execute()); code != test.want {
			t.Errorf("%q with %v exits with %d, want %d", test.args, test.err, code, test.want)
		}
	}
}
