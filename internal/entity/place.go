package entity

import (
	"bytes"
	"slices"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
)

// This file places a rendered row in the tables: the Put under its key, and a Remove for every other key under which
// the entity may have a row. Counters are added up there, and a Patch is put.

// reserve makes room for the rows of all tables, so that a plain insert allocates twice, however many tables.
func (r *Renderer) reserve() {
	each := 1 // the timestamp
	if r.expiresAt != 0 {
		each = 2
	}
	args := 0
	for _, t := range r.Set.Tables {
		args += len(t.Columns) + each
	}
	r.args = make([]any, 0, args)
	r.Out = make([]statement.Mutation, 0, len(r.Set.Tables))
}

// Everywhere gives the mutations of all tables.
func (r *Renderer) Everywhere() []statement.Mutation {
	r.reserve()
	for _, t := range r.Set.Tables {
		switch r.Kind {
		case Insert, Update, Upsert, Delete:
			r.table(t)
		case Add:
			r.count(t)
		case Patch:
			r.edit(t)
		}
	}
	return r.Out
}

func (r *Renderer) table(t *layout.Table) {
	p := r.Place(t)
	var stays []*cqltype.Value // the key that the row has after the change, nil if it has none
	if r.After != nil {
		if key := t.KeyOf(r.After); statement.Present(key) {
			stays = key
			r.put(p, key)
		}
	}
	if r.After == nil || r.replacing && len(t.Sweeps)+len(t.Moves) > 0 || len(t.Follows) > 0 {
		r.Removes(p, stays)
	}
}

// Placed is a table with what it is called for the row at hand.
type Placed struct {
	*layout.Table
	Keyspace, Name string
	text           *layout.Statements
}

// Place says where the row is in t. Where t rotates, it does so by a time that cannot change.
func (r *Renderer) Place(t *layout.Table) Placed {
	p := Placed{Table: t, Keyspace: r.Keyspace(t.Keyspace), Name: t.Name}
	if t.Rotation != nil {
		p.Name = t.Rotated(r.row()[t.Rotation.Clock].Instant())
	}
	p.text = t.Statements(p.Keyspace, p.Name)
	return p
}

// Mutation is one of the row of t under key, without its statement.
func (r *Renderer) Mutation(t Placed, kind statement.MutationKind, key []*cqltype.Value) statement.Mutation {
	return statement.Mutation{
		Keyspace: t.Keyspace, Table: t.Name, Kind: kind, Timestamp: r.Timestamp,
		PartitionKey: statement.PartitionKey(key[:t.Part]),
		Rotates:      t.Rotation != nil, Keys: len(key), Part: t.Part,
	}
}

// bind gives the arguments from start on, ending with key.
func (r *Renderer) bind(start int, key []*cqltype.Value) []any {
	r.args = statement.AppendArgs(r.args, key)
	return r.args[start:len(r.args):len(r.args)]
}

// row is the row after the change, or of a delete the one before it.
func (r *Renderer) row() []cqltype.Value {
	if r.After == nil {
		return r.Before
	}
	return r.After
}

func (r *Renderer) put(t Placed, key []*cqltype.Value) {
	m := r.Mutation(t, statement.Put, key)
	m.Statement, m.Names = t.text.Insert, t.text.InsertNames
	start := len(r.args)
	for _, i := range t.Columns {
		if v := &r.After[i]; v.Data != nil || r.nulls(i) {
			r.args = append(r.args, v)
		} else {
			r.args = append(r.args, gocql.UnsetValue)
		}
	}
	if r.expiresAt != 0 {
		m.Statement, m.Names, m.Expires = t.text.InsertTTL, t.text.TTLNames, r.expiresAt
		r.args = append(r.args, cqltype.Int(statement.MaxTTL))
	}
	r.args = append(r.args, r.At)
	m.Args = r.bind(start, nil)
	if r.expiresAt != 0 {
		expired := r.Delete(t, key, r.Timestamp)
		m.Expired = &expired
	}
	r.Out = append(r.Out, m)
}

