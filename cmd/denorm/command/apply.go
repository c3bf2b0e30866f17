package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/gocql/gocql"
	"github.com/spf13/cobra"

	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
)

// apply is the command of that name, by flags.
type apply struct {
	config *config
	cluster
	keyspace    string
	dryRun, yes bool
}

func newApply(config *config) *cobra.Command {
	a := &apply{config: config}
	c := &cobra.Command{
		Use:   "apply file.cql | folder ...",
		Short: "Run reviewed CQL on a cluster, statement by statement",
		Long: `Run reviewed CQL on a cluster: CREATE, ALTER and DROP of keyspaces, tables, types, indexes and views.

Each statement is sent when all nodes answer and have one schema. What the cluster has already is left out, so after an
error or SIGINT run the same command again. Options of CREATE TABLE are not compared with those of a table that is there.
A file must not drop what it names in another statement. One process at a time changes a keyspace, by the lock in its
table denorm_schema_lock.

Exit codes: 0 all is applied, 1 with --dry-run: there is something to apply, 2 it could not be done, or not all of it.`,
		RunE: a.run,
	}
	f := c.Flags()
	f.StringSliceVar(&a.hosts, "hosts", nil, "nodes of the cluster, host or host:port")
	f.StringVar(&a.keyspace, "keyspace", "", "keyspace of names without one; it must exist")
	a.access.flags(f)
	f.BoolVar(&a.dryRun, "dry-run", false, "say what would be sent, and send nothing")
	f.BoolVar(&a.yes, "yes", false,
		"do not ask before a statement that drops or renames something, or alters a type or a replication")
	return c
}

func (a *apply) run(c *cobra.Command, files []string) error {
	switch err := emptyFlag(c); {
	case err != nil:
		return err
	case len(files) == 0:
		return errors.New("name a file of reviewed CQL")
	case len(a.hosts) == 0:
		return errors.New("name nodes of the cluster with --hosts")
	}
	sources, err := texts(files)
	if err != nil {
		return err
	}
	s, err := a.open(a.keyspace, append(a.config.session, session.Adjust(func(c *gocql.ClusterConfig) {
		c.Timeout = 30 * time.Second
		c.MaxWaitSchemaAgreement = time.Millisecond // package schema asks each node
	}))...)
	if err != nil {
		return err
	}
	defer s.Close()
	steps, err := schema.Steps(c.Context(), s, sources...)
	if err != nil {
		return err
	}
	ask, open := 0, false
	for _, st := range steps {
		open = open || !st.Done
		switch {
		case st.Done && strings.EqualFold(strings.Fields(st.Text)[0], "DROP"):
			say(c, "is gone", st)
		case st.Done:
			say(c, "is there", st)
		case st.Confirm:
			ask++
			say(c, "to confirm", st)
		case a.dryRun:
			say(c, "to apply", st)
		}
	}
	if a.dryRun && open {
		return errFound
	}
	if ask > 0 && !a.yes && !a.dryRun {
		c.PrintErrf("Apply %d statements that drop or rename something, or alter a type or a replication? Type yes: ", ask)
		if line, _ := bufio.NewReader(c.InOrStdin()).ReadString('\n'); strings.TrimSpace(line) != "yes" {
			return errors.New("not confirmed, and nothing is applied: type yes, or pass --yes")
		}
	}
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return schema.Apply(ctx, s, steps, func(st schema.Step) { say(c, "applied", st) })
}

// maxShown bounds what is shown of a statement that nobody is asked about, in bytes.
const maxShown = 100

func say(c *cobra.Command, what string, st schema.Step) {
	text := st.Text
	if len(text) > maxShown && !st.Confirm {
		text = strings.ToValidUTF8(text[:maxShown], "") + " ..."
	}
	_, _ = fmt.Fprintf(c.OutOrStdout(), "%-10s  %s:%d: %s\n", what, printable.Line(st.At.File), st.At.Line, printable.Line(text))
}
