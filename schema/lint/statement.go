package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/schema"
)

// written is what a statement writes into a column.
type written struct {
	column string
	part   bool // an element or a field, or it is added to or taken from what is there
	null   bool
}

// writes are what a statement writes into columns that are not in its WHERE.
func writes(s cql.Statement) (out []written) {
	null := func(t cql.Term) bool { return t.Kind == cql.Null }
	switch s := s.(type) {
	case *cql.Insert:
		for i, c := range s.Columns {
			out = append(out, written{column: c, null: i < len(s.Values) && null(s.Values[i])})
		}
	case *cql.Update:
		for _, a := range s.Set {
			part := a.Target.Key != nil || a.Target.Field != "" || a.Operator != cql.Assign
			out = append(out, written{a.Target.Column, part, null(a.Value)})
		}
	case *cql.Delete:
		for _, c := range s.Columns {
			out = append(out, written{column: c.Column, part: c.Key != nil || c.Field != ""})
		}
	}
	return out
}

// sent is a query that a service sends, as it was read.
type sent struct {
	query     *schema.Query
	table     *schema.Table
	statement cql.Statement
}

// partitionOf is what a statement names its partition by: each column of the partition key with its value, as text. fixed says that no value is
// bound, so all clients name the same partition; it is empty if the statement does not name one partition.
func partitionOf(s cql.Statement, t *schema.Table) (name string, fixed bool) {
	values := make(map[string]cql.Term)
	where := func(relations []cql.Relation) {
		for _, w := range relations {
			if w.Operator == "=" && len(w.Columns) == 1 && w.Key == nil && len(w.Values) == 1 {
				values[w.Columns[0]] = w.Values[0]
			}
		}
	}
	switch s := s.(type) {
	case *cql.Insert:
		for i, c := range s.Columns {
			if i < len(s.Values) {
				values[c] = s.Values[i]
			}
		}
	case *cql.Update:
		where(s.Where)
	case *cql.Delete:
		where(s.Where)
	}
	fixed = true
	for _, c := range t.Of(schema.PartitionKey) {
		v, ok := values[c.Name]
		switch {
		case !ok:
			return "", false
		case v.Kind == cql.Mark && v.Text == "": // ?, which may be anything
			name += c.Name + " ?\n"
		default:
			name += c.Name + " " + v.Text + "\n"
		}
		fixed = fixed && v.Kind > cql.Null && v.Kind <= cql.Blob
	}
	return name, fixed
}

// literalNull reports INSERTs and UPDATEs with the literal null, which leaves a tombstone each time.
func literalNull(r *review) {
	for _, x := range r.statements {
		q, t, s := x.query, x.table, x.statement
		for _, w := range writes(s) {
			if insert := q.Verb == "INSERT"; w.null && insert {
				r.finding(t, "leave the column out", "an INSERT writes null into %s, and so a tombstone with each row", w.column).of(q)
				break
			} else if w.null && len(writes(s)) > 1 {
				r.finding(t, "leave the column out, unless it is to be emptied", "an UPDATE of other columns writes null into %s, and so a tombstone each time",
					w.column).of(q)
				break
			}
		}
	}
}

// hotRow reports conditional writes whose partition is in the text of the statement: all clients compete for it.
func hotRow(r *review) {
	for _, x := range r.statements {
		q, t, s := x.query, x.table, x.statement
		if _, fixed := partitionOf(s, t); fixed && q.Conditional && q.Verb != "INSERT" {
			r.finding(t, "spread it over several rows, or give each client a range of values at a time",
				"all clients change one row by lightweight transactions, of which a partition takes one at a time").of(q)
		}
	}
}

// countersEnd reports counters that are deleted and counted again, and those of tables with a TTL.
func countersEnd(r *review) {
	deleted, counted := make(map[schema.ID]*schema.Query), make(map[schema.ID]bool)
	for q, t := range r.queries {
		switch {
		case !counting(t):
		case q.Verb == "DELETE":
			deleted[t.ID] = q
		case q.Verb == "UPDATE":
			counted[t.ID] = true
		}
	}
	for _, t := range r.tables() {
		if counting(t) && t.TTL() > 0 {
			r.finding(t, "default_time_to_live = 0, and tables or rows by time", "a table of counters with a TTL, which Cassandra rejects")
		}
		if q := deleted[t.ID]; q != nil && counted[t.ID] {
			r.finding(t, "subtract what was read, or begin a new row", "counters are deleted, and counted again: what is added after a DELETE of a "+
				"counter may not count").of(q)
		}
	}
}

