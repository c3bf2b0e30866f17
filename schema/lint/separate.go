package lint

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/schema"
)

// separate reports tables whose rows could be in partitions of another table's key. What it proposes is reviewed by the
// other rules first.
func separate(r *review) {
	for i := range r.entities {
		e := &r.entities[i]
		if e.guessed || len(e.tables) > 100 { // each is compared with each
			continue
		}
		told := make(map[schema.ID]bool)
		free := slices.DeleteFunc(slices.Clone(e.tables), func(t *schema.Table) bool { return r.bound(e, t) })
		for _, t := range slices.Backward(free) { // rather a query table than the base table
			for _, to := range free {
				if !told[to.ID] && mayShare(t, to) {
					told[t.ID] = r.sharing(t, to)
				}
				if told[t.ID] {
					break
				}
			}
		}
	}
}

// sharing reports t, if it could well have the partition key of another table.
func (r *review) sharing(t, to *schema.Table) bool {
	why := "its queries name " + key(to) + ", by which that is partitioned"
	shown := r.query(t, "SELECT")
	proposed, volumes := withPartition(t, to), r.schema.Volumes
	switch {
	case sameColumns(t.Of(schema.PartitionKey), to.Of(schema.PartitionKey)):
		why, shown = "both are partitioned by the same columns, in another order", nil
		if r.asks(t, scans) {
			return false
		}
	case shown == nil || !r.bounded(to) || !r.alwaysNames(t, to):
		return false
	default:
		volumes = volumesLike(volumes, t, to)
	}
	if slices.Equal(names(proposed.Columns), names(to.Columns)) && proposed.Key() == to.Key() || !r.asGood(t, to, proposed, volumes) {
		return false
	}
	f := r.finding(t, "PRIMARY KEY "+proposed.Key()+" in a new table, if readers of it need no more than the queries that are known",
		"a write of this table and of %s is two requests, and could be one: %s", to.ID, why)
	if shown != nil {
		f.Query = shown.Text
	}
	return true
}

// bound says whether a table is written in a way that asks for a request of its own.
func (r *review) bound(e *family, t *schema.Table) bool {
	transaction := e.At.Line == 0 && !e.Timestamped && t.ID == e.Tables[0] || claims(t)
	return transaction || counting(t) || len(t.Of(schema.Static)) > 0 || r.conditional(t) || r.derives(t)
}

// mayShare says whether nothing but queries and sizes is against it that t has the partition key of another table of
// the entity.
func mayShare(t, to *schema.Table) bool {
	part := to.Of(schema.PartitionKey)
	if t == to || t.Keyspace != to.Keyspace || slices.Equal(names(t.Of(schema.PartitionKey)), names(part)) {
		return false
	}
	alike := func(c schema.Column, in *schema.Table, kinds ...schema.Kind) bool {
		other := in.Column(c.Name)
		return other != nil && other.Type == c.Type && other.Derived == c.Derived && (len(kinds) == 0 || slices.Contains(kinds, other.Kind))
	}
	for _, c := range part {
		if !alike(c, t, schema.PartitionKey, schema.Clustering) {
			return false
		}
	}
	for _, c := range keyColumns(t) {
		if !alike(c, to) { // there may be several rows of t for one of the other
			return false
		}
		divides := roleOf(c) == spread || roleOf(c) == moment || c.Derived != ""
		if c.Kind == schema.PartitionKey && divides && !slices.ContainsFunc(part, func(p schema.Column) bool { return p.Name == c.Name }) {
			return false // on purpose
		}
	}
	return true
}

// claims says whether a table is one of unique keys, which are taken by transactions.
func claims(t *schema.Table) bool {
	c := t.Column("claim")
	return c != nil && c.Type == "timeuuid" && c.Kind == schema.Regular
}

// conditional says whether a query changes the table by a transaction.
func (r *review) conditional(t *schema.Table) bool {
	return r.asks(t, func(q *schema.Query) bool { return q.Conditional || q.Transaction && q.Verb != "SELECT" })
}

// asks says whether a query of a table is of a kind.
func (r *review) asks(t *schema.Table, is func(*schema.Query) bool) bool {
	return slices.ContainsFunc(r.sent[t], func(x sent) bool { return is(x.Query) })
}

