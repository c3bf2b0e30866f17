package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Parse reads CQL text: CREATE KEYSPACE, TYPE, TABLE, INDEX and MATERIALIZED VIEW, USE, and the queries that a service
// sends (SELECT, INSERT, UPDATE, DELETE, also in batches), which describe how the tables are used. The output of DESCRIBE
// is such text. file is for messages.
//
// Comments may say what CQL cannot:
//
//	-- denorm:entity order orders_by_id orders_by_user       the tables of an entity, the base table first
//	-- denorm:ignore DN101 orders_by_status few orders a day a finding that is accepted, and why; * for all tables
//	-- denorm:volume orders_by_user rows=2000/year           what is expected of a table, see Volume
//	-- denorm:domain orders_by_status.status 4               how many values a column can have
//
// They stand behind -- or //; inside /* */ they are an error. The file may be without the tables that they name, but
// for denorm:domain.
//
// Whatever else stands in the text is an error that names its line, and so is a type that is nested deeper than 100.
func Parse(file, source string) (*Schema, error) {
	source = strings.TrimPrefix(source, "\ufeff") // the byte order mark that some editors write
	tokens, err := lex(source)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	p := &parser{file: file, source: source, tokens: tokens, out: &Schema{}, seen: make(map[string]bool), tables: make(map[ID]int)}
	for p.err == nil && p.peek().kind != end {
		p.statement()
	}
	if p.err == nil {
		p.resolve()
	}
	if p.err != nil {
		return nil, fmt.Errorf("%s: %w", file, p.err)
	}
	return p.out, nil
}

type parser struct {
	file, source string
	tokens       []token
	at, depth    int
	err          error // the first
	out          *Schema
	seen         map[string]bool // the keyspaces and types of out
	tables       map[ID]int      // where they are in out
	keyspace     string          // of USE
	batch        int
	domains      []domainNote
}

type domainNote struct {
	table  ID
	column string
	values int
	line   int
}

func (p *parser) statement() {
	start := p.peek()
	switch {
	case start.kind == note:
		p.at++
		p.note(start)
		return
	case p.takeSign(";"):
		return
	case p.takeWords("use"):
		p.keyspace = p.ident()
	case p.takeWords("create", "keyspace"):
		p.createKeyspace()
	case p.takeWords("create", "type"):
		p.createType()
	case p.takeWords("create", "table"), p.takeWords("create", "columnfamily"):
		p.createTable()
	case p.takeWords("create", "index"):
		p.createIndex(false)
	case p.takeWords("create", "custom", "index"):
		p.createIndex(true)
	case p.takeWords("create", "materialized", "view"):
		p.createView()
	case p.isWord("select"), p.isWord("insert"), p.isWord("update"), p.isWord("delete"):
		p.query(0, false)
	case p.isWord("begin"):
		p.readBatch()
		return
	case p.isWord("alter"), p.isWord("drop"):
		p.fail("%q changes a schema: give the CREATE statements of the schema as it is now, for example from denorm ddl --hosts", start.text)
	default:
		p.fail("%q begins no statement that is understood here", start.text)
	}
	if p.err == nil && p.peek().kind != end && p.peek().kind != note {
		p.sign(";")
	}
}

func (p *parser) createKeyspace() {
	p.ifNotExists()
	k := Keyspace{At: p.position(), Name: p.ident()}
	p.words("with")
	for p.err == nil {
		switch {
		case p.takeWords("replication"):
			p.sign("=")
			k.Replication = normalReplication(p.mapValue())
		case p.takeWords("durable_writes"):
			p.sign("=")
			k.NonDurable = p.next().text == "false"
		default:
			p.fail("unknown option %q of a keyspace", p.peek().text)
		}
		if !p.takeWords("and") {
			break
		}
	}
	p.once("keyspace", ID{Name: k.Name})
	p.out.Keyspaces = append(p.out.Keyspaces, k)
}

func (p *parser) createType() {
	p.ifNotExists()
	t := Type{At: p.position(), ID: p.id()}
	p.sign("(")
	for p.err == nil {
		t.Fields = append(t.Fields, Field{p.ident(), p.typeName(false).String()})
		if !p.takeSign(",") {
			break
		}
	}
	p.sign(")")
	p.once("type", t.ID)
	p.out.Types = append(p.out.Types, t)
}

// once fails where something is created twice.
func (p *parser) once(kind string, id ID) {
	what := kind + " " + id.String()
	if p.seen[what] {
		p.fail("%s stands twice", what)
	}
	p.seen[what] = true
}

