package lint

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/schema"
)

// largest is the number of partitions that one query may well name.
const largest = 20

// exact says whether a query names a column's value, or a list of them.
func exact(q *schema.Query, column string) bool {
	return slices.ContainsFunc(q.Where, func(w ast.Relation) bool {
		return (w.Is("=") || w.Is("IN")) && slices.Contains(w.Columns, column)
	})
}

// restricted says whether a query says anything of a column.
func restricted(q *schema.Query, column string) bool {
	return slices.ContainsFunc(q.Where, func(w ast.Relation) bool { return slices.Contains(w.Columns, column) })
}

// unnamed gives the columns of the partition key whose value a query does not name.
func unnamed(q *schema.Query, t *schema.Table) []string {
	return slices.DeleteFunc(names(t.Of(schema.PartitionKey)), func(name string) bool { return exact(q, name) })
}

// located says whether a query names its partition.
func located(q *schema.Query, t *schema.Table) bool { return len(unnamed(q, t)) == 0 }

// indexed says whether the query can go by an index.
func (r *review) indexed(q *schema.Query, t *schema.Table) bool {
	near := nearest(q)
	expr := slices.ContainsFunc(q.Where, func(w ast.Relation) bool { return w.Operator == "EXPR" }) // expr(index, 'x') of a custom one
	return slices.ContainsFunc(r.indexesOf[t.ID], func(i *schema.Index) bool {
		return near == "" && (restricted(q, i.Column()) || expr && i.Class != "" && i.Class != "sai" && !sasi(i)) || near != "" && near == i.Column()
	})
}

// indexesFor gives the columns by whose indexes a query goes, and not by the key.
func (r *review) indexesFor(q *schema.Query, t *schema.Table) []string {
	return slices.DeleteFunc(each.Of(r.indexesOf[t.ID], (*schema.Index).Column), func(name string) bool {
		return !restricted(q, name) || located(q, t) && inKey(t, name)
	})
}

// finds says whether an index serves one of what a query restricts. alone says that all of it needs no more: indexes of
// SAI together, or one index, perhaps in a partition.
func (r *review) finds(q *schema.Query, t *schema.Table) (found, alone bool) {
	if len(r.indexesOf[t.ID]) == 0 {
		return false, false
	}
	here, n, sai := located(q, t), 0, true
	alone = len(q.Order) == 0 && r.filtered(q, t) == ""
	for _, w := range q.Where {
		i := slices.IndexFunc(r.indexesOf[t.ID], func(x *schema.Index) bool { return serves(x, w, t) })
		if i < 0 {
			alone = alone && here && !slices.ContainsFunc(w.Columns, func(name string) bool { return !inKey(t, name) })
			continue
		}
		n, sai = n+1, sai && r.indexesOf[t.ID][i].Class == "sai"
	}
	return n > 0, alone && (n == 1 || n > 1 && sai)
}

// serves says whether an index finds what a relation asks for. One without a class serves no range.
func serves(x *schema.Index, w ast.Relation, t *schema.Table) bool {
	of, _, inner := strings.Cut(x.Target, "(")
	c := t.Column(x.Column())
	ranges := x.Class != "" && w.Key == nil && c != nil && c.Type != "text" && c.Type != "ascii"
	return slices.Contains(w.Columns, x.Column()) && map[string]bool{
		"=": w.Key == nil && (!inner || of == "full") || w.Key != nil && of == "entries", "CONTAINS": !inner || of == "values",
		"CONTAINS KEY": of == "keys", "LIKE": sasi(x), "<": ranges, "<=": ranges, ">": ranges, ">=": ranges,
	}[w.Operator]
}

// filtered is a column outside the key, or behind one that is free, that a query restricts without an index of it, or
// empty.
func (r *review) filtered(q *schema.Query, t *schema.Table) string {
	here, free := located(q, t), false
	for _, c := range append(t.Of(schema.Clustering), t.Of(schema.Regular, schema.Static)...) {
		if !restricted(q, c.Name) {
			free = free || here && c.Kind == schema.Clustering
		} else if (c.Kind != schema.Clustering || free) && !slices.ContainsFunc(r.indexesOf[t.ID], func(i *schema.Index) bool { return i.Column() == c.Name }) {
			return c.Name
		}
	}
	return ""
}

