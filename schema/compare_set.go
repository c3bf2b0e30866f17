package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/fingerprint/compare"
)

// declared is what a set says of a table.
type declared struct {
	*Entity
	describe.Description
	id    ID // where the table is
	table describe.Table
}

// tablesOf are the tables that sets declare, those of an entity together.
func (s *Schema) tablesOf(e *Entity) []declared {
	if e.set == nil {
		return nil
	}
	d := describe.Of(e.set.Internal())
	out := make([]declared, len(d.Tables))
	for n, t := range d.Tables {
		out[n] = declared{e, d, e.Tables[n], t}
	}
	return out
}

// set looks at what a set needs of its live tables, and at other sets that share one of them.
func (c *comparison) set(e *Entity) {
	all := c.declared.tablesOf(e)
	for i := range c.declared.Entities {
		if other := &c.declared.Entities[i]; other != e {
			c.alike(all, c.declared.tablesOf(other))
			continue
		}
		break
	}
	if len(all) == 0 || c.unversioned[e.set.Internal()] {
		return
	}
	var base *Table
	for _, t := range all {
		declared := c.declared.Table(t.id)
		for _, live := range c.live.lives(declared) {
			base = cmp.Or(base, live)
			if !c.declaresTTL(t.id) {
				c.expiry(t, live, base)
			}
			c.mode(t, live)
			if declared.Fingerprint != "" { // else the schema is to have none
				c.fingerprint(declared, live, t.table.Fingerprint)
			}
		}
	}
}

// declaresTTL says whether a set with a table declares the TTL of any of its tables. Each TTL is then compared by
// itself, see options, and else all of a set together.
func (c *comparison) declaresTTL(id ID) bool {
	return slices.ContainsFunc(c.declared.Entities, func(e Entity) bool {
		return e.set != nil && slices.Contains(e.Tables, id) && slices.ContainsFunc(e.Tables, func(id ID) bool {
			t := c.declared.Table(id)
			return t != nil && t.Options[optTTL] != ""
		})
	})
}

// lives are the live tables that a declared one stands for: several if it rotates. There are none of a table that an
// entity has and its schema lacks.
func (s *Schema) lives(t *Table) (out []*Table) {
	for i := range s.Tables {
		live := &s.Tables[i]
		if t != nil && live.Keyspace == t.Keyspace && (t.rotation == nil && live.Name == t.Name || t.Rotates(live.Name)) {
			out = append(out, live)
		}
	}
	return out
}

// expiry says where a default_time_to_live of a live table would take rows that the set counts on.
func (c *comparison) expiry(t declared, live, base *Table) {
	conditional := t.Conditional && len(t.Description.Tables) > 1
	fix := "ALTER TABLE " + live.String() + " WITH default_time_to_live = "
	of := func(t *Table) int { return int(t.TTL() / time.Second) }
	switch ttl := of(live); {
	case conditional && ttl != 0: // an update renews the base row, and neither claims nor rows that stay as they are
		c.add(live.ID, Difference{
			Reason: fmt.Sprintf("default_time_to_live is %d: rows vanish, and a condition or a unique key with them", ttl), Fix: fix + "0",
		})
	case !conditional && ttl != of(base):
		c.add(live.ID, Difference{
			Reason: fmt.Sprintf("default_time_to_live is %d, and the base table has %d: an entity's rows vanish from one table and stay in the other",
				ttl, of(base)), Fix: fix + strconv.Itoa(of(base)),
		})
	case ttl != 0 && compare.Expires(t.table.Fingerprint):
		c.add(live.ID, Difference{
			Reason: fmt.Sprintf("default_time_to_live is %d: a row whose expiry is zero or nil ends after it, and ExpiresAt says that it "+
				"does not", ttl), Note: true, endsExpiry: true, Fix: fix + "0",
		})
	case ttl != 0:
		c.add(live.ID, Difference{
			Reason: fmt.Sprintf("default_time_to_live is %d, and not declared", ttl), Extra: true, endsExpiry: true, Fix: fix + "0",
		})
	}
}

