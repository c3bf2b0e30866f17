package schema

import (
	"slices"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/dialect"
	"github.com/denorm-go/denorm/internal/fingerprint/compare"
	"github.com/denorm-go/denorm/internal/layout"
)

// onServer adds where the documentation of a server that is not Apache Cassandra contradicts what the sets rely on.
func (c *comparison) onServer() {
	told := false
	for i := range c.declared.Entities {
		all := c.declared.tablesOf(&c.declared.Entities[i])
		for n, t := range all {
			if !told { // said once
				told = true
				c.doubt(t.id, dialect.Doubt{Reason: "nothing of this library was tested on it", Do: "test what you rely on, see docs/ref/servers.md"})
				c.against(t.id, dialect.Level)
			}
			if n == 0 {
				c.against(t.id, uses(all)...)
			}
			c.tableOnServer(t, n == 0)
		}
	}
}

func (c *comparison) tableOnServer(t declared, base bool) {
	versioned := slices.ContainsFunc(t.Description.Tables[0].Columns, func(c describe.Column) bool { return c.Name == layout.Done.Name })
	if !t.Counts && !t.table.Unique && (!base || !t.Conditional || versioned) { // all others are written by lightweight transactions alone
		c.against(t.id, dialect.Timestamps)
	}
	lives := c.live.lives(c.declared.Table(t.id))
	ends := len(lives) > 0 && !slices.ContainsFunc(lives, func(live *Table) bool { return live.TTL() == 0 })
	if !ends && (base && versioned || compare.Expires(t.table.Fingerprint)) {
		c.against(t.id, dialect.Expiry)
	}
}

// uses are what a set with these tables relies on as a whole.
func uses(all []declared) []dialect.Use {
	d := all[0].Description
	out := []dialect.Use{dialect.Comments}
	if d.Counts {
		return append(out, dialect.Counters)
	}
	batched := all // by unlogged batches, where they share a partition
	if d.Conditional {
		out, batched = append(out, dialect.Conditions), all[1:]
	}
	batched = slices.DeleteFunc(slices.Clone(batched), func(t declared) bool { return t.table.Unique })
	shared, within, apart := false, false, false
	for i, t := range batched {
		partition := keyOf(t, "partition_key")
		moving := slices.ContainsFunc(partition, moves)
		within = within || !moving && slices.ContainsFunc(keyOf(t, "clustering"), moves)
		apart = apart || moving
		for _, other := range batched[:i] {
			same := t.id.Keyspace == other.id.Keyspace && slices.EqualFunc(partition, keyOf(other, "partition_key"), sameName)
			shared, apart = shared || same, apart || !same
		}
	}
	if shared || within {
		out = append(out, dialect.Partition)
	}
	if shared {
		out = append(out, dialect.Tables)
	}
	if apart && !d.Conditional {
		out = append(out, dialect.Logged)
	}
	return out
}

// keyOf returns the columns of a table that are of a kind, in order.
func keyOf(t declared, kind string) []describe.Column {
	return slices.DeleteFunc(slices.Clone(t.table.Columns), func(c describe.Column) bool { return c.Kind != kind })
}

func moves(c describe.Column) bool { return c.Changes }

func sameName(a, b describe.Column) bool { return a.Name == b.Name }

// against adds where the documentation of the server contradicts uses.
func (c *comparison) against(id ID, uses ...dialect.Use) {
	for _, use := range uses {
		if d, ok := c.server.Against(use); ok {
			c.doubt(id, d)
		}
	}
}

func (c *comparison) doubt(id ID, d dialect.Doubt) {
	server := string(c.server)
	c.add(id, Difference{
		Server: server, Reason: "the server is " + server + ": " + d.Reason, Note: true, Fix: d.Statement(id.String()), Impossible: d.Do,
	})
}
