// Package initialize is denorm init: it guesses the entities of a schema, and writes their declaration for a person to
// correct.
package initialize

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
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
	Left     []Left         // columns of tables that a set has, or may have
	Findings []lint.Finding // about statements

	schema  *schema.Schema
	byID    map[schema.ID]*schema.Table // of two of one name, the first
	user    []*userType
	named   names                            // of the sets
	sharing map[schema.ID][]tables.Described // the sets that have a table
	all     *schema.Schema                   // what the sets declare
	run     int                              // how many tables were tried for queries
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

// Decision is about a column in the key of a query table, or about all that nothing is said of. As declared they never
// change.
type Decision struct {
	Columns []string `json:"columns"`
	Tables  []string `json:"tables"`         // that have it in their keys
	Says    []string `json:"says,omitempty"` // what statements and values say of it
	Options []Option `json:"options"`
}

// question asks whether the columns may change.
func (d *Decision) question() string {
	return fmt.Sprintf("may %s change? In the key of %s", strings.Join(d.Columns, ", "), strings.Join(d.Tables, ", "))
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
	s = guess.InKeyspaces(s)
	p := &Plan{
		schema: s, byID: make(map[schema.ID]*schema.Table), named: newNames(), sharing: make(map[schema.ID][]tables.Described),
		all: &schema.Schema{}, Entities: []*Entity{}, Alone: []Left{}, Left: []Left{},
	}
	for i := range slices.Backward(s.Tables) {
		p.byID[s.Tables[i].ID] = &s.Tables[i]
	}
	types := &types{schema: s, names: newNames("Schema"), known: make(map[schema.ID]*userType)}
	known := make(map[schema.ID]bool) // tables of entities, also of guessed ones
	for _, e := range s.Entities {
		for _, id := range e.Tables {
			known[id] = true
		}
	}
	var bases []base
	for _, g := range guess.Entities(s) {
		if g.Base >= 0 {
			t := p.byID[g.Tables[g.Base]]
			bases = append(bases, base{t, g.Name, keyOf(t)})
		}
		if len(g.Tables) < 2 {
			continue
		}
		for _, id := range g.Tables {
			known[id] = true
		}
		b := builder{Plan: p, types: types, why: make(map[schema.ID]string)}
		if e := b.entity(&g, samples); e != nil {
			p.Entities = append(p.Entities, e)
			p.named[e.Name] = true
			for _, t := range e.Tables {
				p.sharing[t.ID] = append(p.sharing[t.ID], e)
			}
			p.user = append(p.user, e.userTypes()...)
		}
	}
	p.user = each.Once(p.user)
	if all, err := schema.Declare(schema.Sets(p.Sets()...)); err == nil { // each was checked
		p.all = all
	}
	for _, t := range s.Tables {
		if !known[t.ID] {
			p.alone(&t, cmp.Or(joins(&t, bases), "no other table seems to hold the same"))
		}
	}
	p.findings()
	return p
}

// base is the base table of a guessed entity.
type base struct {
	*schema.Table
	entity string
	key    []schema.Column
}

// joins says which columns the base table of an entity lacks for a table that has its key, and its name; or "".
func joins(t *schema.Table, bases []base) string {
	holds, _, _ := guess.Cut(t.Name)
	holds = "_" + guess.Singular(holds)
	foreign := func(c schema.Column) bool { return !inKey(t, c.Name) || t.Column(c.Name).Type != c.Type }
	for _, b := range bases {
		if b.Keyspace != t.Keyspace || !strings.HasSuffix(holds, "_"+b.entity) || slices.ContainsFunc(b.key, foreign) {
			continue
		}
		lacks := slices.DeleteFunc(slices.Clone(t.Columns), func(c schema.Column) bool { return b.Column(c.Name) != nil })
		if len(lacks) > 0 && !slices.ContainsFunc(lacks, func(c schema.Column) bool { return c.Type == "counter" }) {
			return fmt.Sprintf("if it has at most one row for each of %s: add %s there and fill it, and the table can join",
				b.Table, strings.Join(namesOf(lacks), ", "))
		}
	}
	return ""
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
	*Plan
	types   *types
	base    *schema.Table
	queries []*schema.Table
	why     map[schema.ID]string
	sample  *Sample
	fields  []field // columns of the base table that are declared
}

