package command

import (
	"context"
	"fmt"
	"time"

	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
	"github.com/spf13/cobra"
)

func newBackfill(config *config) *cobra.Command {
	r := &run{config: config, fills: true}
	r.call = func(on *reconcile.Reconciler, ctx context.Context, set tables.Described, more ...reconcile.Option) (*reconcile.Report, error) {
		return on.Backfill(ctx, set, r.table, more...)
	}
	c := r.command("backfill SET TABLE", "Fill a query table that is new to a set, and verify it",
		`Put the rows of the base table into a query table that is new to a set, while the service writes, and then do what verify does.

First create the table, and deploy the set with it, Hidden, to every process that writes. Readers may use the table once this command
exits with 0. It may be run again at any time. docs/change-schema.md has all steps.
`)
	r.writersFlag(c, "when the last process that did not write the table had ended, and the errors that such processes stored had been resumed or "+
		"discarded")
	r.methodFlags(c)
	c.Flags().StringVar(&r.ahead, "ahead", "", "keep: put rows with a time more than --settle in the future, too (default: leave them)")
	return c
}

func (r *run) writersFlag(c *cobra.Command, usage string) {
	c.Flags().StringVar(&r.writers, "writers", "", usage+", as 2006-01-02T15:04:05Z (RFC 3339); required")
}

// checkWriters reads --writers.
func (r *run) checkWriters() error {
	wrong := "do not write " + r.table
	if r.adopts {
		wrong = "write without the library"
	}
	if r.writers == "" {
		return fmt.Errorf("say with --writers TIME when the last of the processes that %s had ended", wrong)
	}
	t, err := time.Parse(time.RFC3339, r.writers)
	switch {
	case err != nil || t.IsZero():
		return fmt.Errorf("--writers %q is not a time: write it as 2006-01-02T15:04:05Z", r.writers)
	case t.After(time.Now()):
		return fmt.Errorf("--writers %s is in the future: processes that %s may still write", r.writers, wrong)
	}
	r.ended = t
	return nil
}

func newAdopt(config *config) *cobra.Command {
	r := &run{config: config, adopts: true, call: (*reconcile.Reconciler).Adopt}
	c := r.command("adopt SET", "Take over tables that were written without the library",
		`Give rows that were written without the library a stamp, or a version if the set has Versioned, and make the query tables of the set agree
with its base table, while the service writes through the library.

First add the column of the stamp or version to the tables, and deploy the set to every process that writes. Rows that agree get a stamp,
whatever the timestamps of each table. Where they disagree, the base table is right: rows that it does not name are removed, only with
--removed. It may be run again at any time. docs/adopt.md has all steps.
`)
	c.Flags().StringSliceVar(&r.copies, "copy", nil, "LIST=COLUMN: first copy the lists of a column that is ReadOnly into another one, at their own times")
	r.writersFlag(c, "when the last process that wrote without the library had ended")
	r.repairFlags(c)
	return c
}
