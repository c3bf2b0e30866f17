package writer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/denorm-go/denorm/internal/compare"
	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/dialect"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fingerprint"
	"github.com/denorm-go/denorm/internal/period"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// checkTimeout limits a Check whose context has no deadline.
const checkTimeout = 30 * time.Second

// Check compares the live tables with what the sets declare: that they exist, and their keys, columns, types and clustering order. In
// sets of several tables gc_grace_seconds must be above 0, unless the writer is [Concurrent]. All tables of a
// set must have one default_time_to_live, and those of a Versioned set of several tables none. Check returns all differences at once, in a
// [*schema.DifferenceError]. A live column that the set does not know is no difference: writes leave it alone.
//
// Check also compares what all processes that write a table must declare alike: how key columns may change and
// within which domains, bucket functions, conditions and unique keys, Stamp, ExpiresAt and SweepInserts. The table
// has this as a fingerprint at the end of its comment, which schema.Ensure and the command write. A fingerprint that
// contradicts the set is a difference. So is a table of a Versioned set, or of unique keys, that the set takes for a
// plain one.
//
// While a declaration is rolled out, it differs from the fingerprint:
//   - A Since that was added is a difference until the fingerprint has it. Run the statement that the error names before the
//     first process that declares the Since starts, and before the time of the Since. From then on Check fails in a process
//     that does not declare it.
//   - A domain that has grown is no difference: older and newer processes both pass.
//   - A Stamp, ExpiresAt or SweepInserts that was added is no difference while the fingerprint lacks it. Run the statement
//     when all processes declare it.
//
// A note of [Writer.Differences] says what there is to do, also for a table without a fingerprint. If there are only
// notes, Check returns nil. Sets that declare the same table are compared with each other, too, columns included: a set
// that lacks a column does not keep in step the rows that it moves, deletes or lets expire. It is an error if the map of
// [session.Keyspaces] names a keyspace in which no given set has a table, while a given set has a table in a keyspace that
// the map does not name: most likely a name is misspelt. So give all sets to one Check.
//
// ScyllaDB, DataStax Enterprise, Astra DB, Amazon Keyspaces and Azure Cosmos DB are recognized by their row of system.local. Where their
// documentation contradicts what the sets rely on, there is a note of [Writer.Differences] with Server set, and never an error.
// docs/servers.md lists these points.
//
// Three things are not compared, so that they can be added while older processes write. Atomic holds for the writes of
// processes that declare it. A column that another process declares, and this one does not, is one that the set does
// not know: see "Another column" in package tables. A query table that a process does not declare gets nothing from
// that process: neither new rows, nor moves and deletes of rows that others put there. Read a new table when all
// processes declare it and the older entities have been written again.
//
// Check also reads what the driver needs to route batches. Otherwise gocql would do so in the first writes, and never
// again for a statement whose first use met an outage. Check is meant for the start of a service, and is optional. It
// ends with ctx, or after 30 s if ctx has no deadline, and retries failed reads as the retry policy says.
func (w *Writer) Check(ctx context.Context, sets ...tables.Described) error {
	if ctx == nil {
		return reject("Check", errNoContext)
	}
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	found, err := w.Differences(ctx, sets...)
	if err != nil {
		return err
	}
	if wrong := schema.Breaking(found); len(wrong) > 0 {
		return &schema.DifferenceError{Differences: wrong}
	}
	for _, set := range sets {
		w.warm(ctx, set)
	}
	return nil
}

// Differences returns the differences that [Writer.Check] finds, with the notes: differences with which nothing is wrong now,
// and the statement that each one asks for. A service logs them at its start, or leaves them to denorm ddl --migrate.
func (w *Writer) Differences(ctx context.Context, sets ...tables.Described) ([]schema.Difference, error) {
	if ctx == nil {
		return nil, reject("Check", errNoContext)
	}
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	w = w.made()
	if w.err != nil {
		return nil, reject("Check", w.err)
	}
	if len(sets) == 0 {
		return nil, reject("Check", errors.New("no set is given, so nothing would be checked"))
	}
	if err := missingSet(sets); err != nil {
		return nil, reject("Check", err)
	}
	if err := w.strayKeyspaces(sets); err != nil {
		return nil, reject("Check", err)
	}
	c := checker{ctx: ctx, w: w.patient(), session: w.reads, declared: make(map[cql.Name]declaration), typesSeen: make(map[string]bool)}
	if err := c.recognize(); err != nil {
		return nil, fmt.Errorf("denorm: Check: %w", err)
	}
	for _, set := range sets {
		c.set, c.d, c.base, c.unversioned = set.Internal(), set.Internal().Describe(), nil, false
		c.alike(c.d)
		for _, t := range c.d.Tables {
			if c.unversioned {
				break
			}
			if err := c.table(t); err != nil {
				return nil, c.failed(err)
			}
		}
	}
	return c.differences, nil
}

