package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// statement is CQL that has been read.
type statement struct {
	text            string
	verb            string // in upper case
	keyspace, table string
	marks           []mark
	routing         []uint16 // the marks of the partition key, in its order; nil unless all of it is bound
	selected        []string // columns, nil for all of them
	wanted          []filter
	conditional     bool
	of              *table // nil if there is no such table
	err             error  // why it cannot be prepared
}

// mark is a question mark.
type mark struct {
	column string
	typ    *cqltype.Type
	key    bool // its column is set or compared for equality with it
}

// filter is an equality in a WHERE. Its value is a literal, or that of a mark.
type filter struct {
	column, literal string
	mark            int // -1 for a literal
}

func isSystem(name string) bool { return strings.HasPrefix(name, "system") }

func cql(name string) *cqltype.Type {
	t, err := cqltype.Parse(name)
	if err != nil {
		panic(err) // a name in this package
	}
	return t
}

// parse reads a statement. It knows the forms that are used for rows, and enough of them to say which columns the marks
// stand for.
func (s *schema) parse(text, keyspace string) statement {
	all := split(text)
	w := words{all}
	p := statement{text: text, verb: strings.ToUpper(w.next())}
	var deleted []string // the columns of a DELETE
	switch p.verb {
	case "INSERT":
		w.accept("into")
	case "UPDATE":
	case "DELETE":
		deleted = w.until("from")
		w.next()
	case "SELECT":
		for _, c := range w.until("from") {
			if c != "," {
				p.selected = append(p.selected, unquoted(c))
			}
		}
		if slices.Equal(p.selected, []string{"*"}) {
			p.selected = nil
		}
		w.next()
	case "USE":
		p.keyspace = unquoted(w.next())
		return p
	case "CREATE":
		return p
	default:
		p.err = errors.New("no statement that this server knows")
		return p
	}
	p.keyspace, p.table = w.table(keyspace)
	if isSystem(p.keyspace) {
		p.of = systemTables[[2]string{p.keyspace, p.table}]
	} else {
		p.of = s.tables[[2]string{p.keyspace, p.table}]
	}
	if p.of == nil {
		p.err = fmt.Errorf("unconfigured table %s", p.table)
		return p
	}
	p.conditional = p.verb != "SELECT" && slices.Contains(w.rest, "if")
	if p.verb == "INSERT" {
		p.insert(&w)
	}
	p.read(deleted)
	p.read(w.rest)
	p.route()
	return p
}

// insert reads the columns and values of an INSERT.
func (p *statement) insert(w *words) {
	if !w.accept("(") {
		p.err = errors.New("no columns")
		return
	}
	var columns []string
	for _, c := range w.until(")") {
		if c != "," {
			columns = append(columns, unquoted(c))
		}
	}
	w.next()
	if !w.accept("values", "(") {
		p.err = errors.New("no values")
		return
	}
	for _, c := range columns {
		for _, word := range w.until(",", ")") {
			if word == "?" {
				p.mark(c, "", true)
			}
		}
		w.next()
	}
}

// read reads what follows the name of the table and the values: a question mark is what the words before it say.
func (p *statement) read(rest []string) {
	at := func(i int) string {
		if i < 0 || i >= len(rest) {
			return ""
		}
		return rest[i]
	}
	where, list := false, "" // list is the column whose IN ( ... ) is being read
	for i, word := range rest {
		switch word {
		case "where":
			where = true
			continue
		case "if":
			where = false
		case "in":
			list = at(i - 1)
		case ")":
			list = ""
		}
		left, operator := at(i-2), at(i-1)
		if where && operator == "=" && word != "?" {
			p.wanted = append(p.wanted, filter{column: unquoted(left), literal: unquoted(word), mark: -1})
		}
		if word != "?" {
			continue
		}
		switch {
		case operator == "timestamp":
			p.typed("[timestamp]", cql("bigint"))
		case operator == "ttl" || operator == "limit":
			p.typed("["+operator+"]", cql("int"))
		case list != "" && operator != "in":
			p.mark(list, "", false)
		case operator == "in":
			p.mark(left, "in", false)
		case operator == "[":
			p.mark(left, "key", false)
		case operator == "contains":
			p.mark(left, "element", false)
		case operator == "key" && left == "contains":
			p.mark(at(i-3), "key", false)
		case left == "]": // column [ key ] =
			p.mark(at(i-5), "element", false)
		default:
			if where && operator == "=" {
				p.wanted = append(p.wanted, filter{column: unquoted(left), mark: len(p.marks)})
			}
			p.mark(left, "", where && operator == "=")
		}
	}
}

// mark adds a question mark for a column, or for a part of it.
func (p *statement) mark(name, part string, key bool) {
	name = unquoted(name)
	c := p.of.column(name)
	if c == nil {
		if p.err == nil {
			p.err = fmt.Errorf("undefined column name %s", name)
		}
		return
	}
	typ := c.typ
	switch elems := typ.Elems(); {
	case part == "in":
		typ = cql("list<" + asFrozen(typ) + ">")
	case part == "key" && len(elems) == 2, part == "element" && len(elems) == 1:
		typ = elems[0]
	case part == "element" && len(elems) == 2:
		typ = elems[1]
	case part == "key": // of a list: the index
		typ = cql("int")
	}
	p.marks = append(p.marks, mark{column: name, typ: typ, key: key})
}

func (p *statement) typed(name string, typ *cqltype.Type) {
	p.marks = append(p.marks, mark{column: name, typ: typ})
}

func asFrozen(t *cqltype.Type) string {
	if t.MultiCell() {
		return "frozen<" + t.String() + ">"
	}
	return t.String()
}

// route finds the marks of the partition key.
func (p *statement) route() {
	for _, name := range p.of.partitionKey() {
		i := slices.IndexFunc(p.marks, func(m mark) bool { return m.column == name && m.key })
		if i < 0 {
			p.routing = nil
			return
		}
		p.routing = append(p.routing, uint16(i))
	}
}

// columns are those of the rows of a SELECT. What is not a column of the table, as a function, is a bigint.
func (p *statement) columns() []Column {
	var out []Column
	if p.selected == nil {
		for _, c := range p.of.columns {
			out = append(out, Column{c.name, c.typ.String()})
		}
		return out
	}
	for i := 0; i < len(p.selected); i++ {
		name, typ := p.selected[i], "bigint"
		if i+1 < len(p.selected) && p.selected[i+1] == "(" {
			end := i + slices.Index(p.selected[i:], ")")
			name, i = strings.Join(p.selected[i:end+1], ""), end
		} else if c := p.of.column(name); c != nil {
			typ = c.typ.String()
		}
		out = append(out, Column{name, typ})
	}
	return out
}

// marshal encodes a value of this package as a type.
func marshal(t *cqltype.Type, value any) []byte {
	b, err := gocql.Marshal(t.Info(), value)
	if err != nil {
		panic(err)
	}
	return b
}