// mode compares the option transactional_mode of a live table: writes of a Transactional set are transactions, and no
// others may be.
func (c *comparison) mode(t declared, live *Table) {
	mode, migrating := live.mode, ""
	if live.migratesFrom != "" && live.migratesFrom != "none" {
		migrating = ", while it is migrated from " + live.migratesFrom
	}
	wanted := "off"
	if t.Transactional {
		wanted = "full"
	}
	switch {
	case !c.live.accord && t.Transactional:
		c.add(live.ID, Difference{
			Reason:     "the set is Transactional, and the servers have no transactions over tables",
			Impossible: "use Cassandra 6 with accord.enabled, or leave Transactional out of the declaration",
		})
	case !c.live.accord, mode == wanted && migrating == "":
	case t.Transactional:
		c.add(live.ID, Difference{
			Reason:     "the set is Transactional, and " + optTransactions + " is " + cmp.Or(mode, "not known") + migrating,
			Impossible: "create a table of another name with " + optTransactions + " = 'full', as package schema does, and declare that, or migrate this one: docs/why/accord.md",
		})
	case mode != "":
		c.add(live.ID, Difference{
			Reason: optTransactions + " is " + mode + migrating + ", and the set is not Transactional: its writes carry timestamps, and one that is " +
				"ahead of the servers' clocks hides later transactions",
			Impossible: "declare the set Versioned and Transactional, as the processes that write the table do, or give it tables of its own",
		})
	}
}

// alike compares what a set declares of its tables with what a set before it does.
func (c *comparison) alike(later, before []declared) {
	for n, here := range later {
		i := slices.IndexFunc(before, func(d declared) bool { return d.id == here.id })
		if i < 0 {
			continue
		}
		first := before[i]
		if n == 0 && i == 0 {
			c.alikeTables(before, later)
			c.alikeTables(later, before)
		}
		c.alikeColumns(first, here)
		c.alikeColumns(here, first)
		now := time.Now() // and both ways: within one process nothing is rolled out
		found := slices.Concat(compare.Check(here.table.Fingerprint, first.table.Fingerprint, now),
			compare.Check(first.table.Fingerprint, here.table.Fingerprint, now))
		if !slices.ContainsFunc(found, func(f compare.Finding) bool { return !f.Note }) {
			continue
		}
		c.add(here.id, Difference{Reason: fmt.Sprintf("entities %s and %s both declare it, "+
			"and contradict each other: %s and %s; give each entity a table of its own", first.Name, here.Name, first.table.Fingerprint,
			here.table.Fingerprint)})
	}
}

// alikeTables adds the query tables of a base table that one set declares and another does not. The fingerprint of the
// base table says which tables of unique keys there are.
func (c *comparison) alikeTables(has, lacks []declared) {
	for _, t := range has[1:] {
		if t.table.Unique || slices.ContainsFunc(lacks, func(o declared) bool { return o.id == t.id }) {
			continue
		}
		c.add(t.id, Difference{Reason: fmt.Sprintf("entity %s declares it as a query "+
			"table of %s, and entity %s, which declares that base table too, does not: rows that %[3]s inserts are missing in it, and rows that it "+
			"changes or deletes stay in it; declare it in both, or write with one of the sets (a set that is only read need not be checked)",
			t.Name, has[0].table.Name, lacks[0].Name)})
	}
}

// alikeColumns adds the columns of a table that one set declares and another does not: the other leaves them out of the
// rows that it writes. That is an error if the other then cannot keep the tables in step, and otherwise a note.
func (c *comparison) alikeColumns(has, lacks declared) {
	loses := lacks.Conditional || compare.Expires(lacks.table.Fingerprint) ||
		slices.ContainsFunc(lacks.table.Columns, func(col describe.Column) bool { return col.Kind != "regular" && col.Changes })
	for _, col := range has.table.Columns {
		if slices.ContainsFunc(lacks.table.Columns, func(other describe.Column) bool { return other.Name == col.Name }) ||
			compare.Kept(col.Name, col.Type) != "" {
			continue
		}
		d := Difference{Column: col.Name, Note: !loses}
		d.Reason = fmt.Sprintf("entity %s declares it in this table, and entity %s, which declares the table too, does not: rows that %[2]s writes "+
			"lack it", has.Name, lacks.Name)
		if loses {
			d.Reason += ", and a row that it moves, deletes or lets expire loses it or leaves it behind; declare it in both, or give each entity a table " +
				"of its own (a set that is only read need not be checked)"
		}
		c.add(has.id, d)
	}
}