// derives says whether the server keeps something that follows from the key of a table.
func (r *review) derives(t *schema.Table) bool {
	return len(r.indexesOf[t.ID]) > 0 ||
		slices.ContainsFunc(r.schema.Views, func(v schema.View) bool { return v.Keyspace == t.Keyspace && v.Base == t.Name })
}

// query gives the first query of a table with a verb, or nil.
func (r *review) query(t *schema.Table, verb string) *schema.Query {
	i := slices.IndexFunc(r.sent[t], func(x sent) bool { return x.Verb == verb })
	if i < 0 {
		return nil
	}
	return r.sent[t][i].Query
}

// alwaysNames says whether each query of t names one value of each column of both partition keys.
func (r *review) alwaysNames(t, to *schema.Table) bool {
	for _, q := range r.sent[t] {
		if q.Verb == "INSERT" {
			continue
		}
		for _, c := range slices.Concat(t.Of(schema.PartitionKey), to.Of(schema.PartitionKey)) {
			if !slices.ContainsFunc(q.Where, func(w ast.Relation) bool { return w.Is("=") && slices.Equal(w.Columns, []string{c.Name}) }) {
				return false
			}
		}
	}
	return true
}

// bounded says whether it is known how large the partitions of a table become: what comes of it is said by the rules on
// size.
func (r *review) bounded(t *schema.Table) bool {
	return len(t.Of(schema.Clustering)) == 0 || r.stated(t)
}

// sameColumns says whether two lists have the same columns, in whatever order.
func sameColumns(a, b []schema.Column) bool {
	x, y := names(a), names(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// withPartition is t with the partition key of another table, and the rest of its key as clustering columns.
func withPartition(t, to *schema.Table) *schema.Table {
	out := *t
	var part, rest, others []schema.Column
	for _, c := range to.Of(schema.PartitionKey) {
		c := *t.Column(c.Name)
		c.Kind, c.Desc = schema.PartitionKey, false
		part = append(part, c)
	}
	for _, c := range t.Columns {
		switch {
		case slices.ContainsFunc(part, func(p schema.Column) bool { return p.Name == c.Name }):
		case c.Kind == schema.PartitionKey || c.Kind == schema.Clustering:
			c.Kind = schema.Clustering
			rest = append(rest, c)
		default:
			others = append(others, c)
		}
	}
	out.Columns = slices.Concat(part, rest, others)
	return &out
}

// volumesLike says of t that its partitions have as many rows as those of another table.
func volumesLike(volumes []schema.Volume, t, to *schema.Table) (out []schema.Volume) {
	var own schema.Volume
	for _, v := range volumes {
		if v.Table == t.ID {
			own = v
			continue
		}
		out = append(out, v)
	}
	for _, v := range volumes {
		if v.Table == to.ID && !v.Measured {
			v.Table, v.Width, v.Elements, v.Filled = t.ID, known(own.Width, v.Width, t), known(own.Elements, v.Elements, t), known(own.Filled, v.Filled, t)
			out = append(out, v)
		}
	}
	return out
}

// known is what is said of the columns of a table, or else of those of the same names.
func known(own, others map[string]float64, t *schema.Table) map[string]float64 {
	out := make(map[string]float64)
	for _, from := range []map[string]float64{others, own} {
		for name, n := range from {
			if t.Column(name) != nil {
				out[name] = n
			}
		}
	}
	return out
}

// asGood says whether no rule finds more in the schema with another form of t, and none finds anything in the
// partitions of both tables.
func (r *review) asGood(t, to, proposed *schema.Table, volumes []schema.Volume) bool {
	s := *r.schema
	s.Volumes, s.Tables = volumes, slices.Clone(s.Tables)
	for i := range s.Tables {
		if s.Tables[i].ID == t.ID {
			s.Tables[i] = *proposed
		}
	}
	others := slices.DeleteFunc(slices.Clone(r.rules), func(rule Rule) bool { return rule.Code == r.rule.Code || rule.Code == "DN001" })
	type place struct {
		code  string
		table schema.ID
		query string
	}
	before := make(map[place]bool)
	for _, f := range apply(r.schema, others).found {
		before[place{f.Code, f.Table, f.Query}] = true
	}
	return !slices.ContainsFunc(apply(&s, others).found, func(f Finding) bool {
		partition := strings.HasPrefix(f.Code, "DN1") && (f.Table == t.ID || f.Table == to.ID)
		return partition || !before[place{f.Code, f.Table, f.Query}]
	})
}
