// Package guess tells which tables of a schema are of one entity, where nothing declares it, by their names and
// columns, and of which keyspace a query is. It is for packages lint and diagram and for denorm init, which say that it
// is a guess.
package guess

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/schema"
)

// between are words between what a table holds and what it is found by, as in orders_by_user: also in Spanish,
// Portuguese and German.
var between = []string{"_by_", "_for_", "_por_", "_nach_"}

// capital matches where a word begins in UsersByType.
var capital = regexp.MustCompile("([a-z0-9])([A-Z])")

// Cut gives what a table holds, and what it is found by. If its name does not say so, it holds what it is called. A
// name in capitals, as UsersByType, says what users_by_type does.
func Cut(name string) (holds, by string, found bool) {
	name = strings.ToLower(capital.ReplaceAllString(name, "${1}_$2"))
	for _, word := range between {
		if holds, by, found = strings.Cut(name, word); found {
			return holds, by, true
		}
	}
	return name, "", false
}

// Entity is tables that seem to be of one entity. It may have one table, or one table twice if the schema has.
type Entity struct {
	schema.Entity          // Tables in the order of the schema's
	Base          int      // which of Tables is the base table, -1 if none is known to be
	Why           []string // of each of Tables: why it is one of the entity
}

// Entities gives the entities that names and columns of tables suggest. What is declared of an entity is in none.
//
// Tables of one name before _by_ are of one entity, and so is the table of that name alone, in the singular or the
// plural, unless their columns say otherwise. So is a table that can be filled from one of them by its columns, and
// whose name ends alike. A table that is alone and not called x_by_y is in no entity.
func Entities(s *schema.Schema) []Entity {
	declared, named := make(map[schema.ID]bool), make(map[schema.ID]bool)
	for _, e := range s.Entities {
		for _, id := range e.Tables {
			declared[id] = true
		}
	}
	var tables []*table
	for i := range s.Tables {
		t := newTable(&s.Tables[i], i)
		if t.by != "" {
			named[schema.ID{Keyspace: t.Keyspace, Name: t.entity}] = true
		}
		if !declared[t.ID] {
			tables = append(tables, t)
		}
	}
	join(tables)
	var out []Entity
	for _, t := range tables {
		all := t.group.tables
		slices.SortFunc(all, func(a, b *table) int { return a.at - b.at })
		if all[0] != t || len(all) == 1 && t.by == "" && !named[schema.ID{Keyspace: t.Keyspace, Name: t.entity}] {
			continue
		}
		e := Entity{Entity: schema.Entity{Tables: each.Of(all, func(t *table) schema.ID { return t.ID })}}
		e.finish(all)
		out = append(out, e)
	}
	return out
}

// InKeyspaces gives queries that name no keyspace, as the session has it, the keyspace of the only table or view of
// that name. A query that names a keyspace is of the only table of that name, if that names none.
func InKeyspaces(s *schema.Schema) *schema.Schema {
	in := make(map[string][]string)
	for _, t := range s.Tables {
		in[t.Name] = append(in[t.Name], t.Keyspace)
	}
	for _, v := range s.Views {
		in[v.Name] = append(in[v.Name], v.Keyspace)
	}
	out := *s
	out.Queries = slices.Clone(s.Queries)
	for i := range out.Queries {
		id := &out.Queries[i].Table
		if all := in[id.Name]; len(all) == 1 && (id.Keyspace == "" || all[0] == "") {
			id.Keyspace = all[0]
		}
	}
	return &out
}

// table is a table, and what its name and columns say.
type table struct {
	*schema.Table
	entity  string // what it holds one of
	head    string // the last word of that: video, of user_video
	by      string // what it is found by, if the name says so
	key     []schema.Column
	columns map[string]string // types by name
	counts  bool
	at      int // in the schema
	group   *group
	why     string // it is in the group
}

// group is tables that seem to be of one entity, and the groups that it is known to differ from. Both only grow.
type group struct {
	tables []*table
	other  map[*group]bool
}

// version is the end of the name of a table that was made after another one, as in closed_executions_v2.
var version = regexp.MustCompile(`_v[0-9]+$`)

func newTable(t *schema.Table, i int) *table {
	holds, by, _ := Cut(t.Name)
	holds = version.ReplaceAllString(holds, "")
	out := &table{
		Table: t, entity: Singular(holds), by: by, key: t.Of(schema.PartitionKey, schema.Clustering), columns: make(map[string]string, len(t.Columns)),
		at: i,
	}
	out.group = &group{[]*table{out}, make(map[*group]bool)}
	out.head = out.entity[strings.LastIndexByte(out.entity, '_')+1:]
	if own := out.entity + "_id"; t.Column(own) == nil {
		for i, c := range out.key {
			if c.Name == "id" { // of an order, which other tables call order_id
				out.key[i].Name, out.columns[own] = own, c.Type
			}
		}
	}
	for _, c := range t.Columns {
		out.columns[c.Name], out.counts = c.Type, out.counts || c.Type == "counter"
	}
	return out
}

