package schema

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
)

// alterTable changes a table that the text has created.
func (p *parser) alterTable(s *ast.AlterTable, at int) error {
	if s.View {
		return p.alterView(s, at)
	}
	id := p.there("TABLE", s.Table)
	i, known := p.tables[id]
	if !known {
		return p.missing(s.IfExists, at, "ALTER TABLE", id)
	}
	table := p.out.Tables[i] // a statement that the server would reject changes nothing
	if len(s.Drop)+len(s.Rename) > 0 {
		table.Columns = slices.Clone(table.Columns)
	}
	t := &table
	for _, d := range s.Add {
		switch {
		case t.Column(d.Name) == nil:
			t.Columns = append(t.Columns, columnOf(d))
		case !s.IfNotExists && !p.rerun:
			return p.fail(at, "ALTER TABLE %s: there is a column %s already", id, d.Name)
		}
	}
	for _, name := range s.Drop {
		switch c := t.Column(name); {
		case c == nil && !s.IfNotExists && !p.rerun, c != nil && c.inKey():
			return p.fail(at, "ALTER TABLE %s: there is no column %s alongside the key", id, name)
		case c != nil:
			t.Columns = slices.DeleteFunc(t.Columns, func(c Column) bool { return c.Name == name })
			p.gone[column{id, name}] = len(p.out.Queries)
		}
	}
	for _, names := range s.Rename {
		if i := slices.IndexFunc(p.out.Views, func(v View) bool { return v.Keyspace == id.Keyspace && v.Base == id.Name }); i >= 0 {
			return p.fail(at, "ALTER TABLE %s: columns of its materialized view %s are not renamed here: write the text of both as it is afterwards, "+
				"for example by denorm ddl --hosts", id, p.out.Views[i].ID)
		}
		switch c := t.Column(names[0]); {
		case c != nil && c.inKey() && t.Column(names[1]) == nil:
			c.Name = names[1]
			p.gone[column{id, names[0]}] = len(p.out.Queries)
		case c != nil || !s.IfNotExists && !p.rerun:
			return p.fail(at, "ALTER TABLE %s: column %s cannot be renamed to %s: the first has to be in the primary key, and the second must not be there",
				id, names[0], names[1])
		}
	}
	t.Options = maps.Clone(t.Options)
	if s.DropCompact && !t.dropCompact() && !p.rerun {
		return p.fail(at, "ALTER TABLE %s: it has no COMPACT STORAGE", id)
	}
	p.setOptions(t.Options, s.Options, id, at)
	if slices.ContainsFunc(s.Options, func(o ast.Option) bool { return o.Name == optComment }) {
		t.Fingerprint = "" // it was in the former one
	}
	t.splitComment()
	p.out.Tables[i] = table
	return nil
}

// dropCompact takes COMPACT STORAGE away, and says whether it was there. As in Cassandra, the internal columns of a
// table without clustering columns show from then on.
func (t *Table) dropCompact() bool {
	_, compact := t.Options[ast.CompactStorage]
	delete(t.Options, ast.CompactStorage)
	key := len(t.Of(PartitionKey))
	if !compact || len(t.Of(Clustering)) > 0 || key == len(t.Columns) {
		return compact
	}
	free := func(name string, n int) string { // of column1, column2 and so on, or value, value1 and so on
		for ; ; n++ {
			if name := strings.TrimSuffix(name+strconv.Itoa(n), "0"); t.Column(name) == nil {
				return name
			}
		}
	}
	name, value := Column{Name: free("column", 1), Type: "text", Kind: Clustering}, Column{Name: free("value", 0), Type: "blob", Kind: Regular}
	if t.Columns[key].Type == "counter" {
		value.Type = "counter"
	}
	t.Columns = append(slices.Insert(slices.Clone(t.Columns), key, name), value)
	for i := range t.Columns[:len(t.Columns)-1] {
		if c := &t.Columns[i]; c.Kind == Regular {
			c.Kind = Static
		}
	}
	return true
}

// alterView changes the options of a view that the text has created.
func (p *parser) alterView(s *ast.AlterTable, at int) error {
	id := p.there("MATERIALIZED VIEW", s.Table)
	v := named(p.out.Views, id)
	if v == nil {
		return p.missing(s.IfExists, at, "ALTER MATERIALIZED VIEW", id)
	}
	p.setOptions(v.Options, s.Options, id, at)
	return nil
}

// alterKeyspace changes a keyspace that the text has created.
func (p *parser) alterKeyspace(s *ast.CreateKeyspace, at int) error {
	k := p.out.Keyspace(s.Keyspace)
	if k == nil {
		return p.missing(s.IfNotExists, at, "ALTER KEYSPACE", s.Keyspace) // of ALTER it is IF EXISTS
	}
	if len(s.Replication) > 0 {
		k.Replication = normalReplication(s.Replication)
	}
	if !s.KeepDurable {
		k.NonDurable = !s.Durable
	}
	return nil
}