// failed is the error of a check that could not be finished.
func (c *checker) failed(err error) error {
	if c.server != "" {
		return fmt.Errorf("denorm: Check: the server is %s, on which nothing of this library was tested (docs/servers.md): %w", c.server, err)
	}
	return fmt.Errorf("denorm: Check: %w", err)
}

// strayKeyspaces rejects a map of [session.Keyspaces] that names a keyspace in which none of the sets has a table, while a table of theirs is in
// one that it does not name.
func (w *Writer) strayKeyspaces(sets []tables.Described) error {
	var declared []string
	for _, set := range sets {
		for _, t := range set.Internal().Describe().Tables {
			declared = append(declared, t.Keyspace)
		}
	}
	return w.shared.Stray(declared, "these sets", "check all sets together")
}

// withDeadline gives a context without a deadline one.
func withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, checkTimeout)
}

type checker struct {
	ctx         context.Context //nolint:containedctx // lives as long as the call
	w           *Writer
	session     *gocql.Session
	set         *entity.Set              // at hand
	d           entity.Description       // of it
	unversioned bool                     // its tables are those of a Versioned set, and no more is said of them
	base        *liveTable               // of the set at hand, nil before it was read, and where there is none
	declared    map[cql.Name]declaration // by physical name
	typesSeen   map[string]bool          // types with their fields
	server      dialect.Server           // that answers
	accord      bool                     // it has transactions over tables, as Cassandra 6 does
	differences []schema.Difference
}

// add adds what is different about a table, a type, or a keyspace if id has no name.
func (c *checker) add(id cql.Name, found ...compare.Difference) {
	for _, d := range found {
		c.differences = append(c.differences, schema.Difference{
			Keyspace: id.Keyspace, Table: id.Name, Column: d.Column, Reason: d.Reason, Fix: d.Fix, Impossible: d.Impossible,
			Destroys: d.Destroys, Begun: d.Begun, Note: d.Note,
		})
	}
}

func (c *checker) table(t entity.TableDescription) error {
	id := cql.Name{Keyspace: c.w.physical(t.Keyspace), Name: t.Name}
	if id.Keyspace == "" {
		c.add(id, compare.Difference{Reason: "no keyspace: " + c.w.noKeyspace()})
		return nil
	}
	advice := ""
	if t.Rotation != nil { // of the tables that come and go the one of now has to be there
		id.Name, _, _ = t.Rotation.At(c.w.clock.now())
		advice = period.Advice
	}
	live, err := c.w.live.reread(c.ctx, &c.w.retrier, id.Keyspace, id.Name)
	if errors.Is(err, errNoTable) {
		return c.missing(id, advice)
	}
	if err != nil {
		return err
	}
	if live.gcGrace == 0 && len(c.d.Tables) > 1 && !c.d.Counts && c.w.choice != alwaysConcurrent && !t.Unique {
		c.noGrace(id)
	}
	first := c.base == nil
	c.expiry(live, id, t)
	c.onServer(id, t, live, first)
	is, err := ask(c, id, c.live)
	if err != nil {
		return err
	}
	declared := compare.Table{Name: id.String(), Columns: t.Columns, Fingerprint: t.Fingerprint, Comment: is.Comment}
	for _, d := range compare.Columns(c.set, declared, is) {
		switch {
		case d.Unversioned:
			c.unversioned = true
			c.add(id, d)
			return nil
		case !d.Extra:
			c.add(id, d)
		case c.inBase(d.Column) && !t.Unique && !static(is, d.Column):
			c.add(id, compare.Difference{Column: d.Column, Note: true, Reason: "the set declares it in its base table and not among the Columns " +
				"of this one, so no write fills it here: name it there, or drop it"})
		}
	}
	if err := c.types(id.Keyspace, t.Types); err != nil {
		return err
	}
	c.add(id, compare.Fingerprint(declared, is, c.w.clock.now())...)
	return c.mode(id)
}

