// Package rotation creates the tables of a rotating table ahead of time, and drops those whose rows have all been kept
// long enough. Dropping a table costs nothing, while rows that are deleted or expire one by one cost tombstones and
// compaction.
//
// A table declared with Rotate (see tables.Table) is one table for each period, and the writer chooses the table by a
// time in the row:
//
//	tables.Table{Name: "events", PartKey: ..., Rotate: tables.Month("at")} // events_2026_11, events_2026_12, ...
//
// A job calls [Tables.Plan], which changes nothing and says what there is to do, and then [Plan.Apply]:
//
//	months, err := rotation.New(s, "", Events, "events")
//	plan, err := months.Plan(ctx, time.Now(), rotation.Window{Ahead: 31 * 24 * time.Hour, Retain: 365 * 24 * time.Hour})
//	fmt.Println(plan) // CREATE TABLE events_2026_12 ..., DROP TABLE events_2025_10
//	err = plan.Apply(ctx)
//
// None of this happens automatically: a write to a period whose table is missing fails, with an error that names the
// table. For development and tests, schema.Ensure creates the table of the present period.
//
// # How often
//
// If a job runs every day, with Ahead of a whole period, you have that long to notice that it has stopped. [Window]
// says how long rows are kept, and how old and how new rows may be when they are written.
//
// # What is dropped
//
// A table is dropped when the youngest row that it can hold is older than Retain. Tables whose names cannot belong to
// this rotation are left alone. A table that was made for another rotation (its fingerprint says so) is an error,
// before anything is planned. Dropped rows are gone, except in the snapshots that Cassandra takes by auto_snapshot.
// Reads of package reader query the tables in the range of their bounds, so keep the bounds of reads within what is
// kept.
//
// # One at a time
//
// Run one such job at a time. Cassandra up to 5.0 lets two nodes create the same table at the same moment, each under a
// different id. Until one id wins, what was written under the other is lost.
package rotation

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/catalog"
	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/fingerprint/compare"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// Tables are the tables of one rotating table in a keyspace. It is made by [New] and safe for concurrent use.
type Tables struct {
	cluster        cluster
	keyspace, name string
	rotation       layout.Rotation
	definition     string
}

// New makes Tables for the table that the set declares with Rotate under name. If several keyspaces have a table of
// that name, name includes the declared keyspace, for example "shop.events". The tables are created as the set declares
// them, with the options that a schema.With among options gives the table under its declared name. keyspace is where
// they are created. Empty means the keyspace in which the table is declared, as session.Keyspaces maps it, or else the
// session's. The Timeout of the session should be some 30 s, see [session.Adjust]: nodes need time to agree on a
// schema.
func New(s *session.Session, keyspace string, set tables.Described, name string, options ...schema.Declaration) (*Tables, error) {
	if s == nil || s.Reads() == nil {
		return nil, errors.New("rotation: the session is nil or a zero value: session.Open makes one")
	}
	settings, own := s.Settings(), s.Reads().Query("").Keyspace()
	if settings.Err != nil {
		return nil, fmt.Errorf("rotation: %w", settings.Err)
	}
	physical := func(logical string) (string, error) { return settings.Physical(logical, own) }
	return newTables(cassandra{s.Reads()}, physical, keyspace, set, name, options)
}

func newTables(
	c cluster, physical func(logical string) (string, error), keyspace string, set tables.Described, name string, options []schema.Declaration,
) (*Tables, error) {
	declared, err := schema.Declare(append([]schema.Declaration{schema.Sets(set)}, options...)...)
	if err != nil {
		return nil, fmt.Errorf("rotation: %w", err)
	}
	id, rotation, err := rotating(set, name)
	if err != nil {
		return nil, err
	}
	if keyspace == "" {
		if keyspace, err = physical(id.Keyspace); err != nil {
			return nil, fmt.Errorf("rotation: table %s has no keyspace: %w", id, err)
		}
	}
	if !cql.IsTable(keyspace) {
		return nil, fmt.Errorf("rotation: keyspace %q is not a name of %s", keyspace, cql.TableRule)
	}
	return &Tables{cluster: c, keyspace: keyspace, name: id.Name, rotation: rotation, definition: declared.Table(id).Definition()}, nil
}

