package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/schema"
)

// written is what a statement writes into a column.
type written struct {
	column string
	part   bool // an element or a field, or it is added to or taken from what is there
	null   bool
}

// writes are what a statement writes into columns that are not in its WHERE.
func writes(s ast.Statement) (out []written) {
	null := func(t ast.Term) bool { return t.Kind == ast.Null }
	switch s := s.(type) {
	case *ast.Insert:
		for i, c := range s.Columns {
			out = append(out, written{column: c, null: i < len(s.Values) && null(s.Values[i])})
		}
	case *ast.Update:
		out = each.Of(s.Set, func(a ast.Assignment) written {
			part := a.Target.Key != nil || a.Target.Field != "" || a.Operator != ast.Assign
			return written{a.Target.Column, part, null(a.Value)}
		})
	case *ast.Delete:
		out = each.Of(s.Columns, func(c ast.Target) written { return written{column: c.Column, part: c.Key != nil || c.Field != ""} })
	}
	return out
}

// sent is a query that a service sends, as it was read.
type sent struct {
	*schema.Query
	table *schema.Table // that it names, or that stands for several which rotate
}

// partitionOf is what a statement names its partition by: the keyspace and the values of the partition key, as text.
// Tables of one keyspace share what has the same values. fixed says that no value is bound. The name is empty if the
// statement does not name one partition.
func partitionOf(q *schema.Query, t *schema.Table) (name string, fixed bool) {
	values := make(map[string]ast.Term)
	if s, ok := q.Statement.(*ast.Insert); ok {
		for i, c := range s.Columns[:min(len(s.Columns), len(s.Values))] {
			values[c] = s.Values[i]
		}
	}
	for _, w := range q.Where {
		if w.Operator == "=" && len(w.Columns) == 1 && w.Key == nil && len(w.Values) == 1 {
			values[w.Columns[0]] = w.Values[0]
		}
	}
	parts := []string{t.Keyspace}
	fixed = true
	for _, c := range t.Of(schema.PartitionKey) {
		v, ok := values[c.Name]
		text := v.Text
		switch {
		case !ok:
			return "", false
		case v.Kind == ast.Mark && v.Text == "":
			text = "? " + c.Name // whatever it is bound to, it may be the same elsewhere
		case v.Kind == ast.Mark:
			text = ":" + v.Text
		case v.Kind == ast.UUID || v.Kind == ast.Blob:
			text = strings.ToLower(v.Text)
		}
		parts = append(parts, text)
		fixed = fixed && v.Kind > ast.Null && v.Kind <= ast.Blob
	}
	return strings.Join(parts, "\n"), fixed
}

// literalNull reports INSERTs and UPDATEs with the literal null and values, which leaves a tombstone each time.
func literalNull(r *review, x sent) {
	all := writes(x.Statement)
	i := slices.IndexFunc(all, func(w written) bool { return w.null })
	values := slices.ContainsFunc(all, func(w written) bool { return !w.null })
	switch {
	case i < 0 || !values:
	case x.Verb == "INSERT":
		r.finding(x.table, "leave the column out",
			"an INSERT writes null into %s, and so a tombstone with each row", all[i].column).of(x.Query)
	default:
		set := r.set[[3]any{x.table, all[i].column, "UPDATE"}]
		r.finding(x.table, "leave the column out, unless it is to be emptied",
			"an UPDATE of other columns writes null into %s, and so a tombstone each time", all[i].column).of(x.Query).when(set, Note)
	}
}

// values takes down into which columns of its table a statement writes values. The keys have its verb, and whether
// it is an INSERT or has no TTL.
func (r *review) values(x sent) {
	for _, w := range writes(x.Statement) {
		if w == (written{column: w.column}) {
			r.set[[3]any{x.table, w.column, x.Verb}] = true
			r.set[[3]any{x.table, w.column, x.TTL == 0 || x.Verb == "INSERT"}] = true
		}
	}
}

// needless notes conditions on rows whose id has just been made, so that nobody else can have it. A row of its id and
// one more column may be a claim of it.
func needless(r *review, x sent) {
	s, ok := x.Statement.(*ast.Insert)
	key := keyColumns(x.table)
	if !ok || !s.IfNotExists || len(s.Columns) < 3 || !r.once(x.table.ID) || slices.ContainsFunc(key, func(c schema.Column) bool { return !isUUID(c) }) {
		return
	}
	own := key[len(key)-1].Name
	others := slices.ContainsFunc(r.sent[x.table], func(o sent) bool { return o.Conditional && o.Text != x.Text })
	if (own == "id" || own == rowsOf(x.table)+"_id") && !others {
		r.finding(x.table, "a plain INSERT", "IF NOT EXISTS of a %s that is made for the row: nobody else has it, and the write costs four round trips", own).of(x.Query)
	}
}

