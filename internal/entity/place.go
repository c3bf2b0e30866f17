package entity

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
)

// This file places a rendered row in the tables: the Put under its key, and a Remove for every other key under which
// the entity may have a row.

// reserve makes room for the rows of all tables, so that a plain insert allocates twice, however many tables.
func (r *renderer) reserve() {
	each := 1 // the timestamp
	if r.expiresAt != 0 {
		each = 2
	}
	args := 0
	for _, t := range r.set.tables {
		args += len(t.columns) + each
	}
	r.args = make([]any, 0, args)
	r.out = make([]statement.Mutation, 0, len(r.set.tables))
}

func (r *renderer) table(t *table) {
	p := r.place(t)
	var stays []*cqltype.Value // the key that the row has after the change, nil if it has none
	if r.after != nil {
		if key := t.keyOf(r.after); statement.Present(key) {
			stays = key
			r.put(p, key)
		}
	}
	if r.after == nil || r.replacing && len(t.sweeps)+len(t.moves) > 0 || len(t.follows) > 0 {
		r.removes(p, stays)
	}
}

// placed is a table with what it is called for the row at hand.
type placed struct {
	*table
	keyspace, name string
	text           *statements
}

// place says where the row is in t. Where t rotates, it does so by a time that cannot change.
func (r *renderer) place(t *table) placed {
	p := placed{table: t, keyspace: r.keyspace(t.keyspace), name: t.name}
	if t.rotation != nil {
		p.name = t.rotated(instantOf(&r.row()[t.rotation.clock]))
	}
	p.text = t.statements(p.keyspace, p.name)
	return p
}

// mutation is one of the row of t under key, without its statement.
func (r *renderer) mutation(t placed, kind statement.MutationKind, key []*cqltype.Value) statement.Mutation {
	return statement.Mutation{
		Keyspace: t.keyspace, Table: t.name, Kind: kind, Timestamp: r.timestamp, PartitionKey: statement.PartitionKey(key[:t.part]),
		Rotates: t.rotation != nil, Keys: len(key), Part: t.part,
	}
}

// row is the row after the change, or of a delete the one before it.
func (r *renderer) row() []cqltype.Value {
	if r.after == nil {
		return r.before
	}
	return r.after
}

// keyOf gives the primary key of row in t, in key order.
func (t *table) keyOf(row []cqltype.Value) []*cqltype.Value {
	key := make([]*cqltype.Value, len(t.key))
	for k, i := range t.key {
		key[k] = &row[i]
	}
	return key
}

func (r *renderer) put(t placed, key []*cqltype.Value) {
	m := r.mutation(t, statement.Put, key)
	m.Statement, m.Names = t.text.insert, t.text.insertNames
	start := len(r.args)
	for _, i := range t.columns {
		if v := &r.after[i]; v.Data != nil || r.nulls(i) {
			r.args = append(r.args, v)
		} else {
			r.args = append(r.args, gocql.UnsetValue)
		}
	}
	if r.expiresAt != 0 {
		m.Statement, m.Names, m.Expires = t.text.insertTTL, t.text.ttlNames, r.expiresAt
		r.args = append(r.args, cqltype.Int(statement.MaxTTL))
	}
	r.args = append(r.args, r.at)
	m.Args = r.args[start:len(r.args):len(r.args)]
	if r.expiresAt != 0 {
		expired := r.delete(t, key, r.timestamp)
		m.Expired = &expired
	}
	r.out = append(r.out, m)
}

// nulls says whether an absent value of column i is sent as null, which costs a cell tombstone. Key columns of other
// tables that cannot change are absent in every write of the entity; a derived one changes as what it follows from. Deleting
// the row just below the Put would cost one tombstone however many values are absent, but it would also erase the columns
// that a newer version of the service has added.
func (r *renderer) nulls(i int) bool {
	return r.replacing && (!r.set.columns[i].key || r.set.changes(i))
}

// removes appends a Remove for every key under which t may hold a row of the entity, stays excepted. Under a key that is too long there is
// none, and Cassandra would reject its Remove. The columns that a
// single writer moves are as in the before-image or as in the after-image; a OneOf column may have any of its values.
func (r *renderer) removes(p placed, stays []*cqltype.Value) {
	t := p.table
	remove := func(key []*cqltype.Value) {
		if !statement.Present(key) || !t.fits(key) {
			return
		}
		timestamp := r.timestamp
		if stays != nil {
			switch order := compare(t, key, stays); {
			case order == 0:
				return
			case order > 0:
				timestamp--
			}
		}
		r.out = append(r.out, r.delete(p, key, timestamp))
	}
	swept := t.swept
	if !r.replacing && r.after != nil {
		swept = t.follows // an insert is the first write of its entity, except under another bucket function
	}
	if r.before != nil {
		r.sweep(t, r.before, t.keyOf(r.before), swept, remove)
	}
	if r.after != nil && (r.before == nil || r.moved(t)) {
		r.sweep(t, r.after, t.keyOf(r.after), swept, remove)
	}
}

// moved says whether the write changes a SingleWriter column in the key of t.
func (r *renderer) moved(t *table) bool {
	return slices.ContainsFunc(t.moves, func(k int) bool { return !bytes.Equal(r.before[t.key[k]].Data, r.after[t.key[k]].Data) })
}

