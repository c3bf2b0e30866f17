package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/dialect"
	"github.com/denorm-go/denorm/internal/fingerprint/compare"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/tables"
)

// Compare compares a live schema with a declared one and returns all differences. Undeclared views and indexes come
// first, then what is declared in its order, but every type before what uses it. Both schemas name physical keyspaces,
// see [Schema.In]. Live keyspaces that the declaration does not mention are ignored.
func Compare(declared, live *Schema) []Difference { return compared("", declared, live).found }

func compared(server dialect.Server, declared, live *Schema) *comparison {
	c := &comparison{server: server, declared: declared, live: live, unversioned: make(map[*layout.Set]bool)}
	c.noKeyspaces()
	for _, k := range declared.Keyspaces {
		c.keyspace(&k)
	}
	c.moreOfTables()
	for _, t := range declared.sortedTypes() {
		c.typ(&t)
	}
	for _, t := range declared.Tables {
		c.table(&t)
	}
	for _, i := range declared.Indexes {
		c.index(&i)
	}
	for _, v := range declared.Views {
		c.view(&v)
	}
	for i := range declared.Entities {
		c.entity(&declared.Entities[i])
		c.set(&declared.Entities[i])
	}
	c.more()
	return c
}

// Breaking returns the differences that hurt something declared: those without Extra and Note.
func Breaking(differences []Difference) []Difference {
	return slices.DeleteFunc(slices.Clone(differences), func(d Difference) bool { return d.Extra || d.Note })
}

type comparison struct {
	server         dialect.Server
	declared, live *Schema
	absent         []string             // keyspaces that nothing is said of alongside their absence
	unversioned    map[*layout.Set]bool // sets of which nothing is said but that they have to be Versioned
	found          []Difference
}

// add adds what is different about a table, or a type, or about a keyspace if id has no name.
func (c *comparison) add(id ID, found ...Difference) {
	if slices.Contains(c.absent, id.Keyspace) {
		return
	}
	for _, d := range found {
		d.Keyspace, d.Table = id.Keyspace, id.Name
		if !slices.Contains(c.found, d) { // else two keyspaces are mapped to one
			c.found = append(c.found, d)
		}
	}
}

// noKeyspaces finds the keyspaces that do not exist, and for which there is no statement.
func (c *comparison) noKeyspaces() {
	live := c.live.names()
	for _, name := range c.declared.names() {
		if k := c.declared.Keyspace(name); slices.Contains(live, name) || k != nil && len(k.Replication) > 0 {
			continue
		}
		c.add(ID{Keyspace: name}, Difference{
			absent: true, Reason: "does not exist", Impossible: "its replication is not declared: create it, or declare it with schema.Keyspaces",
		})
		c.absent = append(c.absent, name)
	}
}

func (c *comparison) keyspace(k *Keyspace) {
	live, id := c.live.Keyspace(k.Name), ID{Keyspace: k.Name}
	switch {
	case len(k.Replication) == 0:
		return
	case live == nil:
		c.add(id, Difference{absent: true, Reason: "does not exist", Fix: "CREATE KEYSPACE " + k.body()})
		return
	case !sameReplication(k.Replication, live.Replication):
		reason := fmt.Sprintf("replication is %s, declared %s; a change needs a full repair of the keyspace afterwards",
			mapLiteral(live.Replication), mapLiteral(k.Replication))
		c.add(id, Difference{Reason: reason, Fix: alterReplication(k.Name, k.Replication, live.Replication)})
	}
	if k.NonDurable != live.NonDurable {
		c.add(id, Difference{
			Reason: fmt.Sprintf("durable_writes is %t, declared %t", !live.NonDurable, !k.NonDurable),
			Fix:    fmt.Sprintf("ALTER KEYSPACE %s WITH durable_writes = %t", cql.Quote(k.Name), !k.NonDurable),
		})
	}
}

// alterReplication changes the replication of a keyspace from what it is. A factor for all datacentres leaves those
// alone that have one already, so they are named.
func alterReplication(keyspace string, to, from map[string]string) string {
	if all, ok := to["replication_factor"]; ok && to["class"] == "NetworkTopologyStrategy" && from["class"] == to["class"] {
		to = maps.Clone(to)
		delete(to, "replication_factor")
		for dc := range from {
			if _, special := to[dc]; !special {
				to[dc] = all
			}
		}
	}
	return "ALTER KEYSPACE " + cql.Quote(keyspace) + " WITH replication = " + mapLiteral(to)
}

