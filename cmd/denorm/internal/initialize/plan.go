// Package initialize is denorm init: it guesses the entities of a schema, and writes their declaration for a person to correct.
package initialize

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/declare"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/guess"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
	"github.com/denorm-go/denorm/tables"
)

// Plan is what is known of a schema, and what is declared of it.
type Plan struct {
	Entities []*Entity
	Alone    []Left         // tables that no set has
	Left     []Left         // columns of tables that a set has
	Findings []lint.Finding // about statements

	schema *schema.Schema
	user   []*userType
	all    *schema.Schema // what the sets declare
}

// Left is something that is not declared, and why.
type Left struct {
	Table  string `json:"table"`
	Column string `json:"column,omitempty"`
	Why    string `json:"why"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
}

// Entity is a set that is declared.
type Entity struct {
	Name      string     `json:"name"`
	Tables    []Table    `json:"tables"`              // the base table first
	ID        []string   `json:"id,omitempty"`        // a guess
	Expires   string     `json:"expires,omitempty"`   // why the set has ExpiresAt
	Decisions []Decision `json:"decisions,omitempty"` // columns in keys of query tables that may change
	Sample    *Sample    `json:"sample,omitempty"`    // nil if no rows were read

	row, variable string // the names of the struct and of the set
	fields        []field
	declaration   declare.Declaration
	set           *layout.Set
}

// Table is a table of an entity, and why it is one.
type Table struct {
	Name string `json:"table"`
	Why  string `json:"why"`

	*schema.Table `json:"-"`
}

// Internal makes an entity a [tables.Described].
func (e *Entity) Internal() *layout.Set { return e.set }

// Decision is about a column in the key of a query table. As declared it never changes.
type Decision struct {
	Column  string   `json:"column"`
	Tables  []string `json:"tables"`         // that have it in their keys
	Says    []string `json:"says,omitempty"` // what statements and values say of it
	Options []Option `json:"options"`
}

// Option is a choice, as it is written in Go, and what it costs.
type Option struct {
	Go    string `json:"go"`
	Costs string `json:"costs"`
}

// Sample is what rows of the base table of an entity say.
type Sample struct {
	tablerow.Survey
	Values map[string][]string `json:"values,omitempty"` // literals of Go, of columns with few values
	Failed string              `json:"failed,omitempty"` // why no rows were read
}

// nullable says how sure it is that fields without a pointer are never null.
func (e *Entity) nullable() string {
	if e.Sample == nil || e.Sample.Rows == 0 {
		return "A guess: no rows were read, so a column that can be null needs a pointer here."
	}
	return fmt.Sprintf("A guess: fields without * had no null in %d rows that were read.", e.Sample.Rows)
}

// New plans the sets of a schema. samples are by the name of the entity's base table.
func New(s *schema.Schema, samples map[schema.ID]*Sample) *Plan {
	p := &Plan{schema: s, all: &schema.Schema{}, Entities: []*Entity{}, Alone: []Left{}, Left: []Left{}}
	types := &types{schema: s, names: newNames("Schema")}
	guessed := guess.Entities(s)
	known := make(map[schema.ID]bool) // that something is said of, or that is declared
	for _, e := range s.Entities {
		for _, id := range e.Tables {
			known[id] = true
		}
	}
	for i := range guessed {
		g := &guessed[i]
		if len(g.Tables) < 2 {
			continue
		}
		for _, id := range g.Tables {
			known[id] = true
		}
		b := builder{plan: p, types: types, samples: samples}
		if e := b.entity(g); e != nil {
			p.Entities = append(p.Entities, e)
		}
	}
	for _, t := range s.Tables {
		if !known[t.ID] {
			p.Alone = append(p.Alone, left(&t, "", "no other table seems to hold the same"))
		}
	}
	used := func(u *userType) bool {
		return slices.ContainsFunc(p.Entities, func(e *Entity) bool { return slices.Contains(e.userTypes(types.user), u) })
	}
	p.user = slices.DeleteFunc(types.user, func(u *userType) bool { return !used(u) })
	p.findings()
	return p
}

// Migration is the CQL that the tables need before the sets are used, for review.
func (p *Plan) Migration() string {
	extra := func(d schema.Difference) bool { return d.Extra } // it hurts nothing
	return schema.Migration(slices.DeleteFunc(schema.Compare(p.all, p.schema), extra))
}

// Sets are those that are declared.
func (p *Plan) Sets() []tables.Described {
	return each.Of(p.Entities, func(e *Entity) tables.Described { return e })
}

// builder makes the set of an entity.
type builder struct {
	plan    *Plan
	types   *types
	samples map[schema.ID]*Sample

	base    *schema.Table
	queries []*schema.Table
	why     map[schema.ID]string
	sample  *Sample
	left    map[string]bool // columns that are not declared
	columns []schema.Column // that are
}

// entity makes a set, or says why there is none. It leaves out what the library rejects, one thing after the other.
func (b *builder) entity(g *guess.Entity) *Entity {
	b.left, b.why = make(map[string]bool), make(map[schema.ID]string)
	first := max(g.Base, 0) // if none is known to be the base table, what is left out says so
	for i, id := range g.Tables {
		t := b.plan.schema.Table(id)
		b.why[id] = g.Why[i]
		switch {
		case i == first:
			b.base = t
		case slices.Contains(b.queries, t): // the schema has two of one name
		default:
			b.queries = append(b.queries, t)
		}
	}
	b.why[b.base.ID] = cmp.Or(b.why[b.base.ID], "taken for the base table: the key of no table is in all tables")
	b.queries = slices.DeleteFunc(b.queries, func(t *schema.Table) bool { return t == b.base })
	if why := unnamed(b.base); why != "" {
		return b.none(why)
	}
	b.sample = b.samples[b.base.ID]
	b.readColumns()
	id := b.identity()
	b.queries = slices.DeleteFunc(b.queries, func(t *schema.Table) bool { return b.rejected(t, id) })
	for range len(b.base.Columns) + len(b.queries) + 1 {
		if len(b.queries) == 0 {
			return b.none("")
		}
		e := b.declare(g.Name, id)
		err := b.check(e)
		if err == nil {
			e.row = b.types.names.take(camel(e.Name))
			e.variable = b.types.names.take(plural(e.row))
			b.plan.decide(e)
			return e
		}
		var faults *declare.DeclarationError
		if !errors.As(err, &faults) || !b.leaveOut(faults.Faults[0]) {
			return b.none(err.Error())
		}
	}
	return b.none("too many of its columns cannot be declared")
}

// none leaves all tables of the entity out. Without a reason, each of its query tables has one already.
func (b *builder) none(why string) *Entity {
	for _, t := range append([]*schema.Table{b.base}, b.queries...) {
		b.alone(t, cmp.Or(why, "no other table can be in a set with it"))
	}
	return nil
}

func left(t *schema.Table, column, why string) Left {
	return Left{t.String(), column, why, t.At.File, t.At.Line}
}

func (b *builder) leave(t *schema.Table, column, why string) {
	b.plan.Left = append(b.plan.Left, left(t, column, why))
}

func (b *builder) alone(t *schema.Table, why string) {
	b.plan.Alone = append(b.plan.Alone, left(t, "", why))
}

// unnamed says what of the names of a table a declaration cannot have.
func unnamed(t *schema.Table) string {
	if !cql.IsTable(t.Name) || t.Keyspace != "" && !cql.IsTable(t.Keyspace) {
		return "its name needs quotes, and a set has no such table"
	}
	for _, c := range keyOf(t) {
		if !cql.IsColumn(c.Name) {
			return "key column " + c.Name + " needs quotes, and a set has no such column"
		}
	}
	return ""
}

func keyOf(t *schema.Table) []schema.Column { return t.Of(schema.PartitionKey, schema.Clustering) }

func inKey(t *schema.Table, name string) bool {
	c := t.Column(name)
	return c != nil && (c.Kind == schema.PartitionKey || c.Kind == schema.Clustering)
}

const static = "a static column: it stays as it is, and a row that moves leaves it behind"

// readColumns finds the columns of the base table that can be fields.
func (b *builder) readColumns() {
	for _, c := range b.base.Columns {
		_, err := b.types.of(b.base.Keyspace, c.Type)
		switch {
		case c.Kind == schema.Static:
			b.leave(b.base, c.Name, static)
		case !cql.IsColumn(c.Name):
			b.leave(b.base, c.Name, "its name needs quotes")
		case err != nil:
			b.leave(b.base, c.Name, err.Error())
		default:
			b.columns = append(b.columns, c)
		}
	}
}

func (b *builder) has(c schema.Column) bool {
	return slices.ContainsFunc(b.columns, func(o schema.Column) bool { return o.Name == c.Name && o.Type == c.Type && !b.left[c.Name] })
}

// identity gives what ID has to declare: nothing, if the base key is in as many keys as its ids are; else these ids.
func (b *builder) identity() (id []string) {
	key := keyOf(b.base)
	tables := slices.DeleteFunc(slices.Clone(b.queries), func(t *schema.Table) bool { // which have the base key in columns
		return slices.ContainsFunc(key, func(c schema.Column) bool { return t.Column(c.Name) == nil })
	})
	keyed := func(columns []string) (n int) { // how many tables have columns in their keys
		for _, t := range tables {
			if !slices.ContainsFunc(columns, func(name string) bool { return !inKey(t, name) }) {
				n++
			}
		}
		return n
	}
	for _, c := range key {
		tells := c.Type == "uuid" || c.Type == "timeuuid" || strings.HasSuffix(c.Name, "id")
		if tells && keyed([]string{c.Name}) == len(tables) {
			id = append(id, c.Name)
		}
	}
	if len(id) == 0 || keyed(each.Of(key, func(c schema.Column) string { return c.Name })) == len(tables) {
		return nil
	}
	return id
}

// rejected says whether a query table cannot be in the set, and why to the reader.
func (b *builder) rejected(t *schema.Table, id []string) bool {
	why := unnamed(t)
	var foreign, lost []string
	for _, c := range keyOf(t) {
		if !b.has(c) {
			foreign = append(foreign, c.Name)
		}
	}
	for _, c := range keyOf(b.base) {
		if need := len(id) == 0 || slices.Contains(id, c.Name); t.Column(c.Name) == nil || need && !inKey(t, c.Name) {
			lost = append(lost, c.Name)
		}
	}
	switch {
	case why != "":
	case t.Keyspace != b.base.Keyspace:
		why = "it is in another keyspace than " + b.base.String()
	case len(foreign) > 0:
		why = fmt.Sprintf("its key has %s, which %s lacks: if it follows from columns there, such as a bucket, declare tables.Derive",
			strings.Join(foreign, ", "), b.base.ID)
	case len(lost) > 0 && !slices.ContainsFunc(lost, func(name string) bool { return t.Column(name) == nil }):
		why = fmt.Sprintf("its key lacks %s, so two entities can share a row: if no two have one key, declare the set Versioned and the table Unique",
			strings.Join(lost, ", "))
	case len(lost) > 0:
		why = fmt.Sprintf("it lacks %s of the key of %s, so its rows do not lead there", strings.Join(lost, ", "), b.base.ID)
	case t.TTL() != b.base.TTL():
		why = fmt.Sprintf("its default_time_to_live is not the one of %s: make them equal, or write it by hand", b.base.ID)
	default:
		for _, c := range t.Columns {
			switch own := b.base.Column(c.Name); {
			case own == nil || own.Type != c.Type:
				b.leave(t, c.Name, fmt.Sprintf("%s has no such column of this type, so no write fills it", b.base.ID))
			case c.Kind == schema.Static:
				b.leave(t, c.Name, static)
			}
		}
		return false
	}
	b.alone(t, why)
	return true
}

// leaveOut leaves out what a fault is of, and says whether it could.
func (b *builder) leaveOut(f layout.Fault) bool {
	if f.Column != "" && b.base.Column(f.Column) != nil && !inKey(b.base, f.Column) && f.Table == "" {
		in := slices.DeleteFunc(slices.Clone(b.queries), func(t *schema.Table) bool { return !inKey(t, f.Column) })
		b.left[f.Column] = true
		b.leave(b.base, f.Column, f.Reason)
		for _, t := range in {
			b.alone(t, "key column "+f.Column+" cannot be declared: "+f.Reason)
		}
		b.queries = slices.DeleteFunc(b.queries, func(t *schema.Table) bool { return slices.Contains(in, t) })
		return true
	}
	i := slices.IndexFunc(b.queries, func(t *schema.Table) bool { return t.Name == f.Table })
	if i < 0 {
		return false
	}
	b.alone(b.queries[i], f.String())
	b.queries = slices.Delete(b.queries, i, i+1)
	return true
}

// declare makes the declaration of what is left.
func (b *builder) declare(name string, id []string) *Entity {
	e := &Entity{Name: entityName(b.plan, name), ID: id, Sample: b.sample}
	d := &e.declaration
	fields := newNames()
	add := func(column, cqlType string, t goType) {
		e.fields = append(e.fields, field{fields.take(camel(column)), column, cqlType, t})
		if !t.inferred {
			d.Types = append(d.Types, declare.TypeOption{Column: column, CQL: cqlType})
		}
	}
	if !slices.ContainsFunc(b.columns, func(c schema.Column) bool { return c.Type == "counter" }) {
		d.Stamps, d.Expiries = []string{b.stamp()}, b.expiry(e)
	}
	for _, c := range b.columns {
		if b.left[c.Name] || slices.Contains(d.Stamps, c.Name) || slices.Contains(d.Expiries, c.Name) {
			continue
		}
		t, _ := b.types.of(b.base.Keyspace, c.Type)
		if b.sample != nil && b.sample.Nulls[c.Name] > 0 {
			t.text, t.real = "*"+t.text, reflect.PointerTo(t.real)
		}
		add(c.Name, c.Type, t)
		if strings.HasPrefix(c.Type, "list<") {
			d.ReadOnly = append(d.ReadOnly, c.Name)
		}
	}
	for _, stamp := range d.Stamps {
		add(stamp, "bigint", leaves["bigint"])
	}
	for _, expiry := range d.Expiries {
		add(expiry, "timestamp", leaves["timestamp"])
	}
	d.IDs = id
	for _, t := range append([]*schema.Table{b.base}, b.queries...) {
		e.Tables = append(e.Tables, Table{t.String(), b.why[t.ID], t})
		d.Tables = append(d.Tables, b.table(e, t))
	}
	for _, u := range e.userTypes(b.types.user) {
		d.UserTypes = append(d.UserTypes, u.declared())
	}
	return e
}

// stamp is the column of the stamp: the one that a fingerprint names, as the tables are adopted already, or a new one.
func (b *builder) stamp() string {
	words := strings.FieldsFunc(b.base.Fingerprint, func(r rune) bool { return strings.ContainsRune(" ;[]", r) })
	if i := slices.Index(words, "stamp") + 1; i > 0 && i < len(words) && b.base.Column(words[i]) != nil {
		return words[i]
	}
	return b.free("updated_at", "stamp", "written_at", "denorm_stamp")
}

// free gives the first name that no table of the entity has as a column.
func (b *builder) free(candidates ...string) string {
	i := slices.IndexFunc(candidates, func(name string) bool {
		return !slices.ContainsFunc(append(b.queries, b.base), func(t *schema.Table) bool { return t.Column(name) != nil })
	})
	return candidates[max(i, 0)] // none is free: what checks the declaration says so
}

// expiry is the column of ExpiresAt where rows expire, by a sample or by statements with a TTL: one that is there, or a new one.
func (b *builder) expiry(e *Entity) []string {
	const column = "expires_at"
	inserts := func(q schema.Query) bool { return q.Table == b.base.ID && q.Verb == "INSERT" && q.TTL != 0 }
	if b.sample != nil && b.sample.Ending > 0 {
		e.Expires = share(b.sample.Ending, b.sample.Rows) + " end by a TTL"
	} else if i := slices.IndexFunc(b.plan.schema.Queries, inserts); i >= 0 {
		q := &b.plan.schema.Queries[i]
		e.Expires = "a statement inserts rows with a TTL" + at(q.At.File, q.At.Line)
	}
	c := b.base.Column(column)
	if c != nil && (c.Type != "timestamp" || c.Kind != schema.Regular || b.left[column]) || c == nil && b.free(column, "") != column {
		e.Expires = ""
	}
	if e.Expires == "" {
		return nil
	}
	return []string{column}
}

// table declares one table.
func (b *builder) table(e *Entity, t *schema.Table) declare.Table {
	out := declare.Table{Name: t.Name, Keyspace: t.Keyspace}
	for _, c := range t.Columns {
		switch {
		case c.Kind == schema.PartitionKey:
			out.PartKey = append(out.PartKey, c.Name)
		case c.Kind == schema.Clustering && c.Desc:
			out.SortKey = append(out.SortKey, c.Name+" DESC")
		case c.Kind == schema.Clustering:
			out.SortKey = append(out.SortKey, c.Name)
		}
	}
	if t == b.base {
		return out
	}
	all := true
	for _, f := range e.fields {
		switch own := t.Column(f.column); {
		case inKey(t, f.column):
		case own != nil && own.Type == f.cql && own.Kind == schema.Regular, b.base.Column(f.column) == nil: // else one that is added
			out.Columns = append(out.Columns, f.column)
		default:
			all = false
		}
	}
	if all {
		out.Columns = nil
	} else if out.Columns == nil {
		out.Columns = []string{}
	}
	return out
}

// check makes the set, as the program that is written would.
func (b *builder) check(e *Entity) error {
	set, err := row(e.Name, e.fields, e.declaration)
	if err != nil {
		return err
	}
	e.set = set
	all, err := schema.Declare(schema.Sets(append(b.plan.Sets(), e)...))
	if err != nil {
		return err
	}
	b.plan.all = all
	return nil
}

// row makes a set of a struct with some fields.
func row(name string, fields []field, d declare.Declaration) (*layout.Set, error) {
	var parts []reflect.StructField
	for _, f := range fields {
		parts = append(parts, reflect.StructField{Name: f.name, Type: f.real, Tag: reflect.StructTag(`db:"` + f.column + `"`)})
	}
	return declare.New(name, reflect.StructOf(parts), d)
}

// userTypes are those that fields of the entity need.
func (e *Entity) userTypes(all []*userType) []*userType {
	needed := make(map[*userType]bool)
	var need func(fields []field)
	need = func(fields []field) {
		for _, f := range fields {
			for _, u := range all {
				if !needed[u] && u.Keyspace == e.Tables[0].Keyspace && uses(f.real, u.real) {
					needed[u] = true
					need(u.fields)
				}
			}
		}
	}
	need(e.fields)
	return slices.DeleteFunc(slices.Clone(all), func(u *userType) bool { return !needed[u] })
}

// uses says whether a type is made of another one.
func uses(t, part reflect.Type) bool {
	switch {
	case t == part:
		return true
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Pointer:
		return uses(t.Elem(), part)
	case t.Kind() == reflect.Map:
		return uses(t.Key(), part) || uses(t.Elem(), part)
	}
	return false
}

// entityName is a name that a set can have, and none has.
func entityName(p *Plan, name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, strings.ToLower(name))
	if name = strings.TrimLeft(name, "_0123456789"); name == "" {
		name = "entity"
	}
	taken := newNames(each.Of(p.Entities, func(e *Entity) string { return e.Name })...)
	return taken.take(name[:min(len(name), 40)])
}

// plural is the name of a variable for the set of a struct.
func plural(name string) string {
	switch {
	case strings.HasSuffix(name, "y") && !strings.HasSuffix(name, "ey") && !strings.HasSuffix(name, "ay"):
		return strings.TrimSuffix(name, "y") + "ies"
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"):
		return name + "es"
	}
	return name + "s"
}

// at says where something is written, after what it is.
func at(file string, line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", file, line)
}
