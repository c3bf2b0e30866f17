// Package rotation creates the tables of a rotating table ahead of time, and drops those whose rows have all been kept long
// enough: to drop a table costs nothing, while rows that are deleted or end one by one cost tombstones and compaction.
//
// Nothing of it happens by itself. A job calls [Tables.Plan], which changes nothing and says what there is to do, and then
// [Plan.Apply]. Run one such job at a time: Cassandra up to 5.0 lets two nodes create one table at the same moment, each
// under an id of its own, and until one of them wins what was written under the other is lost.
package rotation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cqlname"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// Tables are the tables of one rotating table in a keyspace. It is made by [New] and safe for concurrent use.
type Tables struct {
	schema     schema
	keyspace   string
	rotation   tables.Rotation
	definition string
}

// rotated is a set of any row type.
type rotated interface {
	Rotation(table string) (tables.Rotation, bool)
}

// New is for the table declared with Rotate under name in the set. definition is what follows the name in its CREATE TABLE: the
// columns in brackets, and the options. An empty keyspace is that of the session, whose Timeout should be some 30 s: nodes
// take their time to agree on a schema.
func New(session *gocql.Session, keyspace string, set rotated, name, definition string) (*Tables, error) {
	if session == nil {
		return nil, errors.New("rotation: the session is nil")
	}
	if keyspace == "" {
		keyspace = session.Query("").Keyspace()
	}
	return newTables(cassandra{session}, keyspace, set, name, definition)
}

func newTables(s schema, keyspace string, set rotated, name, definition string) (*Tables, error) {
	rotation, ok := set.Rotation(name)
	switch {
	case !ok:
		return nil, fmt.Errorf("rotation: the set has no table %q that rotates", name)
	case !cqlname.Table(keyspace):
		return nil, fmt.Errorf("rotation: keyspace %q is not a name of %s", keyspace, cqlname.TableRule)
	case !strings.HasPrefix(strings.TrimSpace(definition), "("):
		return nil, errors.New("rotation: the definition is what follows the name in CREATE TABLE, and begins with a bracket")
	}
	return &Tables{schema: s, keyspace: keyspace, rotation: rotation, definition: strings.TrimSpace(definition)}, nil
}

// Window says which tables there are to be.
type Window struct {
	// Ahead is for how long rows to come have a table already.
	Ahead time.Duration
	// Back is how old rows may be that are still to be written: tables for them are created as well.
	Back time.Duration
	// Retain is how long rows are kept: a table whose youngest possible row is older is dropped. 0 keeps all. It must not be
	// less than Back.
	Retain time.Duration
}

func (w Window) valid() error {
	switch {
	case w.Ahead < 0 || w.Back < 0 || w.Retain < 0:
		return errors.New("rotation: a window is not negative")
	case w.Retain > 0 && w.Retain < w.Back:
		return errors.New("rotation: Retain is less than Back: tables would be dropped and created again")
	}
	return nil
}

// Plan is what there is to do. It is the dry run.
type Plan struct {
	Create, Drop []string // names of tables, the earliest first
	tables       *Tables
}

// maxCreate bounds a plan: so many tables are a mistake, and each costs every node memory.
const maxCreate = 200

// Plan looks at which tables exist, and says which are to be created and dropped at the time now. It changes nothing. Tables
// with other names, also such as could not be a table of this rotation, are none of its business.
func (t *Tables) Plan(ctx context.Context, now time.Time, w Window) (Plan, error) {
	p := Plan{tables: t}
	if err := w.valid(); err != nil {
		return p, err
	}
	names, err := t.schema.tables(ctx, t.keyspace)
	if err != nil {
		return p, fmt.Errorf("rotation: tables of keyspace %s not read: %w", t.keyspace, err)
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
	return p, nil
}

// Statements are what Apply executes, in this order.
func (p Plan) Statements() []string {
	var out []string
	for _, name := range p.Create {
		out = append(out, "CREATE TABLE IF NOT EXISTS "+p.tables.keyspace+"."+name+" "+p.tables.definition)
	}
	for _, name := range p.Drop {
		out = append(out, "DROP TABLE IF EXISTS "+p.tables.keyspace+"."+name)
	}
	return out
}

// String lists the statements, or says that there is nothing to do.
func (p Plan) String() string {
	if len(p.Create)+len(p.Drop) == 0 {
		return "nothing to do"
	}
	return strings.Join(p.Statements(), ";\n") + ";"
}

// Apply carries the plan out and waits until all nodes agree on the schema. Dropped rows are gone, but for the snapshots that
// Cassandra takes by auto_snapshot. It ends at the first error; what is left is found by the next Plan.
func (p Plan) Apply(ctx context.Context) error {
	for _, statement := range p.Statements() {
		if err := p.tables.schema.execute(ctx, statement); err != nil {
			words := strings.Fields(statement)
			return fmt.Errorf("rotation: %s: %w", strings.Join(words[:min(6, len(words))], " "), err)
		}
	}
	return nil
}

// schema is the seam to the cluster.
type schema interface {
	tables(ctx context.Context, keyspace string) ([]string, error)
	execute(ctx context.Context, statement string) error
}

type cassandra struct{ session *gocql.Session }

func (c cassandra) tables(ctx context.Context, keyspace string) ([]string, error) {
	iter := c.session.Query(`SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?`, keyspace).
		Consistency(gocql.One).RetryPolicy(nil).WithContext(ctx).Iter()
	var names []string
	var name string
	for iter.Scan(&name) {
		names = append(names, name)
	}
	return names, iter.Close()
}

func (c cassandra) execute(ctx context.Context, statement string) error {
	if err := c.session.Query(statement).RetryPolicy(nil).WithContext(ctx).Exec(); err != nil {
		return err
	}
	return c.session.AwaitSchemaAgreement(ctx)
}
