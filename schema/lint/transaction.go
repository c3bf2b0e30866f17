package lint

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/schema"
)

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

// transactional says whether a table takes part in transactions of Cassandra 6.
func transactional(t *schema.Table) bool {
	mode, _ := ast.ParseOption(t.Options["transactional_mode"])
	return mode.Text != "" && !strings.EqualFold(mode.Text, "off")
}

func transactionsRejected(r *review) {
	for _, t := range r.tables() {
		if counting(t) && transactional(t) {
			r.finding(t, "leave transactional_mode out", "a table of counters with transactional_mode, which Cassandra rejects")
		}
	}
	for _, x := range r.statements {
		if q, t := x.Query, x.table; q.Transaction {
			if reason, fix := x.forbidden(); reason != "" {
				r.finding(t, fix, "a transaction %s, which Cassandra rejects", reason).of(q)
			}
			if !transactional(t) && !counting(t) && r.once(t.ID) {
				r.withoutMode(t).Query = q.Text
			}
		}
	}
}

// withoutMode reports a table that a transaction names.
func (r *review) withoutMode(t *schema.Table) *Finding {
	const fix = "WITH transactional_mode = 'full'"
	if t.Options["transactional_mode"] != "" {
		return r.finding(t, fix, "a transaction names the table, whose transactional_mode is off: Cassandra rejects it")
	}
	f := r.finding(t, fix, "a transaction names the table, which has no transactional_mode: it then is accord.default_transactional_mode of the "+
		"server, which is off unless cassandra.yaml says otherwise, and Cassandra rejects the transaction")
	f.Severity = Note
	return f
}

// forbidden is what Cassandra rejects in a statement of a transaction, whatever the mode of its table, and what to do.
func (x *sent) forbidden() (reason, fix string) {
	q, t := x.Query, x.table
	switch s := x.Statement.(type) {
	case *ast.Select:
		if reason, fix = forbiddenRead(q, t, s); reason != "" {
			return reason, fix
		}
	case *ast.Insert:
		for _, c := range keyColumns(t) {
			if i := slices.Index(s.Columns, c.Name); i >= 0 && i < len(s.Values) && s.Values[i].Kind == ast.Reference {
				return "takes " + c.Name + ", a column of the key, from a LET", "read the row before, and bind its " + c.Name
			}
		}
	}
	switch {
	case counting(t):
		return "names a table of counters", "write counters on their own"
	case q.Conditional:
		return "has IF in one of its statements", "a LET of the row, and IF ... THEN before all statements"
	case q.Timestamped:
		return "has USING TIMESTAMP", "leave it out: a transaction has a timestamp of its own"
	case x.expires():
		return "has USING TTL", "leave it out, or write rows that expire without a transaction, in a table of their own"
	}
	return "", ""
}

// expires says whether the statement has USING TTL, of 0 too.
func (x *sent) expires() bool {
	switch s := x.Statement.(type) {
	case *ast.Insert:
		return s.Using.TTL != nil
	case *ast.Update:
		return s.Using.TTL != nil
	}
	return false
}

// forbiddenRead is what it rejects in a SELECT alone.
func forbiddenRead(q *schema.Query, t *schema.Table, s *ast.Select) (reason, fix string) {
	equal := func(kind schema.Kind) bool {
		return !slices.ContainsFunc(t.Of(kind), func(c schema.Column) bool {
			return !slices.ContainsFunc(q.Where, func(w ast.Relation) bool { return w.Is("=") && slices.Contains(w.Columns, c.Name) })
		})
	}
	first := s.Limit != nil && (s.Limit.Kind == ast.Mark || s.Limit.Text == "1")
	one := equal(schema.PartitionKey) && (first || equal(schema.Clustering))
	switch {
	case q.Let != "" && !one:
		return "has LET " + q.Let + " of what may be several rows", "name all columns of the primary key with =, or those of the partition key and LIMIT 1"
	case s.Limit != nil && slices.ContainsFunc(t.Of(schema.PartitionKey), func(c schema.Column) bool {
		return slices.ContainsFunc(q.Where, func(w ast.Relation) bool { return w.Is("IN") && slices.Contains(w.Columns, c.Name) })
	}):
		return "has IN of the partition key and LIMIT", "read one partition at a time"
	case !located(q, t):
		return "has a SELECT that does not name its partition", "name all columns of the partition key"
	case len(s.OrderBy)+len(s.GroupBy) > 0:
		return "has ORDER BY or GROUP BY", "read in the order of the table, or without a transaction"
	case slices.ContainsFunc(s.Columns, func(c ast.Selector) bool {
		return c.Kind == ast.Call && slices.Contains(strings.Fields("count min max avg sum"), c.Text)
	}):
		return "has an aggregate", "read it without a transaction"
	}
	return "", ""
}

// transactionsAndTimestamps reports plain writes that may hide transactions.
func transactionsAndTimestamps(r *review) {
	used := make(map[schema.ID]bool)
	for q, t := range r.queries {
		used[t.ID] = used[t.ID] || q.Transaction || transactional(t)
	}
	for q, t := range r.queries {
		if q.Timestamped && !q.Transaction && used[t.ID] && r.once(t.ID) {
			r.finding(t, "leave USING TIMESTAMP out, or write the table in transactions only",
				"a plain write of a table of transactions has USING TIMESTAMP: a time ahead of the servers' clocks hides all transactions until then").of(q)
		}
	}
}