// nulls says whether an absent value of column i is sent as null, which costs a cell tombstone. Key columns of other
// tables that cannot change are absent in every write of the entity; a derived one changes as what it follows from.
// Deleting the row just below the Put would cost one tombstone however many values are absent, but it would also erase
// the columns that a newer version of the service has added.
func (r *Renderer) nulls(i int) bool {
	return r.replacing && (!r.Set.Columns[i].Key || r.Set.Columns[i].Changes)
}

// Removes appends a Remove for every key under which t may hold a row of the entity, stays excepted. Under a key that
// is too long there is none, and Cassandra would reject its Remove. The columns that a single writer moves are as in
// the before-image or as in the after-image; a OneOf column may have any of its values.
func (r *Renderer) Removes(p Placed, stays []*cqltype.Value) {
	t := p.Table
	remove := func(key []*cqltype.Value) {
		if !statement.Present(key) || !t.Fits(key) {
			return
		}
		timestamp := r.Timestamp
		if stays != nil {
			switch order := compare(t, key, stays); {
			case order == 0:
				return
			case order > 0:
				timestamp--
			}
		}
		r.Out = append(r.Out, r.Delete(p, key, timestamp))
	}
	swept := t.Swept
	if !r.replacing && r.After != nil {
		swept = t.Follows // an insert is the first write of its entity, except under another bucket function
	}
	if r.Before != nil {
		r.sweep(t, r.Before, t.KeyOf(r.Before), swept, remove)
	}
	if r.After != nil && (r.Before == nil || r.moved(t)) {
		r.sweep(t, r.After, t.KeyOf(r.After), swept, remove)
	}
}

// moved says whether the write changes a SingleWriter column in the key of t.
func (r *Renderer) moved(t *layout.Table) bool {
	return slices.ContainsFunc(t.Moves, func(k int) bool {
		return !bytes.Equal(r.Before[t.Key[k]].Data, r.After[t.Key[k]].Data)
	})
}

