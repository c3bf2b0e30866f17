package lint

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/schema"
)

// indexes gives the indexes of known tables, each with its table.
func (r *review) indexes(yield func(*schema.Index, *schema.Table) bool) {
	for i := range r.schema.Indexes {
		x := &r.schema.Indexes[i]
		if t := r.byID[schema.ID{Keyspace: x.Keyspace, Name: x.Table}]; t != nil && !yield(x, t) {
			return
		}
	}
}

// valuesIndexed reports indexes of columns with many values, or of few, whose entries are of large parts of the table.
func valuesIndexed(is func(schema.Column) bool, bucket, says string) func(*review, *schema.Index, *schema.Table) {
	return func(r *review, x *schema.Index, t *schema.Table) {
		if c := t.Column(x.Column()); x.Class == "" && c != nil && is(*c) {
			fix := "a query table with " + c.Name + bucket + " partition key"
			for _, by := range r.tables() {
				if part := by.Of(schema.PartitionKey); by != t && len(part) == 1 && part[0].Name == c.Name && (alike(by.Name, t.Name) || leads(by, t)) {
					fix = "drop the index: " + by.String() + " has " + c.Name + " as its partition key"
				}
			}
			r.finding(t, fix, "index %s on %s, which has %s", x.Name, c.Name, says).at(x.At).when(r.within(x, t), Note).Column = c.Name
		}
	}
}

// within says whether all queries that go by an index name their partition, in which it then is read.
func (r *review) within(x *schema.Index, t *schema.Table) bool {
	by := func(q *schema.Query) bool { return q.Verb == "SELECT" && restricted(q, x.Column()) }
	return r.asks(t, by) && !r.asks(t, func(q *schema.Query) bool { return by(q) && !located(q, t) })
}

func views(r *review) {
	for _, v := range r.schema.Views {
		if base := r.byID[schema.ID{Keyspace: v.Keyspace, Name: v.Base}]; base != nil {
			moves := ""
			for _, c := range keyColumns(&schema.Table{Columns: v.Columns}) {
				changes := slices.Contains(strings.Fields("boolean double float decimal"), c.Type) || firstOf(slices.Concat(countNames, stateNames), words(c.Name)...) != ""
				if of := base.Column(c.Name); of != nil && of.Kind == schema.Regular && changes {
					moves = ", which deletes a row and inserts one where " + c.Name + " changes"
				}
			}
			r.finding(base, "a query table that the service writes itself", "materialized view %s%s", v.ID, moves).at(v.At)
		}
	}
}

// fewIn says whether a column has few values, by its type or what its name ends with.
func fewIn(c schema.Column) bool {
	if c.Domain > 0 || c.Type == "boolean" || c.Type == "tinyint" {
		return roleOf(c) == few
	}
	last := lastWord(c.Name)
	return roleOf(c) == few && c.Type != "bigint" && slices.Contains(fewNames, last) || c.Type == "text" && last == "provider"
}

// sasi says whether it is of the experimental class that nobody maintains.
func sasi(x *schema.Index) bool { return strings.Contains(strings.ToLower(x.Class), "sasi") }

func sasiIndexes(r *review, x *schema.Index, t *schema.Table) {
	if sasi(x) {
		r.finding(t, "a query table; from Cassandra 5 on also a storage-attached index (USING 'sai')",
			"index %s is a SASI index, which is experimental and has wrong results among its known faults", x.Name).at(x.At)
	}
}

// indexAlone reports queries by an index that do not name a partition: they go to as many nodes as it takes to find
// enough rows. Where no query goes by an index, that is so of any one if a partition has one row.
func indexAlone(r *review) {
	for q, t := range r.queries {
		r.askedAlone(q, t)
	}
	for x, t := range r.indexes {
		c := t.Column(x.Column())
		by := func(q *schema.Query) bool { return restricted(q, x.Column()) }
		if c != nil && x.Class == "" && !ast.MultiCellText(c.Type) && c.Kind != schema.PartitionKey && !numerous(*c) && !fewIn(*c) && len(t.Of(schema.Clustering)) == 0 && !r.asks(t, by) {
			r.finding(t, "a query table whose partition key is "+c.Name, "a query by index %s cannot name a partition, of which each has one row: it asks node "+
				"after node", x.Name).at(x.At).Column = c.Name
		}
	}
}

func (r *review) askedAlone(q *schema.Query, t *schema.Table) {
	told := slices.ContainsFunc(r.indexesOf[t.ID], func(x *schema.Index) bool { // DN401, DN403 or DN405
		if !restricted(q, x.Column()) {
			return false
		}
		c := t.Column(x.Column())
		return c != nil && (sasi(x) || x.Class == "" && (numerous(*c) || fewIn(*c)))
	})
	_, alone := r.finds(q, t)
	if q.Verb == "SELECT" && !told && r.indexed(q, t) && !located(q, t) && !scans(q) && (alone || !q.AllowFiltering) && nearest(q) == "" && r.like(q, t) == "" {
		until := ""
		if s, ok := q.Statement.(*ast.Select); ok && s.Limit == nil {
			until = ", and without LIMIT reads all rows that have the value"
		}
		r.finding(t, "a query table whose partition key is what the query knows; or name the partition as well",
			"a query by an index alone asks node after node%s", until).of(q)
	}
}

// mapValues reports indexes that have an entry for each value of a map, whatever its key is.
func mapValues(r *review, x *schema.Index, t *schema.Table) {
	c := t.Column(x.Column())
	part, _, ofPart := strings.Cut(x.Target, "(")
	if c == nil || x.Class != "" || ofPart && slices.Contains([]string{"keys", "entries", "full"}, part) {
		return
	}
	if name, frozen, _ := ast.TypeParts(c.Type); name == "map" && !frozen {
		r.finding(t, "an index of entries("+c.Name+"), if queries know the key; or a query table with a row for each entry",
			"index %s has an entry for each value in map %s, whatever key it has", x.Name, c.Name).at(x.At).Column = c.Name
	}
}

// leadingWildcard reports searches for the end or the middle of a text, for which an index has each suffix.
func leadingWildcard(r *review, x sent) {
	s, ok := x.Statement.(*ast.Select)
	if !ok || r.like(x.Query, x.table) != "" {
		return
	}
	for _, w := range s.Where {
		if w.Operator == "LIKE" && len(w.Values) == 1 && w.Values[0].Kind == ast.String && strings.HasPrefix(w.Values[0].Text, "%") {
			r.finding(x.table, "a search engine; or a query table of the words or of the reversed text", "a query looks for the end or the middle of %s",
				w.Columns[0]).of(x.Query)
		}
	}
}