// hotRow reports numbers that all clients count up in one row, by transactions.
func hotRow(r *review, x sent) {
	update, ok := x.Statement.(*ast.Update)
	name, fixed := partitionOf(x.Query, x.table)
	if !ok || !fixed || !constantText.MatchString(strings.ToLower(strings.TrimPrefix(name, x.table.Keyspace+"\n"))) {
		return
	}
	counts := slices.ContainsFunc(update.Set, func(a ast.Assignment) bool {
		c := x.table.Column(a.Target.Column)
		return c != nil && slices.Contains(strings.Fields("int bigint smallint varint decimal"), c.Type) && a.Value.Kind == ast.Mark &&
			slices.ContainsFunc(update.If, func(w ast.Relation) bool { return slices.Contains(w.Columns, c.Name) })
	})
	if counting(x.table) && r.once(x.table.String()+name) && r.constant(x.table) {
		r.finding(x.table, "several rows, of which a reader takes the sum", "all clients count in one partition, which takes all of it").of(x.Query).Severity = Note
	} else if counts && r.once(x.table.String()+name) {
		r.finding(x.table, "give each client a range of numbers at a time, or spread what is counted over several rows",
			"all clients count in one partition by lightweight transactions, of which it takes one at a time").of(x.Query)
	}
}

// counterLifetime reports counters that are deleted, and those of tables with a TTL. A table with a time in its key is
// left out: what is deleted there is of the past, and not counted again.
func counterLifetime(r *review) {
	for _, t := range r.tables() {
		if counting(t) && t.TTL() > 0 {
			r.finding(t, "default_time_to_live = 0, and tables or rows by time", "a table of counters with a TTL, which Cassandra rejects")
		}
	}
	for q, t := range r.queries {
		past := slices.ContainsFunc(keyColumns(t), func(c schema.Column) bool { return roleOf(c) == moment })
		if q.Verb == "DELETE" && counting(t) && !past && r.once(t.ID) {
			r.finding(t, "subtract what was read", "counters are deleted; one that is counted again after that may not count").of(q).Severity = Warning
		}
	}
}

// queues reports tables that are used as queues: the oldest rows of a partition are read, and deleted.
func queues(r *review, t *schema.Table) {
	if r.queue(t) {
		r.finding(t, "a system for queues; or a bucket of time in the partition key, of which readers know how far they are",
			"a queue: the first rows of a partition are read and deleted, and each read goes through the tombstones of those before")
	} else if r.comesAndGoes(t) {
		r.finding(t, "accept it, if few rows are deleted in gc_grace_seconds; or a lower gc_grace_seconds with repairs in that time",
			"rows come and go in a partition that is read whole: each read goes through the tombstones").Severity = Note
	}
}

// queue says whether a table is one: a SELECT takes the first rows, and they are deleted. One that begins where it
// knows, as the pages of a list do, takes from a queue only if all before it are deleted.
func (r *review) queue(t *schema.Table) bool {
	rows := t.Of(schema.Clustering)
	taken := make(map[string]bool) // as the first one in its order
	for _, x := range r.sent[t] {
		if s, ok := x.Statement.(*ast.Select); ok && s.Limit != nil && s.Limit.Text == "1" && len(x.Order) > 0 && !x.Order[len(x.Order)-1].Descending {
			taken[x.Order[len(x.Order)-1].Column] = true
		}
	}
	i := slices.IndexFunc(rows, func(c schema.Column) bool {
		return instant(c) || c.Type == "bigint" && strings.HasSuffix(c.Name, "_id") || urgency(c) ||
			taken[c.Name] && slices.Contains([]string{"int", "bigint"}, c.Type)
	})
	if i < 0 || rows[i].Desc && !urgency(rows[i]) {
		return false
	}
	var inserted, first, next, one, before bool
	for _, x := range r.sent[t] {
		q, column := x.Query, rows[i].Name
		switch s := x.Statement.(type) {
		case *ast.Insert:
			inserted = true
		case *ast.Select:
			forward := !slices.ContainsFunc(q.Order, func(o ast.Order) bool { return o.Descending })
			led := !slices.ContainsFunc(rows[:i], func(c schema.Column) bool { return !exact(q, c.Name) })
			due := restricted(q, column) && !slices.ContainsFunc(q.Where, func(w ast.Relation) bool { // all up to a time
				return slices.Contains(w.Columns, column) && w.Operator != "<" && w.Operator != "<="
			})
			if (s.Limit != nil || due) && located(q, t) && led && forward && !exact(q, column) {
				first, next = first || due || !restricted(q, column), next || restricted(q, column)
			}
		case *ast.Delete:
			if len(s.Columns) == 0 {
				one, before = one || exact(q, column), before || restricted(q, column) && !exact(q, column)
			}
		}
	}
	return inserted && (first && (one || before) || next && before)
}