// entity makes a set, or says why there is none. It leaves out what the library rejects, one thing after the other.
func (b *builder) entity(g *guess.Entity, samples map[schema.ID]*Sample) *Entity {
	b.base = b.byID[g.Tables[max(g.Base, 0)]] // if none is known to be the base table, what is left out says so
	for i, id := range g.Tables {
		b.why[id] = g.Why[i]
		if t := b.byID[id]; t != b.base && !slices.Contains(b.queries, t) { // the schema may have two of one name
			b.queries = append(b.queries, t)
		}
	}
	b.why[b.base.ID] = cmp.Or(b.why[b.base.ID], "taken for the base table: the key of no table is in all tables")
	b.sample = samples[b.base.ID]
	if why := unnamed(b.base); why != "" {
		return b.none(why)
	}
	b.readFields()
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
			b.decide(e)
			return e
		}
		var faults *declare.DeclarationError
		if !errors.As(err, &faults) || !b.leaveOut(faults.Faults[0]) {
			return b.none(err.Error())
		}
	}
	return b.none("too many of its columns cannot be declared")
}

// none leaves all tables of the entity out. The reason is about the base table. The others have one of their own, or
// wait for the set.
func (b *builder) none(why string) *Entity {
	const waits = "no set, until one of the tables above can join it"
	b.alone(b.base, cmp.Or(why, waits))
	for _, t := range b.queries {
		b.alone(t, cmp.Or(unnamed(t), waits))
	}
	return nil
}

func (p *Plan) leave(t *schema.Table, column, why string) {
	p.Left = append(p.Left, Left{t.String(), column, why, t.At.File, t.At.Line})
}