// sweep calls visit once for every combination of values that the columns at positions of key may have had, with key
// holding it.
func (r *Renderer) sweep(t *layout.Table, row []cqltype.Value, key []*cqltype.Value, positions []int,
	visit func([]*cqltype.Value),
) {
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

// valuesAt are those of the column at position k of key: the domain of a OneOf column, and of a derived one what its
// functions give. What these follow from has the value that it has in the key, and the rest that of row.
func (r *Renderer) valuesAt(t *layout.Table, row []cqltype.Value, key []*cqltype.Value, k int) []*cqltype.Value {
	c := &r.Set.Columns[t.Key[k]]
	if c.Derived == nil {
		return c.Domain
	}
	of := func(i int) *cqltype.Value {
		if at := slices.Index(t.Key, i); at >= 0 {
			return key[at]
		}
		return &row[i]
	}
	var out []*cqltype.Value
	add := func(data []byte, err error) {
		if err == nil && !slices.ContainsFunc(out, func(v *cqltype.Value) bool { return bytes.Equal(v.Data, data) }) {
			out = append(out, &cqltype.Value{Type: c.CQL, Data: data})
		} // else absent, or in no bucket: there is no row to remove
	}
	if !c.Derived.Swept() {
		add(c.Derived.Value(of))
		return out
	}
	for v := range c.Derived.Versions {
		add(c.Derived.Under(&c.Derived.Versions[v], 0, of))
	}
	return out
}

// compare orders key against stays, the key that the row keeps: 0 if they are the same. At a tie of two writers the
// base table keeps the greater value of a OneOf column, so its Remove of a smaller one must win against the other's
// Put, and that of a greater one must lose: it is sent one microsecond earlier. A SingleWriter move has no ties to
// settle.
func compare(t *layout.Table, key, stays []*cqltype.Value) int {
	for _, k := range t.Moves {
		if !bytes.Equal(key[k].Data, stays[k].Data) {
			return -1
		}
	}
	for _, k := range t.Swept {
		if order := bytes.Compare(key[k].Data, stays[k].Data); order != 0 {
			return order
		}
	}
	return 0
}

// Delete is a Remove of the row of t under key.
func (r *Renderer) Delete(t Placed, key []*cqltype.Value, timestamp int64) statement.Mutation {
	m, at := r.Mutation(t, statement.Remove, key), r.At
	if timestamp != r.Timestamp {
		if r.below == nil {
			r.below = cqltype.BigInt(timestamp)
		}
		m.Timestamp, at = timestamp, r.below
	}
	start := len(r.args)
	r.args = append(r.args, at)
	m.Statement, m.Names, m.Args = t.text.Delete, t.text.DeleteNames, r.bind(start, key)
	return m
}

// count appends the Increment of the row of t. Zeros are left out, and the row if nothing else is left.
func (r *Renderer) count(t *layout.Table) {
	key := t.KeyOf(r.After)
	if !statement.Present(key) {
		return
	}
	start := len(r.args)
	var names []string // of the counters that are not zero
	for _, i := range t.Counters {
		if v := &r.After[i]; !cqltype.IsZero(v.Data) {
			r.args, names = append(r.args, v), append(names, r.Set.Columns[i].Name)
		}
	}
	if names == nil {
		return
	}
	p := r.Place(t)
	m := r.Mutation(p, statement.Increment, key)
	m.Timestamp, m.Args = 0, r.bind(start, key)
	if len(names) == len(t.Counters) {
		m.Statement, m.Names = p.text.Increment, p.text.IncrementNames
	} else {
		m.Statement, m.Names = statement.IncrementText(statement.Qualified(p.Keyspace, p.Name), names, t.KeyNames)
	}
	r.Out = append(r.Out, m)
}

// edit appends what the patch is in t: a Put of the columns, which are at least the key, and a Merge of the elements.
// What expires is one Merge of both: the row marker of a Put would end, and the row with it, whatever others have
// written. Of a column that elements are put to and removed from, the latter is a Merge of its own: a stored one has
// each column once.
func (r *Renderer) edit(t *layout.Table) {
	key := t.KeyOf(r.After)
	if !statement.Present(key) {
		return
	}
	names, args := slices.Clone(t.KeyNames), statement.AppendArgs(nil, key)
	var merged, removed []statement.MergeColumn
	for _, i := range t.Columns[len(t.Key):] {
		name, v, kind, keys := r.Set.Columns[i].Name, &r.After[i], r.patch[i].put, r.patch[i].removed
		if i == r.Set.Stamp || i == r.Set.Expiry || slices.Contains(t.Leads, i) {
			kind = statement.PutColumn
		}
		switch {
		case kind == statement.PutColumn && r.expiresAt == 0:
			names, args = append(names, name), append(args, v)
		case kind != 0:
			merged = append(merged, statement.MergeColumn{Name: name, Kind: kind, Value: v})
		case keys != nil:
			merged = append(merged, statement.MergeColumn{Name: name, Kind: statement.RemoveElements, Value: keys})
		}
		if kind != 0 && keys != nil {
			removed = append(removed, statement.MergeColumn{Name: name, Kind: statement.RemoveElements, Value: keys})
		}
	}
	m := r.Mutation(r.Place(t), statement.Put, key)
	if r.expiresAt == 0 {
		put := m
		put.Statement, put.Names = statement.PutText(statement.Qualified(m.Keyspace, m.Table), names, false)
		args = append(args, r.At)
		put.Args = args
		r.Out = append(r.Out, put)
	}
	m.Kind = statement.Merge
	if merged != nil {
		merge := m
		merge.SetMerge(t.KeyNames, key, r.At, merged, r.expiresAt)
		r.Out = append(r.Out, merge)
	}
	if removed != nil {
		m.SetMerge(t.KeyNames, key, r.At, removed, 0)
		r.Out = append(r.Out, m)
	}
}
