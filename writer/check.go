package writer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fingerprint"
	"github.com/denorm-go/denorm/internal/period"
	"github.com/denorm-go/denorm/internal/printable"
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
	// Physical names. Column is empty if the table as a whole is meant, and Table if the keyspace is.
	Keyspace, Table, Column string
	Reason                  string
	// Note says that nothing is wrong: the table has no fingerprint of its declaration, or that of an older or
	// newer process, or its rows have a default_time_to_live where ExpiresAt gives none, or it has a column that
	// writes of this set, or of another one, do not fill.
	Note bool
	// Fix is the statement that puts the fingerprint right, empty where there is none. It is for a person to read
	// and to run: nothing in it hides from a terminal or from cqlsh.
	Fix string
}

// String is the difference for people: what cannot be printed is written as an escape, so a terminal obeys nothing of it.
func (d Difference) String() string {
	table := d.Table
	if d.Keyspace != "" {
		table = d.Keyspace + "." + d.Table
	}
	text := fmt.Sprintf("table %s: %s", table, d.Reason)
	switch {
	case d.Table == "":
		text = fmt.Sprintf("keyspace %s: %s", d.Keyspace, d.Reason)
	case d.Column != "":
		text = fmt.Sprintf("table %s: column %s: %s", table, d.Column, d.Reason)
	}
	text = printable.Line(text)
	if d.Fix != "" {
		text += "\n\t\tfix: " + strings.ReplaceAll(printable.Lines(d.Fix), "\n", "\n\t\t") + ";"
	}
	return text
}

func (e *CheckError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "denorm: %d difference(s) between declared and live tables", len(e.Differences))
	for _, d := range e.Differences {
		b.WriteString("\n\t" + d.String())
	}
	return b.String()
}

// Check compares the live tables with what the sets declare: that they exist, their keys, columns, types and
// clustering order, and gc_grace_seconds above 0 in sets of several tables, unless the writer is [Concurrent]; that
// base rows do not end before others of theirs by a default_time_to_live, and a Versioned set of several tables has none. All differences
// come at once, in a [*CheckError]. A live column that the set does not know is no difference: writes leave it alone.
//
// What all processes that write a table have to declare alike is compared as well: how key columns may change and
// within which domains, bucket functions, conditions and unique keys, Stamp, ExpiresAt and SweepInserts. The table
// has it as a fingerprint at the end of its comment, which schema.Ensure and the command write. Where it contradicts
// the set that is a difference, and so is a table of a Versioned set, or of unique keys, that the set takes for a
// plain one. A Since that was added is one until it is in the fingerprint: run the statement that the error names
// before a process with the Since starts, and before it begins; from then on a process without it does not pass. A
// domain that has grown is no difference: older and newer processes both pass while a declaration is rolled out. Nor
// is a Stamp, ExpiresAt or SweepInserts that was added, until it is in the fingerprint; run that statement when all
// processes declare it. What there is to do then, or for a table without a fingerprint, is a note of
// [Writer.Differences]. With notes only Check returns nil. Sets that declare one table are compared with each other,
// too, and their columns: rows that a set without one of them moves, deletes or lets expire are not kept in step. It
// is an error if the map of [session.Keyspaces] names a keyspace in which no given set has a table, while a table of
// theirs is in one the map does not name: most likely a misspelt name. So give all sets to one Check.
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
		return refuse("Check", errNoContext)
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
		return nil, refuse("Check", errNoContext)
	}
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	w = w.made()
	if w.err != nil {
		return nil, refuse("Check", w.err)
	}
	if len(sets) == 0 {
		return nil, refuse("Check", errors.New("no set is given, so nothing would be checked"))
	}
	if err := missingSet(sets); err != nil {
		return nil, refuse("Check", err)
	}
	if err := w.strayKeyspaces(sets); err != nil {
		return nil, refuse("Check", err)
	}
	c := checker{ctx: ctx, w: w.patient(), session: w.reads, declared: make(map[[2]string]declaration)}
	for _, set := range sets {
		c.set = set
		d := set.Internal().Describe()
		c.alike(d)
		c.batches = len(d.Tables) > 1 && !d.Counts && w.choice != alwaysConcurrent
		c.conditional, c.base = d.Conditional && len(d.Tables) > 1, nil
		for _, t := range d.Tables {
			if err := c.table(t); err != nil {
				return nil, fmt.Errorf("denorm: Check: %w", err)
			}
		}
	}
	return c.differences, nil
}