// sameReplication compares what a declaration says with what the server made of it: a factor for all datacentres
// becomes one for each.
func sameReplication(declared, live map[string]string) bool {
	all, ok := declared["replication_factor"]
	if !ok || declared["class"] != "NetworkTopologyStrategy" {
		return maps.Equal(declared, live)
	}
	for name, factor := range live {
		want := all
		if special, ok := declared[name]; ok {
			want = special
		}
		if factor != want {
			return false
		}
	}
	return len(live) > 1
}

func (c *comparison) typ(t *Type) {
	live := named(c.live.Types, t.ID)
	if live == nil {
		c.add(t.ID, Difference{absent: true, Reason: "the type does not exist", Fix: "CREATE TYPE " + t.body()})
		return
	}
	frozen := t.set != nil // the columns of sets: what is not frozen has no field for which it matters
	c.add(t.ID, compareFields(internal(t.set), t.String(), t.Name, t.Fields, live.Fields, frozen)...)
}

// internal is what a set declares, nil if there is none.
func internal(set tables.Described) *layout.Set {
	if set == nil {
		return nil
	}
	return set.Internal()
}

func (c *comparison) table(t *Table) {
	lives := c.live.lives(t)
	for _, live := range lives {
		c.exists(t, live)
	}
	switch {
	case t.rotation != nil, len(lives) > 0:
	case named(c.live.Views, t.ID) != nil:
		c.add(t.ID, asView)
	default:
		c.add(t.ID, Difference{absent: true, Reason: "does not exist", Fix: "CREATE TABLE " + t.body()})
	}
}

// exists compares a table that is there.
func (c *comparison) exists(t, live *Table) {
	if c.unversioned[internal(t.set)] {
		return
	}
	found := compareColumns(internal(t.set), t, live)
	for i := range found {
		of := t.Column(found[i].Column)
		if filled := inBase(t, live.Column(found[i].Column)); found[i].Extra && filled != "" {
			found[i] = Difference{Column: found[i].Column, Note: true, Reason: "the set declares it in its base table and not among the Columns " +
				"of this one, so no write fills it here: name it there, or drop it"}
			if filled != live.Column(found[i].Column).Type {
				found[i].Reason = "in the base table it has another type, so no write fills it here: read it from there"
			}
		}
		if views := c.selectingAll(live); views != "" && of != nil && of.Kind == Regular && live.Column(of.Name) == nil {
			found[i].Reason += "; as soon as it does, these materialized views, which are of SELECT *, have it, too: " + views
		}
	}
	c.add(live.ID, found...)
	if len(found) > 0 && found[0].unversioned {
		c.unversioned[internal(t.set)] = t.set != nil
		return
	}
	c.options("TABLE", t, live)
	c.fingerprint(t, live, t.Fingerprint)
}

// fingerprint compares what a set declares of a table with what the processes declare that write it.
func (c *comparison) fingerprint(t, live *Table, fingerprint string) {
	comment := t.Comment()
	if _, ok := t.Options[optComment]; !ok { // it is the service's own, and stays
		comment = live.Comment()
	}
	for _, f := range compare.Check(fingerprint, live.Fingerprint, time.Now()) {
		d := Difference{Column: f.Column, Reason: f.Reason, Note: f.Note, Impossible: f.Do}
		if f.Write != "" {
			d.Begun = f.Begun
			d.Fix, d.Impossible = compare.Statement(live.String(), comment, f.Write)
		}
		c.add(live.ID, d)
	}
}

// inBase is the type in the base table of a live column of a query table, if the set declares it there alone; or "".
func inBase(t *Table, live *Column) string {
	if t.set == nil || live == nil || live.Kind == Static {
		return ""
	}
	all := describe.Of(t.set.Internal()).Tables
	i := slices.IndexFunc(all[0].Columns, func(d describe.Column) bool { return d.Name == live.Name })
	if i < 0 || slices.ContainsFunc(all, func(o describe.Table) bool { return o.Unique && o.Name == t.Name }) {
		return ""
	}
	return all[0].Columns[i].Type
}

