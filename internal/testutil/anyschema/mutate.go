package anyschema

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/schema"
)

// Mutation is one change of a schema.
type Mutation struct {
	Name       string
	Schema     *schema.Schema // as it is afterwards
	Statements []string       // that make it so
}

// Mutations gives every kind of change that the schema admits, each once, made at a place that the numbers choose.
func Mutations(r *rand.Rand, s *schema.Schema) []Mutation {
	m := &mutator{r: r, s: s}
	keyspace := s.Tables[0].Keyspace
	m.alter("add a column", func(*schema.Table) string { return "ADD added int" })
	m.alter("drop a column", func(t *schema.Table) string {
		for _, c := range t.Columns {
			if c.Kind == schema.Regular && !m.indexed(t, c.Name) && !strings.HasPrefix(c.Type, "type_") {
				// Cassandra rejects that
				return "DROP " + c.Name
			}
		}
		return ""
	})
	m.alter("rename a key column", func(t *schema.Table) string { return "RENAME " + t.Columns[0].Name + " TO renamed" })
	for _, o := range options {
		if o.name == "cdc" {
			continue // not every server lets it be switched on
		}
		m.alter("option "+o.name, func(t *schema.Table) string {
			change := ""
			for _, v := range o.values {
				if probe := canonical(o.name, v); probe != t.Options[o.name] && probe != defaultGrace {
					change = "WITH " + o.name + " = " + v
				}
			}
			return change
		})
	}
	m.recreate("turn the order of a clustering column", first(schema.Clustering, func(c *schema.Column) {
		c.Desc = !c.Desc
	}))
	m.recreate("change the type of a column", first(schema.Regular, retype("bigint", "varint")))
	m.recreate("change the type of a key column", first(schema.PartitionKey, retype("uuid", "timeuuid")))
	m.recreate("swap two key columns", func(t *schema.Table) bool {
		for i := 1; i < len(t.Columns); i++ {
			if t.Columns[i].Kind == t.Columns[i-1].Kind && t.Columns[i].Kind != schema.Regular {
				t.Columns[i], t.Columns[i-1] = t.Columns[i-1], t.Columns[i]
				return true
			}
		}
		return false
	})
	m.recreate("take a column out of the partition key", func(t *schema.Table) bool {
		if n := len(t.Of(schema.PartitionKey)); n > 1 {
			t.Columns[n-1].Kind = schema.Clustering
			return true
		}
		return false
	})
	m.recreate("take a column out of the key", func(t *schema.Table) bool {
		n := len(t.Of(schema.Clustering))
		if n == 0 || n == 1 && len(t.Of(schema.Static)) > 0 {
			return false
		}
		last := &t.Columns[len(t.Of(schema.PartitionKey))+n-1]
		last.Kind, last.Desc = schema.Regular, false
		return true
	})
	m.recreate("make a static column a regular one", first(schema.Static, func(c *schema.Column) {
		c.Kind = schema.Regular
	}))
	m.add("drop a table", "DROP TABLE "+s.Tables[len(s.Tables)-1].String())
	m.add("one more table", "CREATE TABLE "+keyspace+".more (id uuid PRIMARY KEY)")
	m.add("one more type", "CREATE TYPE "+keyspace+".more (field int)")
	for _, t := range s.Tables {
		if c := slices.IndexFunc(t.Columns, func(c schema.Column) bool {
			return c.Kind == schema.Regular && slices.Contains(natives, c.Type) && !m.indexed(&t, c.Name)
		}); c >= 0 {
			m.add("one more index", fmt.Sprintf("CREATE INDEX more ON %s (%s)", t.ID, t.Columns[c].Name))
			break
		}
	}
	if len(s.Indexes) > 0 {
		m.add("drop an index", "DROP INDEX "+s.Indexes[0].String())
	}
	if len(s.Keyspaces) > 0 {
		m.add("bypass the commit log", "ALTER KEYSPACE "+keyspace+" WITH durable_writes = false")
		factors := make(map[string]int)
		for dc := range s.Keyspaces[0].Replication {
			if dc != "class" {
				factors[dc] = 2
			}
		}
		one := &schema.Schema{Keyspaces: []schema.Keyspace{{Name: keyspace, Replication: schema.Replication(factors)}}}
		m.add("change the replication", strings.Replace(one.Statements()[0], "CREATE", "ALTER", 1))
	}
	if len(s.Types) > 0 {
		m.add("add a field", "ALTER TYPE "+s.Types[0].String()+" ADD added text")
		m.add("rename a field", "ALTER TYPE "+s.Types[0].String()+" RENAME first TO renamed")
	}
	return m.out
}

type mutator struct {
	r   *rand.Rand
	s   *schema.Schema
	out []Mutation
}

func (m *mutator) add(name string, statements ...string) {
	m.out = append(m.out, Mutation{name, parsed(m.s.CQL() + strings.Join(statements, ";\n")), statements})
}

func parsed(cql string) *schema.Schema {
	s, err := schema.Parse("anyschema", cql)
	if err != nil {
		panic(fmt.Sprintf("%v in\n%s", err, cql))
	}
	return s
}

// alter changes some table by ALTER TABLE.
func (m *mutator) alter(name string, change func(*schema.Table) string) {
	for _, i := range m.r.Perm(len(m.s.Tables)) {
		t := &m.s.Tables[i]
		if change := change(t); change != "" {
			m.add(name, "ALTER TABLE "+t.String()+" "+change)
			return
		}
	}
}

// recreate changes some table by making it again. Its indexes go with it.
func (m *mutator) recreate(name string, change func(*schema.Table) bool) {
	for _, i := range m.r.Perm(len(m.s.Tables)) {
		t := m.s.Tables[i]
		t.Columns = slices.Clone(t.Columns)
		if slices.ContainsFunc(m.s.Indexes, func(x schema.Index) bool { return x.Table == t.Name }) || !change(&t) {
			continue
		}
		one := &schema.Schema{Tables: []schema.Table{t}}
		m.add(name, append([]string{"DROP TABLE " + t.String()}, one.Statements()...)...)
		return
	}
}

// first changes the first column of a kind.
func first(kind schema.Kind, change func(*schema.Column)) func(*schema.Table) bool {
	return func(t *schema.Table) bool {
		i := slices.IndexFunc(t.Columns, func(c schema.Column) bool { return c.Kind == kind })
		if i >= 0 {
			change(&t.Columns[i])
		}
		return i >= 0
	}
}

// retype makes a column of a type, or of the other one if it is of that.
func retype(typ, other string) func(*schema.Column) {
	return func(c *schema.Column) {
		if c.Type == typ {
			c.Type = other
		} else {
			c.Type = typ
		}
	}
}

func (m *mutator) indexed(t *schema.Table, column string) bool {
	return slices.ContainsFunc(m.s.Indexes, func(i schema.Index) bool { return i.Table == t.Name && i.Column() == column })
}

// defaultGrace is the gc_grace_seconds of the server anyway.
const defaultGrace = "864000"

// canonical spells the value of an option as a schema holds it.
func canonical(option, value string) string {
	return parsed("CREATE TABLE t (a int PRIMARY KEY) WITH " + option + " = " + value).Tables[0].Options[option]
}
