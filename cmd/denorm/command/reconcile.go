package command

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gocql/gocql"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/denorm-go/denorm/internal/settings"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

// run is a call of package reconcile, by flags.
type run struct {
	config *config
	cluster
	keyspace  string
	keyspaces map[string]string

	only        []string
	settle      time.Duration
	target      time.Duration
	rate        int
	pageSize    int
	dryRun      bool
	rewrite     bool
	ahead       string
	writers     string
	ended       time.Time // writers
	maxRemovals int
	removed     string
	keys        bool
	format      string

	state       string
	resume      string
	resumed     gocql.UUID // resume
	method      string
	spool       string
	consistency string
	level       session.Consistency // consistency

	call  func(*reconcile.Reconciler, context.Context, tables.Described, ...reconcile.Option) (*reconcile.Report, error)
	set   tables.Described
	name  string // of the set
	fills bool   // call needs a table
	table string

	adopts bool
	copies []string // LIST=COLUMN

	estimates bool // verify --estimate
}

const exits = `
A run ends early, with what it has found until then, at SIGINT or SIGTERM. Keys of rows are printed with --keys only.
Exit codes: 0 the tables agree, 1 some rows disagree still or are not safe to change, 2 it could not be done or is
incomplete.`

func newVerify(config *config) *cobra.Command {
	r := &run{config: config, call: (*reconcile.Reconciler).Verify}
	c := r.command("verify SET", "Compare the query tables of a set with its base table",
		`Compare the query tables of a set with its base table, while the service writes, and change nothing.

It reads all rows. What differs is looked at again, at least --settle apart, until no write in flight can explain it.

With --estimate it reads none, and says how much there is to read and send, by the sizes that nodes report of their data files, some minutes
after a flush. Each page of rows is a request, and each row that backfill puts. What differs needs more. While no node reports the base
table, the exit code is 2.
`)
	r.tablesFlag(c)
	r.methodFlags(c)
	c.Flags().BoolVar(&r.estimates, "estimate", false, "say how much verify, repair and backfill of the set have to read and send, by the sizes that "+
		"nodes report, and with --rate how long that takes; read no rows")
	c.RunE = func(c *cobra.Command, args []string) error {
		if r.estimates {
			return r.estimate(c, args)
		}
		return r.run(c, args)
	}
	return c
}

func newRepair(config *config) *cobra.Command {
	r := &run{config: config, call: (*reconcile.Reconciler).Repair}
	c := r.command("repair SET", "Make the query tables of a set agree with its base table",
		`Do what verify does, and make the tables agree, while the service writes.

It sends mutations of writes that were attempted again, with the same values and timestamps. Rows are removed only with --removed.
`)
	r.tablesFlag(c)
	r.methodFlags(c)
	r.repairFlags(c)
	c.Flags().BoolVar(&r.rewrite, "rewrite", false, "write an entity again, at a time --settle ago, where a delete covers a row that should be there; "+
		"and put old rows back into the base table, which brings deleted entities back if one of their rows is left")
	return c
}

// repairFlags are those of what sends repairs.
func (r *run) repairFlags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&r.dryRun, "dry-run", false, "say how many statements would be sent, and send none")
	f.IntVar(&r.maxRemovals, "max-removals", 0, "end when more rows would be removed or put into the base table "+
		"(default: 1 in 100 that were read, at least 100, at most 1000); if given, also allow to remove rows that nothing proves deleted")
	f.StringVar(&r.ahead, "ahead", "", "keep or remove a write with a time more than --settle in the future (default: leave its entity): keep puts it into "+
		"all tables, over other changes and deletes; remove puts the other row of the entity over it")
	f.StringVar(&r.removed, "removed", "", "new file for the rows that are removed, one JSON object a line; without it none is removed")
}

// command makes the command of a call.
func (r *run) command(use, short, long string) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Long: long + exits,
		Hidden: r.config.declared == nil || len(r.config.declared.Sets()) == 0,
		RunE:   r.run,
	}
	f := c.Flags()
	r.flags(f)
	f.StringVar(&r.keyspace, "keyspace", "", "keyspace of declared tables that name none")
	mapFlag(f, &r.keyspaces)
	f.StringVar(&r.format, "format", "text", "text or json")
	f.DurationVar(&r.settle, "settle", 90*time.Second, "longer than any write takes; what lasts for less is not reported")
	f.IntVar(&r.rate, "rate", 0, "at most so many requests a second (default: no bound)")
	f.IntVar(&r.pageSize, "page-size", 0, "rows that are read by a request (default: 1000); next to a busy service 100 or less, with --rate")
	f.DurationVar(&r.target, "target", 0, "how long 95 of 100 requests may take (default: twice what the first ones took)")
	f.StringVar(&r.consistency, "consistency", "LOCAL_QUORUM", "level of reads and repairs: that of the service's writes")
	f.StringVar(&r.state, "state", "", "keyspace in which the run is stored, to be listed, paused, slowed down, stopped and continued (default: nowhere)")
	f.StringVar(&r.resume, "resume", "", "continue a stored run: its id, which runs lists")
	f.BoolVar(&r.keys, "keys", false, "print the keys of rows; they are as secret as the rows")
	return c
}