// options compares those of a table or a view, as ALTER calls it.
func (c *comparison) options(what string, t, live *Table) {
	all := make(map[string]string)
	maps.Copy(all, live.Options)
	maps.Copy(all, t.Options)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		want, got := t.option(name), live.option(name)
		if want == got || name == optExtensions || slices.Contains(notOptions, name) { // Read does not tell these
			continue
		}
		_, declared := t.Options[name]
		if t.set != nil && (name == optTransactions || name == optTTL && !c.declaresTTL(t.ID)) { // see set
			continue
		}
		to := want
		if name == optComment { // the statement replaces the comment as a whole
			to = cql.Literal(compare.Join(t.Comment(), live.Fingerprint))
		}
		d := Difference{
			Reason: fmt.Sprintf("%s is %s, declared %s", name, orNothing(got), orNothing(want)),
			Fix:    fmt.Sprintf("ALTER %s %s WITH %s = %s", what, live.ID, name, to),
		}
		switch {
		case declared:
		case name == optTTL:
			d.endsExpiry, d.Reason = true, fmt.Sprintf("default_time_to_live is %s and none is declared: rows vanish that the declaration keeps; if they are "+
				"meant to, declare it in the CQL file or by schema.With(table, schema.Options{TTL: %s * time.Second})", got, got)
		default:
			d.Extra, d.option, d.Reason = true, name, fmt.Sprintf("%s is %s, and not declared", name, orNothing(got))
		}
		if name == optTransactions {
			d.Fix, d.Impossible = "", "a table in use does not change it by ALTER alone: create a table of another name, and declare that, or migrate this one: docs/why/accord.md"
		}
		if name == ast.CompactStorage {
			d.Fix, d.Impossible = "", "only a new table has it: create one of another name, fill it, and declare that"
		} else if want == "" {
			d.Fix, d.Impossible = "", "what it was before is not known: declare it"
		}
		c.add(live.ID, d)
	}
}

func orNothing(s string) string {
	if s == "" {
		return "the server's choice"
	}
	return s
}

// selectingAll names the views that get each column which the table gets.
func (c *comparison) selectingAll(live *Table) string {
	var names []string
	for _, v := range c.live.Views {
		if v.All && v.Keyspace == live.Keyspace && v.Base == live.Name {
			names = append(names, v.String())
		}
	}
	return strings.Join(names, ", ")
}

func (c *comparison) index(i *Index) {
	live, create, table := named(c.live.Indexes, i.ID), "CREATE "+i.kind()+" "+i.body(), ID{i.Keyspace, i.Table}
	switch other := c.otherName(i); {
	case other != nil && i.unnamed:
	case other != nil:
		c.add(table, Difference{
			Reason: "index " + cql.Quote(i.Name) + " is called " + cql.Quote(other.Name), Fix: "DROP INDEX " + other.String() + ";\n" + create,
		})
	case live == nil:
		c.add(table, Difference{absent: true, Reason: "index " + cql.Quote(i.Name) + " does not exist", Fix: create})
	case !live.same(i):
		c.add(table, Difference{
			Reason: fmt.Sprintf("index %s, declared %s", strings.TrimSpace(live.body()), i.body()),
			Fix:    "DROP INDEX " + i.String() + ";\n" + create,
		})
	}
}

// otherName is the live index that is the declared one under a name which is not declared, nil if there is none.
// Cassandra takes no second one.
func (c *comparison) otherName(i *Index) *Index {
	other := c.live.indexLike(i)
	if other == nil || named(c.live.Indexes, i.ID) != nil || named(c.declared.Indexes, other.ID) != nil {
		return nil
	}
	return other
}

func (c *comparison) view(v *View) {
	live := named(c.live.Views, v.ID)
	switch {
	case live == nil:
		c.add(v.ID, Difference{absent: true, Reason: "the view does not exist", Fix: "CREATE MATERIALIZED VIEW " + v.body()})
	case v.shape() != live.shape():
		c.add(v.ID, Difference{
			Reason:     "the view is another one: " + live.shape() + ", declared " + v.shape(),
			Impossible: "a view cannot change: make one of another name",
		})
	default:
		c.options("MATERIALIZED VIEW", &Table{ID: v.ID, Options: v.Options}, &Table{ID: v.ID, Options: live.Options})
	}
}

// shape is what of a view is compared: the server writes restrictions in its own way.
func (v *View) shape() string {
	selection := strings.Join(slices.Sorted(slices.Values(v.selection())), ", ")
	return strings.TrimSpace(fmt.Sprintf("SELECT %s of %s, key %s %s", selection, v.Base, keyText(v.Columns), orderText(v.Columns)))
}

