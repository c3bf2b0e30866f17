package diagram

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/schema"
)

// group is an entity with its tables, or the tables of none.
type group struct {
	name   string
	tables []*schema.Table
	moves  []string // columns whose change moves a row
}

// groups gives the entities of a schema, and then what belongs to none.
func groups(s *schema.Schema) []group {
	var out []group
	drawn := make(map[schema.ID]bool)
	for _, e := range s.Entities {
		g := group{name: e.Name, moves: e.Moves}
		for _, id := range e.Tables {
			if t := s.Table(id); t != nil && !drawn[id] {
				drawn[id] = true
				g.tables = append(g.tables, t)
			}
		}
		if len(g.tables) > 0 {
			out = append(out, g)
		}
	}
	for i := range s.Tables {
		if t := &s.Tables[i]; !drawn[t.ID] {
			out = append(out, group{tables: []*schema.Table{t}})
		}
	}
	return out
}

// movesIn gives the columns of a table's key whose change moves a row in it.
func (g *group) movesIn(t *schema.Table) []string {
	var out []string
	for _, name := range g.moves {
		if c := t.Column(name); c != nil && (c.Kind == schema.PartitionKey || c.Kind == schema.Clustering) {
			out = append(out, name)
		}
	}
	return out
}

// edge says how a query table follows the base table.
func (g *group) edge(t *schema.Table) string {
	moves := g.movesIn(t)
	if len(moves) == 0 {
		return "same row"
	}
	return "row moves with " + strings.Join(moves, ", ")
}

// role is what the picture says of a column.
func (g *group) role(t *schema.Table, c schema.Column) string {
	var words []string
	switch c.Kind {
	case schema.PartitionKey:
		words = append(words, "partition key")
	case schema.Clustering:
		if c.Desc {
			words = append(words, "sorted down")
		} else {
			words = append(words, "sorted up")
		}
	case schema.Static:
		words = append(words, "static")
	case schema.Regular:
	}
	if slices.Contains(g.movesIn(t), c.Name) {
		words = append(words, "moves the row")
	}
	return strings.Join(words, ", ")
}