// nearest is the column of vectors by whose distance a query orders the rows, or empty.
func nearest(q *schema.Query) string {
	for _, o := range q.Order {
		if o.Near {
			return o.Column
		}
	}
	return ""
}

// like is the column that a query has LIKE of, and no index serves; or empty.
func (r *review) like(q *schema.Query, t *schema.Table) string {
	for _, w := range q.Where {
		if w.Operator == "LIKE" && !slices.ContainsFunc(r.indexesOf[t.ID], func(i *schema.Index) bool {
			return i.Column() == w.Columns[0] && i.Class != "" && i.Class != "sai"
		}) {
			return w.Columns[0]
		}
	}
	return ""
}

// whole says whether a query reads a partition from its beginning, perhaps with a limit; or, with operators, from where
// they say.
func whole(q *schema.Query, t *schema.Table, operators ...string) bool {
	return q.Verb == "SELECT" && located(q, t) && !slices.ContainsFunc(q.Where, func(w ast.Relation) bool { // expr(...) has no columns
		return !slices.Contains(operators, w.Operator) && slices.ContainsFunc(w.Columns, func(name string) bool {
			c := t.Column(name)
			return c != nil && c.Kind == schema.Clustering && (roleOf(*c) != few || w.Operator != "=") // all of one kind
		})
	})
}

// scans says whether a query goes through the table by tokens, piece by piece, as those do that are meant to read all.
func scans(q *schema.Query) bool {
	return slices.ContainsFunc(q.Where, func(w ast.Relation) bool { return w.Token })
}

func partitionUnused(r *review, q *schema.Query, t *schema.Table) {
	if q.Verb != "SELECT" || q.AllowFiltering || located(q, t) || r.indexed(q, t) || scans(q) || nearest(q) != "" || r.like(q, t) != "" || small(t) {
		return
	}
	reason := "reads the whole table"
	if len(q.Where) > 0 {
		reason = "names no " + strings.Join(unnamed(q, t), ", ") + ", which the partition key has"
	}
	few := false
	if s, ok := q.Statement.(*ast.Select); ok && len(q.Where) == 0 && s.Limit != nil && s.Limit.Kind == ast.Integer {
		if few = len(s.Limit.Text) < 3; s.Limit.Text == "1" {
			return // it looks whether there are rows
		}
	}
	// Two columns may be a list of a few names.
	r.finding(t, "a query table whose partition key is what the query knows; or state with denorm:domain how few partitions there are",
		"a query %s", reason).of(q).when(len(q.Where) == 0 && len(t.Columns) <= 2, Warning).when(few || len(q.Where) == 0 && reference(t), Note)
}

// small says whether a table is said to have few partitions.
func small(t *schema.Table) bool {
	return !slices.ContainsFunc(t.Of(schema.PartitionKey), func(c schema.Column) bool { return c.Domain == 0 || c.Domain >= manyValues })
}