// strayKeyspaces rejects a map of [session.Keyspaces] that names a keyspace in which none of the sets has a table, while a table of theirs is in
// one that it does not name.
func (w *Writer) strayKeyspaces(sets []tables.Described) error {
	declared := make(map[string]bool)
	unmapped := false
	for _, set := range sets {
		for _, t := range set.Internal().Describe().Tables {
			declared[t.Keyspace] = true
			if _, ok := w.shared.Keyspaces[t.Keyspace]; !ok {
				unmapped = true
			}
		}
	}
	for _, from := range slices.Sorted(maps.Keys(w.shared.Keyspaces)) {
		if unmapped && !declared[from] {
			return fmt.Errorf("session.Keyspaces maps %q, and no table of these sets is declared in that keyspace, but in %q: name one of these "+
				"(the empty name is that of tables without a keyspace), or check all sets together", from, slices.Sorted(maps.Keys(declared)))
		}
	}
	return nil
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
	set         tables.Described          // at hand
	batches     bool                      // it may be written in logged batches
	conditional bool                      // its tables depend on conditions
	base        *liveTable                // of the set at hand, nil before it was read, and where there is none
	declared    map[[2]string]declaration // by physical keyspace and table
	differences []Difference
}

// liveColumn is a row of system_schema.columns.
type liveColumn struct {
	kind, order, typ string
	position         int
}