// workNames are words in the names of tables of what is still to be done.
var workNames = strings.Fields(`queue unread pending open outbox inbox backlog todo waiting unsent undelivered retries feed timeline scheduled buckets
	requests jobs tasks task schedule notifications`)

// comesAndGoes says whether single rows of a partition are written and deleted, and it is read from its beginning to
// its end. Posts and the like are left out, as few are deleted.
func (r *review) comesAndGoes(t *schema.Table) bool {
	rows := t.Of(schema.Clustering)
	if _, grows := r.endless(t); !hasWord(t.Name, workNames) && (grows == "" || firstOf(manyNames, words(t.Name)...) != "") {
		return false
	}
	begins := func(q *schema.Query) bool { return whole(q, t) }
	single := func(q *schema.Query) bool { return deletesRow(q, t) }
	return len(rows) > 0 && r.written(t) && r.asks(t, begins) && r.asks(t, single)
}

// urgency says whether a column is the order in which rows are taken, by its name.
func urgency(c schema.Column) bool {
	return hasWord(c.Name, strings.Fields("priority prio urgency due"))
}

// batch is the writes of one batch or transaction.
type batch []sent

// writes says whether a table is among those of the batch.
func (b batch) writes(t *schema.Table) bool {
	return slices.ContainsFunc(b, func(x sent) bool { return x.table == t })
}

// inserts gives the tables that the batch inserts into.
func (b batch) inserts() []*schema.Table {
	inserts := slices.DeleteFunc(slices.Clone(b), func(x sent) bool { return x.Verb != "INSERT" })
	return each.Once(each.Of(inserts, func(x sent) *schema.Table { return x.table }))
}

// counts says whether a statement is of a table of counters.
func (s sent) counts() bool { return counting(s.table) }

// batchesOf gives the batches and transactions that write known tables, in the order of their text.
func batchesOf(statements []sent) []batch {
	by := make(map[int]batch)
	for _, x := range statements {
		if x.Batch != 0 && x.Verb != "SELECT" {
			by[x.Batch] = append(by[x.Batch], x)
		}
	}
	return each.Of(slices.Sorted(maps.Keys(by)), func(n int) batch { return by[n] })
}

// partitions says how many partitions a batch writes by the text of its statements; with fixed, by those that name
// theirs by values alone.
func (b batch) partitions(fixed bool) int {
	different := make(map[string]bool)
	for _, x := range b {
		if name, of := partitionOf(x.Query, x.table); name != "" && (of || !fixed) {
			different[name] = true
		}
	}
	return len(different)
}

// onePartition says whether all statements of a batch may write one partition, by their text.
func (b batch) onePartition() bool {
	i := b.repeated()
	return b.partitions(false) < 2 && (i < 0 || len(b[i].table.Of(schema.Clustering)) > 0) &&
		!slices.ContainsFunc(b, func(x sent) bool { name, _ := partitionOf(x.Query, x.table); return name == "" })
}

// repeated is a statement of a batch that is in it twice with values that are bound, as a loop over rows makes it; or
// -1. Best is one whose table has a row each partition.
func (b batch) repeated() int {
	found, before := -1, make(map[string]bool)
	for i, x := range b {
		again := before[x.Text] && strings.Contains(x.Text, "?")
		before[x.Text] = true
		if again && (found < 0 || len(x.table.Of(schema.Clustering)) == 0) {
			found = i
		}
	}
	return found
}

// conditional is the first statement of a batch with a condition, -1 if there is none.
func (b batch) conditional() int {
	return slices.IndexFunc(b, func(x sent) bool { return x.Conditional })
}