// methodFlags are those of commands that compare all rows.
func (r *run) methodFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.method, "method", "digest", "digest: read each table once, and compare hashes of the rows; lookup: read the counterparts of each row, which "+
		"takes many times as long, but --resume does not begin again")
	f.StringVar(&r.spool, "spool", "", "folder for the temporary file of hashes and keys of --method digest (default: that of the system)")
}

func (r *run) tablesFlag(c *cobra.Command) {
	c.Flags().StringSliceVar(&r.only, "tables", nil, "query tables to compare with the base table (default: all)")
}

// check rejects flags and arguments that cannot be meant.
func (r *run) check(c *cobra.Command, args []string) error {
	err := emptyFlag(c)
	c.Flags().Visit(func(f *pflag.Flag) {
		switch value := f.Value.String(); {
		case err != nil:
		case slices.Contains([]string{"settle", "target", "rate", "page-size", "max-removals"}, f.Name) && (value == "0" || value == "0s" || value[0] == '-'):
			err = fmt.Errorf("--%s %s is not positive", f.Name, value)
		}
	})
	switch {
	case err != nil:
		return err
	case r.rate > math.MaxInt32:
		return fmt.Errorf("--rate %d is more than %d", r.rate, math.MaxInt32)
	case reportFormats[r.format] == nil:
		return fmt.Errorf("unknown --format %q: text or json", r.format)
	case r.ahead != "" && r.ahead != "keep" && r.ahead != "remove":
		return fmt.Errorf("unknown --ahead %q: keep or remove", r.ahead)
	case r.ahead == "remove" && r.fills:
		return errors.New("--ahead remove is for repair: give keep")
	case slices.ContainsFunc(r.copies, func(copied string) bool { return !strings.Contains(copied, "=") }):
		return errors.New("--copy names one column: give LIST=COLUMN")
	case r.dryRun && r.removed != "":
		return errors.New("--removed with --dry-run: nothing is removed; leave out one of them")
	}
	if err := r.choose(args); err != nil {
		return err
	}
	if err := r.checkStored(c.Parent().CommandPath()); err != nil {
		return err
	}
	if len(r.hosts) == 0 {
		return errors.New("name nodes of the cluster with --hosts")
	}
	if err := r.placed(); err != nil || !r.fills && !r.adopts {
		return err
	}
	return r.checkWriters()
}

// emptyFlag rejects flags without a value, as of a variable of the shell that is not set.
func emptyFlag(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if value := f.Value.String(); err == nil && (value == "" || value == "[]") {
			err = fmt.Errorf("--%s is empty", f.Name)
		}
	})
	return err
}

// checkStored reads --resume, --method and --consistency.
func (r *run) checkStored(denorm string) (err error) {
	levels := settings.Levels
	i := slices.IndexFunc(levels, func(l gocql.Consistency) bool { return l.String() == strings.ToUpper(r.consistency) })
	switch {
	case i < 0:
		return fmt.Errorf("--consistency %s is not a level: give one of %v", r.consistency, levels)
	case r.method != "" && r.method != "digest" && r.method != "lookup":
		return fmt.Errorf("unknown --method %q: digest or lookup", r.method)
	case r.method == "lookup" && r.spool != "":
		return errors.New("--spool is for --method digest: leave out one of them")
	case r.resume != "" && r.state == "":
		return errors.New("--resume needs --state, the keyspace in which the run is stored")
	case r.resume != "":
		r.resumed, err = parseRun(r.resume, denorm)
	}
	r.level = session.Consistency(levels[max(i, 0)])
	return err
}

