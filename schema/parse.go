package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/fingerprint/compare"
)

// Parse reads CQL text, for example the output of DESCRIBE: definitions of keyspaces, types, tables, indexes and views,
// and the queries that a service sends. file is for messages. Comments after -- or // may say what CQL cannot:
//
//	-- denorm:entity order orders_by_id orders_by_user       the tables of an entity, the base table first
//	-- denorm:ignore DN101 orders_by_status few orders a day a finding that is accepted, and why; * for all tables
//	-- denorm:volume orders_by_user rows=2000/year           what is expected of a table, see Volume
//	-- denorm:domain orders_by_status.status 4               how many values a column can have
//
// ALTER and DROP change what the text has created before. A template, as ${keyspace} or {{keyspace}}, may stand for a
// name, an option or a value. Functions, aggregates, triggers, and table options that Cassandra rejects go to Unread.
// Anything else is an error that names its line: see the package documentation. More texts are read after the first, as
// in [Review].
func Parse(file, source string, more ...Source) (*Schema, error) {
	return parse(false, append([]Source{{File: file, Text: source}}, more...)...)
}

// Source is a CQL text.
type Source struct {
	File, Text string // the name is for messages
	Keyspace   string // of names without a keyspace, before the first USE; empty leaves it open
}

// Review is like [Parse], for a schema that is only reviewed and not created. A statement or note that it does not
// understand is not an error, but goes to Unread, and package lint reports it. Commands of cqlsh are skipped. Several
// texts are read one after the other, like migrations. Each may change what earlier texts have created, and USE applies
// to its own text only.
func Review(sources ...Source) (*Schema, error) { return parse(true, sources...) }

func parse(review bool, sources ...Source) (*Schema, error) {
	p := &parser{review: review, absent: "the text does not create it before"}
	p.on(&Schema{})
	for _, s := range sources {
		script, err := ast.NewScript(strings.TrimPrefix(s.Text, "\ufeff")) // the byte order mark that some editors write
		if err == nil {
			p.file, p.script, p.notes, p.keyspace = s.File, script, script.Comments, s.Keyspace
			clear(p.emptied)
			err = p.read()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.File, err)
		}
	}
	p.forget()
	if err := p.expanded(); err != nil {
		return nil, err
	}
	p.out.resolve()
	return p.out, nil
}

// on makes the parser change a schema.
func (p *parser) on(s *Schema) {
	p.out, p.tables, p.gone, p.emptied = s, make(map[ID]int), make(map[column]int), make(map[ID]ast.Span)
	for i, t := range s.Tables {
		p.tables[t.ID] = i
	}
}

// column is a column of a table, or with an empty name the table.
type column struct {
	ID
	column string
}

// maxExpanded bounds the columns that views have by SELECT *: a small text could have many views of a table with many
// columns.
const maxExpanded = 100_000

// expanded fails if views have more columns than that.
func (p *parser) expanded() error {
	n := 0
	for _, v := range p.out.Views {
		if at, known := p.tables[ID{v.Keyspace, v.Base}]; known && v.All {
			n += len(p.out.Tables[at].Columns)
		}
		if n > maxExpanded {
			return fmt.Errorf("%s: line %d: with view %s, views of SELECT * have more than %d columns in all: name those that they need",
				v.At.File, v.At.Line, v.ID, maxExpanded)
		}
	}
	return nil
}

// forget leaves out queries of what the text drops or renames after them: they ran before, as statements of a
// migration.
func (p *parser) forget() {
	n := -1
	p.out.Queries = slices.DeleteFunc(p.out.Queries, func(q Query) bool {
		n++
		return p.gone[column{ID: q.Table}] > n || slices.ContainsFunc(q.Columns, func(c string) bool { return p.gone[column{q.Table, c}] > n })
	})
}

// parser makes a schema of the statements of a text.
type parser struct {
	file     string
	script   *ast.Script
	notes    []ast.Comment // those that are not read yet
	out      *Schema
	tables   map[ID]int     // where they are in out
	gone     map[column]int // what was dropped or renamed, and how many queries came before
	keyspace string         // of USE
	batch    int
	emptied  map[ID]ast.Span // of each DROP IF EXISTS; of a keyspace without the name of a table
	review   bool            // goes on after what is not understood
	absent   string          // why a statement on what is not there is an error
	rerun    bool            // what a statement makes may be there, and what it drops may be gone
}

