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
// Whatever else stands in the text is an error that names its line.
func Parse(file, source string) (*Schema, error) {
	tokens, err := lex(source)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	p := &parser{file: file, source: source, tokens: tokens, out: &Schema{}}
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
	at           int
	err          error // the first
	out          *Schema
	keyspace     string // of USE
	batch        int
	domains      []domainNote
}

type domainNote struct {
	table  ID
	column string
	values int
	line   int
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("line %d: %w", p.peek().line, fmt.Errorf(format, args...))
	}
}

func (p *parser) peek() token { return p.tokens[min(p.at, len(p.tokens)-1)] }

func (p *parser) next() token {
	t := p.peek()
	if t.kind == end {
		p.fail("the text ends too early")
	}
	p.at++
	return t
}

func (p *parser) isWord(words ...string) bool {
	for i, w := range words {
		t := p.tokens[min(p.at+i, len(p.tokens)-1)]
		if t.kind != word || t.text != w {
			return false
		}
	}
	return true
}

// takeWords goes on if the next tokens are these words.
func (p *parser) takeWords(words ...string) bool {
	if !p.isWord(words...) {
		return false
	}
	p.at += len(words)
	return true
}

func (p *parser) words(words ...string) {
	if !p.takeWords(words...) {
		p.fail("want %s, not %q", strings.ToUpper(strings.Join(words, " ")), p.peek().text)
	}
}

func (p *parser) isSign(s string) bool { t := p.peek(); return t.kind == sign && t.text == s }

func (p *parser) takeSign(s string) bool {
	if !p.isSign(s) {
		return false
	}
	p.at++
	return true
}

func (p *parser) sign(s string) {
	if !p.takeSign(s) {
		p.fail("want %q, not %q", s, p.peek().text)
	}
}

func (p *parser) position() Position { return Position{p.file, p.peek().line} }

// ident reads a name.
func (p *parser) ident() string {
	t := p.next()
	if t.kind != word && t.kind != name {
		p.fail("want a name, not %q", t.text)
	}
	return t.text
}

// id reads a name with or without keyspace.
func (p *parser) id() ID {
	first := p.ident()
	if p.takeSign(".") {
		return ID{first, p.ident()}
	}
	return ID{p.keyspace, first}
}

func (p *parser) ifNotExists() { p.takeWords("if", "not", "exists") }

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
	if p.out.Keyspace(k.Name) != nil {
		p.fail("keyspace %s stands twice", k.Name)
	}
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
	if slices.ContainsFunc(p.out.Types, func(o Type) bool { return o.ID == t.ID }) {
		p.fail("type %s stands twice", t.ID)
	}
	p.out.Types = append(p.out.Types, t)
}

func (p *parser) createTable() {
	p.ifNotExists()
	t := Table{At: p.position(), ID: p.id(), Options: map[string]string{}}
	p.sign("(")
	var part, clustering []string
	for p.err == nil {
		if p.takeWords("primary", "key") {
			part, clustering = p.primaryKey()
		} else {
			c := Column{Name: p.ident(), Type: p.typeName(false).String(), Kind: Regular}
			if p.takeWords("static") {
				c.Kind = Static
			}
			if p.takeWords("primary", "key") {
				part = []string{c.Name}
			}
			if t.Column(c.Name) != nil {
				p.fail("column %s stands twice", c.Name)
			}
			t.Columns = append(t.Columns, c)
		}
		if !p.takeSign(",") {
			break
		}
	}
	p.sign(")")
	p.setKey(&t.Columns, part, clustering)
	if p.takeWords("with") {
		p.tableOptions(t.Columns, t.Options)
	}
	if p.out.Table(t.ID) != nil {
		p.fail("table %s stands twice", t.ID)
	}
	p.out.Tables = append(p.out.Tables, t)
}

