package simulation_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/integration/load/simulation"
	"github.com/denorm-go/denorm/writer"
)

// A library that lies is found out: one that says "applied" of what is not known to be, and one that says "not
// applied".
func TestLiesAreFound(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lie  func(error) error
		want string
	}{
		"everything is applied": {func(error) error { return nil }, "lost"},
		"what is unknown is not applied": {func(err error) error {
			var failed *writer.Error
			if errors.As(err, &failed) && !errors.Is(err, writer.ErrInvalid) {
				for i := range failed.Tables {
					if failed.Tables[i].Outcome == writer.Unknown {
						failed.Tables[i].Outcome = writer.NotApplied
					}
				}
			}
			return err
		}, "unsound outcome"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var report *simulation.Report
			synctest.Test(t, func(t *testing.T) {
				t.Cleanup(func() { <-time.After(10 * time.Minute) })
				report = simulation.World{Seed: 99, Writes: 2000, Lie: test.lie}.Run(t)
			})
			found := 0
			for _, f := range report.Faults {
				if strings.Contains(f, test.want) {
					found++
				}
			}
			if found == 0 {
				t.Errorf("nothing %s is found, but %d other faults", test.want, len(report.Faults))
			}
			t.Logf("%d faults, %d of them %s", len(report.Faults), found, test.want)
		})
	}
}
