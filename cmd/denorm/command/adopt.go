package command

import (
	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/reconcile"
)

func newAdopt(config *config) *cobra.Command {
	r := &run{config: config, adopts: true, call: (*reconcile.Reconciler).Adopt}
	c := r.command("adopt SET", "Take over tables that were written without the library",
		`Give rows that were written without the library a stamp, or a version if the set has Versioned, and make the query tables of the set agree
with its base table, while the service writes through the library.

First add the column of the stamp or version to the tables, and deploy the set to every process that writes. Rows that agree get a stamp,
whatever the timestamps of each table. Where they disagree, the base table is right: rows that it does not name are removed, only with
--removed. It may be run again at any time. docs/adopting.md has all steps.
`)
	r.writersFlag(c, "when the last process that wrote without the library had ended")
	r.repairFlags(c)
	return c
}
