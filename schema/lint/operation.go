package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/schema"
)

// impreciseKey reports keys whose values are seldom equal, though they look so.
func impreciseKey(r *review) {
	for _, t := range r.tables() {
		for _, c := range t.Of(schema.PartitionKey) {
			if c.Type == "double" || c.Type == "float" {
				r.finding(t, "decimal, or a bigint of the smallest unit", "%s is a %s in the partition key: what computes it in another way finds no row",
					c.Name, c.Type).Column = c.Name
			}
		}
	}
}

// partOfEntity reports batches that insert or delete an entity in some of its tables, and leave others out.
func partOfEntity(r *review) {
	written := make(map[int]map[string]map[schema.ID]*schema.Query) // by batch and verb
	for q, t := range r.queries {
		if q.Batch == 0 || q.Verb == "SELECT" {
			continue
		}
		if written[q.Batch] == nil {
			written[q.Batch] = map[string]map[schema.ID]*schema.Query{"INSERT": {}, "UPDATE": {}, "DELETE": {}}
		}
		written[q.Batch][q.Verb][t.ID] = q
	}
	for _, n := range slices.Sorted(maps.Keys(written)) {
		batch := written[n]
		maps.DeleteFunc(batch["DELETE"], func(id schema.ID, q *schema.Query) bool { // of a row that moves, or of some of its columns
			t := r.byID[id]
			return batch["INSERT"][id] != nil || batch["UPDATE"][id] != nil || len(q.Columns) > len(t.Of(schema.PartitionKey))+len(t.Of(schema.Clustering))
		})
		for _, e := range r.entities {
			r.leftOut(&e, "inserts", batch["INSERT"], batch["UPDATE"])
			r.leftOut(&e, "deletes", batch["DELETE"], nil)
		}
	}
}

// leftOut reports that a batch carries out something in tables of an entity, and in others neither that nor what is as good.
func (r *review) leftOut(e *family, what string, by, asGood map[schema.ID]*schema.Query) {
	var missing []string
	var has *schema.Table
	for _, t := range e.tables {
		switch {
		case by[t.ID] != nil:
			has = t
		case asGood[t.ID] == nil:
			missing = append(missing, t.String())
		}
	}
	if !e.guessed && has != nil && len(missing) > 0 {
		r.finding(has, "put a statement for each table of the entity into the batch", "a batch %s entity %s in %s, and not in %s", what, e.Name,
			has.ID, strings.Join(missing, ", ")).of(by[has.ID])
	}
}

// keyspaceAtRisk reports keyspaces that lose rows with a node, or with its memory.
func keyspaceAtRisk(r *review) {
	for _, k := range r.schema.Keyspaces {
		at := &schema.Table{ID: schema.ID{Name: k.Name}, At: k.At}
		class := k.Replication["class"]
		if class == "SimpleStrategy" {
			r.finding(at, "NetworkTopologyStrategy, with a factor for each datacentre",
				"keyspace %s has SimpleStrategy, which knows neither racks nor datacentres", k.Name)
		}
		for _, where := range slices.Sorted(maps.Keys(k.Replication)) {
			if where == "class" || strings.SplitN(k.Replication[where], "/", 2)[0] != "1" {
				continue
			}
			in := ""
			if class == "NetworkTopologyStrategy" && where != "replication_factor" {
				in = " in " + where
			}
			r.finding(at, "a replication factor of 3", "keyspace %s has one replica%s: while that node is down its rows cannot be read or written, and they "+
				"are lost with it", k.Name, in)
		}
		if k.NonDurable {
			r.finding(at, "durable_writes = true", "keyspace %s has durable_writes = false: a node that crashes loses what it has not flushed", k.Name)
		}
	}
}

// deletes reports DELETEs of tables in which deleted rows come back, or stay on disk.
func deletes(window bool) func(*review) {
	return func(r *review) {
		told := make(map[schema.ID]bool)
		for q, t := range r.queries {
			if q.Verb != "DELETE" || told[t.ID] {
				continue
			}
			switch {
			case !window && t.GCGrace() == 0:
				r.finding(t, "gc_grace_seconds longer than the time between two repairs, 864000 by default",
					"gc_grace_seconds is 0, and rows are deleted: a replica that has missed a DELETE brings the row back").of(q)
			case window && t.Compaction() == "TimeWindowCompactionStrategy":
				r.finding(t, "let the rows expire by a TTL, or use another compaction",
					"a DELETE is written into the file of its time, and the row is in an older one: both stay until that file expires").of(q)
			default:
				continue
			}
			told[t.ID] = true
		}
	}
}