func notServed(r *review, q *schema.Query, t *schema.Table) {
	if column := r.like(q, t); column != "" {
		r.finding(t, "a query table whose clustering columns have the beginning of it, for a range; or a search engine",
			"a query has LIKE of %s, which no index serves but a SASI one", column).of(q)
		return
	}
	if column := nearest(q); column != "" && !r.indexed(q, t) {
		r.finding(t, "CREATE INDEX ON "+t.String()+" ("+cql.Quote(column)+") USING 'sai'",
			"a query wants the rows nearest by %s, which has no vector index", column).of(q)
		return
	}
	if q.Verb != "SELECT" {
		return
	}
	column, by := "", r.indexesFor(q, t)
	if len(r.indexesOf[t.ID]) > 0 {
		column = r.filtered(q, t)
	}
	if found, _ := r.finds(q, t); len(q.Order) > 0 && len(by) > 0 && nearest(q) == "" && (found || column == "" && !q.AllowFiltering) {
		r.finding(t, "a query table that has the rows in the order", "a query goes by an index and wants an order, which Cassandra rejects").of(q)
		return
	}
	if q.AllowFiltering {
		return
	}
	if r.indexed(q, t) {
		switch {
		case column == "" && len(each.Once(by)) > 1 && !slices.ContainsFunc(r.indexesOf[t.ID], func(i *schema.Index) bool { return i.Class != "" }):
			r.finding(t, "a query table; or, from Cassandra 5 on, SAI in place of both indexes", "a query goes by two indexes: "+
				"unless CREATE INDEX makes them of SAI, it can use one, and Cassandra wants ALLOW FILTERING").of(q).Severity = Warning
		case column == "":
		case nearest(q) != "":
			r.finding(t, "an index of "+cql.Quote(column)+" too (SAI)",
				"a query wants the nearest rows and restricts %s, which has no index: Cassandra rejects it", column).of(q)
		default:
			r.finding(t, "a query table, or an index of "+cql.Quote(column)+" too (SAI)",
				"a query goes by an index and restricts %s, which has none: Cassandra wants ALLOW FILTERING", column).of(q)
		}
		return
	}
	if !located(q, t) {
		return
	}
	if reason := unserved(q, t); reason != "" {
		r.finding(t, "a query table whose clustering columns come in the order in which the query knows them", "a query %s", reason).of(q)
	}
}

// unserved says why Cassandra would not run a query that names its partition.
func unserved(q *schema.Query, t *schema.Table) string {
	free := "" // the first clustering column whose value the query does not name
	for _, c := range t.Of(schema.Clustering) {
		if free != "" && restricted(q, c.Name) && !alongside(q, free, c.Name) {
			return "restricts " + c.Name + " without naming a value of " + free + " before it"
		}
		if free == "" && !exact(q, c.Name) {
			free = c.Name
		}
	}
	for _, c := range t.Columns {
		if (c.Kind == schema.Regular || c.Kind == schema.Static) && restricted(q, c.Name) {
			return "restricts " + c.Name + ", which is not in the key"
		}
	}
	if _, ok := direction(q, t); !ok {
		wanted := each.Of(q.Order, func(o ast.Order) string { return o.Column })
		return "wants an order (" + strings.Join(wanted, ", ") + ") that the clustering columns do not have, not backwards either"
	}
	return ""
}

// alongside says whether one relation has both columns, as (a, b) > (?, ?) does.
func alongside(q *schema.Query, a, b string) bool {
	return slices.ContainsFunc(q.Where, func(w ast.Relation) bool {
		return slices.Contains(w.Columns, a) && slices.Contains(w.Columns, b)
	})
}

// direction says whether an ORDER BY goes with the table, and whether it wants the reverse. Columns that the query
// names a value of do not matter.
func direction(q *schema.Query, t *schema.Table) (reverse, ok bool) {
	rest := t.Of(schema.Clustering)
	for i, o := range q.Order {
		for len(rest) > 0 && rest[0].Name != o.Column && exact(q, rest[0].Name) {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0].Name != o.Column {
			return false, false
		}
		turned := rest[0].Desc != o.Descending
		if i > 0 && turned != reverse {
			return false, false
		}
		reverse, rest = turned, rest[1:]
	}
	return reverse, true
}