// entity looks at what tables of one entity need together.
func (c *comparison) entity(e *Entity) {
	if len(e.Tables) < 2 {
		return
	}
	base := c.live.Keyspace(e.Tables[0].Keyspace)
	var told []string
	for _, id := range e.Tables {
		declared := c.declared.Table(id)
		lives := c.live.lives(declared)
		if len(lives) == 0 {
			continue
		}
		for _, live := range lives {
			if _, said := declared.Options[optGCGrace]; live.GCGrace() == 0 && !said && !ungrouped(e, declared) {
				c.found = slices.DeleteFunc(c.found, func(d Difference) bool {
					return d.Keyspace == live.Keyspace && d.Table == live.Name && d.option == optGCGrace
				})
				c.add(live.ID, noGrace(c.server, live.ID))
			}
		}
		k := c.live.Keyspace(id.Keyspace)
		if base == nil || k == nil || k == base || slices.Contains(told, k.Name) || maps.Equal(k.Replication, base.Replication) {
			continue
		}
		told = append(told, k.Name)
		if d := c.declared.Keyspace(k.Name); d != nil && len(d.Replication) > 0 {
			continue // declared so: told if it is not so, and a matter of review if it is
		}
		want := base.Replication
		if d := c.declared.Keyspace(base.Name); d != nil && len(d.Replication) > 0 {
			want = d.Replication
		}
		c.add(ID{Keyspace: k.Name}, Difference{
			Fix: alterReplication(k.Name, want, k.Replication),
			Reason: fmt.Sprintf("replication is %s, and keyspace %s, in which entity %s also has tables, has %s; a change needs a full repair "+
				"of the keyspace afterwards", mapLiteral(k.Replication), base.Name, e.Name, mapLiteral(base.Replication)),
		})
	}
}

// ungrouped says whether a table of an entity is in no logged batch: it has counters, or unique keys.
func ungrouped(e *Entity, t *Table) bool {
	if e.set == nil {
		return false
	}
	d := describe.Of(e.set.Internal())
	return d.Counts || slices.ContainsFunc(d.Tables, func(o describe.Table) bool { return o.Unique && o.Name == t.Name })
}

// extra adds something that only the live keyspaces have, if anything is declared in its keyspace.
func (c *comparison) extra(id ID, reason, fix string, destroys bool) {
	if slices.Contains(c.declared.names(), id.Keyspace) {
		c.add(id, Difference{Reason: reason, Fix: fix, Destroys: destroys, Extra: true})
	}
}

// moreOfTables tells which views and indexes the live tables have alongside what is declared. It comes before the
// tables: as long as a column has one, or a table a view, Cassandra does not drop it.
func (c *comparison) moreOfTables() {
	for _, v := range c.live.Views {
		if named(c.declared.Views, v.ID) == nil && c.declared.Table(v.ID) == nil {
			c.extra(v.ID, "a view that is not declared: every write of "+cql.Quote(v.Base)+" pays for it", "DROP MATERIALIZED VIEW "+v.String(), true)
		}
	}
	for _, i := range c.live.Indexes {
		like := c.declared.indexLike(&i)
		if named(c.declared.Indexes, i.ID) == nil && (like == nil || c.otherName(like) == nil) { // else index tells
			c.extra(ID{i.Keyspace, i.Table}, "index "+cql.Quote(i.Name)+" is not declared: every write of the table pays for it",
				"DROP INDEX "+i.String(), false)
		}
	}
}

// more tells which tables and types the live keyspaces have alongside what is declared, those that others are made of
// last.
func (c *comparison) more() {
	for _, t := range c.live.Tables {
		pattern := func(o Table) bool { return o.Keyspace == t.Keyspace && o.Rotates(t.Name) }
		if c.declared.Table(t.ID) == nil && !slices.ContainsFunc(c.declared.Tables, pattern) {
			c.extra(t.ID, "a table that is not declared", "DROP TABLE "+t.String(), true)
		}
	}
	for _, t := range slices.Backward(c.live.sortedTypes()) {
		if named(c.declared.Types, t.ID) == nil {
			c.extra(t.ID, "a type that is not declared", "DROP TYPE "+t.String(), true)
		}
	}
}