// choose finds the set.
func (r *run) choose(args []string) error {
	var sets []tables.Described
	if r.config.declared != nil {
		sets = r.config.declared.Sets()
	}
	if len(sets) == 0 {
		return errors.New("this binary declares no sets: mount package command in the one of the service (docs/verify-repair.md)")
	}
	var names []string
	for _, s := range sets {
		names = append(names, s.Internal().Entity())
		if len(args) > 0 && s.Internal().Entity() == args[0] {
			if r.set != nil {
				return fmt.Errorf("two declared sets are named %s: give their entities different names", args[0])
			}
			r.set, r.name = s, args[0]
		}
	}
	all := strings.Join(names, ", ")
	switch {
	case r.fills && len(args) != 2:
		return fmt.Errorf("name one set, and its new table; the sets are: %s", all)
	case !r.fills && len(args) != 1:
		return fmt.Errorf("name one set: %s", all)
	case r.set == nil:
		return fmt.Errorf("no set is named %q: the declared ones are %s", args[0], all)
	case r.fills:
		r.table = args[1]
	}
	return nil
}

// placed says whether the keyspaces of all tables are known, and the keyspaces of --map are declared.
func (r *run) placed() error {
	own := ""
	for _, l := range tablerow.Layouts(r.set.Internal()) {
		physical, mapped := r.keyspaces[l.Keyspace()]
		if !mapped && l.Keyspace() == "" || mapped && physical == "" {
			own = l.Name()
		}
	}
	if err := checkMap(r.keyspaces, r.config.declared); err != nil {
		return err
	}
	switch {
	case own != "" && r.keyspace == "":
		return fmt.Errorf("table %s names no keyspace: say which with --keyspace", own)
	case own == "" && r.keyspace != "":
		return errors.New("--keyspace is for tables that name none, and all of the set name one: leave it out, or give --map")
	}
	return nil
}

// options are those of the call.
func (r *run) options() []reconcile.Option {
	out := []reconcile.Option{reconcile.Settle(r.settle), reconcile.Consistency(r.level)}
	add := func(given bool, options ...reconcile.Option) {
		if given {
			out = append(out, options...)
		}
	}
	add(len(r.only) > 0, reconcile.Tables(r.only...))
	add(r.pageSize > 0, reconcile.PageSize(r.pageSize))
	add(r.rate > 0, reconcile.Rate(r.rate))
	add(r.target > 0, reconcile.Target(r.target))
	add(r.maxRemovals > 0, reconcile.MaxRemovals(r.maxRemovals))
	add(r.rewrite, reconcile.Rewrite())
	add(r.ahead == "keep", reconcile.KeepAhead())
	add(r.ahead == "remove", reconcile.RemoveAhead())
	add(r.fills || r.adopts, reconcile.Writers(r.ended))
	for _, copied := range r.copies {
		from, to, _ := strings.Cut(copied, "=")
		add(true, reconcile.Copy(from, to))
	}
	add(r.state != "", reconcile.State(r.state))
	add(r.resume != "", reconcile.Resume(r.resumed))
	add(r.method == "lookup", reconcile.Lookup())
	add(r.spool != "", reconcile.Spool(r.spool))
	add(r.dryRun, reconcile.DryRun(), reconcile.OnRemoval(func(reconcile.Removal) error { return nil })) // which is not called
	return out
}

func (r *run) connect() (*session.Session, error) {
	return r.open(r.keyspace, append(r.config.session, session.Keyspaces(r.keyspaces))...)
}

func (r *run) run(c *cobra.Command, args []string) error {
	if err := r.check(c, args); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	// Without this, a line of progress would end the process once nobody reads stderr any more, as after SIGINT to "2>&1 |
	// tee".
	closed := make(chan os.Signal, 1)
	signal.Notify(closed, syscall.SIGPIPE)
	defer signal.Stop(closed)
	s, err := r.connect()
	if err != nil {
		return err
	}
	defer s.Close()
	on, err := reconcile.New(s, r.options()...)
	if err != nil {
		return err
	}
	var more []reconcile.Option
	if r.removed != "" {
		rows, err := newRemovedRows(r.removed)
		if err != nil {
			return err
		}
		defer rows.close()
		more = append(more, reconcile.OnRemoval(rows.add))
	}
	line := newProgressLine(c.ErrOrStderr(), r.config.terminal, c.Name()+" "+r.name)
	report, err := r.call(on, ctx, r.set, append(more, reconcile.OnProgress(line.show))...)
	interrupted := ctx.Err() != nil // a signal that comes while the report is written has not ended the run
	line.end()
	if report == nil {
		return err
	}
	if err := reportFormats[r.format](c, r, report); err != nil {
		return err
	}
	switch {
	case interrupted && report.Run != gocql.UUID{}:
		return fmt.Errorf("interrupted: what was found until then is printed; --resume %s continues the run", report.Run)
	case interrupted:
		return errors.New("interrupted: what was found until then is printed, nothing is known of the rest")
	}
	return found(err)
}