// cqlsh are the commands of that shell which change nothing. They end with the line.
var cqlsh = strings.Fields("describe desc consistency serial tracing paging expand source capture show login clear cls exit quit help elapsed")

func (p *parser) read() error {
	for {
		first, at, more := p.script.Next()
		for len(p.notes) > 0 && p.notes[0].At < at {
			switch err := p.comment(p.notes[0]); {
			case err != nil && !p.review:
				return err
			case err != nil:
				p.out.Unread = append(p.out.Unread, Unread{
					Text: "--" + strings.TrimRight(p.notes[0].Text, "\r"), Reason: err.Error(), At: p.position(p.notes[0].At),
				})
			}
			p.notes = p.notes[1:]
		}
		if !more {
			return nil
		}
		if p.review && slices.Contains(cqlsh, first) {
			p.script.SkipLine()
			continue
		}
		switch span, err := p.statement(); {
		case err != nil && p.passes(span):
			if made := code.FindString(p.script.Text(span)); made != "" && !p.review {
				p.leftOut(made, span.From, "%s", made)
			}
		case err != nil && !p.review:
			return err
		case err != nil:
			p.unread(span, err)
		}
	}
}

// fail is an error at a place of the text.
func (p *parser) fail(at int, format string, args ...any) error {
	return fmt.Errorf("line %d: %w", p.script.Line(at), fmt.Errorf(format, args...))
}

func (p *parser) position(at int) Position { return Position{p.file, p.script.Line(at)} }

// id is a name with its keyspace.
func (p *parser) id(n cql.Name) ID {
	if n.Keyspace == "" {
		n.Keyspace = p.keyspace
	}
	return ID(n)
}

// there is the name of a thing that the text has created. A review takes a thing that names no keyspace for the one
// that is meant: a tool or a session chose the keyspace.
func (p *parser) there(what string, n cql.Name) ID {
	id, bare := p.id(n), ID{Name: n.Name}
	if p.review && !p.has(what, id) && p.has(what, bare) {
		return bare
	}
	return id
}

// has says whether the text has created a thing of a kind.
func (p *parser) has(what string, id ID) bool {
	switch what {
	case "TYPE":
		return named(p.out.Types, id) != nil
	case "INDEX":
		return named(p.out.Indexes, id) != nil
	case "MATERIALIZED VIEW":
		return named(p.out.Views, id) != nil
	case "TABLE":
		_, known := p.tables[id]
		return known
	}
	return false
}

// statement reads one, and says where it was.
func (p *parser) statement() (ast.Span, error) {
	s, span, err := p.script.Statement()
	if err != nil {
		return span, err
	}
	return span, p.run(s, span)
}

// run changes the schema as a statement does.
func (p *parser) run(s ast.Statement, span ast.Span) error {
	at := span.From
	switch s := s.(type) {
	case *ast.Use:
		p.keyspace = s.Keyspace
	case *ast.CreateKeyspace:
		return p.createKeyspace(s, at)
	case *ast.CreateType:
		return p.createType(s, at)
	case *ast.CreateTable:
		return p.createTable(s, span)
	case *ast.CreateIndex:
		return p.createIndex(s, at)
	case *ast.CreateView:
		return p.createView(s, span)
	case *ast.AlterTable:
		return p.alterTable(s, at)
	case *ast.Drop:
		if s.IfExists && p.review {
			p.emptied[p.dropped(s)] = span
		}
		return p.drop(s, at)
	case *ast.Truncate:
		if p.review {
			p.unread(span, p.fail(at, "TRUNCATE deletes all rows at once, and fails unless every node is up"))
		}
	default:
		p.query(s, span)
	}
	return nil
}

// dropped is what a statement drops: of a keyspace without the name of a table.
func (p *parser) dropped(s *ast.Drop) ID {
	if s.What == "KEYSPACE" {
		return ID{Keyspace: s.Name.Name}
	}
	return p.id(s.Name)
}

// again tells of a DROP IF EXISTS of what the same text creates.
func (p *parser) again(id ID) {
	if span, ok := p.emptied[id]; ok {
		p.unread(span, p.fail(span.From, "DROP of what the text creates: where it is run again, all rows are lost"))
		delete(p.emptied, id)
	}
}

