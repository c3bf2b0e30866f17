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
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// checkTimeout limits a Check whose context has no deadline.
const checkTimeout = 30 * time.Second

// CheckError is returned by [Writer.Check] and names every difference between the declared and the live tables.
type CheckError struct {
	Differences []Difference
}

// Difference is one disagreement of a live table with its declaration.
type Difference struct {
	// Physical names. Column is empty if the table as a whole is meant, and Table if the keyspace is. For a user-defined type they
	// are its name and the field's.
	Keyspace, Table, Column string
	Reason                  string
	// Note says that nothing is wrong: the table has no fingerprint of its declaration, or that of an older or
	// newer process, or its rows have a default_time_to_live where ExpiresAt gives none, or it has a column that
	// writes of this set, or of another one, do not fill. It is also set where Server is.
	Note bool
	// Server is the name of a server that is not Apache Cassandra, such as Amazon Keyspaces, in notes about it: that nothing was tested
	// there, and what its documentation says against what the sets or the writer rely on. It is for the caller to decide what to do about
	// them. Empty in all others.
	Server string
	// Fix is the statement that puts the table right, empty where there is none. It is for a person to read
	// and to run: nothing in it hides from a terminal or from cqlsh.
	Fix string
	// Impossible says, where no statement puts the table right, why, and what to do instead; empty if Reason says that.
	Impossible string
}

// String is the difference for people: what cannot be printed is written as an escape, so a terminal obeys nothing of it.
func (d Difference) String() string {
	return compare.Text(d.Keyspace, d.Table, d.Column, d.Reason, d.Fix, d.Impossible)
}

func (e *CheckError) Error() string { return compare.Texts("denorm", e.Differences) }

// Check compares the live tables with what the sets declare: that they exist, their keys, columns, types and
// clustering order, and gc_grace_seconds above 0 in sets of several tables, unless the writer is [Concurrent]; that
// base rows do not end before others of theirs by a default_time_to_live, and a Versioned set of several tables has none. All differences
// come at once, in a [*CheckError]. A live column that the set does not know is no difference: writes leave it alone.
//
// What all processes that write a table have to declare alike is compared as well: how key columns may change and
// within which domains, bucket functions, conditions and unique keys, Stamp, ExpiresAt and SweepInserts. The table
// has it as a fingerprint at the end of its comment, which schema.Ensure and the command write. Where it contradicts
// the set that is a difference, and so is a table of a Versioned set, or of unique keys, that the set takes for a
// plain one.
//
// A declaration that is rolled out differs from the fingerprint for a while:
//   - A Since that was added is a difference until the fingerprint has it. Run the statement that the error names before the
//     first process that declares the Since starts, and before the time of the Since. From then on a process that does not
//     declare it does not pass.
//   - A domain that has grown is no difference: older and newer processes both pass.
//   - A Stamp, ExpiresAt or SweepInserts that was added is no difference while the fingerprint lacks it. Run the statement
//     when all processes declare it.
//
// What there is to do, also for a table without a fingerprint, is a note of [Writer.Differences]. With notes only Check
// returns nil. Sets that declare one table are compared with each other, too, and their columns: rows that a set without
// one of them moves, deletes or lets expire are not kept in step. It is an error if the map of [session.Keyspaces] names a
// keyspace in which no given set has a table, while a table of theirs is in one the map does not name: most likely a
// misspelt name. So give all sets to one Check.
//
// ScyllaDB, DataStax Enterprise, Astra DB, Amazon Keyspaces and Azure Cosmos DB are recognized by their row of system.local. What their
// documentation says against what the sets rely on is a note of [Writer.Differences] with the Server set, and never an error. docs/servers.md
// lists it.
//
// Three things are not compared, so that they can be added while older processes write. Atomic holds for the writes of
// processes that declare it. A column that another process declares, and this one does not, is one that the set does
// not know: see Another column in package tables. A query table that a process does not declare gets nothing from it:
// neither new rows, nor moves and deletes of those that others put there. Read a new table when all processes declare
// it and the older entities have been written again.
//
// It also reads what the driver needs to route batches, which gocql would otherwise do in the first writes, and would
// never do again for a statement whose first use met an outage. It is meant for the start of a service, and optional. It
// ends with ctx, or if that has no deadline after 30 s, and repeats reads that fail as the retry policy says.
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
	if wrong := slices.DeleteFunc(found, func(d Difference) bool { return d.Note }); len(wrong) > 0 {
		return &CheckError{Differences: wrong}
	}
	for _, set := range sets {
		w.warm(ctx, set)
	}
	return nil
}

// Differences is what [Writer.Check] compares, with the notes: differences with which nothing is wrong now, and the statement
// that each asks for. A service logs them at its start, or leaves them to denorm ddl --migrate.
func (w *Writer) Differences(ctx context.Context, sets ...tables.Described) ([]Difference, error) {
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
	differences []Difference
}

// add adds what is different about a table, a type, or a keyspace if id has no name.
func (c *checker) add(id cql.Name, found ...compare.Difference) {
	for _, d := range found {
		c.differences = append(c.differences, Difference{
			Keyspace: id.Keyspace, Table: id.Name, Column: d.Column, Reason: d.Reason, Note: d.Note, Fix: d.Fix, Impossible: d.Impossible,
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
		case c.inBase(d.Column) && !t.Unique:
			c.add(id, compare.Difference{Column: d.Column, Note: true, Reason: "the set declares it in its base table and not among the Columns " +
				"of this one, so no write fills it here: name it there, or drop it"})
		}
	}
	if err := c.types(id.Keyspace, t.Types); err != nil {
		return err
	}
	c.add(id, compare.Fingerprint(declared, is, c.w.clock.now())...)
	return nil
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
	if slices.ContainsFunc(c.differences, func(d Difference) bool { return d.Keyspace == id.Keyspace && d.Table == "" }) {
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
	case !conditional && c.base.ttl != 0 && (live.ttl == 0 || live.ttl > c.base.ttl):
		c.add(id, compare.Difference{
			Reason: fmt.Sprintf("default_time_to_live is %d, that of the base table %d: base rows vanish, and rows of theirs stay",
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