// alterType adds fields to a type that the text has created, or renames them.
func (p *parser) alterType(s *ast.CreateType, at int) error {
	id := p.there("TYPE", s.Type)
	t := named(p.out.Types, id)
	if t == nil {
		return p.missing(s.IfExists, at, "ALTER TYPE", id)
	}
	for _, f := range s.Fields {
		known := slices.ContainsFunc(t.Fields, func(o Field) bool { return o.Name == f.Name })
		switch {
		case !known:
			t.Fields = append(t.Fields, fieldOf(f))
		case !s.IfNotExists && !p.rerun:
			return p.fail(at, "ALTER TYPE %s: there is a field %s already", id, f.Name)
		}
	}
	for _, names := range s.Rename {
		t.Fields = slices.Clone(t.Fields)
		is := func(name string) func(Field) bool { return func(f Field) bool { return f.Name == name } }
		switch i := slices.IndexFunc(t.Fields, is(names[0])); {
		case i >= 0 && !slices.ContainsFunc(t.Fields, is(names[1])):
			t.Fields[i].Name = names[1]
		case i >= 0 || !s.IfNotExists && !p.rerun:
			return p.fail(at, "ALTER TYPE %s: field %s cannot be renamed to %s: the first must be there, and the second must not", id, names[0], names[1])
		}
	}
	return nil
}

// drop takes away what the text has created.
func (p *parser) drop(s *ast.Drop, at int) error {
	id, before := p.there(s.What, s.Name), p.created()
	if s.What == "KEYSPACE" {
		id = ID{Name: s.Name.Name}
	}
	is := func(kind string, of ID) bool {
		return s.What == kind && of == id || s.What == "KEYSPACE" && of.Keyspace == id.Name
	}
	if s.What == "TABLE" {
		p.gone[column{ID: id}] = len(p.out.Queries)
	}
	ofTable := func(keyspace, table string) bool { return is("TABLE", ID{keyspace, table}) }
	out := p.out
	out.Indexes = slices.DeleteFunc(out.Indexes, func(i Index) bool { return is("INDEX", i.ID) || ofTable(i.Keyspace, i.Table) })
	out.Views = slices.DeleteFunc(out.Views, func(v View) bool { return is("MATERIALIZED VIEW", v.ID) })
	out.Types = slices.DeleteFunc(out.Types, func(t Type) bool { return is("TYPE", t.ID) })
	out.Tables = slices.DeleteFunc(out.Tables, func(t Table) bool { return is("TABLE", t.ID) })
	out.Keyspaces = slices.DeleteFunc(out.Keyspaces, func(k Keyspace) bool { return s.What == "KEYSPACE" && k.Name == id.Name })
	if p.created() == before && !s.IfExists && !p.rerun {
		return p.missing(false, at, "DROP "+s.What, id)
	}
	clear(p.tables)
	for i, t := range out.Tables {
		p.tables[t.ID] = i
	}
	return nil
}

// missing is the error of a statement on what the text has not created, unless it has IF EXISTS.
func (p *parser) missing(ifExists bool, at int, statement string, name any) error {
	if ifExists {
		return nil
	}
	return p.fail(at, "%s %s: %s", statement, name, p.absent)
}

// created is how many things there are.
func (p *parser) created() int {
	return len(p.out.Indexes) + len(p.out.Views) + len(p.out.Types) + len(p.out.Tables) + len(p.out.Keyspaces)
}

// rights are words that statements begin with which are about no table; others of these are about what follows one of
// changes, and ours are not. begins are reserved words that other statements begin with.
var (
	rights  = strings.Fields("GRANT REVOKE LIST")
	changes = strings.Fields("CREATE ALTER DROP ADD")
	others  = strings.Fields("FUNCTION AGGREGATE TRIGGER ROLE USER IDENTITY OR")
	begins  = strings.Fields("USE INSERT UPDATE DELETE BEGIN TRUNCATE")
	ours    = strings.Fields("KEYSPACE TABLE COLUMNFAMILY TYPE INDEX CUSTOM MATERIALIZED")
)

// passes says whether a statement that is not understood is about no table, or a command of cqlsh that ends like one.
func (p *parser) passes(span ast.Span) bool {
	words := append(strings.Fields(strings.ToUpper(p.script.Text(span))), "", "")
	body := words[1] == "FUNCTION" || words[1] == "AGGREGATE" || words[1] == "OR" // of code, which may have any word
	for i, w := range words[2:] {                                                 // a statement after it, where a semicolon is missing, would be passed over too
		if slices.Contains(ours, w) && slices.Contains(changes, words[i+1]) || !body && slices.Contains(begins, w) {
			return false
		}
	}
	return slices.Contains(rights, words[0]) || slices.Contains(changes, words[0]) && slices.Contains(others, words[1]) || p.review && words[0] == "COPY"
}

// code matches the beginning of a statement that creates code, with its name.
var code = regexp.MustCompile(`(?i)^CREATE (?:OR REPLACE )?(?:FUNCTION|AGGREGATE|TRIGGER) (?:IF NOT EXISTS )?[\w."]+`)

// maxUnread bounds what is shown of a statement that is not understood, in bytes: it may be a text that is no CQL, and
// nobody else's business.
const maxUnread = 120

// unread takes down a statement that is not understood.
func (p *parser) unread(span ast.Span, err error) {
	text := oneLine(p.script.Text(span))
	if len(text) > maxUnread {
		text = strings.ToValidUTF8(text[:maxUnread], "") + " ..."
	}
	p.out.Unread = append(p.out.Unread, Unread{Text: text, Reason: err.Error(), At: p.position(span.From)})
}