// rotating finds the table of the set that rotates and has this name, with or without its keyspace.
func rotating(set tables.Described, name string) (id schema.ID, rotation layout.Rotation, err error) {
	var found []schema.ID
	for _, t := range set.Internal().All() {
		of, ok := t.Rotates()
		here := schema.ID{Keyspace: t.Keyspace, Name: t.Name}
		switch {
		case ok && here.String() == name:
			return here, of, nil
		case ok && here.Name == name:
			id, rotation, found = here, of, append(found, here)
		}
	}
	switch len(found) {
	case 0:
		err = fmt.Errorf("rotation: the set has no table %q that rotates", name)
	case 1:
	default:
		err = fmt.Errorf("rotation: the set has more than one table %q that rotates: name it with its keyspace, as %s or %s",
			name, found[0], found[1])
	}
	return id, rotation, err
}

// Window says which tables must exist. Its times must not be negative, and must be at least a minute unless they are 0.
type Window struct {
	// Ahead is how far into the future rows already have a table. If it is 0, only the present table is created, and
	// writes fail from the end of its period until the next Plan is applied. Make it longer than the time between two
	// Plans.
	Ahead time.Duration
	// Back is how old rows may be when they are written: tables for them are created as well.
	Back time.Duration
	// Retain is how long rows are kept: a table whose youngest possible row is older is dropped. 0 keeps all. Retain must
	// not be less than Back. The declared period determines which rows a table can hold, so use another name for another
	// period. Plan rejects tables that were made for another period. It cannot tell for tables without a fingerprint in
	// their comment. These are dropped by the declared period, and too early if that is shorter than their own.
	Retain time.Duration
}

// shortest is no length for a window: a number without a unit is of nanoseconds.
const shortest = time.Minute

func (w Window) valid() error {
	switch {
	case w.Ahead < 0 || w.Back < 0 || w.Retain < 0:
		return errors.New("rotation: Ahead, Back and Retain must not be negative")
	case w.Retain > 0 && w.Retain < shortest || w.Ahead > 0 && w.Ahead < shortest || w.Back > 0 && w.Back < shortest:
		return fmt.Errorf("rotation: Ahead %v, Back %v, Retain %v: less than a minute: give a time.Duration, such as 30 * 24 * time.Hour", w.Ahead, w.Back, w.Retain)
	case w.Retain > 0 && w.Retain < w.Back:
		return errors.New("rotation: Retain is less than Back: tables would be dropped and created again")
	}
	return nil
}

// Plan holds the tables to create and to drop. Print it for a dry run.
type Plan struct {
	Create, Drop []string // names of tables, the earliest first
	tables       *Tables
}

var errNoContext = errors.New("rotation: the context is nil: pass the caller's, or context.Background()")

// farthest is how far from the clock of the process the time of a plan that drops tables may be.
const farthest = 10 * 366 * 24 * time.Hour

// maxCreate bounds a plan: so many tables are a mistake, and each costs every node memory.
const maxCreate = 200

// Plan reads which tables exist, and returns which are to be created and dropped at the time now. The year of now must
// be from 1970 to 9999. Plan changes nothing. It ignores tables with other names, including names that no table of this
// rotation can have. A now of more than 10 years from the clock of the process is an error if tables would be dropped.
//
// It is an error, and nothing is planned, if a table has a name of this rotation, and its fingerprint names another
// rotation or none. Its rows would be dropped too early, or not be found. A fingerprint that cannot be read is an
// error, too. A table without a fingerprint is taken as one of this rotation if its name allows it.
func (t *Tables) Plan(ctx context.Context, now time.Time, w Window) (Plan, error) {
	p := Plan{tables: t}
	if ctx == nil {
		return p, errNoContext
	}
	if now.IsZero() {
		return p, errors.New("rotation: the time is zero: pass time.Now()")
	}
	if year := now.UTC().Year(); year < 1970 || year > 9999 {
		return p, fmt.Errorf("rotation: the time is of the year %d: pass time.Now(), or time.UnixMilli for milliseconds",
			year)
	}
	if err := w.valid(); err != nil {
		return p, err
	}
	live, err := t.cluster.tables(ctx, t.keyspace)
	if err != nil {
		return p, fmt.Errorf("rotation: tables of keyspace %s not read: %w", t.keyspace, err)
	}
	names := make([]string, len(live))
	for i, l := range live {
		if err := t.madeForIt(l); err != nil {
			return p, err
		}
		names[i] = l.Name
	}
	for at := now.Add(-w.Back); ; {
		name, from, to := t.rotation.At(at)
		if from.After(now.Add(w.Ahead)) {
			break
		}
		if !slices.Contains(names, name) {
			p.Create = append(p.Create, name)
		}
		if len(p.Create) > maxCreate {
			return p, fmt.Errorf("rotation: more than %d tables would be created", maxCreate)
		}
		at = to
	}
	if w.Retain > 0 {
		for _, name := range names {
			from, ok := t.rotation.Of(name)
			if !ok {
				continue
			}
			if _, _, to := t.rotation.At(from); !to.After(now.Add(-w.Retain)) {
				p.Drop = append(p.Drop, name)
			}
		}
		slices.Sort(p.Drop) // names are as long as each other, and sort by time
	}
	if away := time.Since(now).Abs(); len(p.Drop) > 0 && away > farthest {
		return Plan{tables: t}, fmt.Errorf("rotation: the time %s is over 10 years from this clock, and %d tables would be dropped: pass time.Now()", now.UTC().Format(time.RFC3339), len(p.Drop))
	}
	return p, nil
}