// sweep calls visit once for every combination of values that the columns at positions of key may have had, with key holding it.
func (r *renderer) sweep(t *table, row []cqltype.Value, key []*cqltype.Value, positions []int, visit func([]*cqltype.Value)) {
	if len(positions) == 0 {
		visit(key)
		return
	}
	k := positions[0]
	for _, v := range r.valuesAt(t, row, key, k) {
		key[k] = v
		r.sweep(t, row, key, positions[1:], visit)
	}
}

// valuesAt are those of the column at position k of key: the domain of a OneOf column, and of a derived one what its functions give.
// What these follow from has the value that it has in the key, and the rest that of row.
func (r *renderer) valuesAt(t *table, row []cqltype.Value, key []*cqltype.Value, k int) []*cqltype.Value {
	c := &r.set.columns[t.key[k]]
	if c.derived == nil {
		return c.domain
	}
	of := func(i int) *cqltype.Value {
		if at := slices.Index(t.key, i); at >= 0 {
			return key[at]
		}
		return &row[i]
	}
	var out []*cqltype.Value
	add := func(data []byte, err error) {
		if err == nil && !slices.ContainsFunc(out, func(v *cqltype.Value) bool { return bytes.Equal(v.Data, data) }) {
			out = append(out, &cqltype.Value{Type: c.cql, Data: data})
		} // else absent, or in no bucket: there is no row to remove
	}
	if !c.derived.swept() {
		add(c.derived.value(of))
		return out
	}
	for v := range c.derived.versions {
		add(c.derived.under(&c.derived.versions[v], 0, of))
	}
	return out
}

// compare orders key against stays, the key that the row keeps: 0 if they are the same. At a tie of two writers the
// base table keeps the greater value of a OneOf column, so its Remove of a smaller one must win against the other's
// Put, and that of a greater one must lose: it is sent one microsecond earlier. A SingleWriter move has no ties to
// settle.
func compare(t *table, key, stays []*cqltype.Value) int {
	for _, k := range t.moves {
		if !bytes.Equal(key[k].Data, stays[k].Data) {
			return -1
		}
	}
	for _, k := range t.swept {
		if order := bytes.Compare(key[k].Data, stays[k].Data); order != 0 {
			return order
		}
	}
	return 0
}

// delete is a Remove of the row of t under key.
func (r *renderer) delete(t placed, key []*cqltype.Value, timestamp int64) statement.Mutation {
	m, at := r.mutation(t, statement.Remove, key), r.at
	if timestamp != r.timestamp {
		if r.below == nil {
			r.below = cqltype.BigInt(timestamp)
		}
		m.Timestamp, at = timestamp, r.below
	}
	start := len(r.args)
	r.args = statement.AppendArgs(append(r.args, at), key)
	m.Statement, m.Names, m.Args = t.text.delete, t.text.deleteNames, r.args[start:len(r.args):len(r.args)]
	return m
}

// partitionSize is the length of the partition key of row in t if it has several columns. A single column is bounded
// as a key column.
func (t *table) partitionSize(row []cqltype.Value) int {
	if t.part == 1 || row == nil {
		return 0
	}
	size := 0
	for _, i := range t.key[:t.part] {
		if row[i].Data == nil {
			return 0 // no row in this table
		}
		size += len(row[i].Data) + statement.ComponentOverhead
	}
	return size
}

// fits says whether Cassandra takes a key of t. A partition key is not empty. Each clustering column is within the limit, and together they
// may be above it (ClusteringPrefix.validate).
func (t *table) fits(key []*cqltype.Value) bool {
	if t.part == 1 && !holdable(key[0].Data) {
		return false
	}
	size := 0
	for _, v := range key[t.part:] {
		size += len(v.Data)
	}
	return size <= statement.MaxKeyBytes
}

// holdable says whether data can be the only column of a partition key.
func holdable(data []byte) bool { return len(data) > 0 && len(data) <= statement.MaxKeyBytes }

// checkKey rejects a row whose key Cassandra would reject in t, when other tables have it: one that was read with a value that a write may not
// give a key column, or one whose clustering columns are too long together. A lightweight transaction does not look at the length, and the
// statements that follow it fail.
func (s *Set) checkKey(t *table, row []cqltype.Value) error {
	size := 0
	for k, i := range t.key {
		if row == nil || row[i].Data == nil {
			return nil // no row in this table
		}
		if k >= t.part {
			size += len(row[i].Data)
		}
	}
	if only := row[t.key[0]].Data; t.part == 1 && !holdable(only) {
		return s.invalid(t, t.keyNames[0], fmt.Sprintf("a partition key holds 1 to %d bytes, in this row %d: correct the base row", statement.MaxKeyBytes, len(only)))
	}
	if size <= statement.MaxKeyBytes {
		return nil
	}
	return s.invalid(t, "", fmt.Sprintf("the clustering columns %s hold at most %d bytes together, in this row %d: make the values shorter, or "+
		"take a column out of the SortKey", strings.Join(t.keyNames[t.part:], ", "), statement.MaxKeyBytes, size))
}

// entityKey encodes the base key.
func (r *renderer) entityKey() string {
	return statement.EncodedKey(r.set.tables[0].keyOf(r.row()))
}
