package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/fingerprint"
)

// Compare holds a live schema against a declared one and gives all differences, in the order of the declaration. Both
// name physical keyspaces, see [Schema.In]. Of live keyspaces that the declaration has nothing in nothing is said.
func Compare(declared, live *Schema) []Difference {
	c := &comparison{declared: declared, live: live}
	c.noKeyspaces()
	for i := range declared.Keyspaces {
		c.keyspace(&declared.Keyspaces[i])
	}
	for i := range declared.Types {
		c.typ(&declared.Types[i])
	}
	for i := range declared.Tables {
		c.table(&declared.Tables[i])
	}
	for i := range declared.Indexes {
		c.index(&declared.Indexes[i])
	}
	for i := range declared.Views {
		c.view(&declared.Views[i])
	}
	for i := range declared.Entities {
		c.entity(&declared.Entities[i])
	}
	c.more()
	return c.found
}

// Breaking gives the differences that hurt something declared: those without Extra and Note.
func Breaking(differences []Difference) []Difference {
	return slices.DeleteFunc(slices.Clone(differences), func(d Difference) bool { return d.Extra || d.Note })
}

type comparison struct {
	declared, live *Schema
	absent         []string // keyspaces that nothing is said of alongside their absence
	found          []Difference
}

func (c *comparison) add(d Difference) {
	if !slices.Contains(c.absent, d.Keyspace) {
		c.found = append(c.found, d)
	}
}

// noKeyspaces finds the keyspaces that do not exist, and for which there is no statement.
func (c *comparison) noKeyspaces() {
	live := c.live.names()
	for _, name := range c.declared.names() {
		if k := c.declared.Keyspace(name); slices.Contains(live, name) || k != nil && len(k.Replication) > 0 {
			continue
		}
		c.add(Difference{
			Keyspace: name, Reason: "does not exist",
			Impossible: "its replication is not declared: create it, or declare it with schema.Keyspaces",
		})
		c.absent = append(c.absent, name)
	}
}

func (c *comparison) keyspace(k *Keyspace) {
	live := c.live.Keyspace(k.Name)
	switch {
	case len(k.Replication) == 0:
	case live == nil:
		c.add(Difference{Keyspace: k.Name, Reason: "does not exist", Fix: "CREATE KEYSPACE " + k.body()})
	default:
		if !sameReplication(k.Replication, live.Replication) {
			c.add(Difference{
				Keyspace: k.Name, Fix: alterReplication(k.Name, k.Replication, live.Replication),
				Reason: fmt.Sprintf("replication is %s, declared %s; a change needs a full repair of the keyspace afterwards",
					mapLiteral(live.Replication), mapLiteral(k.Replication)),
			})
		}
		if k.NonDurable != live.NonDurable {
			c.add(Difference{
				Keyspace: k.Name, Reason: fmt.Sprintf("durable_writes is %t, declared %t", !live.NonDurable, !k.NonDurable),
				Fix: fmt.Sprintf("ALTER KEYSPACE %s WITH durable_writes = %t", cql.Quote(k.Name), !k.NonDurable),
			})
		}
	}
}

// alterReplication changes the replication of a keyspace from what it is. A factor for all datacentres leaves those alone
// that have one already, so they are named.
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

// sameReplication compares what a declaration says with what the server made of it: a factor for all datacentres becomes
// one for each.
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
	i := slices.IndexFunc(c.live.Types, func(o Type) bool { return o.ID == t.ID })
	if i < 0 {
		c.add(Difference{Keyspace: t.Keyspace, Table: t.Name, Reason: "the type does not exist", Fix: "CREATE TYPE " + t.body()})
		return
	}
	live := c.live.Types[i].Fields
	add := func(field, reason, fix, impossible string, extra bool) {
		c.add(Difference{Keyspace: t.Keyspace, Table: t.Name, Column: field, Reason: reason, Fix: fix, Impossible: impossible, Extra: extra})
	}
	for n, f := range t.Fields {
		at := slices.IndexFunc(live, func(o Field) bool { return o.Name == f.Name })
		switch {
		case at < 0 && n < len(live) && live[n].Type == f.Type && !slices.ContainsFunc(t.Fields, func(o Field) bool { return o.Name == live[n].Name }):
			add(f.Name, "the field is called "+cql.Quote(live[n].Name),
				fmt.Sprintf("ALTER TYPE %s RENAME %s TO %s", t.ID, cql.Quote(live[n].Name), cql.Quote(f.Name)), "", false)
		case at < 0:
			add(f.Name, "the field does not exist", fmt.Sprintf("ALTER TYPE %s ADD %s %s", t.ID, cql.Quote(f.Name), f.Type), "", false)
		case live[at].Type != f.Type:
			add(f.Name, fmt.Sprintf("the field is %s, declared %s", live[at].Type, f.Type), "",
				advised(t.set, t.Name, f.Name, live[at].Type, "the type of a field cannot change: make another field or type, and copy"), false)
		case at != n:
			add(f.Name, fmt.Sprintf("is field %d, declared %d", at+1, n+1), "", "the order of fields cannot change: make another type, and copy", false)
		}
	}
	for n, f := range live {
		known := slices.ContainsFunc(t.Fields, func(o Field) bool { return o.Name == f.Name })
		renamed := n < len(t.Fields) && t.Fields[n].Type == f.Type && !slices.ContainsFunc(live, func(o Field) bool { return o.Name == t.Fields[n].Name })
		if !known && !renamed {
			add(f.Name, "a field that is not declared", "", "a field cannot be dropped: declare it", true)
		}
	}
}