func (p *parser) createKeyspace(s *ast.CreateKeyspace, at int) error {
	p.again(ID{Keyspace: s.Keyspace})
	for _, name := range s.Unknown {
		if !p.review {
			return p.fail(at, "option %s of %s: Cassandra does not know it: leave it out", name, s.Keyspace)
		}
		p.leftOut(name, at, "option %s of %s: Cassandra does not know it: leave it out", name, s.Keyspace)
	}
	there := p.out.Keyspace(s.Keyspace) != nil
	switch {
	case s.Alter:
		return p.alterKeyspace(s, at)
	case there && (s.IfNotExists || p.rerun):
		return nil
	}
	if len(s.Replication) == 0 && !p.review {
		p.leftOut(s.Keyspace, at, "keyspace %s, whose replication is not said", s.Keyspace)
	}
	p.out.Keyspaces = append(p.out.Keyspaces, Keyspace{
		Name: s.Keyspace, Replication: normalReplication(s.Replication), NonDurable: !s.Durable, At: p.position(at),
	})
	return p.once(there, at, "keyspace", ID{Name: s.Keyspace})
}

func (p *parser) createType(s *ast.CreateType, at int) error {
	t := Type{At: p.position(at), ID: p.id(s.Type)}
	there := named(p.out.Types, t.ID) != nil
	switch {
	case s.Alter:
		return p.alterType(s, at)
	case there && (s.IfNotExists || p.rerun):
		return nil
	}
	t.Fields = each.Of(s.Fields, fieldOf)
	p.out.Types = append(p.out.Types, t)
	return p.once(there, at, "type", t.ID)
}

func fieldOf(d ast.ColumnDefinition) Field { return Field{d.Name, ast.Canonical(d.Type).String()} }

// once fails where something is created that was there before.
func (p *parser) once(there bool, at int, kind string, id ID) error {
	if !there {
		return nil
	}
	return p.fail(at, "%s %s is created twice", kind, id)
}

// normalReplication is the replication of a keyspace with the class without Cassandra's package.
func normalReplication(m map[string]string) map[string]string {
	out := maps.Clone(m)
	if class, ok := out["class"]; ok {
		out["class"] = className(class)
	}
	return out
}

func (p *parser) createTable(s *ast.CreateTable, span ast.Span) error {
	t := Table{At: p.position(span.From), ID: p.id(s.Table), Options: make(map[string]string)}
	p.again(t.ID)
	_, there := p.tables[t.ID]
	if there && (s.IfNotExists || p.rerun) {
		return nil
	}
	p.setOptions(t.Options, s.Options, t.ID, span.From)
	declared := make(map[string]bool, len(s.Columns))
	for _, d := range s.Columns {
		if declared[d.Name] {
			return p.fail(p.script.Find(span, d.Name, 1), "column %s is declared twice", d.Name)
		}
		declared[d.Name] = true
		t.Columns = append(t.Columns, columnOf(d))
	}
	if err := p.setKey(&t.Columns, span, s.Partition, s.Clustering, s.Order); err != nil {
		return err
	}
	t.splitComment()
	if err := p.once(there, span.From, "table", t.ID); err != nil {
		return err
	}
	p.tables[t.ID] = len(p.out.Tables)
	p.out.Tables = append(p.out.Tables, t)
	return nil
}

// columnOf is a column that is not in the key, or not yet.
func columnOf(d ast.ColumnDefinition) Column {
	c := Column{Name: d.Name, Type: ast.Canonical(d.Type).String(), Kind: Regular, Mask: d.Mask}
	if d.Static {
		c.Kind = Static
	}
	return c
}

// setOptions sets options of a table or a view. Those that Cassandra rejects are left out.
func (p *parser) setOptions(options map[string]string, set []ast.Option, id ID, at int) {
	for _, o := range set {
		why, kept := rejected(o)
		if p.review && strings.Contains(why, "Missing sub-option 'class'") { // a rule of package lint says so
			why = ""
		}
		if why != "" && (p.review || !kept) {
			p.leftOut(o.Name, at, "option %s of %s: %s", o.Name, id, why)
		}
		if o.Name != "id" && (why == "" || kept) { // the id belongs to one table, not to its description
			options[o.Name] = literalOf(o)
		}
	}
}

// leftOut takes down what is read and left out.
func (p *parser) leftOut(text string, at int, format string, args ...any) {
	p.out.Unread = append(p.out.Unread, Unread{Text: text, Reason: p.fail(at, format, args...).Error(), At: p.position(at)})
}