// lacks gives the columns of a list that the table does not have, or not of their types.
func (t *table) lacks(list []schema.Column) []schema.Column {
	return slices.DeleteFunc(slices.Clone(list), func(c schema.Column) bool { return t.columns[c.Name] == c.Type })
}

// spreads are words in the names of key columns that follow from others: they divide a partition.
var spreads = strings.Fields("bucket shard date day hour month year week minute yyyymmdd yyyymm slice partition period")

// Spreads says whether a column of a key may follow from others.
func Spreads(c schema.Column) bool {
	return c.Type == "date" || slices.ContainsFunc(strings.Split(c.Name, "_"), func(w string) bool { return slices.Contains(spreads, w) }) ||
		slices.ContainsFunc(spreads, func(s string) bool { return len(s) > 3 && strings.HasSuffix(c.Name, s) })
}

// vague are names that columns of many entities have.
var vague = strings.Fields("id uuid key name type date day time timestamp created_at updated_at status title email")

// same says whether two lists have the same columns in the same order.
func same(a, b []schema.Column) bool {
	return slices.EqualFunc(a, b, func(a, b schema.Column) bool { return a.Name == b.Name && a.Type == b.Type })
}

// copies says why the rows of t may be made of the rows of base, each of one; "" if they cannot be. The two hold the
// same by their names, or all columns of t have to be in base.
func (t *table) copies(base *table) string {
	if len(base.key) == 0 || len(t.lacks(base.key)) > 0 || same(t.key, base.key) || len(slices.DeleteFunc(base.lacks(t.key), Spreads)) > 0 {
		return ""
	}
	named := t.entity == base.entity
	if !named && len(slices.DeleteFunc(base.lacks(t.Columns), Spreads)) > 0 {
		return ""
	}
	key := "the key of " + base.Name + " (" + names(base.Of(schema.PartitionKey, schema.Clustering)) + ")"
	specific := slices.ContainsFunc(base.key, func(c schema.Column) bool { return !slices.Contains(vague, c.Name) })
	switch within := len(keyless(base.key, t.key)) == 0; {
	case within && (named || t.head == base.head):
		return "its key has " + key
	case !within && (named || len(t.key) == 1 && len(keyless(t.key, base.key)) == 1 &&
		!strings.HasSuffix(t.key[0].Name, "id") && (specific || t.head == base.head)):
		return "it leads from " + names(t.key) + " to " + key
	}
	return ""
}

// differs says whether the columns of two tables say that they are not of one entity, whatever their names say.
func (t *table) differs(other *table) bool {
	if len(t.Columns) == 0 || len(other.Columns) == 0 {
		return false
	}
	own, others := slices.DeleteFunc(slices.Clone(t.key), Spreads), slices.DeleteFunc(slices.Clone(other.key), Spreads)
	sums := len(own) < len(t.key) && len(others) < len(other.key) && same(own, others) && t.sums() && other.sums()
	several := func(t, base *table) bool { // rows of t for one of base
		return len(keyless(base.key, t.key)) == 0 && len(slices.DeleteFunc(base.lacks(t.key), Spreads)) > 0
	}
	found := func(t, base *table) bool { // t is found by what base does not have: a member of a group, of which a row of base may have many
		return t.by != "" && base.by == "" && len(t.lacks(base.key)) == 0 && len(slices.DeleteFunc(base.lacks(t.key), Spreads)) > 0
	}
	return t.counts != other.counts || same(t.key, other.key) && (t.entity != other.entity || t.sums()) || sums ||
		several(t, other) || several(other, t) || found(t, other) || found(other, t)
}

// sums says whether rows have nothing but numbers alongside the key.
func (t *table) sums() bool {
	return !slices.ContainsFunc(t.Of(schema.Regular), func(c schema.Column) bool {
		return !slices.Contains(strings.Fields("int bigint smallint varint float double decimal counter"), c.Type)
	})
}

// alike says why two tables of which neither has the key of the other hold the same; "" if they do not.
func (t *table) alike(other *table) string {
	if same(t.key, other.key) {
		return ""
	}
	equal := len(t.Columns) == len(other.Columns) && len(other.lacks(t.Columns)) == 0
	permuted := len(t.key) > 1 && len(t.key) == len(other.key) && len(keyless(t.key, other.key)) == 0
	if equal && (permuted || len(t.Columns) > 3) && len(t.key) > 0 && t.key[0].Name != other.key[0].Name {
		return "it has the columns of " + other.Name + ", and another key"
	}
	shared := slices.DeleteFunc(slices.Clone(t.key), func(c schema.Column) bool {
		return len(keyless([]schema.Column{c}, other.key)) > 0 || slices.Contains(vague, c.Name) || Spreads(c)
	})
	common := len(t.Columns) - len(other.lacks(t.Columns))
	if len(shared) == 0 || t.head != other.head || 5*common < 4*max(len(t.Columns), len(other.Columns)) {
		return ""
	}
	return "both keys have " + shared[len(shared)-1].Name + ", and most columns are the same as in " + other.Name
}

func names(list []schema.Column) string {
	return strings.Join(each.Of(list, func(c schema.Column) string { return c.Name }), ", ")
}

