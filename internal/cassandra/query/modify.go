package query

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/merge"
	"github.com/denorm-go/denorm/internal/cql/ast"
)

// Write is a prepared INSERT, UPDATE or DELETE.
type Write struct {
	table          *catalog.Table
	where          where
	operations     []operation
	timestamp, ttl *term
	marker         bool // of an INSERT
	rows           bool // a DELETE of whole rows
	verb           string
	late           error // of carrying it out
	Condition      *Condition
}

func (c *compiler) insert(s *ast.Insert) (*Write, error) {
	if len(s.Columns) != len(s.Values) {
		return nil, invalid("Unmatched column names/values")
	}
	if c.table.Counter {
		return nil, invalid("INSERT statements are not allowed on counter tables, use UPDATE instead")
	}
	w := &Write{table: c.table, marker: true, verb: "INSERT"}
	var keys []ast.Relation
	seen := make(map[string]bool)
	for i, name := range s.Columns {
		if seen[name] {
			return nil, invalid("The column names contains duplicates")
		}
		seen[name] = true
		column := c.table.Column(name)
		if column == nil {
			return nil, invalid("Undefined column name %s in table %s.%s", name, c.table.Keyspace, c.table.Name)
		}
		if column.Kind == catalog.PartitionKey || column.Kind == catalog.Clustering {
			keys = append(keys, ast.Relation{Columns: []string{name}, Operator: "=", Values: s.Values[i : i+1]})
			continue
		}
		op, err := c.assign(ast.Target{Column: name}, ast.Assign, &s.Values[i])
		if err != nil {
			return nil, err
		}
		w.operations = append(w.operations, op)
	}
	if s.IfNotExists {
		w.Condition = &Condition{absent: true}
	}
	return w, c.finish(w, keys, s.Using)
}

func (c *compiler) update(s *ast.Update) (*Write, error) {
	w := &Write{table: c.table, verb: "UPDATE"}
	if err := c.conditions(w, s.If, s.IfExists); err != nil {
		return nil, err
	}
	for _, a := range s.Set {
		op, err := c.assign(a.Target, a.Operator, &a.Value)
		if err != nil {
			return nil, err
		}
		w.operations = append(w.operations, op)
	}
	if c.table.Counter && (s.Using.TTL != nil || s.Using.Timestamp != nil) {
		return nil, invalid("Cannot provide custom timestamp or TTL for counter updates")
	}
	return w, c.finish(w, s.Where, s.Using)
}

func (c *compiler) delete(s *ast.Delete) (*Write, error) {
	w := &Write{table: c.table, rows: len(s.Columns) == 0, verb: "DELETE"}
	if err := c.conditions(w, s.If, s.IfExists); err != nil {
		return nil, err
	}
	for _, target := range s.Columns {
		op, err := c.assign(target, ast.Assign, nil)
		if err != nil {
			return nil, err
		}
		w.operations = append(w.operations, op)
	}
	return w, c.finish(w, s.Where, s.Using)
}

// finish reads what all writes have.
func (c *compiler) finish(w *Write, rs []ast.Relation, using ast.Using) error {
	var err error
	if w.where, err = c.relations(rs, false); err != nil {
		return err
	}
	for _, u := range []struct {
		term *ast.Term
		into **term
		name string
	}{{using.Timestamp, &w.timestamp, "[timestamp]"}, {using.TTL, &w.ttl, "[ttl]"}} {
		if u.term == nil {
			continue
		}
		typ := bigintType
		if u.name == "[ttl]" {
			typ = intType
		}
		t, err := c.term(*u.term, u.name, typ)
		if err != nil {
			return err
		}
		*u.into = &t
	}
	if err := w.complete(); err != nil {
		return err
	}
	if w.Condition != nil && w.timestamp != nil {
		return invalid("Cannot provide custom timestamp for conditional updates")
	}
	if w.Condition != nil && c.table.Counter {
		return invalid("Conditional updates are not supported on counter tables")
	}
	return nil
}

// complete says whether the key is there as far as it must be.
func (w *Write) complete() error {
	ranged := w.where.from != nil || w.where.to != nil
	if w.onlyStatic() && len(w.where.clustering) > 0 {
		switch {
		case w.where.narrowed && !w.marker:
			return invalid("Invalid restrictions on clustering columns since the %s statement modifies only static columns",
				w.verb)
		case !w.where.narrowed:
			return nil
		}
	}
	var missing []string
	for i, r := range w.where.clustering {
		if r == nil {
			missing = append(missing, w.table.Clustering[i].Name)
		}
	}
	switch {
	case missing == nil || w.rows:
	case ranged && w.verb == "UPDATE":
		return invalid("Slice restrictions are not supported on the clustering columns in UPDATE statements")
	case w.verb == "DELETE" && w.Condition != nil:
		return invalid("DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to use " +
			"IF condition on non static columns")
	case w.verb == "DELETE": // known only when it is carried out, which a condition alongside it may prevent
		w.late = invalid("Range deletions are not supported for specific columns")
	default:
		return invalid("Some clustering keys are missing: %s", strings.Join(missing, ", "))
	}
	if w.Condition != nil && (ranged || w.rows && len(w.where.clustering) > 0 &&
		w.where.clustering[len(w.where.clustering)-1] == nil) {
		return invalid("DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to delete " +
			"non static columns")
	}
	return nil
}