// primaryKey reads ((a, b), c, d).
func (p *parser) primaryKey() (part, clustering []string) {
	p.sign("(")
	if p.takeSign("(") {
		for p.err == nil {
			part = append(part, p.ident())
			if !p.takeSign(",") {
				break
			}
		}
		p.sign(")")
	} else {
		part = []string{p.ident()}
	}
	for p.err == nil && p.takeSign(",") {
		clustering = append(clustering, p.ident())
	}
	p.sign(")")
	return part, clustering
}

// setKey brings the columns into their order, those of the key first.
func (p *parser) setKey(columns *[]Column, part, clustering []string) {
	if p.err != nil {
		return
	}
	if len(part) == 0 {
		p.fail("%w", errNoKey)
		return
	}
	var sorted []Column
	for i, name := range slices.Concat(part, clustering) {
		at := slices.IndexFunc(*columns, func(c Column) bool { return c.Name == name })
		if at < 0 {
			p.fail("key column %s is none of the columns, or stands twice in the key", name)
			return
		}
		c := (*columns)[at]
		*columns = slices.Delete(*columns, at, at+1)
		c.Kind = PartitionKey
		if i >= len(part) {
			c.Kind = Clustering
		}
		sorted = append(sorted, c)
	}
	*columns = append(sorted, *columns...)
}

func (p *parser) tableOptions(columns []Column, options map[string]string) {
	for p.err == nil {
		switch {
		case p.takeWords("clustering", "order", "by"):
			p.sign("(")
			for p.err == nil {
				column := p.ident()
				i := slices.IndexFunc(columns, func(c Column) bool { return c.Name == column && c.Kind == Clustering })
				if i < 0 {
					p.fail("CLUSTERING ORDER names %s, which is no clustering column", column)
					return
				}
				columns[i].Desc = p.descending()
				if !p.takeSign(",") {
					break
				}
			}
			p.sign(")")
		case p.isWord("compact", "storage"):
			p.fail("COMPACT STORAGE is not supported")
		default:
			option := p.ident()
			p.sign("=")
			if p.err != nil {
				return
			}
			if _, twice := options[option]; twice {
				p.fail("option %s stands twice", option)
			}
			if literal := p.optionValue(option); option != "id" { // an id is that of one table, not of its description
				options[option] = literal
			}
		}
		if !p.takeWords("and") {
			return
		}
	}
}

// optionValue reads the value of an option and spells it in the one way in which it is compared.
func (p *parser) optionValue(option string) string {
	if p.isSign("{") {
		return mapLiteral(normalOption(option, p.mapValue()))
	}
	t := p.next()
	switch t.kind {
	case text:
		return textLiteral(t.text)
	case number:
		return numberLiteral(t.text)
	case word:
		return t.text
	default:
		p.fail("option %s: unexpected %q", option, t.text)
		return ""
	}
}

// mapValue reads {'a': 'b', 'c': 4}.
func (p *parser) mapValue() map[string]string {
	m := map[string]string{}
	p.sign("{")
	for p.err == nil && !p.isSign("}") {
		key := p.next().text
		p.sign(":")
		m[key] = p.next().text
		if !p.takeSign(",") {
			break
		}
	}
	p.sign("}")
	return m
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
	for _, f := range []string{"keys", "values", "entries", "full"} {
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

// column gives the name of the column that an index is on.
func (i *Index) column() string {
	target := i.Target
	if _, inner, ok := strings.Cut(target, "("); ok {
		target = strings.TrimSuffix(inner, ")")
	}
	if value, _, ok := unquote(target + " "); strings.HasPrefix(target, `"`) && ok {
		return value
	}
	return target
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
	from := p.peek().from
	for p.err == nil && !p.isWord("primary", "key") {
		p.next()
	}
	if p.err != nil {
		return
	}
	v.Where = oneLine(p.source[from:p.peek().from])
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
		t := p.out.Table(d.table)
		if t == nil || t.Column(d.column) == nil {
			p.err = fmt.Errorf("line %d: there is no column %s in a table %s", d.line, d.column, d.table)
			return
		}
		t.Column(d.column).Domain = d.values
	}
}