// keyless gives the columns of a list that a key does not have.
func keyless(list, key []schema.Column) []schema.Column {
	return slices.DeleteFunc(slices.Clone(list), func(c schema.Column) bool {
		return slices.ContainsFunc(key, func(k schema.Column) bool { return k.Name == c.Name && k.Type == c.Type })
	})
}

// most is how many tables are compared with each other, each with each.
const most = 400

// join makes groups: first tables of one name whose columns say so too, then tables of one name, then others
// that are copies.
func join(tables []*table) {
	alike, near := make(map[schema.ID][]*table), make(map[string][]*table)
	for _, t := range tables {
		id := schema.ID{Keyspace: t.Keyspace, Name: t.entity}
		alike[id], near[t.Keyspace] = append(alike[id], t), append(near[t.Keyspace], t)
	}
	const name = "it has the same name before _by_"
	for _, list := range alike {
		joinIf(list, func(t, base *table) string {
			switch why := t.copies(base); {
			case why == "":
				return ""
			case t.by == "" && base.by == "":
				return "it has the same name but for the version, and " + why
			default:
				return name + ", and " + why
			}
		})
		joinIf(list, func(t, base *table) string {
			if t.by == "" && base.by == "" {
				return ""
			}
			return name
		})
	}
	for _, list := range near {
		joinIf(list, func(t, base *table) string { return cmp.Or(t.copies(base), t.alike(base)) })
	}
}

// joinIf puts those tables of a list together for which why says why.
func joinIf(list []*table, why func(t, base *table) string) {
	list = list[:min(most, len(list))]
	for _, base := range list {
		for _, t := range list {
			if t.group == base.group {
				continue
			}
			reason := why(t, base)
			if reason == "" || t.group.differs(base.group) {
				continue
			}
			t.why = cmp.Or(t.why, reason)
			for _, x := range list { // what differs from a part differs from the whole
				if x.group.other[t.group] {
					x.group.other[base.group] = true
				}
			}
			maps.Copy(base.group.other, t.group.other)
			for _, moved := range t.group.tables {
				moved.group = base.group
				base.group.tables = append(base.group.tables, moved)
			}
		}
	}
}

// differs says whether any table of a group differs from one of another group. Two tables are compared once: groups
// that do not differ become one.
func (g *group) differs(other *group) bool {
	g.other[other] = g.other[other] ||
		slices.ContainsFunc(g.tables, func(t *table) bool { return slices.ContainsFunc(other.tables, t.differs) })
	return g.other[other]
}

// finish names an entity, and finds its base table: the one whose key all tables have, rather in their keys; else the
// one that is named like the entity, or found by its id.
func (e *Entity) finish(tables []*table) {
	rank := func(t *table) (keys, columns, made int) { // how many tables have the key of t in their keys, and in their columns, and can be made of t
		for _, other := range tables {
			if len(t.key) > 0 && len(keyless(t.key, other.key)) == 0 {
				keys++
			}
			if len(t.key) > 0 && len(other.lacks(t.key)) == 0 {
				columns++
			}
			if len(slices.DeleteFunc(t.lacks(other.Columns), Spreads)) == 0 {
				made++
			}
		}
		return keys, columns, made
	}
	base := slices.MaxFunc(tables, func(a, b *table) int { // the first of equal ones
		aKeys, aColumns, aMade := rank(a)
		bKeys, bColumns, bMade := rank(b)
		return cmp.Or(aKeys-bKeys, aColumns-bColumns, aMade-bMade, len(b.key)-len(a.key), len(a.Columns)-len(b.Columns))
	})
	e.Name, e.Base = base.entity, slices.Index(tables, base)
	if _, columns, _ := rank(base); columns < len(tables) {
		e.Base = slices.IndexFunc(tables, func(t *table) bool { return t.by == "" })
		if e.Base < 0 {
			e.Base = slices.IndexFunc(tables, func(t *table) bool { return t.by == "id" || t.by == t.entity+"_id" })
		}
	}
	if e.Base >= 0 {
		base = tables[e.Base]
		if len(tables) > 1 {
			base.why = "the base table"
		}
	}
	e.Why = each.Of(tables, func(t *table) string { return cmp.Or(t.why, t.copies(base), "it seems to hold the same") })
}

// Singular is the name of one of what a table holds.
func Singular(plural string) string {
	switch {
	case slices.Contains([]string{"movies", "cookies", "calories", "selfies"}, plural):
		return strings.TrimSuffix(plural, "s")
	case plural == "series", plural == "species":
		return plural
	case strings.HasSuffix(plural, "ies"):
		return strings.TrimSuffix(plural, "ies") + "y"
	case strings.HasSuffix(plural, "sses"), strings.HasSuffix(plural, "xes"), strings.HasSuffix(plural, "ches"), strings.HasSuffix(plural, "shes"), strings.HasSuffix(plural, "tuses"):
		return strings.TrimSuffix(plural, "es")
	case strings.HasSuffix(plural, "ss"):
		return plural
	}
	return strings.TrimSuffix(plural, "s")
}