// queues reports tables that are used as queues: the oldest rows of a partition are read, and deleted.
func queues(r *review) {
	for _, t := range r.tables() {
		if r.queue(t) {
			r.finding(t, "a system for queues; or a bucket of time in the partition key, of which readers know how far they are",
				"a queue: the oldest rows of a partition are read and deleted, and each read goes through the tombstones of those before")
		}
	}
}

// queue says whether a table is one.
func (r *review) queue(t *schema.Table) bool {
	rows := t.Of(schema.Clustering)
	if len(rows) == 0 {
		return false
	}
	ordered := func(c schema.Column) bool {
		return instant(c) || c.Type == "bigint" && strings.HasSuffix(c.Name, "_id")
	}
	i := slices.IndexFunc(rows, ordered)
	if i < 0 || rows[i].Desc {
		return false
	}
	inserted, taken, deleted := false, false, false
	for _, x := range r.statements {
		q, of, s := x.query, x.table, x.statement
		if of != t {
			continue
		}
		switch s := s.(type) {
		case *cql.Insert:
			inserted = true
		case *cql.Select:
			taken = taken || s.Limit != nil && located(q, t) && len(q.Order) < 2 && (len(q.Order) == 0 || !q.Order[0].Descending) && !exact(q, rows[i].Name)
		case *cql.Delete:
			deleted = deleted || len(s.Columns) == 0 && restricted(q, rows[i].Name)
		}
	}
	return inserted && taken && deleted
}

// batch is the statements of one batch.
type batch struct {
	queries    []*schema.Query
	tables     []*schema.Table // of each
	statements []cql.Statement
}

// batchesOf gives the batches that name known tables, in the order of their text.
func batchesOf(statements []sent) []batch {
	by := make(map[int]*batch)
	for _, x := range statements {
		if x.query.Batch == 0 {
			continue
		}
		b := by[x.query.Batch]
		if b == nil {
			b = new(batch)
			by[x.query.Batch] = b
		}
		b.queries, b.tables, b.statements = append(b.queries, x.query), append(b.tables, x.table), append(b.statements, x.statement)
	}
	var out []batch
	for _, n := range slices.Sorted(maps.Keys(by)) {
		out = append(out, *by[n])
	}
	return out
}

// partitions says how many partitions a batch writes, at least: statements of one table whose values are bound may be of one.
func (b *batch) partitions() int {
	different := make(map[string]bool)
	for i, t := range b.tables {
		if name, _ := partitionOf(b.statements[i], t); name != "" {
			different[t.String()+"\n"+name] = true
		}
	}
	return len(different)
}

// batchesRejected reports batches that Cassandra does not accept.
func batchesRejected(r *review) {
	for _, b := range r.batches {
		i := slices.IndexFunc(b.queries, func(q *schema.Query) bool { return q.Conditional })
		if i >= 0 && (slices.ContainsFunc(b.tables, func(t *schema.Table) bool { return t != b.tables[i] }) || b.partitions() > 1) {
			r.finding(b.tables[i], "send the condition first, and the rest once it has held", "a batch with a condition writes more than one partition, which Cassandra rejects").
				of(b.queries[i])
		}
		i = slices.IndexFunc(b.tables, counting)
		if i >= 0 && b.queries[i].Logged && !slices.ContainsFunc(b.tables, func(t *schema.Table) bool { return !counting(t) }) { // else DN303 says so
			r.finding(b.tables[i], "BEGIN COUNTER BATCH, or each on its own", "a logged batch has counters, which Cassandra rejects").of(b.queries[i])
		}
	}
}

// largeBatch is how many independent rows in a logged batch are taken to be a load of rows.
const largeBatch = 5

// batchesApart reports batches whose statements have nothing to do with each other: unlogged ones over several partitions, and logged ones that
// load a table.
func batchesApart(logged bool) func(*review) {
	return func(r *review) {
		for _, b := range r.batches {
			q, t := b.queries[0], b.tables[0]
			one := !slices.ContainsFunc(b.tables, func(other *schema.Table) bool { return other != t })
			counters := slices.ContainsFunc(b.tables, counting)
			switch n := b.partitions(); {
			case q.Logged != logged || counters:
			case !logged && n > 1:
				r.finding(t, "a request for each, side by side; or a logged batch, if all or none is to be written",
					"an unlogged batch writes %d partitions: one coordinator does the work of all, and after an error some are written", n).of(q)
			case logged && one && n > largeBatch:
				r.finding(t, "a request for each, side by side", "a logged batch loads %d rows that have nothing to do with each other: the batchlog "+
					"makes each several times dearer", n).of(q)
			}
		}
	}
}