func (c *checker) table(t entity.TableDescription) error {
	keyspace := c.w.physical(t.Keyspace)
	add := func(column, reason string, args ...any) {
		c.differences = append(c.differences, Difference{
			Keyspace: keyspace, Table: t.Name, Column: column, Reason: fmt.Sprintf(reason, args...),
		})
	}
	if keyspace == "" {
		add("", "no keyspace: %s", c.w.noKeyspace())
		return nil
	}
	if t.Rotation != nil { // of the tables that come and go the one of now has to be there
		t.Name, _, _ = t.Rotation.At(c.w.clock.now())
	}
	live, err := c.w.live.reread(c.ctx, &c.w.retrier, keyspace, t.Name)
	if errors.Is(err, errNoTable) {
		if there, err := c.keyspace(keyspace); err != nil || !there {
			return err
		}
		view, err := c.exists(`SELECT view_name FROM system_schema.views WHERE keyspace_name = ? AND view_name = ?`, keyspace, t.Name)
		if err != nil {
			return err
		}
		if view {
			add("", "is a materialized view, which cannot be written: declare a table of another name, create it, write the entities again, "+
				"and read it in place of the view")
			return nil
		}
		advice := ""
		if t.Rotation != nil {
			advice = period.Advice
		}
		add("", "does not exist%s", advice)
		return nil
	}
	if err != nil {
		return err
	}
	if live.gcGrace == 0 && c.batches && !t.Unique {
		add("", "gc_grace_seconds is 0, so the batchlog would drop every logged batch it is in: ALTER TABLE %s.%s WITH "+
			"gc_grace_seconds = %d", keyspace, t.Name, int((10 * 24 * time.Hour).Seconds()))
	}
	c.expiry(live, keyspace, t, add)
	var columns map[string]liveColumn
	if err := askSchema(c.ctx, &c.w.retrier, func(ctx context.Context) (err error) {
		columns, err = c.columns(ctx, keyspace, t.Name)
		return err
	}); err != nil {
		return err
	}
	for _, d := range t.Columns {
		l, ok := columns[d.Name]
		delete(columns, d.Name)
		switch {
		case !ok:
			add(d.Name, "does not exist")
			continue
		case l.typ != d.Type:
			add(d.Name, "is %s, declared %s%s", l.typ, d.Type, c.advice(", which ", "", d.Name, l.typ))
		}
		switch {
		case l.kind != d.Kind:
			add(d.Name, "is %s, declared %s", kindName(l.kind), kindName(d.Kind))
		case d.Kind != "regular" && l.position != d.Position:
			add(d.Name, "is %s %d, declared %d", kindName(l.kind), l.position+1, d.Position+1)
		case d.Kind == "clustering" && (l.order == "desc") != d.Desc:
			add(d.Name, "is clustered %s, declared the other way", l.order)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		switch l := columns[name]; {
		case l.kind != "regular":
			add(name, "is %s, and not declared", kindName(l.kind))
		case fingerprint.Kept(name, l.typ) != "":
			add(name, "%s", fingerprint.Kept(name, l.typ))
		case c.inBase(name) && !t.Unique:
			c.differences = append(c.differences, Difference{Keyspace: keyspace, Table: t.Name, Column: name, Note: true, Reason: "the set declares it " +
				"in its base table and not among the Columns of this one, so no write fills it here: name it there, or drop it"})
		}
	}
	if err := c.types(keyspace, t, add); err != nil {
		return err
	}
	return c.fingerprint(keyspace, t)
}

// inBase says whether the set at hand declares a column in its base table.
func (c *checker) inBase(name string) bool {
	return slices.ContainsFunc(c.set.Internal().Describe().Tables[0].Columns, func(d entity.ColumnDescription) bool { return d.Name == name })
}

// keyspace says whether the keyspace of a table that does not exist is there, and adds once that it is not.
func (c *checker) keyspace(name string) (there bool, err error) {
	if slices.ContainsFunc(c.differences, func(d Difference) bool { return d.Keyspace == name && d.Table == "" }) {
		return false, nil
	}
	there, err = c.exists(`SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?`, name)
	if err == nil && !there {
		c.differences = append(c.differences, Difference{Keyspace: name, Reason: "does not exist"})
	}
	return there, err
}

// exists says whether a query of the name of something finds it.
func (c *checker) exists(query string, names ...any) (there bool, err error) {
	err = askSchema(c.ctx, &c.w.retrier, func(ctx context.Context) error {
		var name string
		err := c.session.Query(query, names...).WithContext(ctx).Consistency(gocql.One).RetryPolicy(nil).Scan(&name)
		if there = err == nil; errors.Is(err, gocql.ErrNotFound) {
			return nil
		}
		return err
	})
	return there, err
}

// expiry says where a default_time_to_live of a live table would take rows that the set counts on.
func (c *checker) expiry(live liveTable, keyspace string, t entity.TableDescription, add func(column, reason string, args ...any)) {
	table := keyspace + "." + t.Name
	if c.base == nil {
		c.base = &live
	}
	switch {
	case c.conditional && live.ttl != 0: // an update renews the base row, and neither claims nor rows that stay as they are
		add("", "default_time_to_live is %d: rows vanish, and a condition or a unique key with them: ALTER TABLE %s WITH default_time_to_live = 0",
			live.ttl, table)
	case !c.conditional && c.base.ttl != 0 && (live.ttl == 0 || live.ttl > c.base.ttl):
		add("", "default_time_to_live is %d, that of the base table %d: base rows vanish, and rows of theirs stay: "+
			"ALTER TABLE %s WITH default_time_to_live = %d", live.ttl, c.base.ttl, table, c.base.ttl)
	case live.ttl != 0 && fingerprint.Expires(t.Fingerprint):
		c.differences = append(c.differences, Difference{
			Keyspace: keyspace, Table: t.Name, Note: true, Fix: "ALTER TABLE " + table + " WITH default_time_to_live = 0",
			Reason: fmt.Sprintf("default_time_to_live is %d: a row whose expiry is zero or nil ends after it, and ExpiresAt says that it "+
				"does not", live.ttl),
		})
	}
}

// advice says after a text how to declare a column of another live type, or a field of a user-defined type, if that can be.
func (c *checker) advice(text, userType, column, live string) string {
	if advice := c.set.Internal().TypeAdvice(userType, column, live); advice != "" {
		return text + advice
	}
	return ""
}

func kindName(kind string) string {
	switch kind {
	case "partition_key":
		return "partition key column"
	case "clustering":
		return "clustering column"
	}
	return kind + " column"
}

func (c *checker) columns(ctx context.Context, keyspace, table string) (map[string]liveColumn, error) {
	iter := c.session.Query(`SELECT column_name, kind, position, clustering_order, type FROM system_schema.columns
		WHERE keyspace_name = ? AND table_name = ?`, keyspace, table).
		WithContext(ctx).Consistency(gocql.One).RetryPolicy(nil).Iter()
	columns := make(map[string]liveColumn)
	var name string
	var l liveColumn
	for iter.Scan(&name, &l.kind, &l.position, &l.order, &l.typ) {
		columns[name] = l
	}
	return columns, iter.Close()
}

// warm makes gocql find out, for every statement, which of its values are the partition key. Failure costs token
// awareness of a statement, not correctness, so it is not reported.
func (w *Writer) warm(ctx context.Context, set tables.Described) {
	x, ok := w.exec.(gocqlExecutor)
	if !ok {
		return
	}
	for i, t := range set.Internal().Describe().Tables {
		for _, statement := range set.Internal().Statements(i, w.physical(t.Keyspace)) {
			values := make([]any, strings.Count(statement, "?"))
			_, _ = x.session.Query(statement, values...).WithContext(ctx).GetRoutingKey()
		}
	}
}