// setKey brings the columns into their order, those of the key first.
func (p *parser) setKey(columns *[]Column, span ast.Span, part, clustering []string, order []ast.Order) error {
	if len(part) == 0 {
		return p.fail(span.From, "no PRIMARY KEY")
	}
	rest := make(map[string]int, len(*columns))
	for i, c := range *columns {
		rest[c.Name] = i
	}
	var sorted []Column
	for i, name := range slices.Concat(part, clustering) {
		at, ok := rest[name]
		if !ok {
			return p.fail(p.script.Find(span, name, -1), "key column %s is not one of the columns, or is twice in the key", name)
		}
		delete(rest, name)
		c := (*columns)[at]
		c.Kind = PartitionKey
		if i >= len(part) {
			c.Kind = Clustering
		}
		sorted = append(sorted, c)
	}
	for _, o := range order {
		i := slices.Index(clustering, o.Column)
		if i < 0 {
			return p.fail(p.script.Find(span, o.Column, -1), "CLUSTERING ORDER names %s: not a clustering column", o.Column)
		}
		sorted[len(part)+i].Desc = o.Descending
	}
	for _, c := range *columns {
		if _, ok := rest[c.Name]; ok {
			sorted = append(sorted, c)
		}
	}
	*columns = sorted
	return nil
}

func (p *parser) createView(s *ast.CreateView, span ast.Span) error {
	v := View{
		At: p.position(span.From), ID: p.id(s.View), Base: s.From.Name, Where: p.script.Text(s.Text), All: s.Columns == nil,
		Options: make(map[string]string),
	}
	names := each.Once(slices.Concat(s.Columns, s.Partition, s.Clustering))
	v.Columns = each.Of(names, func(name string) Column { return Column{Name: name, Kind: Regular} })
	there := named(p.out.Views, v.ID) != nil
	if there && (s.IfNotExists || p.rerun) {
		return nil
	}
	p.setOptions(v.Options, s.Options, v.ID, span.From)
	if err := p.setKey(&v.Columns, span, s.Partition, s.Clustering, s.Order); err != nil {
		return err
	}
	if err := p.once(there, span.From, "materialized view", v.ID); err != nil {
		return err
	}
	p.out.Views = append(p.out.Views, v)
	return nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// resolve gives columns the domains that notes state, and views the columns and types of their base tables, as far as
// these are here.
func (s *Schema) resolve() {
	if len(s.Domains)+len(s.Views) == 0 {
		return
	}
	tables, columns := make(map[ID]*Table, len(s.Tables)), make(map[column]*Column)
	for _, d := range s.Domains {
		tables[d.Table] = nil
	}
	for i := range s.Tables {
		t := &s.Tables[i]
		of, domains := tables[t.ID]
		if of != nil {
			continue
		}
		if tables[t.ID] = t; domains {
			t.Columns = slices.Clone(t.Columns)
		}
		for i := range t.Columns {
			columns[column{t.ID, t.Columns[i].Name}] = &t.Columns[i]
		}
	}
	s.Domains = slices.DeleteFunc(slices.Clone(s.Domains), func(d Domain) bool {
		c := columns[column{d.Table, d.Column}]
		if c != nil {
			c.Domain = d.Values
		}
		return c != nil
	})
	for i := range s.Views {
		v := &s.Views[i]
		if base := tables[ID{v.Keyspace, v.Base}]; base != nil {
			v.resolve(base, columns)
		}
	}
}

func (v *View) resolve(base *Table, columns map[column]*Column) {
	v.Columns = slices.Clone(v.Columns)
	known := make(map[string]bool)
	for i := range v.Columns {
		c := &v.Columns[i]
		known[c.Name] = true
		if of := columns[column{base.ID, c.Name}]; of != nil && c.Type == "" {
			c.Type = of.Type
		}
	}
	for _, c := range base.Columns {
		if v.All && c.Kind != Static && !known[c.Name] {
			v.Columns = append(v.Columns, Column{Name: c.Name, Type: c.Type, Kind: Regular})
		}
	}
}

// splitComment takes the fingerprint of the table out of its comment.
func (t *Table) splitComment() {
	own, text := compare.Split(t.Comment())
	if text == "" {
		return
	}
	t.Fingerprint = text
	if t.Options[optComment] = cql.Literal(own); own == "" {
		delete(t.Options, optComment)
	}
}