func (c *comparison) table(t *Table) {
	if t.Rotation != nil {
		for i := range c.live.Tables {
			if live := &c.live.Tables[i]; live.Keyspace == t.Keyspace && t.rotates(live.Name) {
				one := *t
				one.ID = live.ID
				c.columns(&one, live)
				c.options(&one, live)
				c.fingerprint(&one, live)
			}
		}
		return
	}
	live := c.live.Table(t.ID)
	switch {
	case live == nil && c.isView(t.ID):
		c.add(Difference{
			Keyspace: t.Keyspace, Table: t.Name, Reason: "is a materialized view, which cannot be written",
			Impossible: "declare a table of another name, create it, write the entities again, and read it in place of the view",
		})
		return
	case live == nil:
		c.add(Difference{Keyspace: t.Keyspace, Table: t.Name, Reason: "does not exist", Fix: "CREATE TABLE " + t.body()})
		return
	}
	c.columns(t, live)
	c.options(t, live)
	c.fingerprint(t, live)
}

// isView says whether the live schema has a materialized view of this name.
func (c *comparison) isView(id ID) bool {
	return slices.ContainsFunc(c.live.Views, func(v View) bool { return v.ID == id })
}

func (c *comparison) options(t, live *Table) {
	names := slices.Collect(maps.Keys(t.Options))
	for name := range live.Options {
		if _, ok := t.Options[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		want, got := t.option(name), live.option(name)
		if want == got {
			continue
		}
		_, declared := t.Options[name]
		to := want
		if name == optComment { // the statement replaces the comment as a whole
			to = cql.Literal(fingerprint.Join(t.Comment(), live.Fingerprint))
		}
		d := Difference{
			Keyspace: t.Keyspace, Table: t.Name, Reason: fmt.Sprintf("%s is %s, declared %s", name, orNothing(got), orNothing(want)),
			Fix: fmt.Sprintf("ALTER TABLE %s WITH %s = %s", t.ID, name, to),
		}
		switch {
		case declared:
		case name == optTTL:
			d.Reason = fmt.Sprintf("default_time_to_live is %s and none is declared: rows vanish that the declaration keeps", got)
		default:
			d.Extra, d.Reason = true, fmt.Sprintf("%s is %s, and not declared", name, orNothing(got))
		}
		if want == "" {
			d.Fix, d.Impossible = "", "what it was before is not known: declare it"
		}
		c.add(d)
	}
}

func orNothing(s string) string {
	if s == "" {
		return "the server's choice"
	}
	return s
}

func (c *comparison) index(i *Index) {
	at := slices.IndexFunc(c.live.Indexes, func(o Index) bool { return o.ID == i.ID })
	create := "CREATE INDEX " + i.body()
	if i.Class != "" {
		create = "CREATE CUSTOM INDEX " + i.body()
	}
	switch {
	case at < 0:
		c.add(Difference{Keyspace: i.Keyspace, Table: i.Table, Reason: "index " + cql.Quote(i.Name) + " does not exist", Fix: create})
	case c.live.Indexes[at].Table != i.Table || c.live.Indexes[at].Target != i.Target || c.live.Indexes[at].Class != i.Class:
		live := c.live.Indexes[at]
		c.add(Difference{
			Keyspace: i.Keyspace, Table: i.Table,
			Reason: fmt.Sprintf("index %s, declared %s", strings.TrimSpace(live.body()), i.body()),
			Fix:    "DROP INDEX " + i.String() + ";\n" + create,
		})
	}
}

func (c *comparison) view(v *View) {
	at := slices.IndexFunc(c.live.Views, func(o View) bool { return o.ID == v.ID })
	switch {
	case at < 0:
		c.add(Difference{
			Keyspace: v.Keyspace, Table: v.Name, Reason: "the view does not exist", Fix: "CREATE MATERIALIZED VIEW " + v.body(),
		})
	case v.shape() != c.live.Views[at].shape():
		c.add(Difference{
			Keyspace: v.Keyspace, Table: v.Name, Reason: "the view is another one: " + c.live.Views[at].shape() + ", declared " + v.shape(),
			Impossible: "a view cannot change: make one of another name",
		})
	}
}

// shape is what of a view is compared: the server writes restrictions in its own way.
func (v *View) shape() string {
	return fmt.Sprintf("of %s, key %s %s", v.Base, keyText(v.Columns), orderText(v.Columns))
}

// entity looks at what tables of one entity need together.
func (c *comparison) entity(e *Entity) {
	if len(e.Tables) < 2 {
		return
	}
	base := c.live.Keyspace(e.Tables[0].Keyspace)
	var told []string
	for _, id := range e.Tables {
		live, declared := c.live.Table(id), c.declared.Table(id)
		if live == nil || declared == nil {
			continue
		}
		if _, said := declared.Options[optGCGrace]; live.GCGrace() == 0 && !said {
			c.drop(id, optGCGrace)
			c.add(Difference{
				Keyspace: id.Keyspace, Table: id.Name,
				Reason: "gc_grace_seconds is 0, so the batchlog would drop every logged batch that the table is in",
				Fix:    fmt.Sprintf("ALTER TABLE %s WITH gc_grace_seconds = %d", id, int64(defaultGCGrace.Seconds())),
			})
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
		c.add(Difference{
			Keyspace: k.Name, Fix: alterReplication(k.Name, want, k.Replication),
			Reason: fmt.Sprintf("replication is %s, and that of keyspace %s, in which entity %s also has tables, is %s; a change needs a full repair "+
				"of the keyspace afterwards", mapLiteral(k.Replication), base.Name, e.Name, mapLiteral(base.Replication)),
		})
	}
}

// drop takes back what was found of an option, because it is told better.
func (c *comparison) drop(id ID, option string) {
	c.found = slices.DeleteFunc(c.found, func(d Difference) bool {
		return d.Keyspace == id.Keyspace && d.Table == id.Name && d.Extra && strings.HasPrefix(d.Reason, option+" ")
	})
}

// rotated says whether a live table is one of those that follow each other by a declared pattern.
func (c *comparison) rotated(live *Table) bool {
	return slices.ContainsFunc(c.declared.Tables, func(t Table) bool {
		return t.Keyspace == live.Keyspace && t.rotates(live.Name)
	})
}

// more tells what the live keyspaces have alongside what is declared.
func (c *comparison) more() {
	keyspaces := c.declared.names()
	extra := func(id ID, reason, fix string, destroys bool) {
		if slices.Contains(keyspaces, id.Keyspace) {
			c.add(Difference{Keyspace: id.Keyspace, Table: id.Name, Reason: reason, Fix: fix, Destroys: destroys, Extra: true})
		}
	}
	for _, t := range c.live.Types {
		if !slices.ContainsFunc(c.declared.Types, func(o Type) bool { return o.ID == t.ID }) {
			extra(t.ID, "a type that is not declared", "DROP TYPE "+t.String(), true)
		}
	}
	for i := range c.live.Tables {
		if t := &c.live.Tables[i]; c.declared.Table(t.ID) == nil && !c.rotated(t) {
			extra(t.ID, "a table that is not declared", "DROP TABLE "+t.String(), true)
		}
	}
	for _, i := range c.live.Indexes {
		if !slices.ContainsFunc(c.declared.Indexes, func(o Index) bool { return o.ID == i.ID }) {
			extra(ID{i.Keyspace, i.Table}, "index "+cql.Quote(i.Name)+" is not declared: every write of the table pays for it",
				"DROP INDEX "+i.String(), false)
		}
	}
	for _, v := range c.live.Views {
		if !slices.ContainsFunc(c.declared.Views, func(o View) bool { return o.ID == v.ID }) && c.declared.Table(v.ID) == nil {
			extra(v.ID, "a view that is not declared: every write of "+cql.Quote(v.Base)+" pays for it", "DROP MATERIALIZED VIEW "+v.String(), true)
		}
	}
}