// onlyStatic says whether the statement is about static columns, and no others.
func (w *Write) onlyStatic() bool {
	static, other := false, false
	see := func(c *catalog.Column) {
		static = static || c.Kind == catalog.Static
		other = other || c.Kind != catalog.Static
	}
	for _, op := range w.operations {
		see(op.column)
	}
	if w.Condition != nil {
		for _, f := range w.Condition.filters {
			see(f.column)
		}
	}
	return static && !other && !w.rows
}

// Rows says whether the statement is about rows, and not about static columns of a partition.
func (w *Write) Rows() bool { return len(w.table.Clustering) == 0 || w.where.narrowed }

// Statics says whether the statement writes to static columns.
func (w *Write) Statics() bool {
	return slices.ContainsFunc(w.operations, func(op operation) bool { return op.column.Kind == catalog.Static })
}

// equalities are the restrictions of the clustering columns before the first that has none.
func (w *where) equalities() []*restriction {
	for i, r := range w.clustering {
		if r == nil {
			return w.clustering[:i]
		}
	}
	return w.clustering
}

// Time is the timestamp of the statement in microseconds. given is whether it is its own.
func (w *Write) Time(env *Env) (at int64, given bool, err error) {
	if w.timestamp == nil {
		return env.Timestamp, false, nil
	}
	b, unset, err := w.timestamp.eval(env)
	switch {
	case err != nil || unset:
		return env.Timestamp, false, err
	case b == nil:
		return 0, false, invalid("Invalid null value of timestamp")
	case len(b) != 8:
		return 0, false, invalid("Invalid timestamp value: %x", b)
	}
	if at = int64(binary.BigEndian.Uint64(b)); at == merge.NoTimestamp {
		return 0, false, invalid("Out of bound timestamp, must be in [%d, %d]", int64(merge.NoTimestamp+1), int64(1<<63-1))
	}
	return at, true, nil
}

// maxTTL is 20 years (Attributes.MAX_TTL), in seconds.
const maxTTL = 20 * 365 * 24 * 3600

// expires is the second in which what is written ends, 0 for never.
func (w *Write) expires(env *Env) (int64, error) {
	ttl, kind := int64(w.table.DefaultTTL), "default "
	if w.ttl != nil {
		b, unset, err := w.ttl.eval(env)
		switch {
		case err != nil:
			return 0, err
		case unset:
		case b == nil:
			ttl, kind = 0, ""
		case len(b) != 4:
			return 0, invalid("Invalid TTL value: %x", b)
		default:
			ttl, kind = int64(int32(binary.BigEndian.Uint32(b))), ""
		}
	}
	switch {
	case ttl < 0:
		return 0, invalid("A TTL must be greater or equal to 0, but was %d", ttl)
	case ttl > maxTTL:
		return 0, invalid("ttl is too large. requested (%d) maximum (%d)", ttl, maxTTL)
	case ttl == 0:
		return 0, nil
	case env.seconds()+ttl > maxExpiry:
		return 0, invalid("Request on table %s.%s with %sttl of %d seconds exceeds maximum supported expiration date of "+
			"2038-01-19T03:14:06+00:00. In order to avoid this use a lower TTL, change the expiration date overflow policy or "+
			"upgrade to a "+
			"version where this limitation is fixed. See CASSANDRA-14092 and CASSANDRA-14227 for more details.",
			w.table.Keyspace, w.table.Name, kind, ttl)
	}
	return env.seconds() + ttl, nil
}

// maxExpiry is 2038-01-19T03:14:06Z, the last second in the storage format of Cassandra 4, which is the default of 5.0,
// too (storage_compatibility_mode).
const maxExpiry = 1<<31 - 2

// Lists says whether the partition key, and the clustering columns, are restricted by IN.
func (w *Write) Lists() (partition, clustering bool) {
	return in(w.where.partition), in(w.where.clustering)
}

// Deletes says whether it is a DELETE.
func (w *Write) Deletes() bool { return w.verb == "DELETE" }

// Keys are the partitions and rows that the statement is for: encoded partition keys, and prefixes of clustering
// columns.
func (w *Write) Keys(env *Env) (partitions []string, rows [][][]byte, err error) {
	values, err := product(env, w.where.partition)
	if err != nil {
		return nil, nil, err
	}
	for _, v := range values {
		key, err := RoutingKey(v)
		if err != nil {
			return nil, nil, err
		}
		partitions = append(partitions, key)
	}
	rows, err = product(env, w.where.equalities())
	return partitions, rows, err
}