// normalReplication is the replication of a keyspace with the class without its package.
func normalReplication(m map[string]string) map[string]string {
	out := maps.Clone(m)
	class := out["class"]
	out["class"] = class[strings.LastIndex(class, ".")+1:]
	return out
}

func (p *parser) createIndex(custom bool) {
	p.ifNotExists()
	i := Index{At: p.position()}
	if !p.isWord("on") {
		i.Name = p.ident()
	}
	p.words("on")
	table := p.id()
	i.Keyspace, i.Table = table.Keyspace, table.Name
	p.sign("(")
	for _, f := range indexFunctions {
		if next := p.tokens[min(p.at+1, len(p.tokens)-1)]; p.isWord(f) && next.kind == sign && next.text == "(" {
			p.at += 2
			i.Target = f + "(" + quoted(p.ident()) + ")"
			p.sign(")")
			break
		}
	}
	if i.Target == "" {
		i.Target = quoted(p.ident())
	}
	p.sign(")")
	if p.takeWords("using") {
		i.Class = indexClass(p.next().text)
	} else if custom {
		p.fail("a custom index needs USING")
	}
	if p.takeWords("with") { // options of the index do not concern anything here
		p.takeWords("options")
		p.sign("=")
		p.mapValue()
	}
	if i.Name == "" {
		i.Name = defaultIndexName(i.Table, i.Target)
	}
	p.out.Indexes = append(p.out.Indexes, i)
}

// indexClass is the name of an index implementation; the one of CREATE INDEX is empty.
func indexClass(using string) string {
	short := strings.ToLower(using[strings.LastIndex(using, ".")+1:])
	switch short {
	case "legacy_local_table":
		return ""
	case "storageattachedindex", "sai":
		return "sai"
	}
	return using
}

// indexFunctions say what of a collection an index is on.
var indexFunctions = []string{"keys", "values", "entries", "full"}

// indexTarget takes a target apart; function is empty for an index on the column as it is.
func indexTarget(target string) (function, column string) {
	for _, f := range indexFunctions {
		if inner, ok := strings.CutPrefix(target, f+"("); ok && strings.HasSuffix(inner, ")") {
			function, target = f, strings.TrimSuffix(inner, ")")
			break
		}
	}
	if strings.HasPrefix(target, `"`) {
		if name, size, ok := unquote(target); ok && size == len(target) {
			return function, name
		}
	}
	return function, target
}

// column gives the name of the column that an index is on.
func (i *Index) column() string {
	_, column := indexTarget(i.Target)
	return column
}

// Column is the name of the column that the index is on.
func (i *Index) Column() string { return i.column() }

// defaultIndexName is the name that the server gives.
func defaultIndexName(table, target string) string {
	i := Index{Target: target}
	return table + "_" + i.column() + "_idx"
}

func (p *parser) createView() {
	p.ifNotExists()
	v := View{At: p.position(), ID: p.id()}
	p.words("as", "select")
	for p.err == nil && !p.isWord("from") {
		if !p.takeSign("*") {
			v.Columns = append(v.Columns, Column{Name: p.ident(), Kind: Regular})
		}
		p.takeSign(",")
	}
	p.words("from")
	v.Base = p.id().Name
	p.words("where")
	from := p.at
	for p.err == nil && !p.isWord("primary", "key") {
		if p.isSign(";") {
			p.fail("the view ends before its PRIMARY KEY")
		}
		p.next()
	}
	if p.err != nil {
		return
	}
	v.Where = spelled(p.source, p.tokens[from:p.at])
	p.words("primary", "key")
	part, clustering := p.primaryKey()
	for _, name := range slices.Concat(part, clustering) {
		if !slices.ContainsFunc(v.Columns, func(c Column) bool { return c.Name == name }) {
			v.Columns = append(v.Columns, Column{Name: name, Kind: Regular})
		}
	}
	p.setKey(&v.Columns, part, clustering)
	if p.takeWords("with") {
		p.tableOptions(v.Columns, map[string]string{})
	}
	p.out.Views = append(p.out.Views, v)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// resolve holds what notes and queries say against the tables.
func (p *parser) resolve() {
	for _, d := range p.domains {
		if i, ok := p.tables[d.table]; ok {
			if c := p.out.Tables[i].Column(d.column); c != nil {
				c.Domain = d.values
				continue
			}
		}
		p.err = fmt.Errorf("line %d: denorm:domain: this file creates no table %s with a column %s: correct the name, or put the CREATE TABLE, as "+
			"denorm ddl --hosts writes it, into the file: also with --hosts", d.line, d.table, d.column)
		return
	}
}
