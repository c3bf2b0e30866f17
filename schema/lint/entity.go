package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/schema"
)

var entityRules = []Rule{
	{
		Code: "DN601", Name: "logged-batch-gc-grace", Severity: Error,
		Doc: "gc_grace_seconds = 0 in a table that is written in logged batches: the batchlog drops them, with what the other tables need. Or less " +
			"than three hours where rows move: a replica that was down for that long brings a row back under its former key.",
		check: gcGrace,
	},
	{
		Code: "DN602", Name: "ttl-differs", Severity: Warning,
		Doc:   "Tables of one entity with different TTLs: rows end in one and stay in another.",
		check: ttlDiffers,
	},
	{
		Code: "DN603", Name: "conditional-and-plain", Severity: Error,
		Doc:   "Conditional writes and plain or timestamped ones on one table: their timestamps come from different clocks, and either can be lost.",
		check: conditional,
	},
	{
		Code: "DN604", Name: "time-series-compaction", Severity: Warning,
		Doc:   "A time series without TimeWindowCompactionStrategy: expired rows are rewritten again and again instead of dropped by the file.",
		check: timeSeries,
	},
	{
		Code: "DN605", Name: "replication-differs", Severity: Warning,
		Doc:   "Tables of one entity in keyspaces of different replication: a quorum of one says nothing of the other.",
		check: replication,
	},
	{
		Code: "DN606", Name: "option-without-class", Severity: Error,
		Doc:   "Options of compaction or compression without the class that they are of: Cassandra rejects the statement.",
		check: optionClass,
	},
}

func optionClass(r *review) {
	for _, t := range r.tables() {
		for option, class := range map[string]string{"compaction": "SizeTieredCompactionStrategy", "compression": "LZ4Compressor"} {
			value := t.Options[option]
			if value == "" || value == "{}" || strings.Contains(value, "'class'") || strings.Contains(value, "'enabled': 'false'") {
				continue
			}
			r.finding(t, fmt.Sprintf("%s = {'class': '%s', ...}", option, class), "%s is %s, which has no class", option, value)
		}
	}
}

// hintWindow is Cassandra's max_hint_window, by default.
const hintWindow = 3 * time.Hour

func gcGrace(r *review) {
	told := make(map[schema.ID]bool)
	const fix = "gc_grace_seconds = 864000, or at least three hours; or write the table on its own"
	for _, e := range r.entities {
		for _, id := range e.Tables {
			if t := r.schema.Table(id); t != nil && len(e.Tables) > 1 && t.GCGrace() == 0 && !told[id] {
				told[id] = true
				r.finding(t, fix, "gc_grace_seconds is 0, and the table is one of %d of entity %s", len(e.Tables), e.Name)
			}
		}
	}
	for _, e := range r.entities {
		for _, id := range e.Tables {
			t := r.schema.Table(id)
			if t == nil || told[id] || t.GCGrace() >= hintWindow {
				continue
			}
			if i := slices.IndexFunc(e.Moves, func(column string) bool { return inKey(t, column) }); i >= 0 {
				told[id] = true
				r.finding(t, "gc_grace_seconds = 864000, or at least three hours", "gc_grace_seconds is %d, and rows move by %s: a delete that is "+
					"dropped in less than the three hours in which a replica that was down is sent what it missed lets it bring the former row back",
					int64(t.GCGrace().Seconds()), e.Moves[i])
			}
		}
	}
	for q, t := range r.queries {
		if q.Logged && t.GCGrace() == 0 && !told[t.ID] {
			told[t.ID] = true
			r.finding(t, fix, "gc_grace_seconds is 0, and a logged batch writes the table").of(q)
		}
	}
}

func ttlDiffers(r *review) {
	written := make(map[schema.ID]time.Duration) // by INSERTs with a literal TTL
	for q, t := range r.queries {
		if q.Verb == "INSERT" && q.TTL > 0 {
			written[t.ID] = time.Duration(q.TTL) * time.Second
		}
	}
	of := func(t *schema.Table) time.Duration {
		if ttl, ok := written[t.ID]; ok {
			return ttl
		}
		return t.TTL()
	}
	for _, e := range r.entities {
		var first *schema.Table
		for _, id := range e.Tables {
			t := r.schema.Table(id)
			switch {
			case t == nil:
			case first == nil:
				first = t
			case of(t) != of(first):
				r.finding(t, "one TTL for all tables of the entity, best sent with each write", "rows live %s here, and %s in %s", lives(of(t)),
					lives(of(first)), first.ID)
			}
		}
	}
}

func lives(ttl time.Duration) string {
	if ttl == 0 {
		return "for ever"
	}
	return age(ttl)
}

func conditional(r *review) {
	type writes struct{ conditional, plain *schema.Query }
	by := make(map[schema.ID]*writes)
	for q, t := range r.queries {
		if q.Verb == "SELECT" {
			continue
		}
		w := by[t.ID]
		if w == nil {
			w = &writes{}
			by[t.ID] = w
		}
		if q.Conditional {
			w.conditional = q
		} else if w.plain == nil || q.Timestamped {
			w.plain = q
		}
	}
	const fix = "make all writes of the table conditional, or none; columns that are written otherwise belong in another table"
	for _, t := range r.tables() {
		w := by[t.ID]
		if w == nil || w.conditional == nil {
			continue
		}
		set := slices.ContainsFunc(r.schema.Entities, func(e schema.Entity) bool { return e.Timestamped && slices.Contains(e.Tables, t.ID) })
		switch {
		case w.plain != nil && w.plain.Timestamped:
			r.finding(t, fix, "conditional writes, and writes with USING TIMESTAMP").of(w.plain)
		case w.plain != nil:
			r.finding(t, fix, "conditional writes, and plain ones").of(w.plain)
		case set:
			r.finding(t, fix, "a conditional write, and those of its set, which carry USING TIMESTAMP").of(w.conditional)
		}
	}
}

func timeSeries(r *review) {
	for t, n := range r.clustered {
		if !instant(t.Of(schema.Clustering)[0]) || n[moment] == 0 && t.TTL() == 0 || t.Compaction() == "TimeWindowCompactionStrategy" {
			continue
		}
		if n[moment] == len(t.Of(schema.PartitionKey)) {
			continue // DN102 says worse
		}
		fix := "compaction = {'class': 'TimeWindowCompactionStrategy', ...}"
		if t.TTL() == 0 {
			fix += " and a TTL"
		}
		compaction := strings.TrimSuffix(t.Compaction(), "Strategy")
		r.finding(t, fix, "a time series by %s with %s", t.Of(schema.Clustering)[0].Name, compaction)
	}
}

func replication(r *review) {
	for _, e := range r.entities {
		var first *schema.Keyspace
		for _, id := range e.Tables {
			t, k := r.schema.Table(id), r.schema.Keyspace(id.Keyspace)
			switch {
			case t == nil || k == nil || len(k.Replication) == 0:
			case first == nil:
				first = k
			case !maps.Equal(first.Replication, k.Replication):
				r.finding(t, "one replication for all keyspaces that hold tables of an entity",
					"replication of keyspace %s is %v, that of %s %v", k.Name, k.Replication, first.Name, first.Replication)
			}
		}
	}
}