func backwards(r *review) {
	for t := range r.clustered {
		oldest := func(q *schema.Query) bool {
			s, ok := q.Statement.(*ast.Select)
			return ok && s.Limit != nil && len(q.Order) == 0 && whole(q, t)
		}
		c, time := t.Of(schema.Clustering)[0], r.unordered(t)
		by, _ := r.endless(t)
		switch {
		case c.Desc && c.Type == "uuid":
			r.finding(t, "a timeuuid, or a time before it in the key", "rows are in the descending order of %s, which is random", c.Name).Severity = Note
		case time != "":
			i := slices.IndexFunc(t.Of(schema.Clustering), anyID)
			r.finding(t, "the time before the id in the key", "rows are in the order of %s, which is random: no query has the latest by %s alone",
				t.Of(schema.Clustering)[i].Name, time).Severity = Note
		case (instant(c) && rowsAre(t, growingNames) || by == c.Name && !sequence(c)) && !c.Desc && !r.queue(t) && r.asks(t, oldest):
			r.finding(t, "CLUSTERING ORDER BY ... DESC, if the latest are wanted", "a LIMIT takes the oldest rows").Severity = Note
		}
	}
	// No order serves a table that is read in both; a range of it may be read in the table's order, or in any.
	forwards, ranges := make(map[*schema.Table]bool), make(map[*schema.Table]bool)
	for q, t := range r.queries {
		reverse, ok := direction(q, t)
		forwards[t] = forwards[t] || q.Verb == "SELECT" && len(q.Order) > 0 && ok && !reverse
		if s, is := q.Statement.(*ast.Select); is && s.Limit == nil && len(q.Order) == 0 && located(q, t) && !whole(q, t) && !ofRow(q, t) {
			ranges[t] = true
		}
	}
	for q, t := range r.queries {
		if reverse, _ := direction(q, t); q.Verb == "SELECT" && reverse && !forwards[t] {
			r.finding(t, "CLUSTERING ORDER BY as the query wants it, in a new table", "a query reads %s backwards", t.ID).of(q).when(ranges[t], Note)
		}
	}
}

// unordered is the time at which a row came to be, if its partition has the order of an id. The partition has to be read
// from its beginning.
func (r *review) unordered(t *schema.Table) string {
	ordered := func(c schema.Column) bool { return c.Type == "timeuuid" || !anyID(c) && roleOf(c) != few }
	if rowsAre(t, accountNames) || slices.ContainsFunc(t.Of(schema.Clustering), ordered) || !slices.ContainsFunc(t.Of(schema.Clustering), anyID) || !r.asks(t, func(q *schema.Query) bool { return whole(q, t) }) {
		return ""
	}
	for _, c := range t.Of(schema.Regular) {
		if instant(c) && (hasWord(c.Name, strings.Fields("created added posted sent send start")) || slices.Contains(strings.Fields("date time timestamp"), c.Name)) {
			return c.Name
		}
	}
	return ""
}

func filtering(r *review, q *schema.Query, t *schema.Table) {
	found, alone := r.finds(q, t)
	switch {
	case !q.AllowFiltering:
	case located(q, t) && unserved(q, t) == "", alone:
		r.finding(t, "leave it out: it would let through what is not served", "a query has ALLOW FILTERING, and is served without").of(q).Severity = Note
	case ofRow(q, t):
	case found:
		r.finding(t, "a query table whose key is what the query knows", "a query filters what an index finds").of(q).Severity = Warning
	case !located(q, t):
		r.finding(t, "a query table whose key is what the query knows", "a query filters the whole table").of(q)
	default:
		r.finding(t, "a query table whose key is what the query knows; or accept it, if partitions stay small",
			"a query filters all rows of a partition").of(q).Severity = Warning
	}
}

func largeIn(r *review, q *schema.Query, t *schema.Table) {
	n, unknown := 1, false
	for _, w := range q.Where {
		inKey := func(c schema.Column) bool { return slices.Contains(w.Columns, c.Name) }
		if !w.Is("IN") || !slices.ContainsFunc(t.Of(schema.PartitionKey), inKey) {
			continue
		}
		n, unknown = min(n*max(len(w.Values), 1), 1_000_000), unknown || w.Marked
	}
	fix := "one query for each partition, side by side"
	switch {
	case unknown:
		buckets := slices.ContainsFunc(q.Where, func(w ast.Relation) bool {
			return w.Is("IN") && w.Marked && slices.ContainsFunc(w.Columns, func(name string) bool {
				c := t.Column(name)
				return c != nil && (roleOf(*c) == moment || roleOf(*c) == spread)
			})
		})
		r.finding(t, fix, "a query names partitions by a list of unknown length").of(q).when(buckets, Note) // the buckets of some time
	case n > largest:
		r.finding(t, fix, "a query names %d partitions", n).of(q)
	}
}
