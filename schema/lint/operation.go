package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/schema"
)

// typeInKey reports columns of keys that have one of some types, which are seldom equal, though they look so.
func typeInKey(types []string, fix, says string) func(*review, *schema.Table) {
	return func(r *review, t *schema.Table) {
		for _, c := range keyColumns(t) {
			name, _, _ := ast.TypeParts(c.Type)
			own := c.Kind == schema.PartitionKey && slices.ContainsFunc(r.schema.Types, func(t schema.Type) bool { return t.Name == name })
			if slices.Contains(types, name) {
				r.finding(t, fix, "%s in the key is a %s: %s", c.Name, name, says).Column = c.Name
			} else if own && slices.Contains(types, "map") {
				r.finding(t, "its fields as columns", "%s in the partition key is a %s, to which ALTER TYPE then cannot add a field", c.Name, name).
					as(Note).Column = c.Name
			}
		}
	}
}

// partOfEntity reports batches and transactions that insert, delete or change an entity in some of its tables, and
// leave others out. One that does several of these may move a row.
func partOfEntity(r *review) {
	apart(r)
	for _, b := range r.batches {
		by, verbs := make(map[schema.ID]*schema.Query), make(map[string]bool)
		for _, x := range b {
			verb := x.Verb
			if verb == "DELETE" && len(x.Columns) > len(keyColumns(x.table)) {
				verb = "UPDATE" // of some columns
			}
			by[x.table.ID], verbs[verb] = x.Query, true
		}
		for what, verb := range map[string]string{"inserts": "INSERT", "deletes": "DELETE", "changes": "UPDATE"} {
			if len(verbs) == 1 && verbs[verb] {
				for _, e := range r.entities {
					r.leftOut(&e, what, by)
				}
			}
		}
	}
}

// within says whether a batch writes all tables of the entity.
func (f *family) within(b batch) bool {
	return len(f.tables) > 1 && !slices.ContainsFunc(f.tables, func(t *schema.Table) bool { return !b.writes(t) })
}

// leftOut reports that a batch does something in tables of an entity, and not in others. A guard of uniqueness, which
// is one row a key, is written by a condition, on its own, unless a batch writes it with all the others. A change is of
// tables that have what is changed.
func (r *review) leftOut(e *family, what string, by map[schema.ID]*schema.Query) {
	if !slices.ContainsFunc(e.tables, func(t *schema.Table) bool { return by[t.ID] != nil }) {
		return
	}
	var missing []string
	var has *schema.Table
	changed := func(t *schema.Table) bool {
		for id, q := range by {
			for _, c := range q.Columns {
				of, here := r.byID[id].Column(c), t.Column(c)
				if of != nil && here != nil && of.Kind == schema.Regular && here.Kind == schema.Regular {
					return true
				}
			}
		}
		return false
	}
	for i, t := range e.tables {
		switch {
		case by[t.ID] != nil:
			has = t
		case what == "changes" && !changed(t):
		case i == 0 || e.together || len(t.Of(schema.Clustering)) > 0:
			missing = append(missing, t.String())
		}
	}
	if (!e.guessed || e.together) && has != nil && len(missing) > 0 {
		kind := "batch"
		if by[has.ID].Transaction {
			kind = "transaction"
		}
		r.finding(has, "put a statement for each table of the entity into the "+kind+
			"; if a row is in a table only sometimes, accept it with denorm:ignore", "a %s %s entity %s in %s, and not in %s",
			kind, what, e.Name, has.ID, strings.Join(missing, ", ")).of(by[has.ID])
	}
}

// keyspaceAtRisk reports keyspaces that lose rows with a node, or with its memory. A datacentre of one replica next to
// others is a copy for reports.
func keyspaceAtRisk(r *review) {
	for _, k := range r.schema.Keyspaces {
		at := &schema.Table{ID: schema.ID{Keyspace: k.Name}, At: k.At}
		switch {
		case factor(&k) == "1":
			r.finding(at, "NetworkTopologyStrategy, with 3 replicas in each datacentre",
				"keyspace %s has one replica: while its node is down the rows cannot be read or written, and they are lost with it", k.Name)
		case k.Replication["class"] == "SimpleStrategy":
			r.finding(at, "NetworkTopologyStrategy, with a factor for each datacentre",
				"keyspace %s has SimpleStrategy, which knows neither racks nor datacentres", k.Name)
		}
		if factor(&k) == "2" {
			r.finding(at, "3 replicas in each datacentre",
				"keyspace %s has two replicas in each datacentre: a quorum there is both, so it stands no node that is down", k.Name).Severity = Note
		}
		if k.NonDurable {
			r.finding(at, "durable_writes = true", "keyspace %s has durable_writes = false: a node that crashes loses what it has not flushed", k.Name)
		}
	}
}

// factor is how many replicas a keyspace has, if it is in one datacentre.
func factor(k *schema.Keyspace) string {
	if k == nil {
		return ""
	}
	factors := maps.Clone(k.Replication)
	delete(factors, "class")
	for _, factor := range factors {
		if replicas, _, _ := strings.Cut(factor, "/"); len(factors) == 1 { // of which some may be transient
			return replicas
		}
	}
	return ""
}

// deletes reports DELETEs of tables in which deleted rows come back, or stay on disk.
func deletes(window bool) func(*review, *schema.Query, *schema.Table) {
	return func(r *review, q *schema.Query, t *schema.Table) {
		switch {
		case q.Verb != "DELETE":
		case !window && t.GCGrace() < 7*schema.Day && factor(r.schema.Keyspace(t.Keyspace)) != "1" && r.once(t.ID):
			f := r.finding(t, "gc_grace_seconds longer than the time between two repairs, 864000 by default",
				"gc_grace_seconds is %d, and rows are deleted: a replica that has missed a DELETE brings the row back",
				int64(t.GCGrace().Seconds())).of(q)
			if t.GCGrace() >= hintWindow {
				f.Reason, f.Severity = f.Reason+", unless each is repaired in that time", Note
			}
		case window && t.Compaction() == timeWindow && r.once(t.ID):
			r.finding(t, "let the rows expire by a TTL, or use another compaction",
				"a DELETE is written into the file of its time, and the row is in an older one: both stay until that file expires").of(q)
		}
	}
}

const (
	// mostTables is where Cassandra 4.0 and later warn by default when one more table is created
	// (table_count_warn_threshold), its own 40 or so counted.
	mostTables = 150
	// mostColumns is far above what an entity has, and far below what Cassandra takes.
	mostColumns = 100
)

// manyTables reports the first table that is too many for a cluster.
func manyTables(r *review) {
	tables := r.tables()
	if n := len(tables) + len(r.schema.Views); n > mostTables && len(tables) > 0 {
		r.finding(tables[min(mostTables, len(tables)-1)],
			"one table with the tenant, the kind or the period in its key, in place of a table for each of them",
			"there are %d tables and views: each takes memory of every node, and changes of the schema and starts get slower", n)
	}
}

// manyColumns reports tables with more columns than an entity has.
func manyColumns(r *review, t *schema.Table) {
	if n := len(t.Columns) - len(t.Of(schema.PartitionKey)); n > mostColumns {
		r.finding(t, "rows with a name and a value; or a frozen type, or a map, for what is read together",
			"the table has %d columns, each with cells of its own that a read of the row goes through", len(t.Columns))
	}
}
