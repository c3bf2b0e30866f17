package diagram

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/guess"
	"github.com/denorm-go/denorm/schema"
)

// group is an entity with its tables, or a table or a view of none.
type group struct {
	name    string
	guessed bool
	moves   []string // columns whose change moves a row
	id      []string // columns that tell entities apart, of tables that do not have the base key in theirs
	roots   []*node  // the base table; all tables of a guessed entity without one
}

// kind is what a table is in its entity. Its values are the classes of the picture.
type kind string

const (
	base  kind = "base"
	query kind = "other" // another table of the entity
	view  kind = "view"
	alone kind = "alone" // of no entity
)

// node is a table or a view, with those that are filled from it.
type node struct {
	*schema.Table
	kind     kind
	queries  []string
	indexes  []index
	children []*node
}

// index is an index of a table, and what kind it is of, as people call it.
type index struct{ name, target, class string }

func (i index) String() string { return i.name + " on " + i.target + ", " + i.class }

// label is the name in the picture.
func (n *node) label() string {
	if n.kind == view {
		return n.String() + " (view)"
	}
	return n.String()
}

// maker makes the groups of a schema.
type maker struct {
	schema  *schema.Schema
	drawn   map[schema.ID]bool
	queries map[schema.ID][]*schema.Query // those that read
	indexes map[schema.ID][]index
	views   map[schema.ID][]*node // by their base tables
}

// groups gives the entities of a schema, those that are guessed, and then what belongs to none.
func groups(s *schema.Schema) []group {
	m := newMaker(s)
	var out []group
	add := func(e schema.Entity, first int, guessed bool) {
		if g := m.group(e, first, guessed); len(g.roots) > 0 {
			out = append(out, g)
		}
	}
	for _, e := range s.Entities {
		add(e, 0, false)
	}
	for _, e := range guess.Entities(s) {
		if len(e.Tables) > 1 { // else there is nothing that it tells
			add(e.Entity, e.Base, true)
		}
	}
	for i := range s.Tables {
		if t := &s.Tables[i]; !m.drawn[t.ID] {
			m.drawn[t.ID] = true
			out = append(out, group{roots: []*node{m.node(t, alone)}})
		}
	}
	for _, v := range s.Views {
		if !m.drawn[v.ID] { // its base table is not known
			for _, n := range m.views[schema.ID{Keyspace: v.Keyspace, Name: v.Base}] {
				m.drawn[n.ID] = true
				out = append(out, group{roots: []*node{n}})
			}
		}
	}
	return out
}

func newMaker(s *schema.Schema) *maker {
	m := &maker{
		s, make(map[schema.ID]bool), make(map[schema.ID][]*schema.Query), make(map[schema.ID][]index), make(map[schema.ID][]*node),
	}
	for i := range s.Queries {
		q := &s.Queries[i]
		if q.Verb != "SELECT" {
			continue
		}
		of := q.Table
		if i := slices.IndexFunc(s.Tables, func(t schema.Table) bool { return t.Keyspace == of.Keyspace && t.Rotates(of.Name) }); i >= 0 {
			of = s.Tables[i].ID
		}
		m.queries[of] = append(m.queries[of], q)
	}
	for _, i := range s.Indexes {
		on := schema.ID{Keyspace: i.Keyspace, Name: i.Table}
		m.indexes[on] = append(m.indexes[on], index{i.Name, cmp.Or(i.Target, "?"), class(&i)})
	}
	for _, v := range s.Views {
		of := schema.ID{Keyspace: v.Keyspace, Name: v.Base}
		m.views[of] = append(m.views[of], m.node(&schema.Table{ID: v.ID, Columns: v.Columns}, view))
	}
	return m
}

// class is what people call the implementation of an index.
func class(i *schema.Index) string {
	switch name := strings.ToLower(i.Class[strings.LastIndex(i.Class, ".")+1:]); name {
	case "":
		return "2i"
	case "sai", "storageattachedindex":
		return "SAI"
	case "sasiindex":
		return "SASI"
	}
	return i.Class
}

// group makes the group of an entity, without tables that are drawn already. first is the index of its base table, -1
// if that is not known.
func (m *maker) group(e schema.Entity, first int, guessed bool) group {
	g := group{name: e.Name, guessed: guessed, moves: e.Moves, id: e.ID}
	var nodes []*node
	for i, id := range e.Tables {
		t := m.schema.Table(id)
		switch {
		case t == nil || m.drawn[id]:
		case i == first:
			nodes = slices.Insert(nodes, 0, m.node(t, base))
		default:
			nodes = append(nodes, m.node(t, query))
		}
		m.drawn[id] = true
	}
	if len(nodes) == 0 || guessed && nodes[0].kind != base {
		g.roots = nodes
		return g
	}
	nodes[0].children = append(nodes[1:], nodes[0].children...)
	g.roots = nodes[:1]
	return g
}

func (m *maker) node(t *schema.Table, k kind) *node {
	n := &node{Table: t, kind: k, indexes: m.indexes[t.ID], queries: m.short(t)}
	if k != view {
		n.children = m.views[t.ID]
		for _, v := range n.children {
			m.drawn[v.ID] = true
		}
	}
	return n
}

// movesIn gives the columns of a table's key whose change moves a row in it.
func (g *group) movesIn(n *node) []string {
	key := make(map[string]bool)
	for _, c := range n.Columns {
		key[c.Name] = n.kind != view && inKey(c)
	}
	return slices.DeleteFunc(slices.Clone(g.moves), func(name string) bool { return !key[name] })
}

func inKey(c schema.Column) bool { return c.Kind == schema.PartitionKey || c.Kind == schema.Clustering }

// edge says how a table follows the one that it is filled from, and what class of arrow that is.
func (g *group) edge(n *node) (label, class string) {
	switch moves := g.movesIn(n); {
	case n.kind == view:
		return "view", "derives"
	case g.guessed:
		return "same entity?", "guess"
	case len(moves) > 0:
		return "row moves with " + strings.Join(moves, ", "), "moves"
	}
	return "same row", "same"
}

// role is what the picture says of a column.
func (g *group) role(n *node, c schema.Column) string {
	var words []string
	switch c.Kind {
	case schema.PartitionKey:
		words = append(words, "partition key")
	case schema.Clustering:
		if c.Desc {
			words = append(words, "clustering DESC")
		} else {
			words = append(words, "clustering ASC")
		}
	case schema.Static:
		words = append(words, "static")
	case schema.Regular:
	}
	if n.kind != view && inKey(c) && slices.Contains(g.moves, c.Name) {
		words = append(words, "moves the row")
	}
	if n.kind != view && slices.Contains(g.id, c.Name) {
		words = append(words, "id")
	}
	if c.ReadOnly {
		words = append(words, "read-only")
	}
	return strings.Join(words, ", ")
}

// mostQueries is how many queries of a table are shown.
const mostQueries = 8

// short gives the queries that read a table, each that reads alike once.
func (m *maker) short(t *schema.Table) []string {
	out := each.Once(each.Of(m.queries[t.ID], func(q *schema.Query) string { return short(q, t) }))
	if n := len(out) - mostQueries; n > 0 {
		out = append(out[:mostQueries], fmt.Sprintf("and %d more", n))
	}
	return out
}