// suffix is what the name of a table can end with, whatever its period.
var suffix = regexp.MustCompile(`^[0-9]{4}(_[0-9]{2}){1,3}$`)

// madeForIt is an error if the fingerprint of a table with such a name says that it was made for another rotation.
func (t *Tables) madeForIt(l catalog.Table) error {
	rest, ok := strings.CutPrefix(l.Name, t.name+"_")
	_, text := compare.Split(l.Comment)
	if !ok || !suffix.MatchString(rest) || text == "" {
		return nil
	}
	_, ours := t.rotation.Of(l.Name)
	f, err := compare.Parse(text)
	made := f.Rotation()
	switch {
	case err != nil && ours:
		return fmt.Errorf("rotation: table %s.%s: %w: update the library, or remove [denorm:...] from the comment of the table", t.keyspace, l.Name, err)
	case err != nil, made == t.rotation.String(), made == "" && !ours:
		return nil //nolint:nilerr // it is of this rotation, or of another declaration
	case made == "":
		made = "no rotation"
	}
	return fmt.Errorf("rotation: table %s.%s was made for %s, and the set declares %s: declare what it was made for, or another name",
		t.keyspace, l.Name, made, t.rotation)
}

// Statements returns what Apply executes, in this order.
func (p Plan) Statements() []string {
	return slices.Concat(
		each.Of(p.Create, func(name string) string {
			return "CREATE TABLE IF NOT EXISTS " + p.tables.keyspace + "." + name + " " + p.tables.definition
		}),
		each.Of(p.Drop, func(name string) string { return "DROP TABLE IF EXISTS " + p.tables.keyspace + "." + name }))
}

// String returns the statements, or says that there is nothing to do.
func (p Plan) String() string {
	if len(p.Create)+len(p.Drop) == 0 {
		return "nothing to do"
	}
	return strings.Join(p.Statements(), ";\n") + ";"
}

// Apply executes the plan and waits until all nodes agree on the schema. Dropped rows are gone, except in the snapshots
// that Cassandra takes by auto_snapshot. Apply ends at the first error; the next Plan finds what is left to do.
func (p Plan) Apply(ctx context.Context) error {
	if ctx == nil {
		return errNoContext
	}
	for _, statement := range p.Statements() {
		if err := p.tables.cluster.execute(ctx, statement); err != nil {
			words := strings.Fields(statement)
			return fmt.Errorf("rotation: %s: %w", strings.Join(words[:min(6, len(words))], " "), err)
		}
	}
	return nil
}

// cluster is the seam to gocql.
type cluster interface {
	tables(ctx context.Context, keyspace string) ([]catalog.Table, error)
	execute(ctx context.Context, statement string) error
}

type cassandra struct{ session *gocql.Session }

func (c cassandra) tables(ctx context.Context, keyspace string) ([]catalog.Table, error) {
	out, err := catalog.Tables(ctx, c.session, keyspace)
	return out, request.Shown(err)
}

func (c cassandra) execute(ctx context.Context, statement string) error {
	if err := c.session.Query(statement).RetryPolicy(driver.NoRetry).WithContext(ctx).Exec(); err != nil {
		return request.Shown(err)
	}
	return c.session.AwaitSchemaAgreement(ctx)
}