// batchesRejected reports batches that Cassandra does not accept.
func batchesRejected(r *review, b batch) {
	if b[0].Transaction {
		return
	}
	i := b.conditional()
	if i >= 0 && (slices.ContainsFunc(b, func(x sent) bool { return x.table != b[i].table }) || b.partitions(true) > 1) {
		r.finding(b[i].table, "send the condition first, and the rest once it has held",
			"a batch with a condition writes more than one partition or table, which Cassandra rejects").of(b[i].Query)
	}
	if j := b.repeated(); i >= 0 && j >= 0 && b[j].Conditional {
		r.finding(b[j].table, "a request for each partition", "a batch repeats a condition, which Cassandra rejects if the rows are of several partitions").
			of(b[j].Query).Severity = Note
	}
	i = slices.IndexFunc(b, sent.counts)
	mixed := slices.ContainsFunc(b, func(x sent) bool { return !x.counts() }) // DN303 says so
	if i >= 0 && b[i].Logged && !mixed {
		r.finding(b[i].table, "BEGIN COUNTER BATCH, or each on its own",
			"a logged batch has counters, which Cassandra rejects").of(b[i].Query)
	}
}

// largeBatch is how many independent rows in a logged batch are taken to be a load of rows.
const largeBatch = 5

// manyTablesOfBatch is how many tables a logged batch may well write.
const manyTablesOfBatch = 3

// sameRow notes that a batch inserts a row of nothing but a key, which is the same one for all rows of a partition that it
// inserts into.
func (r *review) sameRow(b batch, tables []*schema.Table) {
	for _, x := range b {
		i := slices.IndexFunc(tables, func(t *schema.Table) bool {
			return len(t.Of(schema.Clustering)) > 0 && !slices.ContainsFunc(x.table.Columns, func(c schema.Column) bool {
				of := t.Column(c.Name)
				return !inKey(x.table, c.Name) || of == nil || of.Kind != schema.PartitionKey
			})
		})
		if i >= 0 && x.Verb == "INSERT" && r.once(x.table) {
			r.finding(x.table, "insert it with the first row of a partition", "a batch inserts a row with each row of %s: it is the same one for all rows of "+
				"a partition", tables[i].ID).of(x.Query).Severity = Note
		}
	}
}

// looseBatches reports batches whose statements have nothing to do with each other: unlogged ones over several
// partitions, and logged ones that load a table.
func looseBatches(logged bool) func(*review, batch) {
	return func(r *review, b batch) {
		q, t := b[0].Query, b[0].table
		one := !slices.ContainsFunc(b, func(x sent) bool { return x.table != t })
		counters := slices.ContainsFunc(b, sent.counts)
		tables := each.Once(each.Of(b, func(x sent) *schema.Table { return x.table }))
		if logged && !q.Transaction && len(tables) < 50 {
			r.sameRow(b, b.inserts())
		}
		if i := b.repeated(); logged && q.Logged && !counters && b.conditional() < 0 && i >= 0 {
			f := r.finding(b[i].table, "a request for each, side by side", "a logged batch repeats a statement, for rows that have nothing to do "+
				"with each other: the batchlog makes each several times dearer").of(b[i].Query)
			if len(b[i].table.Of(schema.Clustering)) > 0 {
				f.Reason, f.Severity = "a logged batch repeats a statement: with many rows it exceeds the limits of a batch", Note
			}
			return
		}
		switch n := b.partitions(false); {
		case q.Logged != logged || q.Transaction || logged && counters || b.conditional() >= 0:
		case !logged && n > 1:
			r.finding(t, "a request for each, side by side; or a logged batch, which takes no counters, if all or none is to be written",
				"an unlogged batch writes %d partitions: one coordinator does the work of all, and after an error some are written", n).
				of(q).when(counters, Note) // no batch makes them atomic
		case logged && len(tables) > manyTablesOfBatch:
			r.finding(t, "the tables of one entity in a batch, and the rest on its own", "a logged batch writes %d tables: each write waits for the "+
				"batchlog and for all of them", len(tables)).of(q).Severity = Note
		case logged && one && n > largeBatch:
			r.finding(t, "a request for each, side by side", "a logged batch loads %d rows that have nothing to do with each other: the batchlog "+
				"makes each several times dearer", n).of(q)
		}
	}
}