func (p *Plan) alone(t *schema.Table, why string) {
	p.Alone = append(p.Alone, Left{t.String(), "", why, t.At.File, t.At.Line})
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

const static = "a static column: no set writes it, your own statements may, and a row that moves leaves it behind"

// readFields finds the columns of the base table that can be fields.
func (b *builder) readFields() {
	for _, c := range b.base.Columns {
		t, err := b.types.of(b.base.Keyspace, c.Type)
		switch {
		case c.Kind == schema.Static:
			b.leave(b.base, c.Name, static)
		case b.recorded("versioned") != "" && slices.Contains(layout.KeptInBase, layout.Kept{Name: c.Name, Type: c.Type}): // denorm's own
		case !cql.IsColumn(c.Name):
			b.leave(b.base, c.Name, "its name needs quotes")
		case err != nil:
			b.leave(b.base, c.Name, err.Error())
		default:
			if b.sample != nil && b.sample.Nulls[c.Name] > 0 {
				t.text, t.real = "*"+t.text, reflect.PointerTo(t.real)
			}
			b.fields = append(b.fields, field{"", c.Name, c.Type, t})
		}
	}
}

func (b *builder) has(c schema.Column) bool {
	return slices.ContainsFunc(b.fields, func(f field) bool { return f.column == c.Name && f.cql == c.Type })
}

// identity gives what ID has to declare: nothing, if all tables that have the base key in columns have it in their
// keys; else the ids in it that they have there. A table without the id of a row in its key only leads to the row.
func (b *builder) identity() (id []string) {
	key, whole, rows := keyOf(b.base), true, b.base.Of(schema.Clustering)
	if len(rows) == 0 {
		rows = key
	}
	tells := func(c schema.Column) bool {
		return c.Type == "uuid" || c.Type == "timeuuid" || strings.HasSuffix(c.Name, "id")
	}
	tables := slices.DeleteFunc(slices.Clone(b.queries), func(t *schema.Table) bool {
		return slices.ContainsFunc(key, func(c schema.Column) bool { return t.Column(c.Name) == nil }) ||
			!slices.ContainsFunc(rows, func(c schema.Column) bool { return tells(c) && inKey(t, c.Name) })
	})
	for _, c := range key {
		switch {
		case slices.ContainsFunc(tables, func(t *schema.Table) bool { return !inKey(t, c.Name) }):
			whole = false
		case tells(c):
			id = append(id, c.Name)
		}
	}
	if whole {
		return nil
	}
	return id
}

// rejected says whether a query table cannot be in the set, and why to the reader.
func (b *builder) rejected(t *schema.Table, id []string) bool {
	why := unnamed(t)
	foreign := slices.DeleteFunc(keyOf(t), b.has)
	lost := namesOf(slices.DeleteFunc(keyOf(b.base), func(c schema.Column) bool {
		need := len(id) == 0 || slices.Contains(id, c.Name)
		return inKey(t, c.Name) || !need && t.Column(c.Name) != nil
	}))
	generated := slices.DeleteFunc(keyOf(b.base), func(c schema.Column) bool { return !b.generates(t, c.Name) || !b.generates(b.base, c.Name) })
	switch {
	case why != "":
	case t.Keyspace != b.base.Keyspace:
		why = "it is in another keyspace than " + b.base.String()
	case len(foreign) > 0:
		why = fmt.Sprintf("its key has %s, which %s lacks: %s", strings.Join(namesOf(foreign), ", "), b.base.ID, b.gets(foreign))
	case len(lost) > 0 && !slices.ContainsFunc(lost, func(name string) bool { return t.Column(name) == nil }):
		why = fmt.Sprintf("its key lacks %s, so two entities can share a row: if no two have one key, declare the set Versioned and the table Unique",
			strings.Join(lost, ", "))
		for _, c := range t.Of(schema.Regular) {
			if !inKey(b.base, c.Name) && c.Name != layout.Token.Name {
				b.leave(t, c.Name, fmt.Sprintf("a Unique table holds its key and %s alone, so it goes stale: read it from %s",
					strings.Join(namesOf(keyOf(b.base)), ", "), b.base.ID))
			}
		}
	case len(lost) > 0:
		why = fmt.Sprintf("it lacks %s of the key of %s, so its rows do not lead there", strings.Join(lost, ", "), b.base.ID)
	case len(generated) > 0:
		why = fmt.Sprintf("statements fill %s by a function here and in %s, so no two rows match: bind one value, and the table can join",
			strings.Join(namesOf(generated), ", "), b.base.ID)
	case t.TTL() != b.base.TTL():
		why = fmt.Sprintf("its default_time_to_live is not the one of %s: make them equal, or write it by hand", b.base.ID)
	default:
		for _, c := range t.Columns {
			switch own := b.base.Column(c.Name); {
			case c.Kind == schema.Static:
				b.leave(t, c.Name, static)
			case own == nil:
				b.leave(t, c.Name, fmt.Sprintf("%s lacks it: leave it (new rows have none), or add it there and fill it before you adopt", b.base.ID))
			case own.Type != c.Type:
				b.leave(t, c.Name, fmt.Sprintf("in %s it has another type, so no write fills it", b.base.ID))
			}
		}
		return false
	}
	b.alone(t, why)
	return true
}

// generates says whether an INSERT of a table fills a column by a function that gives another value in each statement.
func (p *Plan) generates(t *schema.Table, column string) bool {
	return slices.ContainsFunc(p.schema.Queries, func(q schema.Query) bool {
		insert, ok := q.Statement.(*ast.Insert)
		i := -1
		if ok && q.Table == t.ID {
			i = slices.Index(insert.Columns, column)
		}
		return i >= 0 && i < len(insert.Values) && insert.Values[i].Generated()
	})
}

// gets says how columns of a key get into the set, which the base table lacks.
func (b *builder) gets(lacks []schema.Column) string {
	isTime := func(c schema.Column) bool { return c.Type == "timestamp" || c.Type == "timeuuid" }
	switch {
	case slices.ContainsFunc(lacks, func(c schema.Column) bool { return b.base.Column(c.Name) != nil }):
		return "it has one that is not the same"
	case slices.ContainsFunc(b.base.Columns, isTime) && !slices.ContainsFunc(lacks, func(c schema.Column) bool { return !guess.Spreads(c) }):
		return "if it follows from a time there, declare tables.Derive; else add it there and fill it"
	}
	return "add it there and fill it, and the table can join"
}

// leaveOut leaves out what a fault is of, and says whether it could.
func (b *builder) leaveOut(f layout.Fault) bool {
	if f.Column != "" && b.base.Column(f.Column) != nil && !inKey(b.base, f.Column) && f.Table == "" {
		b.fields = slices.DeleteFunc(b.fields, func(of field) bool { return of.column == f.Column })
		b.leave(b.base, f.Column, f.Reason)
		b.queries = slices.DeleteFunc(b.queries, func(t *schema.Table) bool {
			if inKey(t, f.Column) {
				b.alone(t, "key column "+f.Column+" cannot be declared: "+f.Reason)
			}
			return inKey(t, f.Column)
		})
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
	e := &Entity{Name: b.entityName(name), ID: id, Sample: b.sample}
	d := &e.declaration
	var own []field
	if version := b.recorded("versioned"); version != "" {
		d.Versions = []string{version}
	} else if !slices.ContainsFunc(b.fields, func(f field) bool { return f.cql == "counter" }) {
		d.Stamps = []string{cmp.Or(b.recorded("stamp"), b.free("updated_at", "stamp", "written_at", "denorm_stamp"))}
		own = append(own, field{"", d.Stamps[0], "bigint", leaves["bigint"]})
		if e.Expires = b.expires(); e.Expires != "" {
			d.Expiries = []string{b.expiry()}
			own = append(own, field{"", d.Expiries[0], "timestamp", leaves["timestamp"]})
		}
	}
	e.fields = append(slices.DeleteFunc(slices.Clone(b.fields), func(f field) bool {
		return slices.ContainsFunc(own, func(o field) bool { return o.column == f.column })
	}), own...)
	names := newNames()
	for i := range e.fields {
		f := &e.fields[i]
		f.name = names.take(camel(f.column))
		if !f.inferred {
			d.Types = append(d.Types, declare.TypeOption{Column: f.column, CQL: f.cql})
		}
		if strings.HasPrefix(f.cql, "list<") {
			d.ReadOnly = append(d.ReadOnly, f.column)
		}
	}
	d.IDs = id
	for _, t := range append([]*schema.Table{b.base}, b.queries...) {
		e.Tables = append(e.Tables, Table{t.String(), b.why[t.ID], t})
		d.Tables = append(d.Tables, b.table(e, t))
	}
	for _, u := range e.userTypes() {
		d.UserTypes = append(d.UserTypes, u.declared())
	}
	return e
}

// recorded is the column that a fingerprint names after a word, as the tables are adopted already; or "".
func (b *builder) recorded(word string) string {
	words := strings.FieldsFunc(b.base.Fingerprint, func(r rune) bool { return strings.ContainsRune(" ;[]", r) })
	if i := slices.Index(words, word) + 1; i > 0 && i < len(words) && cql.IsColumn(words[i]) && b.base.Column(words[i]) != nil {
		return words[i]
	}
	return ""
}

// free gives the first name that no table of the entity has as a column.
func (b *builder) free(candidates ...string) string {
	i := slices.IndexFunc(candidates, func(name string) bool {
		return !slices.ContainsFunc(append(b.queries, b.base), func(t *schema.Table) bool { return t.Column(name) != nil })
	})
	return candidates[max(i, 0)] // none is free: what checks the declaration says so
}

// expires says why rows seem to expire, by a sample or by a statement.
func (b *builder) expires() string {
	if b.sample != nil && b.sample.Ending > b.sample.Partly {
		return share(b.sample.Ending-b.sample.Partly, b.sample.Rows) + " end by a TTL"
	}
	if b.sample != nil && b.sample.Partly > 0 {
		return "" // by what statements write, some columns end and others stay
	}
	for _, q := range b.schema.Queries {
		if q.Table == b.base.ID && q.Verb == "INSERT" && q.TTL != 0 {
			return "a statement inserts rows with a TTL" + at(q.At)
		}
	}
	return ""
}

// expiry is the column of ExpiresAt: one that is there, or a new one.
func (b *builder) expiry() string {
	const column = "expires_at"
	if c := b.base.Column(column); c != nil && c.Type == "timestamp" && c.Kind == schema.Regular && b.has(*c) {
		return column
	}
	return b.free(column, "ends_at", "denorm_expires_at")
}

// table declares one table.
func (b *builder) table(e *Entity, t *schema.Table) declare.Table {
	out := declare.Table{Name: t.Name, Keyspace: t.Keyspace, PartKey: namesOf(t.Of(schema.PartitionKey)), Columns: []string{}}
	for _, c := range t.Of(schema.Clustering) {
		if c.Desc {
			c.Name += " DESC"
		}
		out.SortKey = append(out.SortKey, c.Name)
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
	}
	// With a stamp, a row without the other columns would pass for one that may be updated.
	out.Columns = slices.DeleteFunc(out.Columns, func(name string) bool {
		return slices.Contains(e.declaration.Stamps, name) && t.Column(name) == nil
	})
	return out
}

func namesOf(columns []schema.Column) []string {
	return each.Of(columns, func(c schema.Column) string { return c.Name })
}

// check makes the set, as the program that is written would.
func (b *builder) check(e *Entity) error {
	tried := b.types.tried
	for _, f := range e.fields {
		if len(f.user) > 0 {
			tried += f.parts
		}
	}
	if tried > maxParts {
		return fmt.Errorf("the user-defined types of its columns have too many parts: all sets may have %d", maxParts)
	}
	b.types.tried = tried
	set, err := row(e.Name, e.fields, e.declaration)
	if err != nil {
		return err
	}
	e.set = set
	var sharing []tables.Described
	for _, t := range e.Tables {
		sharing = append(sharing, b.sharing[t.ID]...)
	}
	_, err = schema.Declare(schema.Sets(append(each.Once(sharing), e)...))
	return err
}

// row makes a set of a struct with some fields.
func row(name string, fields []field, d declare.Declaration) (*layout.Set, error) {
	var parts []reflect.StructField
	for _, f := range fields {
		parts = append(parts, reflect.StructField{Name: f.name, Type: f.real, Tag: reflect.StructTag(`db:"` + f.column + `"`)})
	}
	return declare.New(name, reflect.StructOf(parts), d)
}

// userTypes are those that fields of the entity need, each after those that it has.
func (e *Entity) userTypes() (all []*userType) {
	for _, f := range e.fields {
		all = append(all, f.user...)
	}
	return each.Once(all)
}

// entityName is a name that a set can have, and none has.
func (p *Plan) entityName(name string) string {
	name = cmp.Or(strings.TrimLeft(strings.Join(words(name), "_"), "_0123456789"), "entity")
	return p.named.free(name[:min(len(name), 40)])
}

// plural is the name of a variable for the set of a struct.
func plural(name string) string {
	switch {
	case strings.HasSuffix(name, "y") && !strings.HasSuffix(name, "ey") && !strings.HasSuffix(name, "ay"):
		return strings.TrimSuffix(name, "y") + "ies"
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"), strings.HasSuffix(name, "sh"):
		return name + "es"
	}
	return name + "s"
}

// at says where something is written, after what it is.
func at(p schema.Position) string {
	if p.Line == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", p.File, p.Line)
}
