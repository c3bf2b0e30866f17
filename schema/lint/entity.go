package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/estimate"
	"github.com/denorm-go/denorm/internal/guess"
	"github.com/denorm-go/denorm/schema"
)

func optionClass(r *review, t *schema.Table) {
	for option, class := range map[string]string{"compaction": "SizeTieredCompactionStrategy", "compression": "LZ4Compressor"} {
		value := t.Options[option]
		if value == "" || value == "{}" || strings.Contains(value, "'class'") || strings.Contains(value, "'enabled': 'false'") {
			continue
		}
		r.finding(t, fmt.Sprintf("%s = {'class': '%s', ...}", option, class), "%s is %s, which has no class", option, value)
	}
}

// hintWindow is Cassandra's max_hint_window, by default.
const hintWindow = 3 * time.Hour

func gcGrace(r *review) {
	const grace = "gc_grace_seconds = 864000, or at least three hours"
	const fix = grace + "; or write the table on its own"
	for e, t := range r.members {
		if len(e.Tables) > 1 && t.GCGrace() == 0 && r.once(t.ID) {
			r.finding(t, fix, "gc_grace_seconds is 0, and the table is one of %d of entity %s", len(e.Tables), e.Name)
		}
	}
	for e, t := range r.members {
		i := slices.IndexFunc(e.Moves, func(column string) bool { return inKey(t, column) })
		if i >= 0 && t.GCGrace() < hintWindow && r.once(t.ID) {
			r.finding(t, grace, "gc_grace_seconds is %d, and rows move by %s: a delete that is "+
				"dropped in less than the three hours in which a replica that was down is sent what it missed lets it bring the former row back",
				int64(t.GCGrace().Seconds()), e.Moves[i])
		}
	}
	writes := make(map[int]int) // statements by batch, also of tables that are not known
	for i := range r.schema.Queries {
		writes[r.schema.Queries[i].Batch]++
	}
	for _, b := range r.batches {
		if !b[0].Logged || b.onePartition() && len(b) == writes[b[0].Batch] { // then it is not in the batchlog
			continue
		}
		for _, x := range b {
			if x.table.GCGrace() == 0 && r.once(x.table.ID) {
				r.finding(x.table, fix, "gc_grace_seconds is 0, and a logged batch writes the table").of(x.Query)
			}
		}
	}
}

func ttlDiffers(r *review) {
	written := make(map[schema.ID]time.Duration) // by INSERTs with a TTL; -1 s if it is bound
	for q, t := range r.queries {
		if q.Verb == "INSERT" && q.TTL != 0 {
			written[t.ID] = time.Duration(max(q.TTL, -1)) * time.Second
		}
	}
	of := func(t *schema.Table) time.Duration {
		if ttl, ok := written[t.ID]; ok {
			return ttl
		}
		return t.TTL()
	}
	r.cellsExpire()
	for e, t := range r.members {
		first := e.tables[0]
		if a, b := of(t), of(first); a != b && (min(a, b) >= 0 || max(a, b) == 0) {
			r.finding(t, "one TTL for all tables of the entity, best sent with each write", "rows live %s here, and %s in %s", lives(of(t)),
				lives(of(first)), first.ID).when(min(a, b) < 0, Note) // perhaps to keep some rows for a while
		}
	}
}

// cellsExpire reports tables of whose rows some cells expire and others stay, as some statements have a TTL and others
// none.
func (r *review) cellsExpire() {
	for _, t := range r.tables() {
		var inserts, short, forever, part *schema.Query
		regular, lease := len(t.Of(schema.Regular)), true // a lease is of cells that nothing writes without a TTL
		for _, x := range r.sent[t] {
			q := x.Query
			if q.Transaction || q.Verb != "INSERT" && q.Verb != "UPDATE" {
				continue
			}
			update, _ := x.Statement.(*ast.Update)
			if update != nil && !slices.ContainsFunc(update.Set, func(a ast.Assignment) bool { return a.Value.Kind != ast.Null }) {
				continue // it deletes
			}
			switch {
			case q.TTL == 0 && update == nil:
				inserts = q
			case q.TTL == 0:
				forever = q
			default:
				short = q
				if update != nil && len(update.Set) < regular {
					part = q
					lease = lease && !slices.ContainsFunc(update.Set, func(a ast.Assignment) bool { return r.set[[3]any{t, a.Target.Column, true}] })
				}
			}
		}
		q := forever
		if part != nil {
			q = part
		}
		const fix = "one TTL in all statements, each with all columns; or default_time_to_live"
		switch {
		case t.TTL() > 0 || short == nil || counting(t):
		case q != nil:
			r.finding(t, fix, "some cells of a row expire before others, which stay as half a row").of(q).
				when(inserts == nil && forever == nil || inserts != nil && part != nil && lease, Note) // perhaps of one length
		case inserts != nil && short.Verb == "UPDATE":
			r.finding(t, fix, "an UPDATE gives its columns a TTL, and the row that was inserted stays without them").of(short)
		case inserts != nil:
			r.finding(t, fix, "some rows are inserted with a TTL, and others stay forever").of(inserts).Severity = Note
		}
	}
}