// static says whether a live column is static: other code writes it, and no set can.
func static(live compare.Table, column string) bool {
	return slices.ContainsFunc(live.Columns, func(c entity.ColumnDescription) bool { return c.Name == column && c.Kind == "static" })
}

// noGrace adds that a table of a set that needs logged batches has a gc_grace_seconds of 0.
func (c *checker) noGrace(id cql.Name) {
	d := compare.NoGrace(id.String())
	if c.server == dialect.CosmosDB {
		d.Fix, d.Impossible = "", string(c.server)+" takes no other value, and has no logged batches: give the writer the option Concurrent"
	}
	c.add(id, d)
}

// inBase says whether the set at hand declares a column in its base table.
func (c *checker) inBase(name string) bool {
	return slices.ContainsFunc(c.d.Tables[0].Columns, func(d entity.ColumnDescription) bool { return d.Name == name })
}

// missing adds that a table does not exist, or a view is in its place, or once that its keyspace does not exist.
func (c *checker) missing(id cql.Name, advice string) error {
	if slices.ContainsFunc(c.differences, func(d schema.Difference) bool { return d.Keyspace == id.Keyspace && d.Table == "" }) {
		return nil
	}
	there, err := ask(c, cql.Name{Keyspace: id.Keyspace}, c.exists)
	if err != nil {
		return err
	}
	if !there {
		c.add(cql.Name{Keyspace: id.Keyspace}, compare.Difference{Reason: "does not exist"})
		return nil
	}
	view, err := ask(c, id, c.exists)
	switch {
	case err != nil:
		return err
	case view:
		c.add(id, compare.View)
	default:
		c.add(id, compare.Difference{Reason: "does not exist" + advice})
	}
	return nil
}

// expiry says where a default_time_to_live of a live table would take rows that the set counts on.
func (c *checker) expiry(live liveTable, id cql.Name, t entity.TableDescription) {
	if c.base == nil {
		c.base = &live
	}
	conditional := c.d.Conditional && len(c.d.Tables) > 1
	fix := "ALTER TABLE " + id.String() + " WITH default_time_to_live = "
	switch {
	case conditional && live.ttl != 0: // an update renews the base row, and neither claims nor rows that stay as they are
		c.add(id, compare.Difference{
			Reason: fmt.Sprintf("default_time_to_live is %d: rows vanish, and a condition or a unique key with them", live.ttl), Fix: fix + "0",
		})
	case !conditional && live.ttl != c.base.ttl:
		c.add(id, compare.Difference{
			Reason: fmt.Sprintf("default_time_to_live is %d, that of the base table %d: an entity's rows vanish from one table and stay in the other",
				live.ttl, c.base.ttl), Fix: fix + strconv.Itoa(c.base.ttl),
		})
	case live.ttl != 0 && fingerprint.Expires(t.Fingerprint):
		c.add(id, compare.Difference{
			Reason: fmt.Sprintf("default_time_to_live is %d: a row whose expiry is zero or nil ends after it, and ExpiresAt says that it "+
				"does not", live.ttl), Note: true, Fix: fix + "0",
		})
	}
}

// types compares the user-defined types that a table needs with those of its keyspace. Column types name them and nothing more.
func (c *checker) types(keyspace string, declared []entity.TypeDescription) error {
	for _, t := range declared {
		id := cql.Name{Keyspace: keyspace, Name: t.Name}
		seen := fmt.Sprint(id, t.Fields) // other sets may declare other fields
		if c.typesSeen[seen] {
			continue
		}
		c.typesSeen[seen] = true
		live, err := ask(c, id, c.fields)
		switch {
		case err != nil:
			return err
		case live == nil:
			c.add(id, compare.Difference{Reason: "the type does not exist"})
		default:
			c.add(id, compare.Fields(c.set, id.String(), id.Name, t.Fields, live, true)...)
		}
	}
	return nil
}
