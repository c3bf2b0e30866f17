package wire

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/internal/cqltype"
)

// schema is the keyspaces, tables and views of a test.
type schema struct {
	keyspaces map[string]int // replication factors
	tables    map[[2]string]*table
	views     [][3]string // keyspace, view, base table
}

type table struct {
	keyspace, name string
	columns        []column
	gcGrace        int // seconds
}

type column struct {
	name     string
	typ      *cqltype.Type
	kind     string // as in system_schema.columns
	position int
	order    string
}

func newSchema() schema {
	return schema{keyspaces: make(map[string]int), tables: make(map[[2]string]*table)}
}

func (t *table) column(name string) *column {
	for i := range t.columns {
		if t.columns[i].name == name {
			return &t.columns[i]
		}
	}
	return nil
}

// partitionKey is the names of the columns of the partition key.
func (t *table) partitionKey() []string {
	var out []string
	for _, c := range t.columns {
		if c.kind == "partition_key" {
			out = append(out, c.name)
		}
	}
	return out
}

// Create carries out CREATE KEYSPACE, CREATE TABLE and CREATE MATERIALIZED VIEW. A table's keyspace is created with it, if
// need be, with a replica on each of up to three nodes. Of the options of a table gc_grace_seconds and the clustering order
// are heeded, of a view only the names.
func (s *Server) Create(statements ...string) {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range statements {
		if _, _, err := s.schema.create(text, "", min(3, len(s.nodes))); err != nil {
			s.tb.Fatalf("wire: %s: %v", text, err)
		}
	}
}

// create carries a CREATE out and says what was created, the object being empty for a keyspace.
func (s *schema) create(text, keyspace string, replicas int) (ks, object string, err error) {
	w := words{split(text)}
	w.accept("create")
	switch {
	case w.accept("keyspace"):
		w.accept("if", "not", "exists")
		ks = unquoted(w.next())
		s.keyspaces[ks] = replicas
		for i, word := range w.rest { // ... 'replication_factor' : 3 or 'dc1' : 3
			if n, err := strconv.Atoi(unquoted(word)); err == nil && i > 0 && w.rest[i-1] == ":" {
				s.keyspaces[ks] = n
			}
		}
		return ks, "", nil
	case w.accept("table"):
		t, err := newTable(&w, keyspace)
		if err != nil {
			return "", "", err
		}
		if _, ok := s.keyspaces[t.keyspace]; !ok {
			s.keyspaces[t.keyspace] = replicas
		}
		s.tables[[2]string{t.keyspace, t.name}] = t
		return t.keyspace, t.name, nil
	case w.accept("materialized", "view"):
		w.accept("if", "not", "exists")
		ks, object = w.table(keyspace)
		w.until("from")
		w.next()
		_, base := w.table(ks)
		s.views = append(s.views, [3]string{ks, object, base})
		return ks, object, nil
	}
	return "", "", errors.New("only keyspaces, tables and materialized views can be created")
}

func newTable(w *words, keyspace string) (*table, error) {
	w.accept("if", "not", "exists")
	t := &table{gcGrace: 864000}
	t.keyspace, t.name = w.table(keyspace)
	if t.keyspace == "" || t.name == "" || !w.accept("(") {
		return nil, errors.New("no name of keyspace and table, or no columns")
	}
	var key []string
	for !w.accept(")") {
		if w.accept("primary", "key", "(") {
			key = w.until(")")
			w.next()
		} else if err := t.declare(w.until(",", ")"), &key); err != nil {
			return nil, err
		}
		if !w.accept(",") && w.peek() != ")" {
			return nil, fmt.Errorf("%q where a column should end", w.peek())
		}
	}
	if err := t.setKey(key); err != nil {
		return nil, err
	}
	t.options(w)
	return t, nil
}

// declare adds a column.
func (t *table) declare(c []string, key *[]string) error {
	if len(c) < 2 {
		return fmt.Errorf("a column without type: %q", c)
	}
	name, kind, c := unquoted(c[0]), "regular", c[1:]
	if n := len(c); n > 2 && c[n-2] == "primary" && c[n-1] == "key" {
		*key, c = []string{name}, c[:n-2]
	}
	if n := len(c); n > 1 && c[n-1] == "static" {
		kind, c = "static", c[:n-1]
	}
	typ, err := cqltype.Parse(strings.Join(c, ""))
	if err != nil {
		return err
	}
	t.columns = append(t.columns, column{name: name, typ: typ, kind: kind, position: -1, order: "none"})
	return nil
}

// setKey marks the columns of the key, which come first from then on.
func (t *table) setKey(key []string) error {
	w := words{key}
	part := []string{w.peek()}
	if w.accept("(") {
		part = w.until(")")
	}
	w.next()
	for kind, names := range map[string][]string{"partition_key": part, "clustering": w.rest} {
		position := 0
		for _, name := range names {
			if name == "," {
				continue
			}
			c := t.column(unquoted(name))
			if c == nil {
				return fmt.Errorf("key column %q is not declared", name)
			}
			c.kind, c.position = kind, position
			if kind == "clustering" {
				c.order = "asc"
			}
			position++
		}
	}
	if len(t.partitionKey()) == 0 {
		return errors.New("no primary key")
	}
	rank := map[string]int{"partition_key": 0, "clustering": 1, "static": 2, "regular": 2}
	slices.SortStableFunc(t.columns, func(a, b column) int {
		if r := rank[a.kind] - rank[b.kind]; r != 0 {
			return r
		}
		return a.position - b.position
	})
	return nil
}

func (t *table) options(w *words) {
	for len(w.rest) > 0 {
		switch {
		case w.accept("gc_grace_seconds", "="):
			t.gcGrace, _ = strconv.Atoi(w.next())
		case w.accept("clustering", "order", "by", "("):
			order := words{w.until(")")}
			for len(order.rest) > 0 {
				c := t.column(unquoted(order.next()))
				if o := order.next(); c != nil && (o == "asc" || o == "desc") {
					c.order = o
				}
				order.accept(",")
			}
		default:
			w.next()
		}
	}
}