func lives(ttl time.Duration) string {
	if ttl <= 0 {
		return map[bool]string{true: "for ever", false: "as long as an INSERT says"}[ttl == 0]
	}
	return estimate.Age(ttl)
}

func conditional(r *review) {
	conditional, plain := make(map[schema.ID]*schema.Query), make(map[schema.ID]*schema.Query)
	batches := make(map[int]schema.ID) // the table of a condition, which is for all of the batch
	for q := range r.queries {
		if q.Conditional {
			batches[q.Batch] = q.Table
		}
	}
	for q, t := range r.queries {
		switch {
		case q.Verb == "SELECT", q.Transaction:
		case q.Conditional, q.Batch != 0 && batches[q.Batch] == t.ID:
			conditional[t.ID] = q
		case plain[t.ID] == nil || q.Timestamped:
			plain[t.ID] = q
		}
	}
	const fix = "make all writes of the table conditional, or none; columns that are written otherwise belong in another table"
	for _, t := range r.tables() {
		if conditional[t.ID] == nil {
			continue
		}
		plain := plain[t.ID]
		set := slices.ContainsFunc(r.schema.Entities, func(e schema.Entity) bool { return e.Timestamped && slices.Contains(e.Tables, t.ID) })
		switch {
		case plain != nil && plain.Timestamped:
			r.finding(t, fix, "conditional writes, and writes with USING TIMESTAMP").of(plain)
		case plain != nil:
			r.finding(t, fix, "conditional writes, and plain ones").of(plain)
		case set:
			r.finding(t, fix, "a conditional write, and writes of its set with USING TIMESTAMP").of(conditional[t.ID])
		}
	}
}

func timeSeries(r *review, t *schema.Table, n map[role]int) {
	by, whole := t.Of(schema.Clustering)[0], n[moment] == len(t.Of(schema.PartitionKey))
	if whole {
		by = t.Of(schema.PartitionKey)[0]
	}
	if !whole && !instant(by) || slices.Contains([]string{timeWindow, dateTiered}, t.Compaction()) || t.TTL() == 0 && !r.alwaysTTL(t) {
		return
	}
	if lookup(t) || r.deleted(t) {
		return // a partition of one row is no series; DN609 rejects what this would advise
	}
	r.finding(t, "compaction = {'class': 'TimeWindowCompactionStrategy', ...}", "a time series by %s that expires, with %s",
		by.Name, strings.TrimSuffix(t.Compaction(), "Strategy")).when(whole, Note) // DN102 says worse
}

// deleted says whether rows of a table are deleted, also those that move.
func (r *review) deleted(t *schema.Table) bool {
	for e, of := range r.members {
		if of == t && slices.ContainsFunc(e.Moves, func(column string) bool { return inKey(t, column) }) {
			return true
		}
	}
	return r.query(t, "DELETE") != nil
}

// Classes of compaction.
const (
	timeWindow = "TimeWindowCompactionStrategy"
	dateTiered = "DateTieredCompactionStrategy"
)

func replication(r *review) {
	told := make(map[schema.ID]bool)
	for _, e := range r.entities {
		var first *schema.Keyspace
		for _, t := range e.tables {
			k := r.schema.Keyspace(t.Keyspace)
			switch {
			case k == nil || len(k.Replication) == 0:
			case first == nil:
				first = k
			case !maps.Equal(first.Replication, k.Replication):
				told[t.ID] = true
				r.finding(t, "one replication for all keyspaces that hold tables of an entity",
					"replication of keyspace %s is %v, and keyspace %s has %v", k.Name, k.Replication, first.Name, first.Replication)
			}
		}
	}
	for _, b := range r.batches { // of several keyspaces, which is no entity by its names alone
		first := r.schema.Keyspace(b[0].table.Keyspace)
		for _, x := range b {
			t := x.table
			k := r.schema.Keyspace(t.Keyspace)
			if first == nil || k == nil || len(first.Replication) == 0 || len(k.Replication) == 0 || maps.Equal(first.Replication, k.Replication) ||
				told[t.ID] || !alike(b[0].table.Name, t.Name) {
				continue
			}
			told[t.ID] = true
			r.finding(t, "one replication for all keyspaces that hold tables of an entity",
				"a batch writes it with %s: replication of keyspace %s is %v, and keyspace %s has %v",
				b[0].table.ID, k.Name, k.Replication, first.Name, first.Replication).of(x.Query)
		}
	}
}

// alike says whether two tables are x and x_by_y, or both x_by_y.
func alike(a, b string) bool {
	first, _, _ := guess.Cut(a)
	second, _, _ := guess.Cut(b)
	return first == second
}
